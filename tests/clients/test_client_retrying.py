"""When to try again, and after how long: without a clock."""

from email.utils import parsedate_to_datetime

import pytest

from demur_client import DemurError, InvalidRequestError, RateLimitError, RetryPolicy, ServerError
from demur_client.failures import retry_after

NOON = parsedate_to_datetime("Tue, 01 Jan 2030 12:00:00 GMT")


def policy(jitter: float, **settings: float) -> RetryPolicy:
    return RetryPolicy(max_retries=10, jitter=lambda: jitter, **settings)


def test_pauses_double_up_to_the_longest() -> None:
    longest = policy(1.0, first_pause=0.5, longest_pause=8.0)
    pauses = [longest.pause(ServerError("busy"), attempt) for attempt in range(7)]
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


def test_jitter_takes_up_to_half_of_a_pause() -> None:
    error = ServerError("busy")
    assert policy(0.0).pause(error, 3) == policy(1.0).pause(error, 3) / 2


@pytest.mark.parametrize("jitter", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("wanted", [0.1, 2.0, 59.0])
def test_the_server_is_never_asked_earlier_than_it_said(jitter: float, wanted: float) -> None:
    assert policy(jitter).pause(RateLimitError("busy", retry_after=wanted), 0) >= wanted


def test_clients_told_the_same_do_not_come_back_together() -> None:
    error = RateLimitError("busy", retry_after=5.0)
    assert policy(0.0).pause(error, 0) != policy(0.9).pause(error, 0)


@pytest.mark.parametrize(
    ("error", "attempt"),
    [
        (InvalidRequestError("no"), 0),
        (DemurError("no"), 0),
        (ServerError("busy"), 2),
        (RateLimitError("busy", retry_after=61.0), 0),
    ],
)
def test_giving_up_raises_the_error_itself(error: DemurError, attempt: int) -> None:
    with pytest.raises(type(error)) as raised:
        RetryPolicy(max_retries=2).pause(error, attempt)
    assert raised.value is error


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Tue, 01 Jan 2030 12:00:30 GMT", 30.0),
        ("Tue, 01 Jan 2030 11:00:00 GMT", 0.0),
        ("Tue, 01 Jan 2030 12:00:30 -0000", 30.0),
        ("soon", None),
        ("", None),
        ("nan", None),
        ("inf", None),
        ("Mon, 01 Jan 2026 00:00:00 +99999999999999", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, NOON) == seconds
