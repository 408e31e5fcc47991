"""The web application of one study, or of several with one first page; and whether it can do its work.

A study's own pages, and those for its experimenters, lie in a folder behind the first page; `folder_of` names it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack, cast
from urllib.parse import urlsplit, urlunsplit

from sqlalchemy import bindparam, select, update
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Lifespan, Message, Receive, Scope, Send

from verax.errors import VeraxError
from verax.studies.answers.exclusion import apply_exclusions
from verax.studies.definition.languages import speaking_for
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import Study
from verax.studies.definition.study_files import MEDIA, media_path
from verax.studies.display import wording
from verax.studies.display.markup import MEDIA_TYPES, media_ending
from verax.studies.store import Store
from verax.studies.store.people import Transaction
from verax.studies.store.store import Visitor
from verax.studies.store.tables import studies
from verax.studies.store.together import Together, folder_of
from verax.web.alerts import Alerts, read_alerts
from verax.web.experimenter.live_page import Watch
from verax.web.experimenter.routes import experimenter_routes
from verax.web.experimenter.sign_in import PasswordChecks
from verax.web.pages import (
    Site,
    Speaking,
    assets,
    front,
    headers_for,
    prepare_templates,
    see_other,
    site_of,
    wanted_language,
)
from verax.web.participant import routes as participant
from verax.web.participant.notices import notice
from verax.web.participant.routes import about_study, ask_to_leave, leave
from verax.web.requests import AllowedHosts, Form, Turns, make_limits, own_posted, shown_or_posted

# What was found is told to all who ask within so many seconds: nobody keeps the database busy by asking.
SHARED_SECONDS = 2
# A database that does not answer for so long counts as one that is away.
PATIENCE = 5

WRITE = update(studies).where(studies.c.id == bindparam("study")).values(checked_at=bindparam("now"))
READ = select(studies.c.checked_at).where(studies.c.id == bindparam("study"))

logger = logging.getLogger("verax.web")


class Health:
    """Writes to the database and reads it again, in a thread of its own: participants' may all be waiting."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="health")
        self._checking: asyncio.Future[bool] | None = None
        self._found = (float("-inf"), False)

    async def check(self) -> bool:
        """Whether answers can be stored now."""
        at, well = self._found
        if at + SHARED_SECONDS > time.monotonic():
            return well
        # One that ended after everybody had stopped waiting for it tells how things were then.
        if self._checking is None or self._checking.done():
            self._checking = asyncio.get_running_loop().run_in_executor(self._thread, self._try)
        checking = self._checking
        try:
            async with asyncio.timeout(PATIENCE):
                found = await asyncio.shield(checking)
        except TimeoutError:
            return False
        if self._checking is checking:
            self._checking, self._found = None, (time.monotonic(), found)
        return found

    def close(self) -> None:
        """Ends the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _try(self) -> bool:
        try:
            now = self._store.write(_note_check)
            return self._store.read(_last_check) >= now
        except SQLAlchemyError as error:
            logger.error("The health check failed: %s", getattr(error, "orig", type(error).__name__))
            return False


async def health(request: Request) -> Response:
    """200 if answers can be stored, otherwise 503."""
    well = await cast(Health, request.app.state.health).check()
    if well:
        return PlainTextResponse("ok\n")
    return PlainTextResponse(
        "Answers cannot be stored: the database does not answer, or its disk is full.\n", 503
    )


def _note_check(work: Transaction) -> int:
    work.connection.execute(WRITE, {"study": work.study_id, "now": work.now})
    return work.now


def _last_check(work: Transaction) -> int:
    return int(work.connection.execute(READ, {"study": work.study_id}).scalar_one() or 0)


DAY = 24 * 3600
MINUTE = 60
FOR_EVER = "public, max-age=31536000, immutable"


def make_app(
    store: Store,
    study: Study,
    *,
    preview: bool = False,
    frozen: str | None = None,
    hosts: Sequence[str] = (),
    folder: str = "",
    pilot: str = "",
) -> Starlette:
    """The pages of a study; a server that ends closes the store.

    Args:
        store: where answers go.
        study: what is shown.
        preview: every page says that nothing is recorded, and there are none for experimenters.
        frozen: when the study was frozen, for experimenters.
        hosts: the names under which it is served; any if there are none.
        folder: where the study is among others that have one first page, see `verax.web.app`.
        pilot: where phones find a pilot, on whose pages remarks can be left; empty for the study itself.
    """
    settings = None if preview or pilot or not study.home else read_alerts(study.home)
    app = application(
        Site(store, study, preview, folder, pilot),
        [
            *([Route("/", _to_the_front)] if folder else first_routes()),
            _both("/p/{token}", participant.here, participant.submit),
            _both("/p/{token}/leave", ask_to_leave, leave),
            Route("/p/{token}/look/{ord}", _look_back),
            Route("/media/{name}", media),
            *(
                [
                    Route("/pilot", participant.pilot_page),
                    Route("/p/{token}/feedback", own_posted(participant.take_feedback), methods=["POST"]),
                ]
                if pilot
                else []
            ),
            *([] if preview else [Route("/health", health), *experimenter_routes()]),
        ],
        _closing,
        hosts,
    )
    app.state.alerts = None if settings is None else Alerts(settings)
    app.state.watch = Watch(store, frozen)
    app.state.password_checks = PasswordChecks()
    return app


def application(
    site: Site, routes: Sequence[BaseRoute], lifespan: Lifespan[Starlette], hosts: Sequence[str] = ()
) -> Starlette:
    """Pages at some addresses, with what all pages need: files, headers, and sentences for whatever goes wrong."""
    prepare_templates()
    app = Starlette(
        routes=[Route("/static/{name}", static), *routes],
        middleware=[
            Middleware(SafeHeaders),
            Middleware(Speaking, site=site),
            Middleware(CutShort),
            Middleware(AllowedHosts, names=hosts),
        ],
        exception_handlers={
            HTTPException: _refused,
            OperationalError: _busy,
            InterfaceError: _busy,
            NoConnection: _busy,
            ClientDisconnect: _gone,
            Exception: _broken,
        },
        lifespan=lifespan,
    )
    app.state.site = site
    app.state.limits = make_limits(None if site.preview else site.store)
    app.state.turns = Turns(site.store.database.threads)
    app.state.health = Health(site.store)
    return app


def first_routes() -> list[Route]:
    """The first page and the way in."""
    return [
        Route("/", participant.welcome),
        Route("/enter", own_posted(participant.enter), methods=["POST"]),
        Route("/leave", own_posted(participant.forget_me), methods=["POST"]),
    ]


def _to_the_front(request: Request) -> Response:
    return see_other(f"{front(request)}/")


def _both(path: str, show: Callable[[Request], Response], take: Callable[[Request, Form], Response]) -> Route:
    """A page and its form, in the language of the participant whose they are."""

    def shown(request: Request) -> Response:
        with _their_language(request):
            return show(request)

    def taken(request: Request, form: Form) -> Response:
        with _their_language(request):
            return take(request, form)

    return Route(path, shown_or_posted(shown, own_posted(taken)), methods=["GET", "POST"])


def _their_language(request: Request) -> AbstractContextManager[None]:
    site = site_of(request)
    if len(site.study.spec.languages) == 1:
        return nullcontext()
    token, _ = site.store.opened_by(request.path_params["token"])
    language = site.store.language(token)
    return nullcontext() if language is None else speaking_for(site.study, language)


def _look_back(request: Request) -> Response:
    with _their_language(request):
        return participant.look_back(request)


@asynccontextmanager
async def _closing(app: Starlette) -> AsyncIterator[None]:
    async with _purging(app.state.site), _judging(app.state.site), _alerting(app):
        yield
    app.state.health.close()
    app.state.password_checks.close()
    app.state.site.store.close()


@asynccontextmanager
async def _purging(site: Site) -> AsyncIterator[None]:
    """Does it for the time of the block, where the study says how long answers are kept."""
    if site.preview or site.study.spec.retention_days is None:
        yield
        return
    async with _repeated(purge_now, site.store, DAY):
        yield


@asynccontextmanager
async def _judging(site: Site) -> AsyncIterator[None]:
    """Applies the exclusion rules for the time of the block, where places of excluded people are offered again."""
    spec = site.study.spec
    if site.preview or not spec.exclusion or not spec.replace_excluded:
        yield
        return
    async with _repeated(judge_now, site.store, MINUTE):
        yield


@asynccontextmanager
async def _alerting(app: Starlette) -> AsyncIterator[None]:
    """Tells experimenters what they should know, for the time of the block, where they want to be told."""
    alerts: Alerts | None = app.state.alerts
    if alerts is None:
        yield
        return
    async with _repeated(alerts.look, app.state.site.store, MINUTE):
        yield


def _note_error(request: Request) -> None:
    alerts: Alerts | None = getattr(request.app.state, "alerts", None)
    if alerts is not None:
        alerts.note_error()


@asynccontextmanager
async def _repeated(work: Callable[[Store], None], store: Store, seconds: float) -> AsyncIterator[None]:
    """Does some work now and then, for the time of the block."""

    async def again_and_again() -> None:
        while True:
            await run_in_threadpool(work, store)
            await asyncio.sleep(seconds)

    task = asyncio.create_task(again_and_again())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def judge_now(store: Store) -> None:
    """Applies the exclusion rules; a database that does not answer is asked again a minute later."""
    try:
        apply_exclusions(store)
    except SQLAlchemyError as error:
        logger.error("Rules could not be applied: %s", getattr(error, "orig", type(error).__name__))


def purge_now(store: Store) -> None:
    """Deletes what is due; a database that does not answer is asked again the next day."""
    try:
        purged = store.purge(by="server")
    except SQLAlchemyError as error:
        logger.error("What is due could not be deleted: %s", getattr(error, "orig", type(error).__name__))
        return
    if purged.people:
        logger.warning("The time is over for %d participants: their data were deleted.", purged.people)


class SafeHeaders:
    """Gives every answer the headers that keep it private; a handler may set its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if message["status"] == 307:
                    # The router's own, to an address without a slash at its end: it would name the host that was asked
                    # for, which may be anybody's.
                    headers["location"] = _below(headers["location"])
                for name, value in headers_for(scope["scheme"]).items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _below(location: str) -> str:
    """An address on this server, whatever host it names."""
    parts = urlsplit(location)
    return urlunsplit(("", "", "/" + parts.path.lstrip("/\\"), parts.query, ""))


