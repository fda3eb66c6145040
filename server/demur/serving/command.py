"""What `demur serve` was told -> settings -> a server; everything that is wrong with it is one line."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from demur.serving.engine_args import BadEngineArgument, parse_options, parse_pairs
from demur.serving.engine_loaders import ENGINES
from demur.serving.errors import CannotServe
from demur.serving.server import serve
from demur.settings import Settings

EXIT_CANNOT_SERVE = 1
EXIT_USAGE = 2


def run(chosen: Mapping[str, Any], pairs: Sequence[str], options: Sequence[str]) -> int:
    """Serve; returns the exit code. `pairs` and `options` are for the engine."""
    try:
        settings = Settings(**chosen)
        engine_args = parse_pairs(pairs) | parse_options(options)
        if engine_args and not ENGINES[settings.engine].takes_arguments:
            raise BadEngineArgument(f"{next(iter(engine_args))} means nothing to --engine {settings.engine}")
    except ValidationError as error:
        return _say("; ".join(_problem(detail) for detail in error.errors()), EXIT_USAGE)
    except BadEngineArgument as error:
        return _say(str(error), EXIT_USAGE)
    try:
        return serve(settings, engine_args)
    except CannotServe as error:
        return _say(str(error), EXIT_CANNOT_SERVE)
    except KeyboardInterrupt:
        return 130


def _problem(detail: Any) -> str:
    name = str(detail["loc"][0]) if detail["loc"] else "settings"
    return f"--{name.replace('_', '-')} (DEMUR_{name.upper()}): {detail['msg']}"


def _say(message: str, status: int) -> int:
    print(f"demur: {message}", file=sys.stderr)
    return status
