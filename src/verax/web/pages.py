"""Pages of the study that is served: what browsers are told of them, style sheets and scripts, templates as answers."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Unpack, cast

from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from verax.phrases import LANGUAGE, Slot, direction, language_spoken, language_tag, languages, say, speaking
from verax.studies.definition.languages import speaking_for, spoken_spec
from verax.studies.definition.screen import LEVELS
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import Study
from verax.studies.definition.study_files import media_path
from verax.studies.display.markup import block_html, inline_html
from verax.studies.protocol.common_steps import minutes
from verax.studies.store import Store
from verax.studies.store.participant.posted import LONGEST_TEXT
from verax.studies.store.store import Visitor

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


_OWN = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; media-src 'self'; base-uri 'none'"
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


EXPERIMENTERS = "/experimenter"
LONGEST_HEADER = 500
# A language that a browser is set to, such as "de-AT;q=0.8".
WANTED = re.compile(r"([A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)(?:\s*;\s*q=([01](?:\.[0-9]{0,3})?))?")
# What the script says without numbers.
SCRIPT = (
    "copied",
    "selected",
    "next-question",
    "back",
    "read-on",
    "more-to-read",
    "all-read",
    "answer-first",
    "under-a-minute",
)

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
        pilot: where phones find it, if it is a pilot.
    """

    store: Store
    study: Study
    preview: bool = False
    folder: str = ""
    pilot: str = ""

    @property
    def title(self) -> str:
        """What the pages are called, in the language that is spoken."""
        return spoken_spec(self.study).title

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


def wanted_language(site: Site, scope: Scope) -> str:
    """The language that a participant asks for: by the address, or by what their browser is set to; else the first."""
    known = site.study.spec.languages
    if len(known) == 1:
        return known[0]
    asked = QueryParams(scope.get("query_string", b"")).get("lang")
    return asked if asked in known else browser_language(known, scope)


def browser_language(known: Sequence[str], scope: Scope) -> str:
    """Of some languages the one that somebody's browser is set to; else the first."""
    if len(known) == 1:
        return known[0]
    accepted = Headers(scope=scope).get("accept-language", "")[:LONGEST_HEADER]
    wanted = [
        (-float(quality or 1), place, tag.strip().lower())
        for place, (tag, quality) in enumerate(WANTED.findall(accepted))
    ]
    for _, _, tag in sorted(wanted):
        for language in known:
            if language.lower() in (tag, tag.partition("-")[0]):
                return language
    return known[0]


