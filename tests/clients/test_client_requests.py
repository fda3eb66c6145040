"""What the clients send, and what they make of replies that are not as they should be."""

import json
import math
from typing import Any

import httpx
import pytest

from demur_client import (
    AsyncClient,
    Client,
    ConnectionFailedError,
    InvalidRequestError,
    RateLimitError,
    ReplyError,
    RequestTimeoutError,
    RetryPolicy,
    ServerError,
    StreamError,
    __version__,
)
from demur_client.request import connection

STREAM = {"content-type": "text/event-stream"}


class Recorder:
    """A network that answers from a script and remembers what was asked."""

    def __init__(self, *replies: httpx.Response | Exception) -> None:
        self.replies = list(replies)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def ask(client: Any) -> Any:
    return client.answer("7 * 8?", risk_threshold=0.8)


def test_one_request_says_everything(use: Any, reply: Any) -> None:
    network = Recorder(httpx.Response(200, json=reply()))
    answer = use(network, ask, base_url="http://demur.test:9000/", api_key="key-1\n")
    (request,) = network.requests
    assert answer.answer == "70"
    assert (request.method, str(request.url)) == ("POST", "http://demur.test:9000/v1/answers")
    assert json.loads(request.content) == {"question": "7 * 8?", "risk_threshold": 0.8}
    assert request.headers["authorization"] == "Bearer key-1"
    assert request.headers["accept"] == "application/json"
    assert request.headers["user-agent"] == f"demur-client/{__version__}"


def test_a_conversation_is_sent_as_messages(use: Any, reply: Any) -> None:
    network = Recorder(httpx.Response(200, json=reply()))
    messages = [{"role": "user", "content": "Is 9 prime?"}]
    use(network, lambda client: client.answer(messages, seed=None))
    assert json.loads(network.requests[0].content) == {"messages": messages}


def test_address_and_key_come_from_the_environment() -> None:
    environ = {"DEMUR_BASE_URL": "https://demur.test/team/v1", "DEMUR_API_KEY": "key-2"}
    found = connection(None, None, environ)
    assert found.base_url == "https://demur.test/team/"
    assert found.headers["authorization"] == "Bearer key-2"


def test_what_is_given_wins_over_the_environment() -> None:
    environ = {"DEMUR_BASE_URL": "https://demur.test", "DEMUR_API_KEY": "key-2"}
    found = connection("http://demur.here", "", environ)
    assert found.base_url == "http://demur.here/"
    assert "authorization" not in found.headers


@pytest.mark.parametrize("environ", [{}, {"DEMUR_BASE_URL": "", "DEMUR_API_KEY": ""}])
def test_without_either_it_is_this_machine_and_no_key(environ: dict[str, str]) -> None:
    found = connection(None, None, environ)
    assert found.base_url == "http://127.0.0.1:8000/"
    assert "authorization" not in found.headers


@pytest.mark.parametrize("address", ["demur.test", "ftp://demur.test", "http://", "http://demur.test:port", "/v1"])
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_wrong_address_is_refused_at_once(kind: Any, address: str) -> None:
    with pytest.raises(ValueError, match="base_url"):
        kind(base_url=address)


def test_a_key_no_header_can_carry_is_not_repeated_in_the_error() -> None:
    with pytest.raises(ValueError, match="API key") as raised:
        Client(api_key="schlüssel")
    assert "schlüssel" not in str(raised.value)


def test_constructors_take_keywords_only() -> None:
    with pytest.raises(TypeError):
        Client("http://demur.test")  # type: ignore[misc]


def test_a_misspelt_option_is_named(use: Any) -> None:
    for action in (
        lambda client: client.answer("7 * 8?", risk_treshold=0.8),
        lambda client: client.stream("7 * 8?", risk_treshold=0.8).result(),
        lambda client: client.answer_many(["7 * 8?"], risk_treshold=0.8),
    ):
        with pytest.raises(TypeError, match="did you mean 'risk_threshold'"):
            use(Recorder(), action)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_json_cannot_say_is_refused(use: Any, value: float) -> None:
    with pytest.raises(ValueError, match="risk_threshold"):
        use(Recorder(), lambda client: client.answer("7 * 8?", risk_threshold=value))


