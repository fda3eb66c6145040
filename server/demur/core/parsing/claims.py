"""The claims contract: private reasoning, `Solution:`, tagged steps, `Answer:` (arXiv:2512.19920, section 3.3)."""

from demur.core.aggregation import aggregate
from demur.core.answers import Aggregation, Claim, Completion, ParsedConfidence, ParseMode
from demur.core.parsing.boxes import last_boxed
from demur.core.parsing.dress import tidy
from demur.core.parsing.events import ClaimRead, Event, Reset, Visible
from demur.core.parsing.kinds import Kind
from demur.core.parsing.lexer import Token
from demur.core.parsing.marks import Marks
from demur.core.parsing.open_claim import OpenClaim
from demur.core.parsing.port import ParserSettings
from demur.core.parsing.values import value_of

_TOLERATED = frozenset({"clipped"})


class ClaimsReader:
    """Shows the solution as it comes. Claims close with their tag; a new `Solution:` line voids the ones before."""

    def __init__(self, settings: ParserSettings, *, in_solution: bool = False) -> None:
        self._settings = settings
        self._mode: ParseMode = settings.mode
        self._aggregation: Aggregation = settings.aggregation
        self._labels = settings.labels
        self._in_solution = in_solution
        self._seen: list[Token] = []  # before any `Solution:` line, in case there never is one
        self._begin()

    def _begin(self) -> None:
        self._visible = Visible()
        self._marks = Marks(self._mode)
        self._claims: list[Claim] = []
        self._running = ParsedConfidence("missing")
        self._open: OpenClaim | None = None
        self._held: list[Token] = []  # from an answer line on: shown only if more of the solution follows
        self._stray = False
        self._over = False  # another question follows the answer: nothing of it is read

    @property
    def running_confidence(self) -> float | None:
        return self._running.value

    def take(self, token: Token) -> list[Event]:
        if token.kind is Kind.TEXT and not self._over:  # as nearly always
            if self._in_solution:
                return self._solution(token)
            self._seen.append(token)
            return []
        if token.kind is Kind.BREAK:
            return []
        if token.kind is Kind.VOID:
            return self._void()
        if self._over:
            return []
        if token.kind is Kind.SOLUTION:
            void = self._in_solution and (self._visible.length > 0 or bool(self._claims))
            self._in_solution, self._seen = True, []
            self._begin()
            return [Reset("solution_restarted")] if void else []
        if not self._in_solution:
            self._seen.append(token)
            return []
        return self._solution(token)

    def _void(self) -> list[Event]:
        """All so far was private reasoning."""
        told = self._visible.length > 0 or bool(self._claims)
        self._in_solution, self._seen = False, []
        self._begin()
        return [Reset("reasoning_ended")] if told else []

    def finish(self) -> tuple[list[Event], Completion]:
        if not self._in_solution and self._mode == "lenient":
            return self._without_heading()
        events: list[Event] = []
        if self._open is not None:
            events = self._end_claim(self._open, "unclosed")
        self._marks.finish()
        return events, self._completion()

    def _without_heading(self) -> tuple[list[Event], Completion]:
        """Lenient: with no `Solution:` line at all, the tags count wherever they stand."""
        whole = ClaimsReader(self._settings, in_solution=True)
        events = [event for token in self._seen for event in whole.take(token)]
        rest, completion = whole.finish()
        self._claims = whole._claims
        return events + rest, completion

    # Inside the solution

    def _solution(self, token: Token) -> list[Event]:
        if self._open is not None:
            return self._in_claim(self._open, token)
        if token.kind is Kind.TEXT and not self._held:
            return self._prose(token.raw)
        match token.kind:
            case Kind.CLAIM_OPEN:
                return self._flush() + self._start_claim(token)
            case Kind.ANSWER:
                events = self._flush()
                self._marks.take(token)
                self._held = [token]
                return events
            case Kind.CONFIDENCE:
                self._hold(token)
                return []
            case Kind.TURN if self._answered():
                self._over = True
                return []
            case _:
                if self._held:
                    self._hold(token)
                    return []
                return self._prose(token.raw)

    def _answered(self) -> bool:
        self._marks.finish()
        return bool(self._held) and self._marks.answer is not None

    def _hold(self, token: Token) -> None:
        self._marks.take(token)
        self._held.append(token)

    def _flush(self) -> list[Event]:
        """More of the solution follows: what was held is text after all, but for the answer line itself."""
        lines = "".join(token.raw for token in self._held).split("\n", 1)
        self._held = []
        return self._prose("\n" + lines[1]) if len(lines) > 1 else []

    def _prose(self, raw: str) -> list[Event]:
        self._stray = self._stray or bool(raw.strip())
        return self._visible.write(raw)

    # Inside a claim

    def _start_claim(self, token: Token) -> list[Event]:
        self._open = OpenClaim(token)
        return self._visible.write("\n") if not self._visible.at_gap else []

    def _in_claim(self, claim: OpenClaim, token: Token) -> list[Event]:
        if token.kind is Kind.TEXT and claim.explaining:
            claim.explanation.append(token.raw)
            return []
        if token.kind is Kind.CLAIM_OPEN:
            return [*self._end_claim(claim, "unclosed"), *self._solution(token)]
        if token.kind is Kind.CLAIM_CLOSE:
            return self._end_claim(claim, None)
        if token.kind is Kind.EXPLANATION_END and claim.explaining:
            claim.end_explanation(token)
            return []
        if claim.explaining:
            claim.explanation.append(token.raw)
            return []
        if claim.held or token.kind is Kind.ANSWER:
            claim.held.append(token)  # an answer line belongs to the step only if the step still closes
            return []
        return claim.step(token.raw, self._visible)

    def _end_claim(self, claim: OpenClaim, problem: str | None) -> list[Event]:
        events = claim.broken_off(self._visible) if claim.explaining else []
        held, after = (claim.held, []) if problem is None else ([], claim.held)
        events += claim.step("".join(token.raw for token in held), self._visible)
        read = claim.finish(self._visible, self._mode, problem)
        self._open = None
        self._claims.append(read)
        known = [read.confidence] if len(self._claims) == 1 else [self._running.value, read.confidence]
        self._running = aggregate(known, self._aggregation)
        events.append(ClaimRead(len(self._claims) - 1, read))
        return events + [event for token in after for event in self._solution(token)]

    def _completion(self) -> Completion:
        answer = self._marks.answer
        if answer is None and self._mode == "lenient":
            answer = tidy(last_boxed(self._visible.text), self._mode)
        elif answer is not None and self._mode == "lenient":
            answer = value_of(answer, self._labels).answer
        stated = self._running if self._claims else aggregate([])
        problems = [*stated.problems, *self._form_problems(answer)]
        broken = [p for claim in self._claims for p in claim.problems if p not in _TOLERATED]
        return Completion(
            contract="claims",
            answer=answer,
            confidence=stated.value,
            state=stated.state,
            text=self._visible.text,
            claims=tuple(self._claims),
            problems=tuple(problems),
            violation=self._mode == "strict" and bool(problems or broken),
        )

    def _form_problems(self, answer: str | None) -> list[str]:
        problems = [] if self._in_solution else ["solution_missing"]
        if answer is None:
            problems.append("answer_missing")
        elif self._mode == "strict" and not self._marks.ends_with(Kind.ANSWER):
            problems.append("not_the_last_lines")
        if self._mode == "strict" and self._stray:
            problems.append("text_outside_claims")
        return problems
