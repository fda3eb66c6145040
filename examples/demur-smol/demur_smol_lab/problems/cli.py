"""`demur-smol-lab problems`: write the problems of graded difficulty as files."""

from pathlib import Path
from typing import Annotated

import typer

from demur_smol_lab.problems.splits import split_of


def write_problems(
    out: Annotated[Path, typer.Option(help="Folder for one file a split.")] = Path("problems"),
    gsm8k: Annotated[Path | None, typer.Option(help="GSM8K's train.jsonl: adds its short problems.")] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same problems.")] = 0,
) -> None:
    """Write problems of graded difficulty: train, validation, test, and families never trained on (transfer).

    Splits go by the numbers in a problem, so no other wording of a test problem is in training.
    """
    from demur_smol_lab.problems.files import SIZES, write
    from demur_smol_lab.problems.gsm8k import read_gsm8k
    from demur_smol_lab.problems.mix import distinct

    school = list(read_gsm8k(gsm8k)) if gsm8k else []
    for split, size in SIZES.items():
        chosen = distinct(split, size, seed) + [p for p in school if split_of(p) == split]
        count = write(chosen, out / f"{split}.jsonl", split)
        typer.echo(f"{out / split}.jsonl: {count:,} problems")