def test_values_are_for_the_server_to_judge(use: Any) -> None:
    error = {"error": {"type": "invalid_request", "message": "not 7", "param": "risk_threshold", "request_id": "r"}}
    with pytest.raises(InvalidRequestError) as raised:
        use(Recorder(httpx.Response(400, json=error)), lambda client: client.answer("7 * 8?", risk_threshold=7))
    assert raised.value.param == "risk_threshold"


def test_a_lone_surrogate_reaches_the_server_as_an_escape(use: Any, reply: Any) -> None:
    network = Recorder(httpx.Response(200, json=reply()))
    use(network, lambda client: client.answer("\ud800"))
    assert b"\\ud800" in network.requests[0].content


def test_the_client_is_as_patient_as_the_server_was_told_to_be(use: Any, reply: Any) -> None:
    network = Recorder(httpx.Response(200, json=reply()), httpx.Response(200, json=reply()))
    use(network, lambda client: client.answer("7 * 8?", timeout=100), timeout=5.0)
    use(network, lambda client: client.answer("7 * 8?", timeout=1), timeout=50.0)
    first, second = (request.extensions["timeout"] for request in network.requests)
    assert first["read"] > 100
    assert (first["connect"], second["read"]) == (5.0, 50.0)


@pytest.mark.parametrize("first", [429, 500, 502, 503, 504])
def test_a_passing_trouble_is_tried_again(use: Any, reply: Any, first: int) -> None:
    network = Recorder(httpx.Response(first, headers={"retry-after": "0"}), httpx.Response(200, json=reply()))
    assert use(network, ask).answer == "70"
    assert network.requests[0].content == network.requests[1].content


def test_a_broken_connection_is_tried_again(use: Any, reply: Any) -> None:
    for trouble in (httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), httpx.RemoteProtocolError("cut")):
        network = Recorder(trouble, httpx.Response(200, json=reply()))
        assert use(network, ask).answer == "70"


def test_it_gives_up_with_the_last_error(use: Any) -> None:
    network = Recorder(*[httpx.Response(503) for _ in range(3)])
    with pytest.raises(ServerError):
        use(network, ask)
    assert len(network.requests) == 3
    network = Recorder(*[httpx.ConnectError("refused") for _ in range(3)])
    with pytest.raises(ConnectionFailedError, match=r"cannot reach http://demur\.test:9000: refused"):
        use(network, ask, base_url="http://demur.test:9000")


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 413, 422])
def test_what_cannot_get_better_is_not_tried_again(use: Any, status: int) -> None:
    network = Recorder(httpx.Response(status))
    with pytest.raises(Exception, match=str(status)):
        use(network, ask)
    assert len(network.requests) == 1


def test_a_timeout_is_not_tried_again(use: Any) -> None:
    network = Recorder(httpx.ReadTimeout("slow"))
    with pytest.raises(RequestTimeoutError, match="within the client's timeout"):
        use(network, ask)


def test_the_servers_word_that_time_is_up_is_taken(use: Any) -> None:
    body = {"error": {"type": "timeout", "message": "time is up", "param": None, "request_id": "r"}}
    network = Recorder(httpx.Response(504, json=body))
    with pytest.raises(ServerError, match="time is up"):
        use(network, ask)
    assert len(network.requests) == 1


def test_a_pause_that_is_too_long_is_not_waited_for(use: Any) -> None:
    network = Recorder(httpx.Response(429, headers={"retry-after": "3600"}))
    with pytest.raises(RateLimitError) as raised:
        use(network, ask)
    assert raised.value.retry_after == 3600


def test_a_stream_that_has_not_begun_is_tried_again(use: Any, reply: Any) -> None:
    body = f"event: answer\ndata: {json.dumps(reply())}\n\n"
    network = Recorder(httpx.Response(503), httpx.Response(200, headers=STREAM, text=body))
    assert use(network, lambda client: client.stream("7 * 8?").result()).answer == "70"
    assert json.loads(network.requests[1].content) == {"question": "7 * 8?", "stream": True}
    assert network.requests[1].headers["accept"] == "text/event-stream"


