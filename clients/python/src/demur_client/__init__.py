"""Ask a demur server: answers with a confidence, withheld when it is below the risk you take.

`Client` and `AsyncClient` ask; what comes back is an `Answer`, what goes wrong is a `DemurError`.
"""

from .answers import Answer
from .async_client import AsyncAnswerStream, AsyncClient
from .batch import Failure
from .client import AnswerStream, Client
from .errors import (
    AuthenticationError,
    ClientClosedError,
    ConnectionFailedError,
    DemurError,
    GuaranteeUnavailableError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RedecideError,
    ReplyError,
    RequestTimeoutError,
    ServerError,
    StatusError,
    StreamError,
)
from .events import (
    AnswerEvent,
    ClaimEvent,
    DeltaEvent,
    Event,
    ProgressEvent,
    ResetEvent,
    SampleEvent,
    Transcript,
)
from .feedback import Feedback
from .models import Model
from .raw import RawReply
from .request import DEFAULT_BASE_URL, Options, Question
from .retrying import NO_RETRY, RetryPolicy
from .values import (
    CalibrationSet,
    Claim,
    Content,
    Field,
    Group,
    Guarantee,
    Member,
    Message,
    Samples,
    Settlement,
    Signal,
    SignalCost,
    Usage,
)
from .version import __version__

__all__ = [
    "DEFAULT_BASE_URL",
    "NO_RETRY",
    "Answer",
    "AnswerEvent",
    "AnswerStream",
    "AsyncAnswerStream",
    "AsyncClient",
    "AuthenticationError",
    "CalibrationSet",
    "Claim",
    "ClaimEvent",
    "Client",
    "ClientClosedError",
    "ConnectionFailedError",
    "Content",
    "DeltaEvent",
    "DemurError",
    "Event",
    "Failure",
    "Feedback",
    "Field",
    "Group",
    "Guarantee",
    "GuaranteeUnavailableError",
    "InvalidRequestError",
    "Member",
    "Message",
    "Model",
    "NotFoundError",
    "Options",
    "PermissionDeniedError",
    "ProgressEvent",
    "Question",
    "RateLimitError",
    "RawReply",
    "RedecideError",
    "ReplyError",
    "RequestTimeoutError",
    "ResetEvent",
    "RetryPolicy",
    "SampleEvent",
    "Samples",
    "ServerError",
    "Settlement",
    "Signal",
    "SignalCost",
    "StatusError",
    "StreamError",
    "Transcript",
    "Usage",
    "__version__",
]
