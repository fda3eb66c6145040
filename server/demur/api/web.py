"""The page: the files of `clients/web`, each served under its own path, `index.html` at `/`.

The page shows what a model wrote, so its headers allow nothing but its own files: no inline script or style, no other
host, no frame, and no way to turn a string into markup.
"""

import gzip
from functools import lru_cache
from pathlib import Path

from fastapi import FastAPI, Request, Response
from starlette.staticfiles import StaticFiles

_PACKAGED = Path(__file__).parents[1] / "web"
_CHECKOUT = Path(__file__).parents[3] / "clients" / "web"

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}

COMPRESSED = frozenset((".html", ".css", ".js", ".svg"))
"""Fonts are compressed as they are."""


def web_folder() -> Path | None:
    """Where the page's files are: inside the installed package, or in the checkout; None when there are none."""
    return next((folder for folder in (_PACKAGED, _CHECKOUT) if (folder / "index.html").is_file()), None)


def add_page(app: FastAPI, folder: Path) -> None:
    """One route for every file in `folder`, so that a path that is no file stays a 404 in the API's shape."""
    files = StaticFiles(directory=folder)
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        _add_file(app, files, file.relative_to(folder).as_posix())


def _add_file(app: FastAPI, files: StaticFiles, name: str) -> None:
    path = Path(str(files.directory)) / name

    async def send(request: Request) -> Response:
        response = await files.get_response(name, request.scope)
        if path.suffix in COMPRESSED:
            response = _compressed(request, response, path)
        response.headers.update(HEADERS)
        return response

    route = "/" if name == "index.html" else f"/{name}"
    app.add_api_route(route, send, methods=["GET", "HEAD"], include_in_schema=False)


def _compressed(request: Request, response: Response, path: Path) -> Response:
    """The same with gzip for a browser that takes it, under the same ETag; what it already has stays a 304."""
    response.headers["vary"] = "accept-encoding"
    if response.status_code != 200 or "gzip" not in request.headers.get("accept-encoding", ""):
        return response
    tag = response.headers["etag"]
    kept = {name: response.headers[name] for name in ("content-type", "etag", "last-modified", "vary")}
    return Response(_gzip(path, tag), headers=kept | {"content-encoding": "gzip"})


@lru_cache(maxsize=256)
def _gzip(path: Path, _tag: str) -> bytes:
    """Once for each state of a file, at its first request: who shows nobody the page compresses nothing."""
    return gzip.compress(path.read_bytes(), 9, mtime=0)
