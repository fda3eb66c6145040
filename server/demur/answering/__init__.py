"""From a question to an answer with its confidence; no HTTP, no vLLM."""

from demur.answering.active import ActiveRequest
from demur.answering.errors import AnsweringError
from demur.answering.events import Event, Final
from demur.answering.ids import new_id
from demur.answering.params import RequestParams, UnresolvedRequest
from demur.answering.response import Answer
from demur.answering.service import Answerer

__all__ = [
    "ActiveRequest",
    "Answer",
    "Answerer",
    "AnsweringError",
    "Event",
    "Final",
    "RequestParams",
    "UnresolvedRequest",
    "new_id",
]
