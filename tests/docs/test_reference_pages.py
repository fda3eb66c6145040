"""Pages that list what is in the code list all of it: settings, metrics, folders."""

import re

from prometheus_client import REGISTRY

from demur.core.parsing.labels import LABELS
from demur.feedback.metrics import FeedbackMetrics
from demur.observability.metrics import Metrics
from demur.settings import Settings
from documents import ROOT, fences


def test_the_tree_in_the_readme_is_true() -> None:
    tree = next(block.text for block in fences(ROOT / "README.md") if "core/" in block.text)
    found, folder = [], ROOT
    for line in tree.splitlines():
        depth = len(line) - len(line.lstrip())
        names = re.split(" {2,}", line.strip())[0].split() if depth <= 2 else []
        found += [(ROOT if depth == 0 else folder) / name for name in names]
        if depth == 0:
            folder = found[-1]
    assert len(found) > 20
    assert [path for path in found if not path.exists()] == []


def test_every_setting_is_on_its_page_with_its_default() -> None:
    rows = re.findall(
        r"^\| `DEMUR_(\w+)` \| (.*?) \| (.+) \|$", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE
    )
    assert [name.lower() for name, _, _ in rows if name.lower() not in Settings.model_fields] == []
    assert {name.lower() for name, _, _ in rows} == set(Settings.model_fields)
    for name, default, _ in rows:
        value = Settings.model_fields[name.lower()].default
        shown = default.strip(" `")
        if value in (None, (), LABELS):
            assert shown == "", name
        elif isinstance(value, bool | str):
            assert shown == str(value).lower() if isinstance(value, bool) else shown == value, name
        else:
            assert float(shown) == value, name


def test_every_metric_is_on_its_page() -> None:
    metrics = Metrics()
    metrics.engine.watch_running(lambda: 0.0)
    metrics.engine.watch_upstreams([], list)
    metrics.engine.watch_ready(lambda: True)
    metrics.engine.watch_grading(lambda: 0.0)
    metrics.engine.watch_keys(lambda: 0.0)
    FeedbackMetrics(metrics.registry)
    exposed = {
        family.name + ("_total" if family.type == "counter" else "")
        for registry in (metrics.registry, REGISTRY)
        for family in registry.collect()
        if family.name.startswith("demur_")
    }
    on_page = set(re.findall(r"`(demur_\w+)`", (ROOT / "docs" / "metrics.md").read_text()))
    of_admission = {name for name in on_page if re.match(r"demur_(running|queued)_", name)}
    assert len(of_admission) == 9
    assert on_page == exposed | of_admission | {"demur_upstream_rests", "demur_upstream_running_samples"}
