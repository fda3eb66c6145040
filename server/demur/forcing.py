"""Regular expressions that force a model to keep a contract: for models that nobody trained to.

A forced form is always readable, never calibrated. Each expression is bounded, so that a sample ends by itself, and
uses nothing but classes, groups and counted repetition, which every structured-output backend of vLLM compiles.
"""

from collections.abc import Mapping

from demur.core.answers import Contract

# A line is one line: no control characters. No field is empty: what it begins with is no white space of any script.
# The classes are spelled out because xgrammar's negated ones end at \x7f.
_REST = r"\x00-\x1f\x7f"
_WIDE = r"\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u2030-\u205e\u2060-\u2fff\u3001-\U0010ffff"
_LINE = rf"[!-~{_WIDE}][^{_REST}]{{0,119}}\n"
_PROBABILITY = r"(0\.[0-9]{1,2}|1\.0)"

# No `<`, so that no tag begins inside a step. To allow it where no tag can begin takes a choice inside a counted
# repetition, which makes xgrammar some hundred times slower for every token.
_STEP = rf"[!-;=-~{_WIDE}][^<{_REST}]{{0,119}}"
_WHY = rf'[!#-;=?-~{_WIDE}][^"<>{_REST}]{{0,47}}'
_CLAIM = rf'<Confidence value={_PROBABILITY} text="{_WHY}">{_STEP}</Confidence>\n'
_UNTAGGED = rf"[!-;=?-~{_WIDE}][^<>{_REST}]{{0,59}}"

_CONSTRAINTS: Mapping[Contract, str] = {
    "response": rf"({_LINE}){{0,4}}Answer: [!-~{_WIDE}][^{_REST}]{{0,59}}\nConfidence: {_PROBABILITY}",
    "claims": rf"({_LINE}){{0,2}}Solution:\n({_CLAIM}){{1,6}}Answer: {_UNTAGGED}",
    "explicit_risk": rf"({_LINE}){{0,4}}Answer: (<IDK>|{_UNTAGGED})",
}


def constraint(contract: Contract) -> str:
    """The regular expression for `Sampling.constraint` that a whole output under `contract` has to match.

    Response: at most 4 lines of 120 characters, then the answer and a confidence. Claims: at most 2 such lines, then
    1 to 6 claims and the answer. Explicit risk: at most 4 lines, then the answer or `<IDK>` (paper section 3.2.1).
    """
    return _CONSTRAINTS[contract]
