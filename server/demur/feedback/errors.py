"""What cannot be done with what is kept. The API gives each a status."""


class FeedbackError(Exception):
    """Something that cannot be done with kept answers. `param` names the request field at fault, if one is.

    FeedbackError
    ├── UnknownAnswer   no such answer is kept, or it is not the caller's
    ├── LeaseLost       somebody else grades the item now, or it was graded
    ├── BadGrade        a verdict about something that the answer does not have
    ├── JudgedAudits    a judge graded audits, so that what people graded is no plain sample
    └── StoreUnusable   the database cannot be opened
    """

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


class UnknownAnswer(FeedbackError):
    """No such answer is kept, or it is not the caller's."""


class LeaseLost(FeedbackError):
    """The lease ran out and somebody else grades the item now, or it was graded."""


class BadGrade(FeedbackError):
    """A verdict about something that the answer does not have."""


class JudgedAudits(FeedbackError):
    """Rows that people graded were asked for, and a judge graded audits, so that the others are no plain sample."""


class StoreUnusable(FeedbackError):
    """The database cannot be opened, or is not of this version."""
