"""An answer as HTML for a notebook.

Every piece of model text is escaped, and styles stand on the elements themselves. Tints are translucent and text
keeps its colour, so that it reads in light and dark; doubt is also marked by a dashed line, a sign and a list.
"""

from __future__ import annotations

from html import escape

from .untrusted import clean
from .values import AnswerValues, Claim
from .wording import decision_line, percent, segments

_BOX = "border-left:4px {line} hsla({hue},70%,45%,.9);padding:.25em .75em;color:inherit;background:transparent"
_CLAIM = "background:hsla({hue},{saturation}%,50%,.22);border-bottom:2px {line} hsla({hue},{saturation}%,45%,.9)"
_SIGN = "⚠"
_DOUBT = "font-size:.75em;font-weight:bold;white-space:nowrap"


def html(answer: AnswerValues) -> str:
    """A `div` with the text, its claims tinted, the doubts with the model's reasons, and the verdict."""
    hue, line = (_hue(answer.confidence), "solid") if answer else (0, "dashed")
    parts: list[str] = []
    if answer.text:
        parts.append(f'<div style="white-space:pre-wrap;line-height:1.7">{_text(answer.text, answer.claims)}</div>')
    if answer.highlighted:
        parts.append(f"<ul>{''.join(_doubt(claim) for claim in answer.highlighted)}</ul>")
    parts.append(f'<div style="white-space:pre-line"><strong>{_safe(decision_line(answer, _SIGN))}</strong></div>')
    return f'<div class="demur-answer" style="{_BOX.format(hue=hue, line=line)}">{"".join(parts)}</div>'


def _text(text: str, claims: tuple[Claim, ...]) -> str:
    pieces = segments(text, claims)
    return "".join(_safe(piece) if claim is None else _claim(piece, claim) for piece, claim in pieces)


def _claim(text: str, claim: Claim) -> str:
    line = "dashed" if claim.highlighted else "solid"
    saturation = 0 if claim.confidence is None else 75
    style = _CLAIM.format(hue=_hue(claim.confidence), saturation=saturation, line=line)
    title = _safe(f"{percent(claim.confidence)}: {claim.explanation}")
    sign = f' <span style="{_DOUBT}">{_SIGN} {percent(claim.confidence)}</span>' if claim.highlighted else ""
    return f'<span style="{style}" title="{title}">{_safe(text)}{sign}</span>'


def _doubt(claim: Claim) -> str:
    why = f" — {_safe(claim.explanation)}" if claim.explanation.strip() else ""
    return f"<li>{_SIGN} {percent(claim.confidence)}: {_safe(claim.text)}{why}</li>"


def _hue(confidence: float | None) -> int:
    """Red at 0, green at 1."""
    return round(120 * min(max(confidence or 0.0, 0.0), 1.0))


def _safe(text: str) -> str:
    return escape(clean(text), quote=True)
