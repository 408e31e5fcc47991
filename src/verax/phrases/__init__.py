"""What Verax says, apart from the logic that decides it: phrase files by language and area, and what says a phrase.

Logic decides a case and its slots; what the case says stands in ``<language>/<area>.ftl``, in Fluent's format, which
knows plurals and can be read, proof-read and translated without Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fluent.runtime import FluentBundle

LANGUAGE = "en"
# A list of names beside other slots; how many there are is the slot of its name with this ending.
MANY = "_many"
Slot = str | int | float | Sequence[str]


def say(area: str, case: str, /, **slots: Slot) -> str:
    """What is said in a case.

    Args:
        area: the phrase file.
        case: the phrase in it.
        slots: what the phrase speaks of. A list becomes "a, b and c", and ``$names_many`` is how many ``$names`` has;
            a truth value is "yes" or "no".

    Raises:
        KeyError: there is no such phrase, or it has a slot that was not given.
    """
    bundle = _bundle(area)
    values: dict[str, str | int | float] = {}
    for name, value in slots.items():
        if isinstance(value, bool):
            values[name] = ("no", "yes")[value]
        elif isinstance(value, str | int | float):
            values[name] = value
        else:
            values[name], values[name + MANY] = _listed(bundle, value), len(value)
    if not bundle.has_message(case) or (pattern := bundle.get_message(case).value) is None:
        raise KeyError(f"There is no phrase {case!r} in {area!r}.")
    said, errors = bundle.format_pattern(pattern, values)
    if errors:
        raise KeyError(f"The phrase {case!r} in {area!r}: {errors[0]}.")
    return str(said)


def first_of(names: Sequence[str], most: int) -> list[str]:
    """The names for a list; above ``most`` the first of them and how many more there are."""
    if len(names) <= most:
        return list(names)
    return [*names[:most], say("common", "more", many=len(names) - most)]


def _listed(bundle: FluentBundle, names: Sequence[str]) -> str:
    def joined(case: str, **both: str) -> str:
        pattern = bundle.get_message(case).value
        assert pattern is not None
        return str(bundle.format_pattern(pattern, both)[0])

    if len(names) < 2:
        return "".join(names)
    said = names[0]
    for name in names[1:-1]:
        said = joined("list-between", first=said, second=name)
    return joined("list-end", first=said, last=names[-1])


@cache
def _bundle(area: str, language: str = LANGUAGE) -> FluentBundle:
    from fluent.runtime import FluentBundle, FluentResource

    folder = files("verax.phrases") / language
    # Slots are names and numbers of the same direction as the text around them.
    bundle = FluentBundle([language], use_isolating=False)
    for name in ("common", area):
        bundle.add_resource(FluentResource((folder / f"{name}.ftl").read_text(encoding="utf-8")))
    return bundle
