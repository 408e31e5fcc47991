"""What simulated people answer, and what they do besides: profiles with a text form, and mixtures of them."""

from __future__ import annotations

import ast
import difflib
import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cache
from statistics import NormalDist
from typing import ClassVar, Literal, TypeVar

from verax.errors import VeraxError
from verax.seeds import share, stream
from verax.stats.power import Design, Spreads, solve_base, solve_shifts

_NORMAL = NormalDist()


@dataclass(frozen=True)
class Chance:
    """The draws of one simulated person.

    Attributes:
        seed: of all of them.
        person: the person's number.
    """

    seed: int
    person: int

    def share(self, *about: str | int) -> float:
        """A number between 0 and 1, this person's own."""
        return share(self.seed, "person", self.person, *about)

    def normal(self, *about: str | int) -> float:
        """A standard normal number, this person's own."""
        return _NORMAL.inv_cdf(self.share(*about))

    def common_normal(self, *about: str | int) -> float:
        """A standard normal number that is the same for everybody."""
        return _NORMAL.inv_cdf(share(self.seed, "everybody", *about))


Aid = Literal["none", "method", "control"]


@dataclass(frozen=True)
class Case:
    """One question that has a right answer, as a person meets it.

    Attributes:
        scores: what each answer is worth if one knew the truth; None if the page was not recognised.
        label_scores: what each would be worth if the model were always right.
        understood: whether the person knows what the answers' words stand for; not at first in a masked task.
        aid: what helps: nothing, a method's explanations, or a random control's.
        item: what is asked about.
        step: the step.
        chance: the person's draws.
    """

    scores: tuple[float, ...] | None
    label_scores: tuple[float, ...] | None
    understood: bool
    aid: Aid
    item: str
    step: int
    chance: Chance
    options: int

    def draw(self, what: str) -> float:
        """A number between 0 and 1 for this question."""
        return self.chance.share(self.step, what)

    def guess(self) -> int:
        """The place of any answer, from 1."""
        return 1 + int(self.options * self.draw("guess"))


@dataclass(frozen=True)
class Answering(ABC):
    """How somebody answers questions that have a right answer."""

    name: ClassVar[str]
    meaning: ClassVar[str]

    def __init_subclass__(cls, *, name: str, meaning: str) -> None:
        """The name and the meaning under which a command line lists it."""
        cls.name, cls.meaning = name, meaning

    def __post_init__(self) -> None:
        """Refuses parameters that make no sense."""
        _check(self)

    @abstractmethod
    def choose(self, case: Case) -> int:
        """The place of the chosen answer, from 1."""


@dataclass(frozen=True)
class Guesser(Answering, name="guesser", meaning="chooses any answer, each as often"):
    """Chooses any answer, each as often."""

    def choose(self, case: Case) -> int:
        """Any."""
        return case.guess()


@dataclass(frozen=True)
class LabelFollower(
    Answering,
    name="label-follower",
    meaning="answers the true label in this share of the cases (belief bias), or else guesses",
):
    """Belief bias: answers what is true rather than what the model says; otherwise guesses."""

    strength: float = 0.8

    def choose(self, case: Case) -> int:
        """The answer that would be right if the model were."""
        return _best_or_guess(case, case.label_scores, guesses=case.draw("follow") >= self.strength)


@dataclass(frozen=True)
class ModelKnower(
    Answering, name="model-knower", meaning="knows the right answer, and guesses in this share of the cases"
):
    """Knows what the model says, but for a share of the answers, which are guesses."""

    noise: float = 0.1

    def choose(self, case: Case) -> int:
        """The right answer."""
        return _best_or_guess(case, case.scores, guesses=case.draw("noise") < self.noise)


@dataclass(frozen=True)
class Helped(
    Answering,
    name="helped",
    meaning="is right in the share base, and by more once a method's explanations were seen",
):
    """Is right in a share ``base`` of the cases, and ``by`` more with a method's explanations.

    People, items, and what both gain differ on the log-odds scale as in `verax.stats.power`; over all
    people and all
    items the shares are exactly these.

    Attributes:
        base: the share of right answers without an explanation.
        by: what a method's explanations add.
        spread: how much people and items differ: 1 as in real studies, 0 not at all.
        control: what a random control's explanations add.
    """

    base: float = 0.66
    by: float = 0.1
    spread: float = 1.0
    control: float = 0.0

    def __post_init__(self) -> None:
        """Refuses shares that are none."""
        for added in (0.0, self.by, self.control):
            if not 0 < self.base + added < 1:
                raise VeraxError(
                    f"The profile {spelled(self)} would be right in {self.base + added:.2f} of the cases; give shares, "
                    "such as helped(base=0.6,by=0.1) for 10 points."
                )
        if self.spread < 0:
            raise VeraxError(f"The profile {spelled(self)} has a negative spread; 0 makes all people alike.")

    def choose(self, case: Case) -> int:
        """A right answer with the person's probability on this item."""
        if case.scores is None:
            return case.guess()
        right = case.draw("right") < _logistic(self._log_odds(case))
        return case_answer(case, right)

    def _log_odds(self, case: Case) -> float:
        differ = _spreads(self.spread)
        odds = _base(self.base, self.spread)
        odds += differ.person * case.chance.normal("ability")
        odds += differ.item * case.chance.common_normal("item", case.item)
        odds += differ.pair * case.chance.normal("item", case.item)
        if case.aid == "none" or (case.aid == "control" and not self.control):
            return odds
        odds += _shift(self.base, self.by if case.aid == "method" else self.control, self.spread)
        odds += differ.gain(0) * case.chance.normal("gain", case.aid)
        odds += differ.item_change * case.chance.common_normal("gain", case.item)
        return odds