class Speaking:
    """Speaks the language of whoever asks: to participants one of the study's, to experimenters one that Verax has."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app, self._site = app, site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        with self._speaking(scope) if scope["type"] == "http" else nullcontext():
            await self._app(scope, receive, send)

    def _speaking(self, scope: Scope) -> AbstractContextManager[None]:
        if EXPERIMENTERS in scope["path"]:
            return speaking(browser_language((LANGUAGE, *languages()), scope))
        return speaking_for(self._site.study, wanted_language(self._site, scope))


@lru_cache(maxsize=32)
def _words_in(language: str) -> str:  # noqa: ARG001 - what is said depends on it
    """What the script says, as JSON; where a number stands, texts by the form of the plural."""
    said = partial(say, "script")
    words: dict[str, object] = {name: said(name) for name in SCRIPT}
    words["question-of"] = said("question-of", number="{n}", questions="{of}")
    for name in ("read-first", "minutes-left"):
        words[name] = {form: _open(said(name, count=many), many) for form, many in _samples().items()}
    for what in ("part", "page"):
        for name in ("over-go-on", "over-answer"):
            words[f"{name}-{what}"] = said(name, what=what)
        for name in ("clock-minutes", "clock-seconds", "seconds-left"):
            words[f"{name}-{what}"] = {
                form: _open(said(name, what=what, count=many), many) for form, many in _samples().items()
            }
    return json.dumps(words, ensure_ascii=False)


def script_words() -> str:
    """What the script of the pages says, in the language that is spoken."""
    return _words_in(language_tag())


def _samples() -> dict[str, int]:
    """A number for each form of the plural that the language has."""
    from babel import Locale, UnknownLocaleError

    try:
        form_of = Locale.parse(language_spoken(), sep="-").plural_form
    except (ValueError, UnknownLocaleError):
        form_of = Locale.parse("en").plural_form
    samples: dict[str, int] = {}
    for many in range(1, 120):
        samples.setdefault(form_of(many), many)
    return {**samples, "other": samples.get("other", 7)}


def _open(text: str, many: int) -> str:
    """The text with a place for the number that it was made with."""
    return text.replace(str(many), "{n}", 1)


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
        "contact": spoken_spec(site.study).texts.contact,
        "preview": site.preview,
        "root": root(request),
        "here": request.url.path if site.preview else "",
        "static": lambda name: f"{root(request)}/static/{asset_name(name)}",
        "link": "",
        "leaving": None,
        "feedback": _feedback_address(request) if site.pilot else "",
    }
    place = _media.set(
        {
            name: f"{root(request)}/media/{media_path('', name, hash).name}"
            for name, hash in site.study.media.items()
        }
    )
    try:
        answer = HTMLResponse(draw(template, shared | dict(context)), status)
    finally:
        _media.reset(place)
    answer.headers["Content-Security-Policy"] = policy_for(site.study.spec)
    return answer


def _feedback_address(request: Request) -> str:
    token = request.path_params.get("token")
    return f"{root(request)}/p/{token}/feedback" if token else ""


def see_other(address: str) -> RedirectResponse:
    """Sends the browser to an address, to be read with GET."""
    return RedirectResponse(address, 303)


# Where the study's pictures, sounds and films are, by name, while a page is drawn.
_media: ContextVar[Mapping[str, str]] = ContextVar("verax_media", default=MappingProxyType({}))


def prepare_templates() -> None:
    """Compiles all templates, before there are people: or all who come first would compile each of them."""
    environment = _environment()
    for name in environment.list_templates():
        environment.get_template(name)


@cache
def _environment() -> Environment:
    """Jinja's environment: everything is escaped, and a name that is not there is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("verax.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["markup"] = lambda texts: Markup(block_html(texts, _address))
    made.filters["inline"] = lambda text: Markup(inline_html(text, _address))
    made.globals |= {
        "levels": LEVELS,
        "longest_text": LONGEST_TEXT,
        "say": partial(say, "participant"),
        "tell": _tell,
    }
    return made


def _tell(case: str, **slots: Slot) -> Markup:
    """What experimenters are told; slots may be HTML, such as a time that the script puts into the reader's own."""
    from markupsafe import Markup, escape

    safe = {name: escape(value) if isinstance(value, str) else value for name, value in slots.items()}
    return Markup(say("experimenter", case, **safe))


def draw(template: str, context: Mapping[str, object]) -> str:
    """The page as HTML."""
    spoken = {"language": language_spoken(), "dir": direction(language_spoken()), "words": script_words()}
    return _environment().get_template(template).render(spoken | dict(context))


def _address(name: str) -> str:
    return _media.get().get(name, "")


class Part:
    """A part of a page as HTML, by the macro of a template that draws it.

    It is drawn with its page, when the language and the addresses of pictures are known, and kept while these stay.
    """

    def __init__(self, template: str, macro: str, *given: object) -> None:
        self._template, self._macro, self._given = template, macro, given
        self._kept: tuple[object, str] | None = None

    def __html__(self) -> str:
        now = language_spoken(), tuple(_media.get().items())
        if self._kept is None or self._kept[0] != now:
            macro = getattr(_environment().get_template(self._template).module, self._macro)
            self._kept = now, str(macro(*self._given))
        return self._kept[1]
