"""What `demur grade` asks of a server."""

from types import TracebackType
from typing import Any

import httpx

from demur_client import request
from demur_client.untrusted import clean


class Refused(Exception):
    """The server cannot be reached, or did not take a verdict; the message may be shown on a terminal."""


class GradingServer:
    """A server whose queue is worked through, over HTTP. Methods raise Refused."""

    def __init__(self, base_url: str | None, api_key: str | None) -> None:
        found = request.connection(base_url, api_key)
        self._http = httpx.Client(base_url=found.base_url, headers=found.headers, timeout=request.DEFAULT_TIMEOUT)

    def take(self, queue: str) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        """The next item of a queue, None where there is none, and how many items are open, graded and skipped."""
        found = self._call("GET", "v1/feedback/queue", params={"queue": queue})
        return next(iter(found["items"]), None), found["progress"]

    def take_many(self, queue: str, limit: int) -> list[dict[str, Any]]:
        """Up to `limit` of the next items of a queue; empty where there is none."""
        return self._call("GET", "v1/feedback/queue", params={"queue": queue, "limit": limit})["items"]

    def send_many(self, said: list[dict[str, Any]]) -> None:
        """Send verdicts with all their fields. Raises Refused for the first that is not taken."""
        replies = self._call("POST", "v1/feedback/batch", json={"items": said})["items"]
        refused = next((one["message"] for one in replies if "verdict" not in one), None)
        if refused is not None:
            raise Refused(clean(str(refused)))

    def send(self, item: dict[str, Any], said: dict[str, Any]) -> None:
        """Send a verdict on an item that was taken."""
        about = {"answer_id": item["answer_id"], "lease": item["lease"]}
        self._call("POST", "v1/feedback", json=about | said)

    def _call(self, method: str, path: str, **arguments: Any) -> Any:
        try:
            reply = self._http.request(method, path, **arguments)
            found = reply.json()
        except httpx.RequestError as error:
            raise Refused(
                f"the server cannot be reached: {clean(str(error))}; demur serve --feedback starts one"
            ) from None
        except ValueError:
            raise Refused("the reply is no JSON: is this the address of a demur server?") from None
        if not reply.is_success:
            raise Refused(clean(str(found.get("error", {}).get("message", reply.status_code))))
        return found

    def __enter__(self) -> "GradingServer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()