@dataclass(frozen=True)
class SameAnswer(
    Answering, name="same-answer", meaning="always chooses the answer at this place, ratings included"
):
    """Always presses the same key."""

    position: int = 1

    def choose(self, case: Case) -> int:
        """The same."""
        return min(self.position, case.options)


@dataclass(frozen=True)
class Habit:
    """What somebody does besides answering."""

    name: ClassVar[str]
    meaning: ClassVar[str]

    def __init_subclass__(cls, *, name: str, meaning: str) -> None:
        """The name and the meaning under which a command line lists it."""
        cls.name, cls.meaning = name, meaning

    def __post_init__(self) -> None:
        """Refuses parameters that make no sense."""
        _check(self)


@dataclass(frozen=True)
class Leaver(Habit, name="leaver", meaning="leaves after this share of the steps"):
    """Closes the page for good."""

    after: float = 0.3


@dataclass(frozen=True)
class DoubleClicker(Habit, name="double-clicker", meaning="sends each page so many times at once"):
    """Sends every page several times at once."""

    copies: int = 2


@dataclass(frozen=True)
class Reloader(Habit, name="reloader", meaning="loads each page so many times more before answering"):
    """Loads every page again before answering."""

    times: int = 1


@dataclass(frozen=True)
class Late(Habit, name="late", meaning="answers this share of the pages that have a limit after it"):
    """Lets the time of limited pages run out before answering."""

    share: float = 1.0


@dataclass(frozen=True)
class Careless(
    Habit, name="careless", meaning="answers this share of the screening test's questions wrongly"
):
    """Did not read the instructions."""

    wrong: float = 0.5


ANSWERING: tuple[type[Answering], ...] = (Guesser, LabelFollower, ModelKnower, Helped, SameAnswer)
HABITS: tuple[type[Habit], ...] = (Leaver, DoubleClicker, Reloader, Late, Careless)
# Who has only habits answers like the average person whom nothing helps.
AVERAGE = Helped(by=0.0)


H = TypeVar("H", bound=Habit)


@dataclass(frozen=True)
class Profile:
    """A sort of people: how they answer, and what they do besides."""

    answering: Answering = AVERAGE
    habits: tuple[Habit, ...] = ()

    def habit(self, kind: type[H]) -> H | None:
        """The habit of this kind, if people of this sort have it."""
        return next((habit for habit in self.habits if isinstance(habit, kind)), None)

    def __str__(self) -> str:
        """The profile as it is written on a command line."""
        habits = [spelled(habit) for habit in self.habits]
        return "+".join(
            habits if habits and self.answering == AVERAGE else [spelled(self.answering), *habits]
        )


def spelled(part: Answering | Habit) -> str:
    """A part of a profile with those of its parameters that are not the default."""
    changed = [
        f"{parameter.name}={getattr(part, parameter.name)!r}"
        for parameter in fields(part)
        if getattr(part, parameter.name) != parameter.default
    ]
    return f"{part.name}({','.join(changed)})" if changed else part.name


def _check(part: Answering | Habit) -> None:
    """Whole numbers count something, and all others are shares."""
    for parameter in fields(part):
        value, what = getattr(part, parameter.name), f"{parameter.name} of the profile {part.name!r}"
        if isinstance(parameter.default, int):
            if not isinstance(value, int) or value < 1:
                raise VeraxError(f"{what} is {value}; give a whole number from 1 on.")
        elif not 0 <= value <= 1:
            raise VeraxError(f"{what} is {value}; give a share from 0 to 1.")


def _best_or_guess(case: Case, scores: tuple[float, ...] | None, *, guesses: bool) -> int:
    """The place of the best answer, from 1, the first of several; a guess of who cannot know it, or does not care."""
    if scores is None or not case.understood or guesses:
        return case.guess()
    return 1 + scores.index(max(scores))


def case_answer(case: Case, right: bool) -> int:
    """One of the answers on the right side, or on the wrong side; an answer that says nothing is on neither."""
    assert case.scores is not None
    worst = min(case.scores)
    places = [
        place
        for place, score in enumerate(case.scores, start=1)
        if (score > 0 if right else score == worst if worst >= 0 else score < 0)
    ]
    return places[int(len(places) * case.draw("which"))]


def _logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))


@cache
def _spreads(scale: float) -> Spreads:
    usual = Spreads()
    return Spreads(
        person=scale * usual.person,
        item=scale * usual.item,
        person_change=scale * usual.gain(0),
        item_change=scale * usual.item_change,
        pair=scale * usual.pair,
    )


@cache
def _base(accuracy: float, scale: float) -> float:
    return solve_base(Design((1,), 1, accuracy), _spreads(scale))


@cache
def _shift(accuracy: float, effect: float, scale: float) -> float:
    return float(solve_shifts(Design((1,), 1, accuracy), _spreads(scale), (effect,))[0])


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
