"""The port's values as vLLM's, and vLLM's as the port's."""

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from demur.engine.base import (
    Chunk,
    EngineDead,
    EngineError,
    EngineOverloaded,
    FinishReason,
    RequestRefused,
    Sampling,
    TokenLogprob,
)
from demur.engine.vllm.arguments import SEED, Seeding
from demur.engine.vllm.detokenize import TokenTexts

if TYPE_CHECKING:
    from vllm.logprobs import Logprob
    from vllm.outputs import RequestOutput
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

_FINISH_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "repetition": "stop",
    "length": "length",
    "abort": "abort",
}


def sampling_params(
    sampling: Sampling, seeding: Seeding, *, shows_special: bool = False, detokenize: bool = True
) -> "SamplingParams":
    """vLLM's sampling parameters for one sample, whole or in pieces as its `step` says; `seeding` says who draws if it
    has a seed, `shows_special` whether special tokens stay in the text, `detokenize` whether vLLM writes that text.

    Raises RequestRefused for a seed that nobody can draw with and as `compact_grammar` does, ValueError for settings
    vLLM refuses.
    """
    from vllm.sampling_params import RequestOutputKind, SamplingParams

    if seeding == "none" and sampling.seed is not None:
        raise RequestRefused("this server runs speculative decoding on a CPU, where a seed is not safe", "seed")
    shaping = sampling.shaping.changed()
    return SamplingParams(
        max_tokens=sampling.max_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        seed=sampling.seed if seeding == "engine" else None,
        extra_args={SEED: sampling.seed} if seeding == "processor" and sampling.seed is not None else None,
        structured_outputs=_forced_form(sampling),
        # Never prompt_logprobs: a request with them does not read the prefix cache.
        logprobs=sampling.logprobs,
        # A whole output wakes nobody before its end: one event of the loop for a sample in place of one for each token.
        output_kind=RequestOutputKind.FINAL_ONLY if sampling.step is None else RequestOutputKind.DELTA,
        stream_interval=sampling.step,
        skip_special_tokens=not shows_special,
        detokenize=detokenize,
        skip_clone=True,  # nobody else holds these: vLLM need not copy them deeply
        **shaping,
    )


def _forced_form(sampling: Sampling) -> "StructuredOutputsParams | None":
    from vllm.sampling_params import StructuredOutputsParams

    if sampling.json_schema is not None:
        return StructuredOutputsParams(grammar=compact_grammar(json.dumps(sampling.json_schema)))
    return None if sampling.constraint is None else StructuredOutputsParams(regex=sampling.constraint)


@lru_cache(maxsize=256)
def compact_grammar(schema: str) -> str:
    """The grammar (EBNF) of a JSON Schema, for JSON without white space between its parts.

    vLLM's own translation allows any amount of it, unless the operator says otherwise for the whole engine: small
    models then write blanks until they are cut off. Raises RequestRefused for what xgrammar cannot translate.
    """
    from xgrammar import Grammar

    try:
        return str(Grammar.from_json_schema(schema, any_whitespace=False, separators=(",", ":")))
    except (RuntimeError, ValueError) as error:
        raise RequestRefused(f"the schema cannot be forced: {error}", "schema") from error


def chunk(
    output: "RequestOutput",
    prompt_tokens: int,
    completion_tokens: int,
    texts: TokenTexts | None,
    text: str | None = None,
) -> Chunk:
    """One piece of a sample that had `completion_tokens` before it. `texts` is there where log-probabilities are told,
    `text` where vLLM wrote none.

    Raises EngineError when vLLM gave the sample up.
    """
    [piece] = output.outputs
    finish = piece.finish_reason
    if finish is not None and finish not in _FINISH_REASONS:
        raise EngineError(f"vLLM ended the sample with {finish!r}")
    return Chunk(
        text=piece.text if text is None else text,
        token_ids=tuple(piece.token_ids),
        finish_reason=_FINISH_REASONS[finish] if finish is not None else None,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens + len(piece.token_ids),
        logprobs=() if texts is None else _logprobs(piece.token_ids, piece.logprobs, texts),
        cached_tokens=output.num_cached_tokens,
    )


def _logprobs(
    token_ids: "Sequence[int]", told: "Sequence[Mapping[int, Logprob] | None] | None", texts: TokenTexts
) -> tuple[TokenLogprob, ...]:
    """vLLM tells the drawn token and the likeliest ones in one mapping. A logarithm may come out just above 0."""
    found = list[TokenLogprob]()
    for token, beside in zip(token_ids, told or (), strict=False):
        text = texts.next(token).encode(errors="surrogatepass")
        if beside is not None:
            likeliest = beside.values() if len(beside) > 1 else ()
            alternatives = tuple((each.decoded_token or "", min(each.logprob, 0.0)) for each in likeliest)
            found.append(TokenLogprob(text, min(beside[token].logprob, 0.0), alternatives))
    return tuple(found)


@contextmanager
def translated_errors() -> Generator[None]:
    """vLLM's errors inside the block come out as those of the port: EngineDead, EngineOverloaded or EngineError."""
    from vllm.exceptions import GracefulHTTPError, VLLMError
    from vllm.v1.engine.exceptions import EngineDeadError

    try:
        yield
    except EngineDeadError as error:
        raise EngineDead("vLLM's engine process is gone") from error
    except GracefulHTTPError as error:  # a queue limit that the operator set is reached
        raise EngineOverloaded(str(error)) from error
    except (VLLMError, ValueError) as error:
        raise EngineError(f"vLLM refuses: {error}") from error
