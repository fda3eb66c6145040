"""An answer and a confidence in an object: JSON, as Python writes one, or nearly so."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from demur.core.parsing.labels import LABELS, Labels

_MOST_OBJECTS, _LONGEST_LITERAL = 16, 10_000
_STRING_KEY_FRACTION = re.compile(
    r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|([A-Za-z_$][\w$]*+)(?=\s{0,8}:)|(?<=[\s:])(\d{1,9}\s?/\s?\d{1,9})(?=\s{0,8}[,}])"
)
_BEGINS_OBJECT = re.compile(r"\{\s{0,40}(?:\"[^\"\n]{0,80}\"|'[^'\n]{0,80}'|[A-Za-z_$][\w$]{0,40})\s{0,8}:")
_ESCAPE = re.compile(
    r"\\(?:[\"\\/]|u[0-9a-fA-F]{4}"
    r"|(?P<tex>[bf](?=[a-zA-Z])|n(?=(?:eq?|u|abla|ot|eg|mid)(?![a-zA-Z]))"
    r"|t(?=(?:imes|heta|an|au|o|riangle|herefore|frac|ext(?:bf|it|rm)?)(?![a-zA-Z]))|r(?=(?:ight|ho|angle)(?![a-zA-Z]))"
    r"|[^bfnrt])|.)",
    re.DOTALL,
)
"""A backslash in a JSON string; `tex` where it begins a command and stands alone by mistake."""


class Pair(NamedTuple):
    """An answer and the confidence stated for it, each as written; None where absent."""

    answer: str | None = None
    stated: str | None = None


def in_json(text: str, labels: Labels = LABELS) -> Pair | None:
    """The last object, in JSON or nearly so, that has an answer; TeX that was not escaped stays TeX."""
    for found in _objects(text):
        by_name = {_name(key): value for key, value in found.items() if isinstance(key, str)}
        answer = [value for key, value in by_name.items() if key in labels.answer]
        stated = [value for key, value in by_name.items() if key in labels.confidence]
        if answer:
            return Pair(_written(answer[-1]), _written(stated[-1]) if stated else None)
    return None


def _objects(text: str) -> Iterator[Mapping[Any, Any]]:
    """Objects from the last to the first, the inner before the outer."""
    decoder, start = json.JSONDecoder(), len(text)
    end = text.rfind("}") + 1
    for _ in range(_MOST_OBJECTS):
        start = text.rfind("{", 0, start)
        if start < 0:
            return
        found = _decoded(decoder, text, start)
        if found is None and 0 < end - start <= _LONGEST_LITERAL and _BEGINS_OBJECT.match(text, start):
            found = _nearly_json(text[start:end])
        if isinstance(found, dict):
            yield found


def _decoded(decoder: json.JSONDecoder, text: str, start: int) -> Any:
    piece = text[start : start + _LONGEST_LITERAL]
    try:
        return decoder.raw_decode(_with_tex(piece))[0] if "\\" in piece else decoder.raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None


def _with_tex(text: str) -> str:
    r"""`\frac` in a JSON string is a form feed and "rac": its backslash was meant, as in `\sqrt` and `\(`."""
    return _ESCAPE.sub(lambda match: "\\" + match[0] if match["tex"] else match[0], text)


def _nearly_json(text: str) -> Any:
    """As Python or JavaScript writes one."""
    quoted = _STRING_KEY_FRACTION.sub(lambda match: f'"{match[1] or match[2]}"' if match.lastindex else match[0], text)
    for form in (text, quoted, re.sub(r"\b(?:null|undefined|NaN)\b", "None", quoted)):
        try:
            return ast.literal_eval(form)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
    return None


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | int | float | list | dict) else None


def _name(key: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key)
    return spaced.replace("_", " ").replace("-", " ").strip().lower()
