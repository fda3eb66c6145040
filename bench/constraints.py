"""What forcing an output into a form costs for every token: xgrammar's masks, in CPU time, with SmolLM2's tokenizer.

The claims contract as one expression for the whole output, its tail with steps of any length in which a `<` may stand,
and that tail as an EBNF grammar. No model runs.
"""

import time
from typing import Any

from bench.report import publish

from demur.core.contracts import CONTRACTS, Draft
from demur.core.reader import read
from demur.model import prepare

STEP = (
    '<Confidence value=0.9{i} text="the sum">3 + {i} * x is more than y, so it is {sign} {i}7, '
    "with \\frac{{{i}}}{{2}} left.</Confidence>\n"
)
GRAMMAR = r"""
root ::= "0." [0-9] [0-9]? " text=\"" worry "\">" step "</Confidence>\n" claim* "Answer: " answer
claim ::= "<Confidence value=0." [0-9] [0-9]? " text=\"" worry "\">" step "</Confidence>\n"
worry ::= [^"<>\x00-\x1f\x7f]+
step ::= ([^<\x00-\x1f\x7f] | "<" [ =0-9])+
answer ::= [^<>\x00-\x1f\x7f]+
"""


def solution(sign: str) -> str:
    return "".join(STEP.format(i=i, sign=sign) for i in range(1, 6)) + "Answer: 42"


def mask_times(compiled: Any, text: str, tokenizer: Any, size: int) -> list[float]:
    """Microseconds of CPU for the mask of each token. Raises ValueError where the form does not take the text."""
    import xgrammar

    matcher, mask = xgrammar.GrammarMatcher(compiled), xgrammar.allocate_token_bitmask(1, size)
    times: list[float] = []
    for token in tokenizer.encode(text, add_special_tokens=False):
        began = time.process_time()
        matcher.fill_next_token_bitmask(mask)
        times.append(1e6 * (time.process_time() - began))
        if not matcher.accept_token(token):
            raise ValueError(f"{tokenizer.decode([token])!r} does not fit")
    return times


def main() -> None:
    import xgrammar
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(prepare(kind="base"))
    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer)
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
    claims = CONTRACTS["claims"]
    assert claims.tails is not None
    (tail,) = claims.tails(Draft("", read("", "claims"), cut=False))
    rest, beginning = solution("<").removeprefix("<Confidence value="), "Solution:\n"
    whole = beginning + solution("at most")
    forms = {
        "whole output, no < in a step": (lambda: compiler.compile_regex(claims.pattern), whole),
        "tail, < in a step": (lambda: compiler.compile_regex(tail.pattern), rest),
        "tail as EBNF, < in a step": (lambda: compiler.compile_grammar(GRAMMAR), rest),
    }
    found: dict[str, dict[str, float]] = {}
    for name, (compile_form, text) in forms.items():
        began = time.process_time()
        compiled = compile_form()
        compiling, times = time.process_time() - began, mask_times(compiled, text, tokenizer, info.vocab_size)
        found[name] = {"compile_s": compiling, "mean_us": sum(times) / len(times), "longest_us": max(times)}
    rows = [
        [name, f"{f['compile_s']:.2f}", f"{f['mean_us']:.1f}", f"{f['longest_us']:.0f}"] for name, f in found.items()
    ]
    columns = ["claims contract", "compile (CPU s)", "mean per token (CPU µs)", "longest (CPU µs)"]
    publish("constraints", "Masks of structured outputs", columns, rows, found)


if __name__ == "__main__":
    main()
