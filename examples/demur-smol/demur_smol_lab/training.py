"""The optimiser loop of every stage: one packed row a step, checkpoints that a kill cannot spoil, a curve."""

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from tqdm import tqdm

from demur_smol_lab.llama import Llama
from demur_smol_lab.packing import LazyRow, PackedRow

AHEAD = 3
"""How many rows are packed before their turn."""

Loss = Callable[[Llama, PackedRow], tuple[Tensor, dict[str, float]]]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Learning rate: up over `warm_up` steps, then down in a line to a twentieth."""

    rate: float
    warm_up: int = 10

    def at(self, step: int, steps: int) -> float:
        if step < self.warm_up:
            return self.rate * (step + 1) / self.warm_up
        return self.rate * max(0.05, (steps - step) / max(1, steps - self.warm_up))


def train(model: Llama, rows: Sequence[LazyRow], loss: Loss, schedule: Schedule, out: Path, *, every: int = 20) -> None:
    """Take one step for each row. Goes on from `out/progress.pt` if it is there; leaves `out/adapter.pt`.

    `out/curve.jsonl` has one line a step. A finished stage is not run again.
    """
    out.mkdir(parents=True, exist_ok=True)
    if (out / "adapter.pt").exists():
        load_adapter(model, out / "adapter.pt")
        return
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=schedule.rate, betas=(0.9, 0.98), weight_decay=0.0)
    first = _resume(model, optimizer, out / "progress.pt")
    _cut(out / "curve.jsonl", first)
    with (out / "curve.jsonl").open("a") as curve:
        packed = _ahead(rows[first:], model.device)
        bar = tqdm(packed, initial=first, total=len(rows), desc=out.name, unit="step")
        for step, row in enumerate(bar, first):
            began = time.monotonic()
            value, figures = loss(model, row)
            for group in optimizer.param_groups:
                group["lr"] = schedule.at(step, len(rows))
            optimizer.zero_grad()
            value.backward()
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            spent = {"tokens": row.ids.shape[1], "seconds": round(time.monotonic() - began, 2)}
            curve.write(json.dumps({"step": step, "loss": value.item(), **figures, **spent}) + "\n")
            curve.flush()
            if (step + 1) % every == 0:
                _save(
                    {"step": step + 1, "model": adapter(model), "optimizer": optimizer.state_dict()},
                    out / "progress.pt",
                )
    save_adapter(model, out)
    (out / "progress.pt").unlink(missing_ok=True)


def _ahead(rows: Sequence[LazyRow], device: torch.device) -> Iterator[PackedRow]:
    """The rows packed while earlier ones are learned from: a GPU would else wait for them."""
    with ThreadPoolExecutor(1) as pool:
        waiting = deque[Future[PackedRow]]()
        for row in rows:
            waiting.append(pool.submit(lambda row=row: row().to(device)))
            if len(waiting) > AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def adapter(model: Llama) -> dict[str, Tensor]:
    """The trainable tensors by name."""
    return {name: p.detach().clone() for name, p in model.named_parameters() if p.requires_grad}


def load_adapter(model: Llama, path: Path) -> None:
    """Put saved adapter tensors into the model."""
    _put(model, torch.load(path, weights_only=True, map_location="cpu"))


def save_adapter(model: Llama, out: Path) -> None:
    """The model's adapters as a finished stage."""
    out.mkdir(parents=True, exist_ok=True)
    _save(adapter(model), out / "adapter.pt")


def _put(model: Llama, tensors: dict[str, Tensor]) -> None:
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, tensor in tensors.items():
            parameters[name].copy_(tensor)


def _resume(model: Llama, optimizer: torch.optim.Optimizer, path: Path) -> int:
    if not path.exists():
        return 0
    state = torch.load(path, weights_only=True, map_location="cpu")
    _put(model, state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["step"]


def _cut(curve: Path, steps: int) -> None:
    """Leave out the steps that were taken but not saved: they will be taken again."""
    if curve.exists():
        curve.write_text("".join(curve.read_text().splitlines(keepends=True)[:steps]))


def _save(content: object, path: Path) -> None:
    """Whole or not at all."""
    part = path.with_suffix(".part")
    torch.save(content, part)
    os.replace(part, path)
