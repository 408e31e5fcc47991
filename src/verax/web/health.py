"""Whether the server can do its work: asked by whatever watches over it, at /health."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import cast

from sqlalchemy import bindparam, select, update
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from verax.studies.store import Store
from verax.studies.store.people import Transaction
from verax.studies.store.tables import studies

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
