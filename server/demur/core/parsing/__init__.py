"""The parsers behind `demur.core.reader`: completion text -> answer, confidence, claims, or why not.

`grammar` knows labels (`labels`, by language; `before_labels`) and `tags` (`templates` has the special tokens), `lexer`
cuts the text into tokens of several `kinds`, `segments` tells final text from thought. `response`, `explicit_risk` and
`claims` (`open_claim`) implement the `port` that turns tokens into what a person sees and what was stated: `marks`
collects labelled values and `pairing` pairs them, `turns` ends where a model goes on after its answer; `objects`,
`sentences`, `unlabelled`, `boxes` and `sentence_confidence` find what has no label, `values` and `dress` take off what
is no part of an answer. `stated_confidence` reads what stands for a probability: `spelling` first, then `stated_scales`
and `written_numbers`.
"""

from demur.core.parsing.events import ClaimRead, Delta, Event, FieldRead, Reset, fold, merge_deltas
from demur.core.parsing.port import OutputParser, ParserSettings
from demur.core.parsing.stated_confidence import read_claim_value, read_probability

__all__ = [
    "ClaimRead",
    "Delta",
    "Event",
    "FieldRead",
    "OutputParser",
    "ParserSettings",
    "Reset",
    "fold",
    "merge_deltas",
    "read_claim_value",
    "read_probability",
]
