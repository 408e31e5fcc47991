"""A study to look at: the same pages on databases that are thrown away, any row of the design at will."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from verax.studies.model.study import Study
from verax.studies.model.study_files import load_study
from verax.studies.store import open_store
from verax.web.app import SafeHeaders, make_app, static
from verax.web.http.assets import asset_name
from verax.web.http.pages import draw
from verax.web.serve import address, listen, run

# Nobody walks through a preview more often.
PLACES = 1_000_000


def preview(folder: str | Path, port: int = 8000, host: str = "127.0.0.1") -> None:
    """Serves a built study until Ctrl-C, and records nothing."""
    study = load_study(folder)
    listener = listen(host, port)
    print(
        f"{study.spec.title!r} can be looked at under {address(listener)}\n"
        "Nothing is recorded. Press Ctrl-C to end.",
        flush=True,
    )
    with TemporaryDirectory(prefix="verax-preview-") as scratch:
        run(partial(preview_app, study, Path(scratch)), listener)


def preview_app(study: Study, scratch: Path) -> Starlette:
    """A page that lists the rows of the design, and the study itself for each of them.

    Args:
        study: what is shown.
        scratch: a folder for the databases.
    """
    rows = _Rows(study, scratch)

    @asynccontextmanager
    async def closing(_app: Starlette) -> AsyncIterator[None]:
        yield
        rows.close()

    return Starlette(
        routes=[
            Route("/", partial(_choose, study)),
            Route("/static/{name}", static),
            Mount("/row/{row:int}", rows),
        ],
        middleware=[Middleware(SafeHeaders)],
        lifespan=closing,
    )


def _choose(study: Study, request: Request) -> Response:  # noqa: ARG001
    context = {
        "study": study.spec.title,
        "contact": "",
        "preview": False,
        "static": lambda name: f"/static/{asset_name(name)}",
        "link": "",
        "rows": [(row.number, row.cells.in_words()) for row in study.rows],
    }
    return HTMLResponse(draw("preview.html", context))


class _Rows:
    """An application for each row of the design, made when it is first asked for."""

    def __init__(self, study: Study, scratch: Path) -> None:
        self._study, self._scratch = study, scratch
        self._apps: dict[int, Starlette] = {}
        self._lock = Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = await run_in_threadpool(self._app, scope["path_params"]["row"])
        await app(scope, receive, send)

    def close(self) -> None:
        for app in self._apps.values():
            app.state.site.store.close()

    def _app(self, number: int) -> Starlette:
        with self._lock:
            if number not in self._apps:
                self._apps[number] = self._make(number)
            return self._apps[number]

    def _make(self, number: int) -> Starlette:
        rows = [row for row in self._study.rows if row.number == number]
        if not rows:
            raise HTTPException(404)
        only = replace(
            self._study,
            rows=(replace(rows[0], target=PLACES),),
            spec=self._study.spec.model_copy(update={"entry": "link"}),
        )
        store = open_store(only, f"sqlite:///{self._scratch / f'{number}.sqlite'}", preview=True)
        return make_app(store, only, preview=True)
