"""Which names a server answers to: a web page whose own name is made to resolve to this machine (DNS rebinding) shows
that name in the Host header, while a browser takes it for one origin with the page."""

from starlette.datastructures import Headers
from starlette.types import Scope

from demur.api.errors import ApiError
from demur.settings import Settings, is_loopback


def check_host(scope: Scope, settings: Settings) -> None:
    """Raises ApiError 400 unless the one Host header is a name of this machine or one that the operator allows.

    Without `allowed_hosts` only a server that listens on a loopback address asks for it, of connections that came in
    there: others can be reached by any name, and by callers without a browser.
    """
    if not (settings.allowed_hosts or (is_loopback(settings.host) and _came_to_loopback(scope))):
        return
    shown = Headers(scope=scope).getlist("host")
    if len(shown) != 1:
        raise ApiError(400, "invalid_request", f"send one Host header, not {len(shown)}")
    name = host_name(shown[0])
    if not (name == settings.host.lower() or is_loopback(name) or name in settings.allowed_hosts):
        said = f"this server does not answer to the host {name!r:.100}; its operator can set DEMUR_ALLOWED_HOSTS"
        raise ApiError(400, "invalid_request", said)


def host_name(shown: str) -> str:
    """The host of a Host header, in lower case, without port and brackets; empty where it is no host."""
    name, colon, port = shown.strip().lower().rpartition(":")
    if not colon or shown.rstrip().endswith("]"):
        name, port = shown.strip().lower(), ""
    if port and not (port.isascii() and port.isdigit()):
        return ""
    if name.startswith("[") and name.endswith("]"):
        return name[1:-1]
    return "" if ":" in name else name


def _came_to_loopback(scope: Scope) -> bool:
    """The address that a connection came to; an app that is called without one has a name there, or nothing."""
    server = scope.get("server")
    return server is not None and is_loopback(str(server[0]))
