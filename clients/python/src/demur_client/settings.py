"""Where a client asks and how: what `with_options` changes. Shared by both clients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx

from . import request
from .request import Request
from .retrying import RetryPolicy


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Address, headers, timeout and retries of a client. `base_url` ends in a slash; `timeout` is in seconds, None
    where the caller's own httpx client has one."""

    base_url: str
    headers: httpx.Headers
    timeout: httpx.Timeout | None
    retry: RetryPolicy

    def changed(
        self,
        *,
        timeout: float | httpx.Timeout | None = None,
        max_retries: int | None = None,
        default_headers: Mapping[str, str] | None = None,
    ) -> ClientSettings:
        """The same with some differences; headers are added to those that are there."""
        return replace(
            self,
            timeout=self.timeout if timeout is None else httpx.Timeout(timeout),
            retry=self.retry if max_retries is None else replace(self.retry, max_retries=max_retries),
            headers=_with(self.headers, default_headers),
        )

    def to_http(self, http: httpx.Client | httpx.AsyncClient, asked: Request) -> httpx.Request:
        """The request for either kind of httpx client."""
        return asked.to_http(http, self.base_url, self.headers, self.timeout or http.timeout)


def settings(
    base_url: str | None,
    api_key: str | None,
    timeout: float | httpx.Timeout | None,
    retry: RetryPolicy,
    max_retries: int | None,
    default_headers: Mapping[str, str] | None,
) -> ClientSettings:
    """The settings of a client from what it was made with; see `Client`. Raises ValueError as `request.connection`
    does."""
    found = request.connection(base_url, api_key)
    made = ClientSettings(found.base_url, httpx.Headers(found.headers), None, retry)
    return made.changed(timeout=timeout, max_retries=max_retries, default_headers=default_headers)


def _with(headers: httpx.Headers, more: Mapping[str, str] | None) -> httpx.Headers:
    """Kept as httpx's own, which do not show a key when they are printed."""
    found = headers.copy()
    found.update(more)
    return found
