"""The parser of the response contract: free reasoning, then labelled last lines."""

import re
from functools import cache

from demur.core.answers import Completion, ParseMode
from demur.core.parsing.boxes import last_boxed
from demur.core.parsing.dress import same_words, tidy, unwrapped_markup
from demur.core.parsing.events import Event, Reset, Visible
from demur.core.parsing.kinds import Kind
from demur.core.parsing.labels import Labels
from demur.core.parsing.lexer import Token
from demur.core.parsing.marks import Marks
from demur.core.parsing.objects import in_json
from demur.core.parsing.port import ParserSettings
from demur.core.parsing.sentence_confidence import sentence_confidence
from demur.core.parsing.sentences import said_to_be, without_quotes
from demur.core.parsing.stated_confidence import read_probability
from demur.core.parsing.stated_scales import label_scale
from demur.core.parsing.tries import any_case
from demur.core.parsing.turns import TrailingText
from demur.core.parsing.unlabelled import after_hashes, answer_behind, best_guess, in_table, last_part
from demur.core.parsing.values import value_of

_ANSWERS = {Kind.ANSWER, Kind.ANSWER_OPEN}
_CONFIDENCES = {Kind.CONFIDENCE, Kind.CONFIDENCE_OPEN}
_MOST_SEPARATORS, _MOST_MARKS = 8, 3
"""Characters before a label for the confidence on the line of an answer, and between it and its colon."""
_SEPARATOR = rf"[\s;,.…(|\[/*_。；，-]{{0,{_MOST_SEPARATORS}}}"
_MINE = "my "
_LONGEST_BESIDE = 300
_VALUE_AT_END = re.compile(r"[:=：]\s{0,3}([^\n]{1,60})$", re.MULTILINE)
_LONGEST_CORRECTION = 3
"""Words."""
_MARKUP_OPENED = re.compile(r"(?:\s{0,4}<(?:br\s?/?|b|i|em|strong|p|span|div)>){1,4}$", re.IGNORECASE)
_BARE = re.compile(r"(?:0?\.\d{1,6}|[01]\.0{1,6}|\d{1,3}\s?%)", re.ASCII)
_IN_BRACKETS = re.compile(
    r"\s{0,4}[(\[][^()\[\]\n]{0,40}(?:sure|confiden|certain|probab)[^()\[\]\n]{0,40}[)\]][\s.]{0,4}$", re.IGNORECASE
)
_LABEL_REMARK = re.compile(
    r"[(\[（]([^()\[\]（）\n]{1,40})[)\]）]|(/[ \t]?\d{1,4}|\s(?:in|as|en|em)\s[^\d\n]{1,16}|[ \t]?[%％]"
    r"|\s(?:from|between|on|out|scale|of)?\b[^:：=\n]{0,24}\d[^:：=\n]{0,24})[ \t*_]{0,4}[:：=]"
)
"""The scale in a label: in brackets, or before the colon."""


class Stretch:
    """One stretch of final text: its labelled values, and all of it for what was said without a label."""

    def __init__(self, mode: ParseMode, start: int) -> None:
        self.marks = Marks(mode)
        self.raw: list[str] = []
        self.start = start
        """Where it begins in the text a person reads."""


