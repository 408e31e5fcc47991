"""The real parts that tests drive: a browser and a PostgreSQL server; where one is missing the tests say so."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

import pytest

if TYPE_CHECKING:
    from pgserver import PostgresServer
    from playwright.sync_api import Browser, BrowserContext, Page

# Seconds after which something hangs, on any machine and beside any other work. What tests wait for is a state; this
# is only there to end a wait that would never end.
LONG = 180
# Tests talk to localhost only: the browser is kept from looking for updates and other hosts.
CHROMIUM_FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def missing(sentence: str) -> NoReturn:
    """Skips the test; fails it where CI is set, since there nothing may be left untested."""
    if os.environ.get("CI"):
        pytest.fail(f"{sentence} (CI is set, so this is a failure.)", pytrace=False)
    pytest.skip(sentence)


def free_port() -> int:
    """A TCP port on localhost that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def launched_chromium() -> Iterator[Browser]:
    """Debian's Chromium if it is on the PATH, otherwise Playwright's own."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        missing("The package playwright is not installed: pip install playwright.")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"),
                chromium_sandbox=False,  # the sandbox refuses to start for root, and the pages are our own
                args=CHROMIUM_FLAGS,
            )
        except Error as error:
            missing(
                f"No Chromium could be started (`make browser` gets one): {error.message.splitlines()[0]}"
            )
        with browser:
            yield browser


def new_context(browser: Browser, **settings: Any) -> BrowserContext:
    """A profile of its own, whose pages have time on a machine that has much else to do."""
    context = browser.new_context(**settings)
    context.set_default_timeout(1000 * LONG)
    return context


def axe_violations(page: Page) -> list[str]:
    """What axe finds on a page that runs JavaScript: the rule and the elements, one line each."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{rule['id']}: {' | '.join(node['html'] for node in rule['nodes'])}" for rule in found]


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server with an empty data folder, reached by a Unix socket in that folder."""
    try:
        with warnings.catch_warnings(action="ignore"):  # it says where it keeps its lock file
            import pgserver
    except ImportError:
        missing(
            "The package pgserver is not installed; it exists for Python up to 3.12: pip install pgserver."
        )
    # Not pytest's tmp_path: that is private, and when root runs the tests the server has a user of its own.
    with tempfile.TemporaryDirectory(prefix="verax-pg-", ignore_cleanup_errors=True) as folder:
        try:
            server = pgserver.get_server(Path(folder))
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            missing(f"PostgreSQL did not start: {error}")
        with server:
            server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")  # no test pulls the plug
            yield server


@contextmanager
def fresh_database(server: PostgresServer) -> Iterator[str]:
    """The SQLAlchemy URL of an empty database; afterwards it is dropped, whoever is still connected."""
    import psycopg

    name = f"verax_{uuid4().hex}"
    with psycopg.connect(server.get_uri(), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            yield server.get_uri(name).replace("postgresql:", "postgresql+psycopg:", 1)
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
