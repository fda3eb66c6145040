"""`GET /grade`: the page on which people grade what was answered. Its files are those of the page at `/`."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse

from demur.api.web import HEADERS

FILE = "grade.html"


def add_grading_page(app: FastAPI, folder: Path) -> None:
    """The page, under the same headers as the others: it shows what models wrote to people who may see it withheld."""

    async def send() -> FileResponse:
        return FileResponse(folder / FILE, headers=HEADERS)

    if (folder / FILE).is_file():
        app.add_api_route("/grade", send, methods=["GET", "HEAD"], include_in_schema=False)
