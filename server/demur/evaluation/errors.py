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
    """Names the file, the line and the field; what stands in the file is made printable."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


class DatasetError(EvaluationError):
    """Names the dataset and the row."""


class StoreError(EvaluationError):
    """Names the file and what to do about it."""


class EndpointError(EvaluationError):
    """Names the address and what it answered."""


class Refused(EndpointError):
    """`param` is the request field that the endpoint names as the reason, if it does."""

    def __init__(self, what: str, status: int, param: str | None) -> None:
        super().__init__(what)
        self.status = status
        self.param = param
