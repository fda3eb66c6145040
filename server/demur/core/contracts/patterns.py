"""Parts of the regular expressions that force an output into its form (structured outputs).

A forced form is always readable, never calibrated. Each expression is bounded, so that a sample ends by itself, and
uses nothing but classes, groups and counted repetition, which every structured-output backend of vLLM compiles.
"""

# A line is one line: no control characters. No field is empty: what it begins with is no white space of any script.
# The classes are spelled out because xgrammar's negated ones end at \x7f.
CONTROL = r"\x00-\x1f\x7f"
WIDE = r"\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u2030-\u205e\u2060-\u2fff\u3001-\U0010ffff"
"""Printable characters beyond ASCII that are no white space."""
LINE = rf"[!-~{WIDE}][^{CONTROL}]{{0,119}}\n"
"""One line of reasoning, at most 120 characters."""
PROBABILITY = r"(0\.[0-9]{1,2}|1\.0)"
UNTAGGED = rf"[!-;=?-~{WIDE}][^<>{CONTROL}]{{0,59}}"
"""An answer of at most 60 characters in which no tag can begin."""
WORRY = rf'[!#-;=?-~{WIDE}][^"<>{CONTROL}]{{0,47}}'
"""What could be wrong with a step, at most 48 characters of an attribute."""
