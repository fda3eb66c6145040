"""The port's values as vLLM's, and vLLM's as the port's."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
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
    from vllm.sampling_params import SamplingParams

_FINISH_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "repetition": "stop",
    "length": "length",
    "abort": "abort",
}


def sampling_params(sampling: Sampling, seeding: Seeding) -> "SamplingParams":
    """For one sample whose output comes in pieces; `seeding` says who draws if it has a seed.

    Raises RequestRefused for a seed that nobody can draw with, ValueError for settings vLLM refuses.
    """
    from vllm.sampling_params import RequestOutputKind, SamplingParams, StructuredOutputsParams

    if seeding == "none" and sampling.seed is not None:
        raise RequestRefused("this server runs speculative decoding on a CPU, where a seed is not safe", "seed")
    constraint = sampling.constraint
    return SamplingParams(
        max_tokens=sampling.max_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        seed=sampling.seed if seeding == "engine" else None,
        extra_args={SEED: sampling.seed} if seeding == "processor" and sampling.seed is not None else None,
        structured_outputs=None if constraint is None else StructuredOutputsParams(regex=constraint),
        # Never prompt_logprobs: a request with them does not read the prefix cache.
        logprobs=sampling.logprobs,
        output_kind=RequestOutputKind.DELTA,
    )


def chunk(output: "RequestOutput", prompt_tokens: int, completion_tokens: int, texts: TokenTexts | None) -> Chunk:
    """One piece of a sample that had `completion_tokens` before it. `texts` is there where log-probabilities are told.

    Raises EngineError when vLLM gave the sample up.
    """
    [piece] = output.outputs
    finish = piece.finish_reason
    if finish is not None and finish not in _FINISH_REASONS:
        raise EngineError(f"vLLM ended the sample with {finish!r}")
    return Chunk(
        text=piece.text,
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
    """vLLM's errors inside the block come out as those of the port."""
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
