"""What Verax says, apart from the logic that decides it: phrase files by language and area, and what says a phrase.

Logic decides a case and its slots; what the case says stands in ``<language>/<area>.ftl``, in Fluent's format, which
knows plurals and can be read, proof-read and translated without Python.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
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
Slot = str | int | float | Sequence[str]

logger = logging.getLogger(__name__)
_spoken: ContextVar[str] = ContextVar("verax_language", default=LANGUAGE)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Within this, everything is said in a language: a study is built, or a page drawn, in that of the study."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


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
    for name, value in slots:
        if isinstance(value, tuple):
            values[name], values[name + MANY] = _listed(value, "list-end"), len(value)
        else:
            values[name] = value
    pattern = bundle.get_message(case).value
    if pattern is None:
        raise KeyError(f"There is no phrase {case!r} in {area!r}.")
    said, errors = bundle.format_pattern(pattern, values)
    if errors:
        raise KeyError(f"The phrase {case!r} in {area!r}: {errors[0]}.")
    return str(said)


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
    bundle = FluentBundle([language], use_isolating=False)
    for name in dict.fromkeys(("common", area)):
        file = files("verax.phrases") / language / f"{name}.ftl"
        if file.is_file():
            bundle.add_resource(FluentResource(file.read_text(encoding="utf-8")))
    return bundle
