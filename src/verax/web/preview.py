"""A study to look at: the same pages on databases that are thrown away, any row of the design at will."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import cast

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.types import Message, Receive, Scope, Send

from verax.phrases import LANGUAGE, languages, say, speaking
from verax.studies.definition.screen import Meaning, Question
from verax.studies.definition.study import Study
from verax.studies.definition.study_files import load_study
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.store import ParticipantView, Store, open_store
from verax.studies.store.participant.posted import part_of
from verax.web.app import SafeHeaders, make_app, static
from verax.web.pages import POLICY, Site, asset_name, browser_language, draw, see_other, wanted_language
from verax.web.serve import address, listen, run

tell = partial(say, "experimenter")

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
            Route("/pages/{row:int}", partial(_pages, study)),
            Route("/jump/{row:int}/{ord:int}", partial(_jump, rows)),
            Route("/fill/{row:int}/p/{token}", partial(_fill, rows)),
            Route("/widths/{row:int}/p/{token}", partial(_widths, study)),
            Mount("/row/{row:int}", rows),
        ],
        middleware=[Middleware(SafeHeaders)],
        lifespan=closing,
    )


def _choose(study: Study, request: Request) -> Response:
    return _drawn(
        study, request, "preview.html", {"rows": [(row.number, row.cells.in_words()) for row in study.rows]}
    )


def _pages(study: Study, request: Request) -> Response:
    """Every page of a row in its order, each to jump to."""
    number = request.path_params["row"]
    row = next((row for row in study.rows if row.number == number), None)
    if row is None:
        raise HTTPException(404)
    parts: list[tuple[str, list[tuple[int, str]]]] = []
    with _speaking(request):
        for ord, step in enumerate(participant_steps(study, row, 1), start=1):
            title = study.phases[step.phase].title or step.phase
            if not parts or parts[-1][0] != title:
                parts.append((title, []))
            item = tell("preview-item", item=step.item) if step.item else ""
            shown = [study.screens[step.screen].heading, item, step.condition]
            parts[-1][1].append(
                (ord, ", ".join(words for words in shown if words) or tell("preview-page", page=ord))
            )
    context = {"row": number, "cells": row.cells.in_words(), "parts": parts}
    return _drawn(study, request, "preview_pages.html", context)


def _jump(rows: _Rows, request: Request) -> Response:
    """Somebody new who has all pages before this one behind them, with answers that were filled in."""
    row, ord = request.path_params["row"], request.path_params["ord"]
    site = rows.site(row)
    store = site.store
    token = store.enter(language=wanted_language(site, request.scope))
    where = store.consent(token, agreed=True)
    while where is not None and where.status == "active" and where.ord < ord:
        where = fill_in(store, token)
    return see_other(f"/row/{row}/p/{token}")


def _fill(rows: _Rows, request: Request) -> Response:
    """The page that is due is filled in, and the next one shown."""
    row, token = request.path_params["row"], request.path_params["token"]
    store = rows.store(row)
    where = store.look(token)
    if where is not None and where.status == "consent":
        store.consent(token, agreed=True)
    elif where is not None and where.status == "active":
        fill_in(store, token)
    back = "widths" if request.query_params.get("back") == "widths" else "row"
    return see_other(f"/{back}/{row}/p/{token}")


def _widths(study: Study, request: Request) -> Response:
    """The same page as on a phone and as on a desk, side by side."""
    row, token = request.path_params["row"], request.path_params["token"]
    answer = _drawn(study, request, "preview_widths.html", {"row": row, "token": token})
    answer.headers["Content-Security-Policy"] = f"{POLICY}; frame-src 'self'"
    return answer


def _speaking(request: Request) -> AbstractContextManager[None]:
    """The language of whoever looks, of those that Verax has for experimenters."""
    return speaking(browser_language((LANGUAGE, *languages()), request.scope))


def _drawn(study: Study, request: Request, template: str, context: Mapping[str, object]) -> HTMLResponse:
    shared = {
        "study": study.spec.title,
        "contact": "",
        "preview": False,
        "here": "",
        "static": lambda name: f"/static/{asset_name(name)}",
        "link": "",
    }
    with _speaking(request):
        return HTMLResponse(draw(template, shared | dict(context)))


def fill_in(store: Store, token: str) -> ParticipantView | None:
    """Answers the page that is due: the screening test rightly, all else with one answer after the other."""
    where = store.show(token)
    if where is None or where.status != "active" or where.screen is None:
        return where
    right = {} if store.study.screening is None else store.study.screening.answers
    given: dict[str, str] = {}
    for question in where.screen.questions:
        given |= _answer(question, where.ord, right.get(question.name))
    sent = store.submit(token, where.ord, where.nonce, given, {})
    if sent.errors:  # whoever asks for page after page would wait for ever
        raise RuntimeError(f"The preview's own answers were refused: {sent.errors}")
    return store.look(token)


def _answer(question: Question, ord: int, right: Meaning | None) -> dict[str, str]:
    """What the page's form would send for a question that somebody answered."""
    places = range(1, len(question.options) + 1)
    if question.kind == "number":
        low, high = question.lowest, question.highest
        number = low if low is not None else min(0.0, high if high is not None else 0.0)
        return {question.name: f"{math.ceil(number) if question.whole else number:f}"}
    if question.kind == "ranking":
        return {part_of(question.name, place): str(place) for place in places}
    if question.kind == "several":
        return {part_of(question.name, ord % len(places) + 1): "1"}
    if not places:
        return {question.name: "Filled in by the preview."}
    meanings = [option.means for option in question.options]
    place = meanings.index(right) if right in meanings else ord % len(meanings)
    return {question.name: str(place + 1)}


def site_store(app: Starlette) -> Store:
    """The store behind an application."""
    return cast(Site, app.state.site).store


class _Rows:
    """An application for each row of the design, made when it is first asked for."""

    def __init__(self, study: Study, scratch: Path) -> None:
        self._study, self._scratch = study, scratch
        self._apps: dict[int, Starlette] = {}
        self._lock = Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = await run_in_threadpool(self._app, scope["path_params"]["row"])

        async def may_be_framed(message: Message) -> None:
            """Pages that nobody may put into a frame are put into one here, to be seen in two widths."""
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                policy = headers.get("Content-Security-Policy", POLICY)
                headers["Content-Security-Policy"] = policy.replace(
                    "frame-ancestors 'none'", "frame-ancestors 'self'"
                )
            await send(message)

        await app(scope, receive, may_be_framed)

    def site(self, number: int) -> Site:
        """Of the people who look at one row."""
        return cast(Site, self._app(number).state.site)

    def store(self, number: int) -> Store:
        """Of the same people."""
        return self.site(number).store

    def close(self) -> None:
        for app in self._apps.values():
            site_store(app).close()

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
            spec=self._study.spec.open_to_all(),
        )
        store = open_store(only, f"sqlite:///{self._scratch / f'{number}.sqlite'}", preview=True)
        return make_app(store, only, preview=True)
