"""The stages on a tiny model: in order, resumable, and what they leave behind."""

import hashlib
import json
import shutil
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM
from typer.testing import CliRunner

from demur.manifest import Critic, Manifest
from demur.measured import Example
from demur.model.calibrated import ARTEFACT
from demur.model.merging import merge
from demur_smol_lab import artefact, curriculum, plan, training
from demur_smol_lab.attention import OneByOne, Padded
from demur_smol_lab.cli import app
from demur_smol_lab.critic import PLACES, Course
from demur_smol_lab.grading import Graded
from demur_smol_lab.llama import Llama
from demur_smol_lab.losses import ExactBrier, Stated, imitation
from demur_smol_lab.measuring import along, auc_within, claim_figures, doubt, figures, kinds, lookup, markdown
from demur_smol_lab.packing import Branch, Response, pack
from demur_smol_lab.pipeline import DRAWS, Pipeline
from demur_smol_lab.problems.mix import distinct
from demur_smol_lab.problems.problem import Problem, Step
from demur_smol_lab.sampling import Sample, Sampling, draw, read_samples
from demur_smol_lab.tokens import Vocabulary
from demur_training.errors import DataError
from tiny_digit_model import make_tiny_digit_model

SMALL = plan.Plan(
    rank=4,
    adapted=1,
    row_tokens=400,
    round_tokens=400,
    warm=(6, 3),
    school=(0, 4),
    precision="float32",
    graded=(2, 2),
    wordings=2,
    sampled=(3, 2),
    fresh=(3, 2),
    last=(3, 2),
    newest=(3, 2),
    worked=(4, 2),
    checked=(4, 2),
    measured=(4, 2),
    batch=8,
    limits=(12, 12),
)

