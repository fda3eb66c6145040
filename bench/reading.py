"""How often outputs are read as a person reads them, by kind: cases after public reports, and real outputs."""

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from bench.report import publish

from demur.core.equivalence import same_answer
from demur.core.reader import read
from demur.grading import Grader

DATA = Path(__file__).parents[1] / "tests" / "data"
KINDS = {
    "A": "spellings of one number, and what follows it",
    "B": "expressions: parts, powers, scales",
    "C": "thought, channels, other turns",
    "D": "numbers in prose that are no confidence",
    "E": "answers over lines, and their dress",
    "F": "scales",
    "G": "common forms of labels",
    "H": "pairs that naive graders take for equal",
    "I": "pairs that are equal and look different",
    "K": "run-on turns, echoes, corrections",
    "L": "markup that is the answer",
    "keep": "pairs beside those of I that stay different",
}


def verdict(case: dict[str, Any]) -> str:
    """ "right", "refused" where something stood, or "wrong" where something else was read."""
    found = read(case["text"], "response", scale=case.get("scale"), thought_counts=case.get("thought_counts", False))
    answer, confidence = case["answer"], case["confidence"]
    right_answer = found.answer == answer or (
        found.answer is not None and answer is not None and same_answer(found.answer, answer)
    )
    if confidence is None or found.confidence is None:
        right_confidence = confidence is found.confidence
    else:
        right_confidence = abs(confidence - found.confidence) < 1e-6
    if right_answer and right_confidence:
        return "right"
    refused = (right_answer or found.answer is None) and (right_confidence or found.confidence is None)
    return "refused" if refused else "wrong"


def main() -> None:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in (DATA / "public_cases.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        counts[f"{case['kind']}: {KINDS.get(case['kind'], 'other')}"][verdict(case)] += 1
    with Grader() as grader:
        for line in (DATA / "public_pairs.jsonl").read_text(encoding="utf-8").splitlines():
            pair = json.loads(line)
            found = grader.same(pair["a"], pair["b"])
            verdict_of = "right" if found is pair["same"] else "wrong" if found else "refused"
            counts[f"{pair['kind']}: {KINDS[pair['kind']]}"][verdict_of] += 1
    recorded = gzip.decompress((DATA / "reading" / "recorded.jsonl.gz").read_bytes()).decode().splitlines()
    for row in map(json.loads, recorded):
        found = read(row["text"], "response", thought_counts=True).confidence
        same = found == row["recorded"] or (
            None not in (found, row["recorded"]) and abs(found - row["recorded"]) < 1e-6
        )
        name = "recorded confidences of " + row["source"].partition(":")[0]
        counts[name]["right" if same else "refused" if found is None else "wrong"] += 1
    columns = ("right", "refused", "wrong")
    rows = [(name, *(f"{count[column]:,}" for column in columns)) for name, count in sorted(counts.items())]
    publish("reading", "read as a person does", ("kind", *columns), rows, {name: dict(c) for name, c in counts.items()})


if __name__ == "__main__":
    main()