def test_a_stream_that_has_begun_is_never_repeated(use: Any) -> None:
    network = Recorder(httpx.Response(200, headers=STREAM | {"x-request-id": "r7"}, text="event: delta\n"))
    with pytest.raises(StreamError) as raised:
        use(network, lambda client: client.stream("7 * 8?").result())
    assert len(network.requests) == 1
    assert raised.value.request_id == "r7"


@pytest.mark.parametrize("body", ["", "<html>", "[]", "7", "null", '"text"', "{}", "[" * 100_000])
def test_a_reply_that_is_no_answer_is_an_error_of_its_own(use: Any, body: str) -> None:
    network = Recorder(httpx.Response(200, text=body, headers={"x-request-id": "r8"}))
    with pytest.raises(ReplyError) as raised:
        use(network, ask)
    assert (raised.value.status, raised.value.request_id, raised.value.body) == (200, "r8", body)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("decision", None),
        ("confidence", "0.9"),
        ("confidence", True),
        ("confidence", 10**400),
        ("risk_threshold", [0.8]),
        ("claims", [7]),
        ("claims", [{"text": "a", "span": [0], "confidence": 0.5, "decision": "assert"}]),
        ("claims", [{"text": "a", "span": ["0", "1"], "confidence": 0.5, "decision": "assert"}]),
        ("withheld", "no"),
        ("usage", {"prompt_tokens": 1.5}),
    ],
)
def test_a_field_of_the_wrong_type_is_named(use: Any, reply: Any, field: str, value: object) -> None:
    network = Recorder(httpx.Response(200, text=json.dumps(reply(**{field: value}))))
    with pytest.raises(ReplyError, match=field.rstrip("s")):
        use(network, ask)


def test_unknown_fields_are_skipped(use: Any, reply: Any) -> None:
    network = Recorder(httpx.Response(200, json=reply(novelty={"deep": 1})))
    assert use(network, ask).answer == "70"


@pytest.mark.parametrize("data", ["{", "[]", '{"tokens": "many"}', "{}"])
def test_an_event_that_makes_no_sense_is_an_error(use: Any, data: str) -> None:
    network = Recorder(httpx.Response(200, headers=STREAM, text=f"event: progress\ndata: {data}\n\n"))
    with pytest.raises(ReplyError, match="progress"):
        use(network, lambda client: client.stream("7 * 8?").result())


def test_a_page_instead_of_events_is_an_error(use: Any) -> None:
    network = Recorder(httpx.Response(200, html="<p>hello"))
    with pytest.raises(ReplyError, match="text/html"):
        use(network, lambda client: client.stream("7 * 8?").result())


def test_a_stream_is_read_once(reply: Any) -> None:
    body = f"event: answer\ndata: {json.dumps(reply())}\n\n"
    network = Recorder(httpx.Response(200, headers=STREAM, text=body))
    with Client(transport=httpx.MockTransport(network)) as client, client.stream("7 * 8?") as stream:
        assert len(list(stream)) == 1
        assert list(stream) == []
        assert stream.result().answer == "70"
        assert stream.transcript.result().answer == "70"


def test_a_stream_closed_early_has_no_result() -> None:
    with Client(transport=httpx.MockTransport(Recorder())) as client:
        stream = client.stream("7 * 8?")
        stream.close()
        with pytest.raises(StreamError, match="closed before"):
            stream.result()


def test_the_key_is_not_shown() -> None:
    with Client(api_key="secret-key") as client:
        assert "secret-key" not in repr(client) + repr(vars(client)) + repr(client._http.headers)


def test_retries_can_be_switched_off(use: Any) -> None:
    network = Recorder(httpx.Response(503))
    with pytest.raises(ServerError):
        use(network, ask, retry=RetryPolicy(max_retries=0))
