"""`demur calibrate --feedback`: graded answers out of a server, or out of its database, as rows for a calibrator.

Audits are a plain random sample, so thresholds are certified on them; what was graded to learn from makes the map, each
row weighted by how unlikely it was to be drawn. Where there are too few of those, the audits are split as ever.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from demur.calibration.errors import CalibrationError
from demur.calibration.graded_source import Source
from demur.calibration.matching import OWN
from demur.calibration.row_checks import FEWEST_ROWS, check_enough
from demur.calibration.rows import SignalRow, SignalRows
from demur.core.calibration.signals import SIGNALS
from demur.named_file import printable, shown

Refit = Mapping[str, Any]
"""A `refits.Refit` as JSON, with its rows."""
_TIMEOUT = 60.0


def read_refit(place: str, since: float) -> Refit:
    """The graded rows of a server (http:// or https://, the key in DEMUR_API_KEY) or of a database.

    Raises CalibrationError.
    """
    return _from_server(place, since) if place.startswith(("http://", "https://")) else _from_database(place, since)


def source_of(refit: Refit, *, split: bool) -> Source:
    """Rows and what they may be applied to. With `split`, those to learn from make the map where they can.

    Raises CalibrationError for too few audits.
    """
    audits = [_row(row) for row in refit["rows"] if row["queue"] == "audit"]
    certified_on = {row.problem for row in audits}
    others = [_row(row) for row in refit["rows"] if row["queue"] == "learn" and row["problem"] not in certified_on]
    check_enough(_rows(audits), "the audits")
    fits = split and _teaches(others)
    rows = [*others, *audits] if fits else audits
    conditions = refit["conditions"]
    own = {name: conditions.get(name) for name in OWN}
    sampling = {name: value for name, value in conditions.items() if name not in OWN}
    fitting = np.arange(len(rows)) < len(others) if fits else None
    model = {"name": refit["model"], "fingerprint": refit["fingerprint"]}
    return Source(_rows(rows), model, {**own, "sampling": sampling}, fitting)


def told(refit: Refit) -> str:
    """How many rows there are, and which look at them this is."""
    learned = len(refit["rows"]) - refit["audits"]
    text = f"{refit['audits']} audits and {learned} answers to learn from"
    if refit["left_out"]:
        text += f"; {refit['left_out']} others were asked for differently and are left out"
    if refit["look"]:
        text += (
            f"; {refit['planned']} audits were planned, so this is look {refit['look']} and every promise is tested at"
            f" delta / 2^{refit['look']}"
        )
    return text


def _teaches(rows: list[SignalRow]) -> bool:
    right = sum(row.correct is True for row in rows)
    return len(rows) >= FEWEST_ROWS and 0 < right < len(rows)


def _rows(rows: list[SignalRow]) -> SignalRows:
    used = {name for row in rows for name, value in row.signals.items() if value is not None}
    order = [name for name in SIGNALS if name in used]
    return SignalRows(tuple(rows), (*order, *sorted(used.difference(order))), "response")


def _row(row: Mapping[str, Any]) -> SignalRow:
    return SignalRow(
        problem=row["problem"],
        sample=0,
        claim=None,
        correct=row["correct"],
        signals=row["signals"],
        group=None,
        question=None,
        record=row,
        weight=row["weight"],
    )


def _from_server(address: str, since: float) -> Refit:
    key = os.environ.get("DEMUR_API_KEY", "")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    url = address.rstrip("/").removesuffix("/v1") + "/v1/feedback/refits"
    try:
        reply = httpx.post(url, json={"since": since}, headers=headers, timeout=_TIMEOUT)
        found = reply.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise CalibrationError(f"--feedback: {printable(address, 200)}: {printable(str(error), 200)}") from None
    if not reply.is_success:
        message = found.get("error", {}).get("message", reply.status_code) if isinstance(found, dict) else reply.text
        raise CalibrationError(f"--feedback: the server says: {printable(str(message), 300)}")
    return found


def _from_database(place: str, since: float) -> Refit:
    try:
        from sqlalchemy import desc, select

        from demur.feedback import refits
        from demur.feedback.database import open_database
        from demur.feedback.errors import StoreUnusable
        from demur.feedback.opening import options_of
        from demur.feedback.tables import epochs
        from demur.settings import Settings
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
        options, now = options_of(Settings()), time.time()
        taken = refits.take(db, options, last["model"], last["fingerprint"], since, "command", now)
    engine.dispose()
    return asdict(taken)