class ResponseReader:
    """Shows the text before the last answer; what follows an answer is held until it is known not to be the last."""

    def __init__(self, settings: ParserSettings) -> None:
        self._mode: ParseMode = settings.mode
        self._scale = settings.scale
        self._labels = settings.labels
        self._begin()

    def _begin(self) -> None:
        self._earlier: list[Stretch] = []
        self._visible = Visible()
        self._stretch = Stretch(self._mode, 0)
        self._held: list[str] = []  # from a label on: shown once a later answer proves it part of the text
        self._worth = False  # whether what is held is more than a lone confidence line
        self._run_on = TrailingText(self._labels)

    @property
    def running_confidence(self) -> float | None:
        return None

    def take(self, token: Token) -> list[Event]:
        if token.kind is Kind.TEXT and not self._held and not self._run_on.began:  # as nearly always
            self._stretch.raw.append(token.raw)
            self._stretch.marks.take(token)
            return self._visible.write(token.raw)
        if token.kind is Kind.VOID:
            told = self._visible.length > 0
            self._begin()
            return [Reset("reasoning_ended")] if told else []
        if (token.kind is Kind.TURN or self._run_on.began) and self._run_on.takes(token, self._stretch):
            return []
        if token.kind is Kind.BREAK:
            return self._next_stretch()
        self._stretch.raw.append(token.raw)
        self._stretch.marks.take(token)
        if token.kind in _ANSWERS:
            events = self._release() if self._worth else []
            self._held, self._worth = [token.raw], True
            return events
        if token.kind in _CONFIDENCES or self._held:
            self._held.append(token.raw)
            self._worth = self._worth or self._stretch.marks.trailing
            return []
        return self._visible.write(token.raw)

    def finish(self) -> tuple[list[Event], Completion]:
        before = [event for token in self._run_on.belongs(self._stretch) for event in self.take(token)]
        self._stretch.marks.finish()
        answered = self._stretch.marks.answer is not None
        events = self._release() if self._worth and not answered else []
        return before + events, self._completion()

    def _release(self) -> list[Event]:
        events = self._visible.write("".join(self._held))
        self._held = []
        return events

    def _next_stretch(self) -> list[Event]:
        """Thought stood between: what was answered before it counts only if nothing is answered after it."""
        self._stretch.marks.finish()
        self._earlier.append(self._stretch)
        events = self._release() if self._worth and self._stretch.marks.answer is None else []
        self._stretch, self._held, self._worth = Stretch(self._mode, self._visible.length), [], False
        return events

    def _completion(self) -> Completion:
        answer, stated, scale = self._found(self._stretch)
        if answer is None and self._run_on.follows_short_answer:
            answer = tidy(self._visible.text, "lenient")
        for earlier in reversed(self._earlier):
            if answer is not None:
                break
            before = self._found(earlier)
            answer, stated, scale = before if before[0] is not None else (answer, stated, scale)
        return self._read_as(answer, stated, scale)

    def _read_as(self, answer: str | None, stated: str | None, scale: float | None) -> Completion:
        """What was found, as a completion: `answer` tidied, the confidence as `stated` on a `scale`."""
        reading = read_probability(stated or "", self._mode, scale=scale)
        problems = list(reading.problems)
        if answer is None:
            problems.append("answer_missing")
        elif self._mode == "strict" and not self._stretch.marks.ends_with(Kind.ANSWER, Kind.CONFIDENCE):
            problems.append("not_the_last_lines")
        return Completion(
            contract="response",
            answer=answer,
            confidence=reading.value,
            state=reading.state,
            text=self._visible.text,
            problems=tuple(problems),
            violation=self._mode == "strict" and bool(problems),
        )

    def _found(self, stretch: Stretch) -> tuple[str | None, str | None, float | None]:
        """Answer, confidence as written and its scale, all from one stretch of final text."""
        answer, mark = stretch.marks.answer, stretch.marks.confidence
        stated = None if mark is None else mark.value
        scale = self._scale if mark is None else _scale_of(mark.label) or self._scale
        if self._mode == "lenient":
            answer, stated = self._unlabelled(stretch, answer, stated)
        return answer, stated, scale

    def _unlabelled(self, stretch: Stretch, answer: str | None, stated: str | None) -> tuple[str | None, str | None]:
        """Lenient: what was said without its label, in the forms that other people's models were seen to use."""
        label, quoted = stretch.marks.answer_label, stretch.marks.answer_quoted
        if answer is not None and stated is not None and label[:1].isalpha() and answer.isalnum() and not quoted:
            return answer, stated  # as nearly always
        if answer is not None and quoted:
            own = tidy(said_to_be(without_quotes("".join(stretch.raw)), self._labels), "lenient")
            answer, stated = (answer, stated) if own is None or same_words(own, answer) else (own, None)
        if answer is not None and not stretch.marks.answer_in_code:
            answer, stated = self._beside(answer, stated, label)
        if answer is not None and stated is not None and '"' not in label:
            return answer, stated
        raw = "".join(stretch.raw)
        if answer is None and stated is not None and (pair := answer_behind(stated)):
            answer, stated = tidy(pair.answer, "lenient"), pair.stated
        if (answer is None or '"' in label) and "{" in raw and (pair := in_json(raw, self._labels)):
            return tidy(pair.answer, "lenient"), pair.stated or stated
        if answer is None and "|" in raw and (pair := in_table(raw, self._labels)):
            answer, stated = tidy(pair.answer, "lenient"), pair.stated or stated
        if answer is None and stated is None and (pair := best_guess(raw)):
            answer, stated = tidy(pair.answer, "lenient"), pair.stated
        if answer is None:
            answer = tidy(last_boxed(raw) or after_hashes(raw) or said_to_be(raw, self._labels), "lenient")
        text = self._visible.text[stretch.start :] if stretch is self._stretch else raw
        lines = [line for line in text.split("\n") if line.strip()] if answer is None else []
        lines = [] if lines and lines[0].lstrip().startswith("{") else lines  # an object that is not understood
        if stated is None and len(lines) == 2 and _BARE.fullmatch(lines[1].strip()):
            stated = lines.pop()
        if stated is None and len(lines) == 1 and (match := _beside(lines[0], self._labels)):
            stated = match[1]
        aside = sentence_confidence(raw) if stated is None else None
        if aside is not None:
            stated = aside.stated
            if len(lines) == 1:  # a short answer and how sure, in one line
                rest = _IN_BRACKETS.sub("", lines[0])
                rest = rest if rest != lines[0] else (raw[: aside.start] + raw[aside.end :]).strip()
                lines = [rest or lines[0]]
        if stated is not None and len(lines) == 1:  # a short answer all by itself, and a confidence
            beside = _beside(lines[0], self._labels)
            answer = tidy(lines[0][: beside.start()] if beside else lines[0], "lenient")
        return answer, stated

    def _beside(self, answer: str, stated: str | None, label: str) -> tuple[str | None, str | None]:
        """A labelled answer, and a confidence that stands on its line."""
        both: str | None = None
        if "confidence" in label.lower():
            both_answer, both = last_part(answer)
            answer = both_answer or answer
        stated = stated or both
        found: str | None = answer
        if "correction" in label.lower() and len(answer.split()) > _LONGEST_CORRECTION:  # a remark, not an answer
            found = tidy(said_to_be(answer, self._labels), "lenient")
            return found, stated
        if match := _beside(answer, self._labels):
            found, stated = tidy(_MARKUP_OPENED.sub("", answer[: match.start()]), "lenient"), stated or match[1]
        if found is not None and stated is None and (match := _IN_BRACKETS.search(found)):
            aside = sentence_confidence(match[0])
            if aside is not None:
                found, stated = tidy(found[: match.start()], "lenient"), aside.stated
        if found is None:
            return None, stated
        value = value_of(tidy(unwrapped_markup(found), "lenient") or found, self._labels)
        return value.answer, stated or value.stated


def _beside(line: str, labels: Labels) -> re.Match[str] | None:
    """A label for the confidence near the end of a line, and what stands behind it."""
    start = max(0, len(line) - _LONGEST_BESIDE)
    colon = _VALUE_AT_END.search(line, start)
    if colon is None:
        return None
    form, longest = _confidence_beside(labels)
    return form.search(line, max(start, colon.start() - longest))


@cache
def _confidence_beside(labels: Labels) -> tuple[re.Pattern[str], int]:
    """The form, and the most characters that it takes before its colon."""
    begins = r"(?:\b|(?<=[\u3000-\u9fff]))"
    form = re.compile(
        rf"{_SEPARATOR}{begins}(?:{_MINE})?{any_case(labels.confidence)}[*_\s]{{0,{_MOST_MARKS}}}{_VALUE_AT_END.pattern}",
        re.IGNORECASE | re.MULTILINE,
    )
    return form, _MOST_SEPARATORS + len(_MINE) + max(map(len, labels.confidence)) + _MOST_MARKS


def _scale_of(label: str) -> float | None:
    if label.rstrip(": \t").isalpha():
        return None
    remark = _LABEL_REMARK.search(label)
    return None if remark is None else label_scale(remark[1] or remark[2])