class CutShort:
    """Whoever waits when a server that ends has waited long enough is asked to come again, not shown an error."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        begun = False

        async def send_noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        except asyncio.CancelledError:
            if begun or scope["type"] != "http":
                raise
            logger.warning(
                "The server ended before a page was ready; whoever asked for it is told to come again."
            )
            await notice(Request(scope), "busy")(scope, receive, send)


async def static(request: Request) -> Response:
    """A file of the pages, to be kept for ever: its name changes with its content."""
    asset = assets().get(request.path_params["name"])
    if asset is None:
        raise HTTPException(404)
    return Response(asset.content, media_type=asset.type, headers={"Cache-Control": FOR_EVER})


async def media(request: Request) -> Response:
    """A picture, a sound or a film of the study, to be kept for ever: its name is its hash."""
    study, name = site_of(request).study, request.path_params["name"]
    known = {media_path(study.home, file, hash).name for file, hash in study.media.items()}
    type = MEDIA_TYPES.get(media_ending(name))
    if name not in known or type is None:  # a folder that somebody else made may name anything
        raise HTTPException(404)
    headers = {"Cache-Control": FOR_EVER, "Content-Security-Policy": "default-src 'none'; sandbox"}
    return FileResponse(Path(study.home) / MEDIA / name, media_type=type, headers=headers)


# These are coroutines, or they would wait for a thread, and all of those may wait for the database.
async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    names = {403: "foreign", 404: "no-page", 405: "wrong-method", 408: "too-slow", 413: "too-large"}
    answer = notice(request, names.get(error.status_code, "bad-form"))
    answer.headers.update(error.headers or {})
    return answer


async def _gone(request: Request, error: Exception) -> Response:  # noqa: ARG001
    logger.warning("Somebody hung up before a form had arrived; nothing was stored of it.")
    return Response(status_code=400)  # which nobody reads


async def _busy(request: Request, error: Exception) -> Response:
    # Not the whole message: it holds the statement, on many lines.
    logger.error("The database did not answer: %s", getattr(error, "orig", type(error).__name__))
    _note_error(request)
    return notice(request, "busy")


async def _broken(request: Request, error: Exception) -> Response:  # noqa: ARG001
    # This answer does not pass through the middleware; the error itself goes on to the server's log.
    _note_error(request)
    site = site_of(request)
    with speaking_for(site.study, wanted_language(site, request.scope)):
        answer = notice(request, "broken")
    for name, value in headers_for(request.scope["scheme"]).items():
        answer.headers.setdefault(name, value)
    return answer


# What people meet before they are given a study has to be the same in all, by what a spec calls it.
ALIKE: Mapping[str, Callable[[StudySpec], object]] = {
    "entry": lambda spec: spec.entry,
    "recruiting.sandbox": lambda spec: spec.recruiting.sandbox,
    "texts.welcome": wording.welcome,
    "[about] or texts.contact": about_study,
}


@dataclass(frozen=True, eq=False, kw_only=True)
class JointSite(Site):
    """The first page of several studies: that of the first one, under a title for all.

    Attributes:
        together: the studies.
        behind: where each of them is.
        title_of_all: what the first page is called.
    """

    together: Together
    behind: tuple[Site, ...]
    title_of_all: str

    @property
    def title(self) -> str:
        """What the first page is called."""
        return self.title_of_all

    @property
    def sites(self) -> Sequence[Site]:
        """The studies."""
        return self.behind

    def enter(
        self,
        cookies: Mapping[str, str],
        code: str | None = None,  # noqa: ARG002
        **who: Unpack[Visitor],
    ) -> tuple[Site, str]:
        """Gives somebody one of the studies, or lets them into the one that they have begun.

        Raises:
            Refused: they cannot enter any.
        """
        holds = {site.study.hash: cookies[site.cookie] for site in self.behind if site.cookie in cookies}
        store, token = self.together.enter(holds=holds, **who)
        return next(site for site in self.behind if site.store is store), token


def joint_app(
    together: Together, *, title: str = "", frozen: Mapping[str, str] | None = None, hosts: Sequence[str] = ()
) -> Starlette:
    """The pages of several studies; a server that ends closes their stores.

    Args:
        together: the studies.
        title: of the first page; the first study's if empty.
        frozen: when studies were frozen, by hash.
        hosts: the names under which they are served; any if there are none.
    """
    check_alike([store.study for store in together.stores])
    apps = {
        folder_of(store.study): make_app(
            store,
            store.study,
            frozen=(frozen or {}).get(store.study.hash),
            hosts=hosts,
            folder=folder_of(store.study),
        )
        for store in together.stores
    }

    @asynccontextmanager
    async def all_of_them(door: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for app in apps.values():
                await stack.enter_async_context(app.router.lifespan_context(app))
            yield
        door.state.health.close()

    first = together.stores[0]
    sites = tuple(app.state.site for app in apps.values())
    door = JointSite(
        first,
        first.study,
        together=together,
        behind=sites,
        title_of_all=title or first.study.spec.title,
    )
    mounted = [Mount(folder, app) for folder, app in apps.items()]
    return application(door, [*first_routes(), Route("/health", health), *mounted], all_of_them, hosts)


def check_alike(studies: Sequence[Study]) -> None:
    """Refuses studies between which people could choose, or which are entered in different ways."""
    if any(study.spec.entry == "code" for study in studies):
        raise VeraxError(
            'A code belongs to one study, so studies with entry = "code" cannot be served together; serve each alone, '
            'or build them with entry = "link", "prolific" or "mturk".'
        )
    for name, said in ALIKE.items():
        other = next((study for study in studies if said(study.spec) != said(studies[0].spec)), None)
        if other is not None:
            raise VeraxError(
                f"Studies that are served together have one first page, but {name} differs between "
                f"{studies[0].spec.title!r} and {other.spec.title!r}; make the specs alike there and build again."
            )
