"""A link that shows the live page to whoever has it, and lets nobody change anything; an owner may replace it.

The link is made from the database's secret and from how often it was replaced, so that nothing needs to be stored.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable

from sqlalchemy import bindparam, func, select
from starlette.requests import Request
from starlette.responses import Response

from verax.studies.store import Store
from verax.studies.store.people import Transaction, act
from verax.studies.store.tables import actions
from verax.web.experimenter.sign_in import Visit, home, to_the_door
from verax.web.http.forms import Form
from verax.web.http.pages import see_other, site_of

REPLACED = "new share link"
TIMES = select(func.count()).where(
    actions.c.study_id == bindparam("study_id"), actions.c.type == bindparam("type")
)


def share_key(store: Store) -> str:
    """What the link ends with now."""

    def times(work: Transaction) -> int:
        asked = {"study_id": work.study_id, "type": REPLACED}
        return int(work.connection.execute(TIMES, asked).scalar_one())

    return store.keyed(f"share {store.read(times)}")[:32]


def share_address(request: Request) -> str:
    """Where the link leads to, on this host."""
    return home(request, f"/shared/{share_key(site_of(request).store)}")


def with_link(handler: Callable[[Request, Visit], Response]) -> Callable[[Request], Response]:
    """A page for whoever has the link, as a reader without an account; a wrong or an older one opens nothing."""

    def endpoint(request: Request) -> Response:
        shown = str(request.path_params["key"]).encode("utf-8", "replace")
        right = share_key(site_of(request).store).encode()
        if not hmac.compare_digest(shown, right):
            return to_the_door(request)
        return handler(request, Visit("", "", "reader"))

    return endpoint


def replace_link(request: Request, visit: Visit, form: Form) -> Response:  # noqa: ARG001
    """Makes another link; the older one ends."""
    site_of(request).store.write(lambda work: act(work, visit.name, REPLACED, {}))
    return see_other(home(request))
