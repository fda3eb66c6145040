"""What an evaluation cannot go on with. Every message is one line for the person at the keyboard."""

from demur.records import printable


class EvaluationError(Exception):
    """Something the caller can put right.

    EvaluationError
    ├── RowsFileError     a file of rows cannot be read
    ├── DatasetError      a dataset cannot be had or has no gold answers
    ├── StoreError        a file of stored responses is damaged or belongs to another run
    └── EndpointError     the endpoint refuses every request, or is not what it was said to be
        └── Refused       it answered with a status that would meet every question
    """


class RowsFileError(EvaluationError):
    """A file of rows cannot be read: the message names the file, the line and the field, and is made printable."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


class DatasetError(EvaluationError):
    """A dataset cannot be had or has no gold answers: the message names the dataset and the row."""


class StoreError(EvaluationError):
    """A file of a run cannot be used, as one that is damaged or of another run: the message names it and the remedy."""


class EndpointError(EvaluationError):
    """An endpoint cannot be used: it is down, refuses every request or is not what it was said to be.

    The message names the address and what it answered.
    """


class Refused(EndpointError):
    """An endpoint answered with a status that would meet every question.

    `status` is the HTTP status, `param` the request field that the endpoint names as the reason, if it does.
    """

    def __init__(self, what: str, status: int, param: str | None) -> None:
        super().__init__(what)
        self.status = status
        self.param = param
