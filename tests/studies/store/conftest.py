"""Both databases, for real."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

import real_parts
from small_study import Clock, small_study
from store_tools import Processes
from verax.studies.store import Store, open_store


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'answers.sqlite'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def shared_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database for many tests, each with a study of its own title in it."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('shared') / 'answers.sqlite'}"
    else:
        with real_parts.fresh_database(request.getfixturevalue("postgres_server")) as url:
            yield url


@pytest.fixture(scope="session")
def processes() -> Processes:
    """Starts processes in which nothing of this one is left."""
    return Processes()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_with(shared_url: str, clock: Clock) -> Iterator[object]:
    """Opens a small study with other choices, and a clock that the test moves; closes it in the end."""
    opened: list[Store] = []

    def open_one(**choices) -> Store:
        study = small_study(title=uuid4().hex, **choices)
        opened.append(open_store(study, shared_url, clock=clock))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def store(open_with) -> Store:
    """The small study, with a clock that the test moves."""
    return open_with(timing={"item_seconds": 60})
