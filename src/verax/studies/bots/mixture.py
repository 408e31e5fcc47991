"""Profiles as a command line names them: ``helped(by=0.1)=0.8,guesser+leaver(after=0.5)=0.2``."""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import dataclass, fields

from verax.errors import VeraxError
from verax.seeds import stream
from verax.studies.bots.profiles import ANSWERING, AVERAGE, HABITS, Answering, Habit, Profile

_parts: tuple[type[Answering] | type[Habit], ...] = (*ANSWERING, *HABITS)
PARTS = {part.name: part for part in _parts}
EXAMPLE = "helped(by=0.1)=0.8,guesser=0.2"
COMMA = re.compile(r",(?![^()]*\))")
ENTRY = re.compile(r"(?P<profile>.+?)(?:=(?P<weight>[\d.]+))?")
PART = re.compile(r"(?P<name>[\w-]+)(?:\((?P<parameters>[^()]*)\))?")


@dataclass(frozen=True)
class Mixture:
    """Sorts of people, and how many of each there are.

    Attributes:
        profiles: the sorts.
        weights: their shares; any positive numbers.
    """

    profiles: tuple[Profile, ...]
    weights: tuple[float, ...]

    def __str__(self) -> str:
        """The mixture as it is written on a command line."""
        if len(self.profiles) == 1:
            return str(self.profiles[0])
        pairs = zip(self.profiles, self.weights, strict=True)
        return ",".join(f"{profile}={weight:g}" for profile, weight in pairs)

    def people(self, n: int, seed: int) -> list[Profile]:
        """So many people in these shares, as nearly as whole people allow, in a random order."""
        total = sum(self.weights)
        exact = [n * weight / total for weight in self.weights]
        counts = [int(share) for share in exact]
        by_rest = sorted(range(len(exact)), key=lambda place: counts[place] - exact[place])
        for place in by_rest[: n - sum(counts)]:
            counts[place] += 1
        people = [profile for profile, count in zip(self.profiles, counts, strict=True) for _ in range(count)]
        return [people[place] for place in stream(seed, "profiles").permutation(n)]


def as_mixture(profiles: Mixture | Profile | str) -> Mixture:
    """A mixture, whatever was given."""
    if isinstance(profiles, str):
        return parse_profiles(profiles)
    return Mixture((profiles,), (1.0,)) if isinstance(profiles, Profile) else profiles


def parse_profiles(text: str) -> Mixture:
    """The mixture that is written so: profiles separated by commas, each with its share after ``=``."""
    profiles, weights = [], []
    for entry in COMMA.split(text):
        parsed = ENTRY.fullmatch(entry.strip())
        if parsed is None:
            raise VeraxError(f"The profiles {text!r} cannot be read; write them like this: {EXAMPLE}")
        profiles.append(_profile(parsed["profile"]))
        weights.append(_weight(parsed["weight"], entry))
    return Mixture(tuple(profiles), tuple(weights))


def _weight(written: str | None, entry: str) -> float:
    try:
        weight = 1.0 if written is None else float(written)
    except ValueError:
        weight = 0.0
    if weight <= 0:
        raise VeraxError(
            f"The share of {entry.strip()!r} is no positive number; write it like this: {EXAMPLE}"
        )
    return weight


def _profile(text: str) -> Profile:
    parts = [_part(part.strip()) for part in text.split("+")]
    answering = [part for part in parts if isinstance(part, Answering)]
    if len(answering) > 1:
        raise VeraxError(
            f"The profile {text!r} answers in {len(answering)} ways; nobody does. Separate different people by commas."
        )
    habits = tuple(part for part in parts if isinstance(part, Habit))
    return Profile(answering[0] if answering else AVERAGE, habits)


def _part(text: str) -> Answering | Habit:
    parsed = PART.fullmatch(text)
    if parsed is None:
        raise VeraxError(f"The profile {text!r} cannot be read; write it like this: helped(by=0.1)")
    made_from = PARTS.get(parsed["name"])
    if made_from is None:
        near = difflib.get_close_matches(parsed["name"], PARTS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(PARTS)}."
        raise VeraxError(f"There is no profile called {parsed['name']!r}; {hint}")
    written = [given for given in (parsed["parameters"] or "").split(",") if given.strip()]
    return made_from(**dict(_parameter(made_from, given) for given in written))


def _parameter(made_from: type[Answering] | type[Habit], written: str) -> tuple[str, float]:
    """A parameter of the type that its default has."""
    name, _, value = (piece.strip() for piece in written.partition("="))
    known = {parameter.name: parameter.default for parameter in fields(made_from)}
    if name not in known:
        have = ", ".join(known) or "no parameters"
        raise VeraxError(f"The profile {made_from.name!r} has no parameter {name!r}; it has {have}.")
    try:
        number = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise VeraxError(
            f"The parameter {written.strip()!r} of {made_from.name!r} is no number; write {name}=1."
        )
    return name, number if isinstance(known[name], int) else float(number)
