"""What a person sees while an answer comes: claims as they close, tinted by confidence, then the verdict.

What is printed stays; in a terminal a few live lines below it show what is still being written. Model text is cleaned
of everything that could drive the terminal.
"""

from collections.abc import Iterator
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from demur_client import (
    Answer,
    AnswerEvent,
    Claim,
    ClaimEvent,
    DeltaEvent,
    Event,
    ProgressEvent,
    ResetEvent,
    SampleEvent,
    Transcript,
)
from demur_client.untrusted import clean, clean_line
from demur_client.wording import decision_line, percent, piece_lines, segments

TINTS = (
    (0.9, "green", "90% or more"),
    (0.7, "cyan", "70% or more"),
    (0.5, "yellow", "50% or more"),
    (0.0, "red", "less"),
)
"""By confidence, from the highest down. Colours of the terminal's own theme read on dark and on light."""

_UNREADABLE = "magenta"
_TAIL = 2000
"""Code points of unfinished text that are kept for the live lines."""
_LIVE_LINES = 6


class Screen:
    """Use it as a context manager and give it each event, together with what the stream has shown so far."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._spinner = Spinner("dots", "asking")
        self._tail = ""
        self._printed = 0  # code points of the transcript's text that stand above the live lines already
        self._live = Live(console=console, get_renderable=self._unfinished, transient=True)

    def show(self, event: Event, transcript: Transcript) -> None:
        """Take one event in."""
        match event:
            case ProgressEvent(tokens):
                self._spinner.update(text=f"{tokens} tokens")
            case DeltaEvent(text):
                self._tail = (self._tail + text)[-_TAIL:]
                self._spinner.update(text="writing")
            case ClaimEvent(_, claim):
                self._print_up_to(claim, transcript.text)
            case SampleEvent():
                self._spinner.update(text=f"{len(transcript.samples)} samples finished")
            case ResetEvent():
                self._call_void("the model started over")
            case AnswerEvent(answer):
                self._finish(answer, transcript.text)

    def __enter__(self) -> None:
        if self._console.is_terminal:
            self._live.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def _unfinished(self) -> Group:
        """The end of what is being written, and a line that says what goes on. Called from rich's own thread."""
        tail = Text(clean(self._tail).strip("\n"), style="dim")
        lines = tail.wrap(self._console, self._console.width) if tail else []
        return Group(*lines[-_LIVE_LINES:], self._spinner)

    def _print_up_to(self, claim: Claim, text: str) -> None:
        """The claim that has just closed, and what stands between it and the one before."""
        start, end = claim.span
        self._print_piece(text[self._printed : start], None)
        self._print_piece(text[max(start, self._printed) : end], claim)
        self._printed, self._tail = max(end, self._printed), ""

    def _print_piece(self, piece: str, claim: Claim | None) -> None:
        for line in piece_lines(piece, claim):
            self._console.print(Text(line, style=_style(claim)))

    def _call_void(self, why: str) -> None:
        if self._printed:
            self._console.print(Text(f"-- {why}: what stands above is void --", style="bold"))
        self._printed, self._tail = 0, ""

    def _finish(self, answer: Answer, shown: str) -> None:
        """The final answer always wins: what stands above is completed, or called void."""
        self._live.stop()
        if answer.text != shown:
            self._call_void("withdrawn")
        self._print_from(self._printed, answer.text, answer.claims)
        if answer.text:
            self._console.print()
        self._console.print(Text(decision_line(answer), style="bold"))
        for line in signal_lines(answer):
            self._console.print(Text(line))
        if answer.claims and _colourful(self._console):
            self._console.print(legend())
        if answer.withheld is not None:
            self._console.print(Text("\nWithheld:", style="bold"))
            if answer.text is None:
                self._print_from(0, answer.withheld.text, answer.withheld.claims)
            self._console.print(Text(f"Answer: {clean_line(answer.withheld.answer or 'none')}"))

    def _print_from(self, start: int, text: str | None, claims: tuple[Claim, ...]) -> None:
        at = 0
        for piece, claim in segments(text or "", claims):
            if at >= start:
                self._print_piece(piece, claim)
            at += len(piece)


def signal_lines(answer: Answer) -> Iterator[str]:
    """Each signal that was asked for, or why it is missing."""
    for name, signal in (answer.signals or {}).items():
        said = percent(signal.value) if signal.value is not None else f"missing: {signal.missing}"
        yield clean_line(f"{name}: {said}")


def legend() -> Text:
    """What the tints mean."""
    text = Text()
    for _, colour, meaning in TINTS:
        text.append(f"■ {meaning}  ", style=colour)
    return text.append("■ none can be read", style=_UNREADABLE)


def _style(claim: Claim | None) -> str:
    if claim is None:
        return ""
    p = claim.confidence
    return _UNREADABLE if p is None else next((colour for least, colour, _ in TINTS if p >= least), TINTS[-1][1])


def _colourful(console: Console) -> bool:
    return console.is_terminal and not console.no_color and console.color_system is not None
