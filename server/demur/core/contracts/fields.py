"""The fields contract: JSON of the caller's own schema, each plain value with its own confidence."""

import json

from demur.core.contracts.base import Contract, Solution
from demur.core.decision_rules import by_fields
from demur.core.parsing.fields import FieldsReader

_TEMPLATE = """{task} Reply with JSON and nothing else. It has the form of the JSON Schema below, but each plain value \
(text, number, true, false or null) is written as a pair: the value, then the chance in percent, from 0 to 100, that \
it is right, such as ["Lisbon",87] or [1755,62].
Schema: {schema}

{question}"""


def _render(solution: Solution) -> str:
    """An object with the answer as its only value."""
    return json.dumps({"answer": [solution.answer, round(100 * solution.confidence)]}, separators=(",", ":"))


FIELDS = Contract(
    name="fields",
    summary="JSON of the caller's own schema, each value with its own confidence",
    template=_TEMPLATE,
    pattern="",
    parser=FieldsReader,
    render=_render,
    recognizes=lambda output: False,
    decide=by_fields,
    takes_schema=True,
)
