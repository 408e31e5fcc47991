"""What Verax says, apart from the logic that decides it: phrase files by language and area, and what says a phrase.

Logic decides a case and its slots; what the case says stands in ``<language>/<area>.ftl``, in Fluent's format, which
knows plurals and can be read, proof-read and translated without Python.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fluent.runtime import FluentBundle

LANGUAGE = "en"
# A list of names beside other slots; how many there are is the slot of its name with this ending.
MANY = "_many"
LONG_SLOT = 200
MARK = re.compile("\ue000[0-9]+\ue001")
Slot = str | int | float | Sequence[str]

# Files of phrases that participants read; a language in which a study runs has all of them.
PARTICIPANT_AREAS = (
    "common",
    "participant",
    "script",
    "background",
    "questions",
    "reading",
    "described",
    "forward",
    "counterfactual",
    "user-test",
    "class-from-evidence",
    "uncertain-case",
    "model-choice",
    "reverse-turing",
)
# Written from right to left.
RIGHT_TO_LEFT = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})
# Between a language and the mark of phrases that somebody else wrote for it.
OWN = "+"

logger = logging.getLogger(__name__)
_own: dict[str, Mapping[str, str]] = {}
_spoken: ContextVar[str] = ContextVar("verax_language", default=LANGUAGE)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Within this, everything is said in a language: a study is built, or a page drawn, in that of the study."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


def language_spoken() -> str:
    """The language of `speaking`, such as "de"; English outside of it."""
    return _spoken.get().partition(OWN)[0]


def language_tag() -> str:
    """What `speaking` was given: the language, and which phrases of it if they are somebody's own."""
    return _spoken.get()


def direction(language: str) -> str:
    """How a language is written: "ltr" or "rtl"."""
    return "rtl" if language.partition("-")[0] in RIGHT_TO_LEFT else "ltr"


def languages() -> list[str]:
    """The languages that come with Verax, of what participants read."""
    folders = (folder for folder in files("verax.phrases").iterdir() if folder.is_dir())
    return sorted(folder.name for folder in folders if (folder / "participant.ftl").is_file())


def own_phrases(language: str, texts: Mapping[str, str]) -> str:
    """Somebody's own phrase files of a language, by area: what `speaking` is given to say them."""
    mark = hashlib.sha256(json.dumps(dict(texts), sort_keys=True).encode()).hexdigest()[:16]
    name = f"{language}{OWN}{mark}"
    _own[name] = dict(texts)
    return name


def phrases_of(language: str) -> dict[str, str]:
    """The phrase files of a language that comes with Verax, by area."""
    folder = files("verax.phrases") / language
    return {
        area: (folder / f"{area}.ftl").read_text(encoding="utf-8")
        for area in PARTICIPANT_AREAS
        if (folder / f"{area}.ftl").is_file()
    }


def say(area: str, case: str, /, **slots: Slot) -> str:
    """What is said in a case, in the language of `speaking`; what that lacks is said in English, and logged once.

    Args:
        area: the phrase file.
        case: the phrase in it.
        slots: what the phrase speaks of. A list becomes "a, b and c", and ``$names_many`` is how many ``$names`` has;
            a truth value is "yes" or "no".

    Raises:
        KeyError: there is no such phrase, or it has a slot that was not given.
    """
    return _said(area, case, _spoken.get(), tuple((name, _plain(value)) for name, value in slots.items()))


def _plain(value: Slot) -> str | int | float | tuple[str, ...]:
    if isinstance(value, bool):
        return ("no", "yes")[value]
    return value if isinstance(value, str | int | float) else tuple(value)


# Pages say the same few things to everybody, and formatting takes longer than the rest of a page.
@lru_cache(maxsize=4096)
def _said(
    area: str, case: str, language: str, slots: tuple[tuple[str, str | int | float | tuple[str, ...]], ...]
) -> str:
    bundle = _bundle_with(area, case, language)
    values: dict[str, str | int | float] = {}
    long: dict[str, str] = {}
    for name, given in slots:
        if isinstance(given, tuple):
            values[name + MANY] = len(given)
        value = _listed(given, "list-end") if isinstance(given, tuple) else given
        if isinstance(value, str) and len(value) > LONG_SLOT:
            # Fluent refuses to say more than 2,500 characters at a time.
            mark = f"\ue000{len(long)}\ue001"
            values[name], long[mark] = mark, value
        else:
            values[name] = value
    pattern = bundle.get_message(case).value
    if pattern is None:
        raise KeyError(f"There is no phrase {case!r} in {area!r}.")
    said, errors = bundle.format_pattern(pattern, values)
    if errors:
        raise KeyError(f"The phrase {case!r} in {area!r}: {errors[0]}.")
    return MARK.sub(lambda found: long.get(found[0], found[0]), str(said)) if long else str(said)


def first_of(names: Sequence[str], most: int) -> list[str]:
    """The names for a list; above ``most`` the first of them and how many more there are."""
    if len(names) <= most:
        return list(names)
    return [*names[:most], say("common", "more-names", many=len(names) - most)]


def say_lines(area: str, case: str, /, **slots: Slot) -> tuple[str, ...]:
    """A phrase of several lines, each of which is a paragraph, a point of a list or an answer."""
    return tuple(line for line in say(area, case, **slots).split("\n") if line)


def either(names: Sequence[str]) -> str:
    """Names of which one holds: "a, b or c"."""
    return _listed(names, "list-or")


def _listed(names: Sequence[str], end: str) -> str:
    if len(names) < 2:
        return "".join(names)
    said = names[0]
    for name in names[1:-1]:
        said = say("common", "list-between", first=said, second=name)
    return say("common", end, first=said, last=names[-1])


def _bundle_with(area: str, case: str, language: str) -> FluentBundle:
    """The phrases of a language, or of English where it lacks the case."""
    bundle = _bundle(area, language)
    if bundle.has_message(case):
        return bundle
    if language == LANGUAGE:
        raise KeyError(f"There is no phrase {case!r} in {area!r}.")
    _log_lacking(area, case, language)
    return _bundle_with(area, case, LANGUAGE)


@cache
def _log_lacking(area: str, case: str, language: str) -> None:
    logger.warning("There is no phrase %r of %r in %r: it is said in English.", case, area, language)


@cache
def _bundle(area: str, language: str) -> FluentBundle:
    from fluent.runtime import FluentBundle, FluentResource

    # Slots are names and numbers of the same direction as the text around them.
    plain = language.partition(OWN)[0]
    bundle = FluentBundle([plain], use_isolating=False)
    for name in dict.fromkeys(("common", area)):
        text = _own.get(language, {}).get(name)
        file = files("verax.phrases") / plain / f"{name}.ftl"
        if text is None and file.is_file():
            text = file.read_text(encoding="utf-8")
        if text is not None:
            bundle.add_resource(FluentResource(text))
    return bundle
