"""A server deletes what is due: when it starts, and once a day."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from verax.studies.store import Store
from verax.web.http.pages import Site

DAY = 24 * 3600

logger = logging.getLogger("verax.web")


@asynccontextmanager
async def purging(site: Site) -> AsyncIterator[None]:
    """Does it for the time of the block, where the study says how long answers are kept."""
    if site.preview or site.study.spec.retention_days is None:
        yield
        return
    task = asyncio.create_task(_day_by_day(site.store))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _day_by_day(store: Store) -> None:
    while True:
        await run_in_threadpool(purge_now, store)
        await asyncio.sleep(DAY)


def purge_now(store: Store) -> None:
    """Deletes what is due; a database that does not answer is asked again the next day."""
    try:
        purged = store.purge(by="server")
    except SQLAlchemyError as error:
        logger.error("What is due could not be deleted: %s", getattr(error, "orig", type(error).__name__))
        return
    if purged.people:
        logger.warning("The time is over for %d participants: their data were deleted.", purged.people)
