"""Pages of the study that is served: what browsers are told of them, style sheets and scripts, templates as answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Unpack, cast

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from verax.phrases import say
from verax.studies.definition.screen import LEVELS
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import Study
from verax.studies.protocol.common_steps import minutes
from verax.studies.store import Store
from verax.studies.store.participant.posted import LONGEST_TEXT
from verax.studies.store.store import Visitor

if TYPE_CHECKING:
    from jinja2 import Environment


_OWN = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'"
POLICY = f"{_OWN}; form-action 'self'; frame-ancestors 'none'"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
# For pages that came by https: the browser asks for this host in no other way for a year.
HSTS = {"Strict-Transport-Security": "max-age=31536000"}


def headers_for(scheme: str) -> dict[str, str]:
    """The headers of every answer."""
    return HEADERS | HSTS if scheme == "https" else HEADERS


MTURK = "https://www.mturk.com"
SANDBOX = "https://workersandbox.mturk.com"


def mturk_host(spec: StudySpec) -> str:
    """Where MTurk is told that somebody is done."""
    return SANDBOX if spec.recruiting.sandbox else MTURK


def policy_for(spec: StudySpec) -> str:
    """The policy of participants' pages: MTurk shows a study in a frame of its own, and takes a form at the end."""
    if spec.entry != "mturk":
        return POLICY
    return f"{_OWN}; form-action 'self' {mturk_host(spec)}; frame-ancestors https://*.mturk.com"


TYPES = {
    "study.css": "text/css; charset=utf-8",
    "study.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "experimenter.css": "text/css; charset=utf-8",
    "experimenter.js": "text/javascript; charset=utf-8",
    "htmx.js": "text/javascript; charset=utf-8",
}


@dataclass(frozen=True)
class Asset:
    """A file as it is sent."""

    content: bytes
    type: str


@cache
def assets() -> dict[str, Asset]:
    """The files by the name that they are asked for."""
    folder = files("verax.web").joinpath("static")
    originals = {name: Asset(folder.joinpath(name).read_bytes(), type) for name, type in TYPES.items()}
    return {_hashed(name, asset.content): asset for name, asset in originals.items()}


@cache
def asset_name(name: str) -> str:
    """The name under which a file is asked for."""
    stem, ending = name.split(".")
    return next(hashed for hashed in assets() if hashed.startswith(f"{stem}.") and hashed.endswith(ending))


def _hashed(name: str, content: bytes) -> str:
    stem, ending = name.split(".")
    return f"{stem}.{hashlib.sha256(content).hexdigest()[:12]}.{ending}"


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
    made.globals |= {"levels": LEVELS, "longest_text": LONGEST_TEXT, "say": partial(say, "participant")}
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
