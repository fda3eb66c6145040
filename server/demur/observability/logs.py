"""Log lines: one for each request, as JSON or for people. No text of prompts or answers unless `log_text` is set."""

import json
import logging
import traceback
from datetime import UTC, datetime

from demur.log_writer import LogWriter

logger = logging.getLogger("demur")


class JsonFormatter(logging.Formatter):
    """One JSON object a line. Fields given as `extra={"fields": {...}}` stand beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["exception"] = describe(record.exc_info[1])
        return json.dumps(line)


class TextFormatter(logging.Formatter):
    """The same for people: message, then the fields as key=value."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).isoformat(sep=" ", timespec="milliseconds")
        fields = "".join(f" {name}={value!r}" for name, value in getattr(record, "fields", {}).items())
        failure = record.exc_info[1] if record.exc_info else None
        cause = f" {describe(failure)}" if failure is not None else ""
        return f"{time} {record.levelname.lower()} {record.name} {record.getMessage()}{fields}{cause}"


def describe(failure: BaseException) -> dict[str, object]:
    """The type and where it came from. The exception's own words are left out: they may quote a prompt."""
    frames = traceback.extract_tb(failure.__traceback__)
    return {
        "type": type(failure).__name__,
        "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


def log_failure(failure: BaseException, request_id: str) -> None:
    """One line for a request that failed through no fault of its caller."""
    logger.error("request failed", extra={"fields": {"request_id": request_id, "exception": describe(failure)}})


def configure_logging(form: str, level: str) -> LogWriter:
    """Send the log lines of this process to standard error in one form, without ever waiting for whoever reads them.

    This program's and uvicorn's from `level` on, warnings and errors of everything else. For the command line only.
    """
    writer = LogWriter(2)
    writer.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    others = level if level in ("debug", "error") else "warning"
    for name, least in (("demur", level), ("uvicorn", others), (None, "warning")):
        named = logging.getLogger(name)
        named.handlers = [writer]
        named.propagate = False
        named.setLevel(least.upper())
    logging.captureWarnings(True)
    return writer
