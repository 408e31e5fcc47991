"""Pages of the study that is served: what all handlers share of it, and templates that become answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Unpack, cast

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from verax.studies.definition.screen import LEVELS
from verax.studies.definition.study import Study
from verax.studies.protocol.common_steps import minutes
from verax.studies.store import Store
from verax.studies.store.participant.posted import LONGEST_TEXT
from verax.studies.store.store import Visitor
from verax.web.http.assets import asset_name
from verax.web.http.policy import policy_for

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, eq=False)
class Site:
    """A study with its store.

    Attributes:
        store: where answers go.
        study: what is shown.
        preview: every page says that nothing is recorded.
        folder: behind the address of the first page, where the study is one of several with the same first page: its
            own pages begin there. Empty for a study on its own.
    """

    store: Store
    study: Study
    preview: bool = False
    folder: str = ""

    @property
    def title(self) -> str:
        """What the pages are called."""
        return self.study.spec.title

    @property
    def sites(self) -> Sequence[Site]:
        """Where somebody who opens the first page may be already."""
        return (self,)

    def enter(
        self, cookies: Mapping[str, str], code: str | None = None, **who: Unpack[Visitor]
    ) -> tuple[Site, str]:
        """Lets somebody in: where they are then, and their token.

        Raises:
            Refused: they cannot enter.
        """
        return self, self.store.enter(code=code, holds=cookies.get(self.cookie), **who)

    @cached_property
    def minutes(self) -> float:
        """How long it takes: as the spec says, or as it looks."""
        return self.study.spec.about.minutes or minutes(self.study)

    @property
    def cookie(self) -> str:
        """The cookie's name: studies on one host must not take each other's participants."""
        return f"verax-{self.study.hash[:12]}"


def site_of(request: Request) -> Site:
    """The site that was asked."""
    return cast(Site, request.app.state.site)


def root(request: Request) -> str:
    """Where the study's addresses begin: empty, or the folder under which it is served."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def front(request: Request) -> str:
    """Where the address of the first page begins: as `root`, unless several studies have the same one."""
    return root(request).removesuffix(site_of(request).folder)


def page(request: Request, template: str, context: Mapping[str, object], status: int = 200) -> HTMLResponse:
    """A page of the study.

    Args:
        request: what is answered.
        template: its file.
        context: what this template needs besides what all do.
        status: of HTTP.
    """
    site = site_of(request)
    shared = {
        "study": site.title,
        "contact": site.study.spec.texts.contact,
        "preview": site.preview,
        "root": root(request),
        "here": request.url.path if site.preview else "",
        "static": lambda name: f"{root(request)}/static/{asset_name(name)}",
        "link": "",
        "leaving": None,
    }
    answer = HTMLResponse(draw(template, shared | dict(context)), status)
    answer.headers["Content-Security-Policy"] = policy_for(site.study.spec)
    return answer


def see_other(address: str) -> RedirectResponse:
    """Sends the browser to an address, to be read with GET."""
    return RedirectResponse(address, 303)


@cache
def _environment() -> Environment:
    """Jinja's environment: everything is escaped, and a name that is not there is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("verax.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["paragraphs"] = paragraphs
    made.globals |= {"levels": LEVELS, "longest_text": LONGEST_TEXT}
    return made


def draw(template: str, context: Mapping[str, object]) -> str:
    """The page as HTML."""
    return _environment().get_template(template).render(context)


def paragraphs(texts: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The tag of each run of paragraphs, "p" or "ul", with its texts; the dash of a point is taken off."""
    for is_list, run in groupby(texts, key=lambda text: text.startswith("- ")):
        if is_list:
            yield "ul", tuple(text[2:] for text in run)
        else:
            yield from (("p", (text,)) for text in run)
