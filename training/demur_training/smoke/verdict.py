"""The verdict of the end-to-end smoke test: what has to hold after each stage, whatever machine it ran on."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from demur_training.smoke import toy_task
from demur_training.smoke.end_to_end import CRITIC_LOSS, Change, EndToEndSmoke


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that has to hold, and the figures that say whether it does."""

    what: str
    held: bool
    seen: str

    def line(self) -> str:
        """For a terminal or a log."""
        return f"{'ok' if self.held else 'FAILED':7} {self.what}: {self.seen}"


def run(smoke: EndToEndSmoke, *, serve: bool = True) -> Iterator[Check]:
    """Run all stages; the checks of each come as it ends. Raises RuntimeError when a command fails."""
    smoke.prepare()
    longest = smoke.rehearse()
    held = longest.output_tokens == smoke.longest_output
    yield Check("a rehearsal lets every output run to its limit", held, longest.sentences()[0])
    yield from _training(smoke)
    yield from _critic(smoke)
    if serve:
        yield from _serving(smoke)


def summary(checks: list[Check]) -> str:
    """The verdict in one line."""
    failed = [check.what for check in checks if not check.held]
    return f"FAILED: {'; '.join(failed)}" if failed else f"PASSED: all {len(checks)} checks"


def _training(smoke: EndToEndSmoke) -> Iterator[Check]:
    reward = smoke.train()
    honest = f"honest confidences earn {toy_task.best_reward():.3f}"
    yield Check("the mean reward of PPO rises", reward.rose, f"{_moved(reward)}; {honest}")
    loss = smoke.change("brier", CRITIC_LOSS)
    yield Check("the loss of its critic falls", loss.fell, _moved(loss))
    wanted, logged = list(range(1, smoke.sizes.steps + 1)), smoke.steps_logged("brier")
    yield Check(
        "a run killed with -9 goes on from its checkpoint, every step logged once",
        logged[-len(wanted) :] == wanted,
        f"killed in step {smoke.sizes.killed_at}, {len(logged)} steps logged",
    )


def _critic(smoke: EndToEndSmoke) -> Iterator[Check]:
    loss = smoke.train_critic()
    yield Check("a critic learns beside a model that stays as it is", loss.last < loss.first, _moved(loss))
    found = smoke.study_critic_position()
    yield Check(
        "its value before the last token says how likely the answer is right",
        found.chosen < 0.8 * found.constant,  # the last token's is not looked at: nothing trains that
        f"Brier score {found.chosen:.3f}, at the last token {found.last:.3f}, of stating the share of right answers"
        f" each time {found.constant:.3f}",
    )


def _serving(smoke: EndToEndSmoke) -> Iterator[Check]:
    before, after = smoke.evaluate("base"), smoke.evaluate("model")
    yield Check("the exported model answers every question", after["n"] == smoke.sizes.test, f"{after['n']} answers")
    for name, held in {
        "brier": after["brier"]["high"] < before["brier"]["low"],
        "smece": after["smece"]["value"] < before["smece"]["value"],
    }.items():
        yield Check(f"its {name} is lower than the base model's", held, _compared(before[name], after[name]))
    chance = sum(1 / sides for sides in toy_task.SIDES) / len(toy_task.SIDES)
    accuracy = after["accuracy"]
    yield Check(
        "it is right as often as a die allows",
        accuracy["low"] < chance < accuracy["high"],
        f"{accuracy['value']:.3f} [{accuracy['low']:.3f}, {accuracy['high']:.3f}], chance {chance:.3f}",
    )


def _moved(change: Change) -> str:
    return f"{change.first:.3f} -> {change.last:.3f}, trend z = {change.z:+.1f}"


def _compared(before: dict[str, Any], after: dict[str, Any]) -> str:
    return " -> ".join(f"{one['value']:.3f} [{one['low']:.3f}, {one['high']:.3f}]" for one in (before, after))