HEAD = {"score.weight": torch.ones(1, 64), "score.bias": torch.zeros(1)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return make_tiny_digit_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """So small a model is slower on two threads, and much slower on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def fresh(folder: Path) -> Llama:
    torch.manual_seed(0)
    return Llama(folder, rank=4, adapted=2)


def some_rows(count: int):
    def row(i: int):
        return pack([5, 6], [Branch([10 + i, 11], [Response([20, 21, 22 + i], [1.0, 1.0, 1.0])])])

    return [partial(row, i) for i in range(count)]


class Killed(Exception):
    pass


def test_a_killed_stage_ends_where_an_unbroken_one_does(folder, tmp_path):
    whole, broken, steps = fresh(folder), fresh(folder), []
    train = partial(training.train, schedule=training.Schedule(1e-2, warm_up=2), every=2)
    train(whole, some_rows(6), imitation, out=tmp_path / "whole")

    def dying(model, row):
        steps.append(row)
        if len(steps) == 6:
            raise Killed
        return imitation(model, row)

    with pytest.raises(Killed):
        train(broken, some_rows(6), dying, out=tmp_path / "broken")
    again = fresh(folder)
    train(again, some_rows(6), imitation, out=tmp_path / "broken")
    expected = training.adapter(whole)
    for name, tensor in training.adapter(again).items():
        torch.testing.assert_close(tensor, expected[name])
    assert [p.name for p in (tmp_path / "broken").glob("*.pt")] == ["adapter.pt"]
    curve = [json.loads(line) for line in (tmp_path / "broken" / "curve.jsonl").read_text().splitlines()]
    assert [line["step"] for line in curve] == list(range(6))


def test_training_lowers_the_loss_and_writes_its_curve(folder, tmp_path):
    training.train(fresh(folder), some_rows(1) * 30, imitation, training.Schedule(2e-2), tmp_path)
    curve = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert [line["step"] for line in curve] == list(range(30))
    assert curve[-1]["loss"] < curve[0]["loss"] / 2


def test_a_finished_stage_is_loaded_not_run(folder, tmp_path):
    first = fresh(folder)
    training.train(first, some_rows(2), imitation, training.Schedule(1e-2), tmp_path)

    def never(model, row):
        raise AssertionError("ran again")

    second = fresh(folder)
    training.train(second, some_rows(2), never, training.Schedule(1e-2), tmp_path)
    for name, tensor in training.adapter(first).items():
        torch.testing.assert_close(training.adapter(second)[name], tensor)


def test_killed_sampling_goes_on_and_gives_the_same(folder, tmp_path):
    problems, vocabulary = distinct("train", 12, 0), Vocabulary(folder)
    how = Sampling("response", 2, seed=0, limit=12, batch=1)
    whole = draw(fresh(folder), vocabulary, problems, how, tmp_path / "whole.jsonl")
    assert [sample.problem_id for sample in whole] == [number for number in range(12) for _ in range(2)]
    lines = (tmp_path / "whole.jsonl").read_text().splitlines(keepends=True)
    assert len(lines) == 24
    (tmp_path / "cut.jsonl").write_text("".join(lines[:11]) + lines[11][:40])
    assert draw(fresh(folder), vocabulary, problems, how, tmp_path / "cut.jsonl") == whole
    assert list(read_samples(tmp_path / "cut.jsonl")) == whole


def test_the_whole_run_writes_every_stage_and_an_artefact(folder, tmp_path):
    pipeline = Pipeline(folder, tmp_path / "run", SMALL)
    pipeline.run(until="empirical")
    assert (pipeline.out / "empirical" / "adapter.pt").exists()
    assert not (pipeline.out / "samples" / "fresh-response.jsonl").exists()
    pipeline.run()
    for name in (
        "warm-start/adapter.pt",
        "samples/graded-response.jsonl",
        "samples/fresh-claims.jsonl",
        "histogram.txt",
        "empirical/adapter.pt",
        "brier/adapter.pt",
        "outcome/adapter.pt",
        "finish/adapter.pt",
        "critic.safetensors",
    ):
        assert (pipeline.out / name).exists()
    for name in DRAWS:
        families = Counter(s.problem.family for s in pipeline.drawn(name) if s.contract == "response")
        assert (families.total(), families["gsm8k"]) == (SMALL.times * (3 * SMALL.wordings + 4), 4 * SMALL.times)
        solved = [s for s in pipeline.drawn(name) if s.contract == "claims" and s.problem.family == "gsm8k"]
        assert len(solved) == SMALL.times
    assert len({s.problem.question for name in DRAWS for s in pipeline.drawn(name)}) > 20
    tables = {"validation": json.loads((pipeline.out / "table-validation.json").read_text())}
    assert set(tables["validation"]) >= {"finish, response", "lookup table, response", "critic, claims"}
    out = tmp_path / "artefact"
    size = artefact.export(pipeline.model("finish"), SMALL, tables, "0.0-0.1 3 ###", HEAD, out)
    assert size == sum(p.stat().st_size for p in out.iterdir() if p.name != "SHA256SUMS")
    manifest = Manifest.load(out)
    assert manifest.contracts == ("response", "claims")
    assert manifest.critic == Critic(path="critic")
    torch.testing.assert_close(load_file(out / "critic.safetensors"), HEAD)
    assert "lookup table, response" in (out / "README.md").read_text()
    assert Manifest.load(pipeline.merged()).name == artefact.NAME
    tensors = load_file(out / "adapter_model.safetensors")
    assert "base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight" in tensors
    assert not any(".layers.0." in name for name in tensors)


def test_a_run_goes_on_from_its_last_round_without_its_draws(folder, tmp_path):
    whole, carried = (Pipeline(folder, tmp_path / name, SMALL) for name in ("whole", "carried"))
    whole.run(until="finish")
    for stage in ("warm-start", "empirical", "brier", "outcome"):
        shutil.copytree(whole.out / stage, carried.out / stage)
    carried.run(until="finish")
    drawn = {path.name.removesuffix(".jsonl").rpartition("-")[0] for path in (carried.out / "samples").iterdir()}
    assert drawn == {"newest", "worked-newest"}
    for name, tensor in training.adapter(whole.model("finish")).items():
        torch.testing.assert_close(training.adapter(carried.model("finish"))[name], tensor)


def table(response: float | None, claims: float) -> dict[str, dict[str, dict[str, float] | None]]:
    rows = {"finish, response": response, "finish, claims": claims}
    return {name: {"smece": None if value is None else {"value": value}} for name, value in rows.items()}


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({}, False),
        ({"validation": table(0.05, 0.08)}, True),
        ({"validation": table(0.05, 0.08), "transfer": table(0.3, 0.3)}, True),
        ({"validation": table(0.05, 0.08), "test": table(0.05, 0.12)}, False),
        ({"test": table(None, 0.08)}, False),
    ],
)
def test_only_a_model_that_was_measured_honest_is_called_calibrated(tables, expected):
    assert artefact.calibrated(tables) is expected


def test_the_merged_model_answers_as_the_adapted_one_does(folder, tmp_path):
    model = fresh(folder)
    with torch.no_grad():
        for _, linear in model.adapters():
            linear.lora_a.copy_(linear.lora_a.bfloat16())
            linear.lora_b.normal_(std=0.1).copy_(linear.lora_b.bfloat16())
    merged = Path(shutil.copytree(folder, tmp_path / "merged"))
    merge(merged, artefact.peft_tensors(model))
    ids = torch.tensor([[5, 6, 7, 50, 60]])
    masks = [torch.ones(5, 5, dtype=torch.bool).tril()]
    reference = AutoModelForCausalLM.from_pretrained(merged, dtype=torch.float32)
    with torch.no_grad():
        adapted = model.logits(model.hidden(ids, torch.arange(5)[None], masks))
        torch.testing.assert_close(reference(ids).logits, adapted, atol=1e-3, rtol=1e-3)
    assert Manifest.load(merged).calibrated is False


def described_anew(made: Path) -> None:
    """What the run measured is put into the card and the manifest, and nothing else is changed."""
    out = made / "artefact"
    before = Manifest.load(out).model_copy(update={"metrics": {"transfer": {"finish, response": {"n": 1}}}})
    example = Example(question="What is 1 + 1?", contract="response", risk_threshold=0.5, shows="answer")
    before.model_copy(update={"examples": (example,)}).write(out)
    weights = {path.name: path.read_bytes() for path in out.glob("*.safetensors")}
    options = ["--out", str(made / "run"), "--to", str(out)]
    assert CliRunner().invoke(app, ["describe", *options]).exit_code == 0
    assert {path.name: path.read_bytes() for path in out.glob("*.safetensors")} == weights
    after = Manifest.load(out)
    assert after.examples == (example,)
    assert list(after.metrics) == ["test", "transfer"]
    assert "kinds" not in after.metrics["test"]["finish, response"]
    assert "## Measured: test problems" in (out / "README.md").read_text()
    for line in (out / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest


TABLED_AND_ASKED = "lookup-response-own", "finish-response-test"


def test_what_was_exported_can_be_adopted_and_measured_again(folder, tmp_path):
    model = Pipeline(folder, tmp_path / "made", SMALL).model()
    with torch.no_grad():
        for _, linear in model.adapters():
            linear.lora_b.normal_(std=0.1)
    artefact.export(model, SMALL, {}, "", HEAD, tmp_path / "artefact")
    options = ["--out", str(tmp_path / "run"), "--artefact", str(tmp_path / "artefact"), "--base", str(folder)]
    assert CliRunner().invoke(app, ["adopt", *options]).exit_code == 0
    pipeline = Pipeline(folder, tmp_path / "run", SMALL)
    exported, adopted = artefact.peft_tensors(model), artefact.peft_tensors(pipeline.model("finish"))
    assert all(torch.equal(exported[name], adopted[name]) for name in exported)
    assert torch.equal(pipeline.critic(Vocabulary(folder))["score.weight"], HEAD["score.weight"])
    pipeline.measure(Vocabulary(folder), "test")
    assert "lookup table, claims" in json.loads((tmp_path / "run" / "table-test.json").read_text())
    known, asked = (list(read_samples(tmp_path / "run" / "measured" / f"{name}.jsonl")) for name in TABLED_AND_ASKED)
    assert len(known) == 6
    assert not {one.problem.question for one in known} & {one.problem.question for one in asked}
    described_anew(tmp_path)
    again = CliRunner().invoke(app, ["adopt", *options])
    assert "choose another folder" in str(again.exception)


def test_the_lookup_table_knows_the_kinds_that_a_table_asks():
    for table in ("test", "familiar", "adjacent"):
        known = {problem.cell for problem in curriculum.tabled(table, "response", 600, 1)}
        asked = [problem.cell for problem in curriculum.measured(table, "response", 200, 1)]
        assert sum(cell in known for cell in asked) > 0.9 * len(asked)


def test_what_cannot_be_adopted_is_named(folder, tmp_path):
    nothing = ["--out", str(tmp_path / "run"), "--artefact", str(tmp_path), "--base", str(folder)]
    assert "holds no adapter_model" in str(CliRunner().invoke(app, ["adopt", *nothing]).exception)
    assert not (tmp_path / "run").exists()
    artefact.export(Llama(folder, rank=2, adapted=1), SMALL, {}, "", HEAD, tmp_path)
    with pytest.raises(DataError, match="--base"):
        artefact.adopt(Llama(folder, rank=4, adapted=1), tmp_path)


def test_an_adapter_of_another_model_is_refused(folder, tmp_path):
    stray = {f"base_model.model.model.layers.9.mlp.up_proj.lora_{x}.weight": torch.zeros(2, 2) for x in "AB"}
    with pytest.raises(ValueError, match="does not belong"):
        merge(folder, stray)


def test_another_plan_in_the_same_folder_is_refused(folder, tmp_path):
    Pipeline(folder, tmp_path, SMALL)
    assert plan.Plan.read(tmp_path / "plan.json") == SMALL
    with pytest.raises(DataError, match="another plan"):
        Pipeline(folder, tmp_path, plan.Plan())


def test_the_time_it_takes_is_told_for_every_stage(folder):
    expected = plan.minutes(SMALL, fresh(folder))
    stages = ["warm-start", "samples", "empirical", "brier", "outcome", "finish", "critic", "measured"]
    assert list(expected) == stages
    assert min(expected.values()) > 0
    assert [*plan.minutes(SMALL, fresh(folder), until="brier")] == stages[:4]


def test_padded_attention_is_that_of_one_stretch_after_the_other():
    branches = [
        Branch([4, 5], [Response([6, 7, 8], [1.0] * 3), Response([9], [1.0])]),
        Branch([4], [Response([6] * 7, [1.0] * 7)]),
        Branch([4, 5, 6], [Response([6, 1], [1.0] * 2)]),
    ]
    row = pack([1, 2, 3], branches)
    q, k, v = (torch.randn(1, 4, row.ids.shape[1], 8, requires_grad=True) for _ in range(3))
    ways = OneByOne([*row.masks]), Padded(row.masks, torch.device("cpu"))
    attended = [way(q, k, v) for way in ways]
    torch.testing.assert_close(*attended)
    gradients = [torch.autograd.grad(out.square().sum(), (q, k, v)) for out in attended]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_an_artefact_that_is_too_large_is_refused(folder, tmp_path):
    with pytest.raises(ValueError, match="lower the rank"):
        artefact.export(fresh(folder), SMALL, {}, "", HEAD, tmp_path, limit=10_000)


def test_exact_brier_moves_the_confidence_and_keeps_the_frame(folder, tmp_path):
    vocabulary, model = Vocabulary(folder), fresh(folder)
    ids = [*vocabulary.encode("Answer: 4\nConfidence: 0.50"), vocabulary.end]
    (place,) = vocabulary.confidences(ids)
    weights = [0.0 if i in (place, place + 1) else 1.0 for i in range(len(ids))]
    right, wrong = (Response(ids, weights, Stated((place,), (v,))) for v in (1.0, 0.0))
    rows = [lambda: pack([5, 6], [Branch([10], [right]), Branch([11], [wrong])])] * 60
    training.train(
        model, rows, ExactBrier(vocabulary.digits, strength=3.0, only_digits=0.0), training.Schedule(2e-2), tmp_path
    )
    curve = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert curve[-1]["brier"] < curve[0]["brier"] / 3
    assert curve[-1]["anchor"] < curve[0]["anchor"]


def judged(number: int, cell: str, confidence: float | None, valid: bool, claims=(), text="") -> Sample:
    family, size = cell.split("/")
    problem = Problem(family, int(size), (), "?", "1", (Step(1, "+", 2),))
    graded = Graded(valid, confidence is None, confidence, tuple(claims))
    return Sample(number, problem, "response", (), (), text, True, graded)


def test_figures_stand_beside_a_lookup_table():
    samples = [judged(i, cell, p, v) for i, (cell, p, v) in enumerate(
        [("add/1", 0.9, True), ("add/1", 0.4, False), ("add/9", 0.1, False), ("add/9", 0.2, True), ("add/9", None, False)]
    )]  # fmt: skip
    found = figures(samples)
    assert found["format"] == 0.8
    assert found["auc"]["value"] == pytest.approx(3 / 4)
    assert found["auc_within_cells"]["value"] == 1.0
    assert found["thresholds"] == [
        {"risk_threshold": t, "answered": 0.2, "right": 1.0, "given": 0.5} for t in (0.5, 0.8, 0.9)
    ]
    assert "| finish | 20% | 100% | 50% |" in markdown({"finish": found})
    table = lookup([judged(0, "add/1", 0.5, True), judged(1, "add/9", 0.5, False)], samples)
    assert table == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert figures(samples, table)["auc"]["value"] == pytest.approx(7 / 12)
    assert "| ours | 0.800 |" in markdown({"ours": found})


def test_what_came_right_stands_beside_what_was_stated_by_kind():
    samples = [judged(0, "add/1", 0.9, True), judged(1, "add/1", 0.4, False), judged(2, "add/9", None, False)]
    found = kinds(samples)
    assert found["add/1"] == {"problems": 2, "right": 0.5, "stated": pytest.approx(0.65)}
    assert found["add/9"] == {"problems": 1, "right": 0.0, "stated": 0.0}
    assert "| add/1 | 2 | 0.50 | 0.65 |" in markdown({"finish": {**figures(samples), "kinds": found}})


def test_the_critic_is_measured_along_outputs():
    samples = [judged(0, "add/1", 0.9, True), judged(1, "add/1", 0.4, False), judged(2, "add/9", None, False)]
    rising = Course([0.5, 0.5, 0.6, 0.7, 0.9], [0.5, 0.5, 0.5, 0.6, 0.7], 0.1, 0.0)
    falling = Course([0.5, 0.5, 0.4, 0.3, 0.0], [0.5, 0.5, 0.5, 0.4, 0.3], 0.2, 0.5)
    found = along(samples, [rising, falling, None])
    assert [one["place"] for one in found["places"]] == list(PLACES)
    assert [one["auc"]["value"] for one in found["places"]] == [0.5, 0.5, 1.0, 1.0, 1.0]
    assert [one["mean"] for one in found["places"]] == pytest.approx([0.5, 0.5, 0.5, 0.5, 0.45])
    assert [one["shown_auc"]["value"] for one in found["places"]] == [0.5, 0.5, 0.5, 1.0, 1.0]
    assert (found["step"], found["clipped"]) == (pytest.approx(0.15), 0.25)
    text = markdown({"critic": {**figures(samples), "along": found}})
    assert "| 100% | 1.000" in text
    assert "From token to token 0.150; 25.0% of the values are 0 or 1." in text


def test_a_critic_of_outputs_without_form_has_no_course():
    samples = [judged(0, "add/1", None, False)]
    assert "tokens written" not in markdown({"critic": {**figures(samples), "along": along(samples, [None])}})


def test_auc_within_cells_ignores_pairs_across_them():
    assert auc_within([("a", 0.9, True), ("b", 0.1, False)]).value is None
    assert auc_within([]).value is None
    assert auc_within([("a", 0.5, True), ("a", 0.5, False), ("b", 0.9, False)]).value == 0.5


def test_auc_within_cells_has_the_interval_of_rows_drawn_anew():
    rng = np.random.default_rng(0)
    cells, right = rng.choice(["a", "b", "c"], 200), rng.random(200) < 0.5
    stated = np.round(0.5 * rng.random(200) + 0.2 * right, 1)

    def by_pairs(chosen) -> float:
        pairs = [(i, j) for i in chosen for j in chosen if right[i] and not right[j] and cells[i] == cells[j]]
        return sum((stated[i] > stated[j]) + 0.5 * (stated[i] == stated[j]) for i, j in pairs) / len(pairs)

    found = auc_within(list(zip(cells.tolist(), stated.tolist(), right.tolist(), strict=True)))
    assert found.value == pytest.approx(by_pairs(range(200)))
    drawn = [by_pairs(rng.integers(0, 200, 200)) for _ in range(200)]
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.02)


def test_single_claims_and_their_reasons():
    text = (
        'Solution:\n<Confidence value=0.70 text="no carry in 1 + 2">1 + 2 = 3</Confidence>\n'
        '<Confidence value=0.95 text="sure">3 + 4 = 7</Confidence>\n'
        '<Confidence value=0.20 text="hard">3 * 4 = 7</Confidence>\nAnswer:7'
    )
    sample = judged(0, "add/1", 0.2, False, [(0.7, True), (0.95, True), (0.2, False)], text)
    assert claim_figures([sample])["n"] == 3
    found = doubt([sample])
    assert (found.claims, found.distinct, found.commonest, found.naming) == (2, 2, 0.5, 0.5)
    assert (found.checked, found.true) == (3, 0)


def test_what_ships_can_be_adopted_by_the_plan_of_the_code():
    kept = plan.Plan.of(Manifest.load(ARTEFACT).training)
    assert (kept.rank, kept.adapted) == (plan.Plan().rank, plan.Plan().adapted)
