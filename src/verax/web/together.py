"""The web application of several studies with one first page: whoever starts there is given one of them.

A study's own pages, and those for its experimenters, lie in a folder behind the first page; `folder_of` names it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Unpack

from starlette.applications import Starlette
from starlette.routing import Mount, Route

from verax.errors import VeraxError
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import Study
from verax.studies.display import wording
from verax.studies.store.store import Visitor
from verax.studies.store.together import Together, folder_of
from verax.web.app import application, first_routes, make_app
from verax.web.health import health
from verax.web.http.pages import Site
from verax.web.participant.first_page import about_study

# What people meet before they are given a study has to be the same in all, by what a spec calls it.
ALIKE: Mapping[str, Callable[[StudySpec], object]] = {
    "entry": lambda spec: spec.entry,
    "recruiting.sandbox": lambda spec: spec.recruiting.sandbox,
    "texts.welcome": wording.welcome,
    "[about] or texts.contact": about_study,
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Door(Site):
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


def together_app(
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
    door = Door(
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
