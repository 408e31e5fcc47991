"""Fixtures that many tests share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import real_parts
from helpers import make_texts
from verax import foreign

if TYPE_CHECKING:
    from pgserver import PostgresServer
    from playwright.sync_api import Browser

# A shell that starts the tests in the background lets them ignore Ctrl-C, and what they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test fails because the machine is busy with something else.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


# These have tests of minutes: whoever gets one last would keep the others waiting.
LONG = ("test_docs_commands.py", "test_package.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests begin first."""
    items.sort(key=lambda item: item.path.name not in LONG)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What explainers learn is kept for these tests only: an older version's would hide what this one does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERAX_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def nothing_is_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that runs a command in this process has the guard of that command, and no other test has it."""
    monkeypatch.setattr(foreign, "_guard", foreign._Guard())


@pytest.fixture(scope="session")
def reviews() -> tuple[list[str], np.ndarray]:
    """Texts that no made-up model was fitted on."""
    return make_texts(30, seed=1)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of one module.

    Not for the whole session: while Playwright runs, this thread has a running event loop, and asyncio.run refuses.
    """
    with real_parts.launched_chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server of this test process."""
    with real_parts.running_postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The SQLAlchemy URL of an empty database of this test's own."""
    with real_parts.fresh_database(postgres_server) as url:
        yield url


@pytest.fixture
def free_port() -> int:
    """A TCP port on localhost that nobody listens on."""
    return real_parts.free_port()


@pytest.fixture(scope="session")
def little_docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the docs suppose it, to be copied: little data, runs, and a study that three bots have answered."""
    import doc_workspace

    folder = tmp_path_factory.mktemp("docs")
    doc_workspace.fill(folder)
    return folder
