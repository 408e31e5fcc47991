"""A running server with a small study, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from real_parts import LONG
from small_study import GIVEN, small_study
from verax.studies.definition.study import Study
from verax.studies.store import Store, open_store
from verax.web.app import make_app
from web.serving import running
from web.walk import Asked


@dataclass(frozen=True)
class Served:
    """A study on its server.

    Attributes:
        address: to be opened.
        store: under the server.
        client: speaks to it, keeps cookies as a browser does, and follows no redirects.
        app: what runs there.
    """

    address: str
    store: Store
    client: httpx.Client
    app: Starlette


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Serves studies as long as the test runs."""
    with ExitStack() as stack:

        def start(study: Study, database: str = "") -> Served:
            store = open_store(study, database or f"sqlite:///{tmp_path / study.hash[:12]}.db")
            stack.callback(store.close)
            app = make_app(store, study)
            address = stack.enter_context(running(app))
            client = stack.enter_context(httpx.Client(base_url=address, timeout=LONG))
            return Served(address, store, client, app)

        yield start


@pytest.fixture
def served(serve: Callable[[Study], Served]) -> Served:
    """The small study on its server."""
    return serve(small_study())


@pytest.fixture(params=["sqlite", "postgresql"])
def served_from_both(serve: Callable[..., Served], request: pytest.FixtureRequest) -> Served:
    """The small study with its answers in SQLite, and in PostgreSQL."""
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    return serve(small_study(), url)


@pytest.fixture
def answer() -> Callable[[Asked], str]:
    """Answers the small study's questions, and those of the frame around it."""
    return lambda asked: GIVEN.get(asked.name, "1" if asked.options else "Nothing.")
