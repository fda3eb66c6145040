"""From a question to an answer with its confidence; no HTTP, no vLLM."""

from demur.answering.answer import Answer
from demur.answering.answerer import Answerer
from demur.answering.asked import Asked, Question
from demur.answering.errors import AnsweringError
from demur.answering.events import Event, Final
from demur.answering.ids import new_id
from demur.answering.order import Order

__all__ = ["Answer", "Answerer", "AnsweringError", "Asked", "Event", "Final", "Order", "Question", "new_id"]
