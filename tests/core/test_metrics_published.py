"""Other people's rows and the figures they published for them (sources in tests/data/metrics/README.md)."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from demur.core.metrics import Rows, summarise

DATA = Path(__file__).parent.parent / "data" / "metrics"


def table(name):
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def published(name):
    return json.loads((DATA / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("system", ["Base", "RLVR", "Answer-Prob", "RLCR"])
def test_rlcr_on_math500(system):
    rows = [row for row in table("rlcr_math500.csv.gz") if row["system"] == system]
    confidence, correct = [float(row["confidence"]) for row in rows], [int(row["correct"]) for row in rows]
    ours = summarise(Rows.of(confidence, correct), replicates=2)
    theirs = published("rlcr_math500_published.json")[system]
    assert ours.n == 500
    names = {"accuracy": "accuracy", "brier": "brier_score", "ece10": "ece", "auc": "auroc"}
    for name, their_name in {**names, "mean_confidence": "confidence level"}.items():
        assert ours.figures[name].value == pytest.approx(theirs[their_name], abs=1e-9), name


def test_mmlu_pro_by_category():
    rows = [row for row in table("mmlu_pro_gpt41.csv.gz") if row["complete"] == "1"]
    for category, theirs in published("mmlu_pro_gpt41_published.json").items():
        chosen = [row for row in rows if row["category"] == category]
        assert len(chosen) == theirs["n"]
        for column in ("verbal", "perplexity"):
            confidence = [float(row[column]) for row in chosen]
            ours = summarise(Rows.of(confidence, [int(row["correct"]) for row in chosen]), replicates=2).figures
            assert ours["accuracy"].value == pytest.approx(theirs["accuracy"])
            assert ours["auc"].value == pytest.approx(theirs[column]["auroc"])
            assert ours["ece10"].value == pytest.approx(theirs[column]["ece"], abs=1e-6)  # theirs is single precision


def test_mmlu_pro_whole_counts_the_missing():
    rows = table("mmlu_pro_gpt41.csv.gz")
    confidence = [float(row["verbal"]) if row["verbal"] else None for row in rows]
    packed = Rows.of(confidence, [int(row["correct"]) for row in rows])
    skipped, abstained = (summarise(packed, missing=how, replicates=2) for how in ("skip", "abstain"))
    assert (skipped.n, skipped.missing) == (abstained.n, abstained.missing) == (12032, 20)
    assert skipped.figures["accuracy"] == abstained.figures["accuracy"]
    assert skipped.figures["mean_confidence"].value > abstained.figures["mean_confidence"].value
