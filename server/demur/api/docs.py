"""`GET /docs`: the OpenAPI document in Swagger UI, whose files come from an installed package and from nowhere else.

The page is of the origin that callers type their keys into, so it loads no script of another host.
"""

import importlib.util
from collections.abc import Callable
from pathlib import Path

from fastapi import FastAPI, Response
from fastapi.responses import FileResponse, HTMLResponse

from demur.api.web import HEADERS

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>demur - API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
"""
_START = 'SwaggerUIBundle({url: "openapi.json", dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null})\n'
_FILES = ("swagger-ui-bundle.js", "swagger-ui.css")
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # Swagger UI styles some elements by attribute
        "img-src 'self' data:",  # its icons
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = HEADERS | {"content-security-policy": CONTENT_SECURITY_POLICY}


def add_docs(app: FastAPI) -> None:
    """The page and its files; nothing where the package is not installed."""
    if (folder := _folder()) is None:
        return
    for name in _FILES:
        _add(app, f"/docs/{name}", lambda file=folder / name: FileResponse(file, headers=_HEADERS))
    _add(app, "/docs/start.js", lambda: Response(_START, media_type="text/javascript", headers=_HEADERS))
    _add(app, "/docs", lambda: HTMLResponse(_PAGE, headers=_HEADERS))


def _add(app: FastAPI, path: str, reply: Callable[[], Response]) -> None:
    async def send() -> Response:
        return reply()

    app.add_api_route(path, send, methods=["GET", "HEAD"], include_in_schema=False)


def _folder() -> Path | None:
    """Where Swagger UI is; found without running the package's code."""
    found = importlib.util.find_spec("fastapi_swagger")
    folder = Path(found.origin).with_name("resources") if found is not None and found.origin is not None else None
    return folder if folder is not None and all((folder / name).is_file() for name in _FILES) else None
