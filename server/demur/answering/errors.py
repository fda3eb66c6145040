"""What can go wrong with a request before or while it is answered, apart from the engine's own errors."""


class AnsweringError(Exception):
    """The request gets no answer. `param` is the request field at fault, None where no single one is.

    AnsweringError
    ├── InvalidRequest      the caller's mistake
    ├── NotAllowed          the operator forbids what was asked for
    ├── UnknownModel        another model is served here
    ├── GuaranteeUnavailable  no error rate can be promised as it was asked for
    ├── DeadlineExceeded    the request's own timeout passed
    └── SampleLost          the engine ended a sample that nobody cancelled
    """

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


class InvalidRequest(AnsweringError):
    """The caller's mistake."""


class NotAllowed(AnsweringError):
    """The operator forbids what was asked for."""


class UnknownModel(AnsweringError):
    """Another model is served here."""


class GuaranteeUnavailable(AnsweringError):
    """No error rate can be promised as it was asked for. `smallest_max_error` is the least that could be, None where
    none could."""

    def __init__(self, message: str, smallest_max_error: float | None = None) -> None:
        super().__init__(message, "max_error")
        self.smallest_max_error = smallest_max_error


class DeadlineExceeded(AnsweringError):
    """The request's own timeout passed before the answer was there."""


class SampleLost(AnsweringError):
    """The engine ended a sample that nobody cancelled."""
