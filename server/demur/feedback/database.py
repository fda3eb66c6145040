"""Opening the database: SQLite with a write-ahead log, or whatever else a URL of SQLAlchemy names, migrated."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from demur.feedback.errors import StoreUnusable

_LOCK = 0x64656D7572
"""The number of the advisory lock under which PostgreSQL is migrated by one program at a time."""
_BUSY = 30.0
"""Seconds to wait for another program that writes to the same SQLite file."""


def default_url() -> str:
    """The user's own file."""
    from platformdirs import user_data_path

    return f"sqlite:///{user_data_path('demur') / 'feedback.db'}"


def open_database(address: str) -> Engine:
    """An engine for a database whose tables are those of this version. Raises StoreUnusable."""
    url = _parsed(address)
    try:
        engine = _engine(url)
        with _alone(url, engine) as connection:
            _migrate(connection)
    except (SQLAlchemyError, OSError, ImportError) as error:
        raise StoreUnusable(f"cannot open {_shown(url)}: {_cause(error)}") from None
    return engine


def _parsed(address: str) -> URL:
    try:
        url = make_url(address if "://" in address else f"sqlite:///{address}")
        if url.get_backend_name() == "postgresql" and url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        url.get_dialect()
    except (ArgumentError, NoSuchModuleError) as error:
        raise StoreUnusable(f"--feedback-db: {_cause(error)}; write a file, or a URL of SQLAlchemy") from None
    return url


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True, pool_size=4, max_overflow=4)
    if url.database in (None, "", ":memory:"):
        raise StoreUnusable("--feedback-db: SQLite needs a file: what is kept has to outlive the process")
    _make_private(Path(url.database))
    engine = create_engine(url, connect_args={"timeout": _BUSY})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def _make_private(path: Path) -> None:
    """What strangers asked is for the eyes of the server's user alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def _set_up_sqlite(connection: Any, record: object) -> None:
    connection.isolation_level = None  # SQLAlchemy's BEGIN is sent below
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_immediate(connection: Connection) -> None:
    """Take the lock at once where a transaction will write: one that has read cannot wait for it any more."""
    reads = connection.get_execution_options().get("reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


@contextmanager
def reading(engine: Engine) -> Generator[Connection]:
    """A transaction that only reads, so that it waits for nobody who writes."""
    with engine.connect().execution_options(reads=True) as connection, connection.begin():
        yield connection


@contextmanager
def _alone(url: URL, engine: Engine) -> Generator[Connection]:
    """A transaction while no other program migrates the same database."""
    if url.get_backend_name() == "sqlite":
        with open(f"{url.database}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with engine.begin() as connection:
                yield connection
    else:
        with engine.begin() as connection:
            if url.get_backend_name() == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK})
            yield connection


def _migrate(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    there = MigrationContext.configure(connection).get_current_revision()
    known = ScriptDirectory.from_config(config)
    if there is not None and there not in {script.revision for script in known.walk_revisions()}:
        raise StoreUnusable(f"the database is of a newer demur (version {there} of its tables); use that one")
    command.upgrade(config, "head")


def _shown(url: URL) -> str:
    return url.render_as_string(hide_password=True)


def _cause(error: BaseException) -> str:
    """The first line of what a driver says."""
    told = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
    return told.splitlines()[0]
