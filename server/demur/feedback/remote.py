"""Where a command finds what was kept: at a server, or in its database."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from demur.calibration.errors import CalibrationError
from demur.named_file import printable, shown

if TYPE_CHECKING:
    from sqlalchemy import Connection

_TIMEOUT = 60.0


def is_server(place: str) -> bool:
    """Whether a place is a server's address; else it is a database."""
    return place.startswith(("http://", "https://"))


def ask_server(address: str, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The JSON that a server replies, asked with the key in DEMUR_API_KEY. Raises CalibrationError where there is none,
    or an error."""
    key = os.environ.get("DEMUR_API_KEY", "")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    url = address.rstrip("/").removesuffix("/v1") + path
    try:
        reply = httpx.request(method, url, json=body, headers=headers, timeout=_TIMEOUT)
        found = reply.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise CalibrationError(f"--feedback: {printable(address, 200)}: {printable(str(error), 200)}") from None
    if not reply.is_success:
        message = found.get("error", {}).get("message", reply.status_code) if isinstance(found, dict) else reply.text
        raise CalibrationError(f"--feedback: the server says: {printable(str(message), 300)}")
    return found


@contextmanager
def at_database(place: str) -> "Generator[tuple[Connection, str, str]]":
    """A transaction in a database that is there, and name and fingerprint of the model that answered last.

    Raises CalibrationError.
    """
    try:
        from sqlalchemy import desc, select

        from demur.feedback.database import open_database
        from demur.feedback.errors import StoreUnusable
        from demur.feedback.tables import epochs
    except ModuleNotFoundError as error:
        raise CalibrationError(f'--feedback DATABASE needs {error.name}: pip install "demur[feedback]"') from None
    if "://" not in place and not Path(place).exists():
        raise CalibrationError(f"--feedback: there is no database {shown(Path(place))}")
    try:
        engine = open_database(place)
    except StoreUnusable as error:
        raise CalibrationError(str(error)) from None
    with engine.begin() as db:
        last = db.execute(select(epochs).order_by(desc(epochs.c.id)).limit(1)).mappings().first()
        if last is None:
            raise CalibrationError(f"--feedback: nothing was kept in {place} yet")
        yield db, last["model"], last["fingerprint"]
    engine.dispose()
