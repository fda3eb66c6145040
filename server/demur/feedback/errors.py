"""What cannot be done with what is kept. The API gives each a status."""


class FeedbackError(Exception):
    """`param` names the field at fault, None where it is none."""

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
