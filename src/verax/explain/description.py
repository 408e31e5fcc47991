"""An explanation in words: the one description that the terminal, pages and participants' screens draw.

Wording and order are those of Hase and Bansal (2020): their figure 2, and the forms that their participants filled
in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from verax.data.words import split_words
from verax.explain.composite import Composite
from verax.explain.explanation import Attribution, Explanation
from verax.explain.kinds import OUT_OF, Exemplar, Path, Rule
from verax.phrases import say as say_phrase
from verax.text import signed_from_zero

# Beside the largest score, one of this share of it or less is 0 but for rounding.
ROUNDING = 1e-9
say = partial(say_phrase, "described")


@dataclass(frozen=True)
class Heading:
    """What the next parts are about."""

    text: str
    sort: ClassVar[str] = "heading"


@dataclass(frozen=True)
class Sentence:
    """A sentence, or a value with its name."""

    text: str
    sort: ClassVar[str] = "line"


@dataclass(frozen=True)
class Conditions:
    """Numbered conditions, all of which must hold."""

    items: tuple[str, ...]
    sort: ClassVar[str] = "conditions"


@dataclass(frozen=True)
class Passage:
    """A text in pieces, each with whether it differs from the original; differences are bold and starred."""

    pieces: tuple[tuple[str, bool], ...]
    sort: ClassVar[str] = "passage"


@dataclass(frozen=True)
class Grid:
    """A small table: a header, which may be empty, and rows that begin with their name."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sort: ClassVar[str] = "grid"


DescriptionPart = Heading | Sentence | Conditions | Passage | Grid


def describe(explanation: Explanation, *, plain: bool = False) -> tuple[DescriptionPart, ...]:
    """An explanation in words.

    Args:
        explanation: of any kind that has words of its own; scores are drawn as marks and bars elsewhere.
        plain: as participants are told it, without what only readers of a report need (precision, coverage).
    """
    if isinstance(explanation, Rule):
        return _rule(explanation, plain)
    if isinstance(explanation, Path):
        return _path(explanation, plain)
    if isinstance(explanation, Exemplar):
        return _exemplar(explanation)
    if isinstance(explanation, Composite):
        return _composite(explanation, plain)
    if isinstance(explanation, Attribution):
        return _scores(explanation)
    return (Sentence(f"A {explanation.kind} has no account in words."),)


def _rule(rule: Rule, plain: bool) -> tuple[DescriptionPart, ...]:
    parts: list[DescriptionPart] = [Sentence(_conditions(rule))]
    if rule.named:
        parts.append(Conditions(rule.named))
    if plain:
        if not rule.reached:
            often = f"{100 * rule.precision:.0f}"
            parts.append(Sentence(say("rule-how-often", named=bool(rule.named), often=often)))
        return tuple(parts)
    if rule.measured:
        parts.append(_precision(rule))
    if not rule.reached and (reason := rule.details.get("reason")):
        parts.append(Sentence(f"Why: {reason}."))
    if len(rule.steps) > 2:
        rows = tuple(
            (
                " and ".join(rule.features[number] for number in step.conditions) or "no condition",
                f"{step.precision:.2f}",
                f"{step.coverage:.2f}",
            )
            for step in rule.steps[:-1]
        )
        parts.append(Grid(("shorter rules tried", "precision in the search", "coverage"), rows))
    return tuple(parts)


def _conditions(rule: Rule) -> str:
    """What comes before a rule's conditions, or stands in their place."""
    if rule.named:
        return say("rule-conditions", name=rule.target_name)
    if not rule.reached:
        return say("rule-none-found", name=rule.target_name)
    if rule.details.get("fresh samples") == 0:
        return say("rule-nothing-to-change")
    return say("rule-none-needed", name=rule.target_name)


def _precision(rule: Rule) -> Sentence:
    """How often the rule holds, and where."""
    reached = "" if rule.reached else ", which is not the precision that was asked for"
    where = "perturbed texts" if isinstance(rule.input, str) else "training rows"
    return Sentence(
        f"{rule.precision:.1%} of perturbed inputs keep the prediction under this rule (at least "
        f"{rule.lowest:.1%}){reached}; it applies to {rule.coverage:.1%} of {where}."
    )


def _path(path: Path, plain: bool) -> tuple[DescriptionPart, ...]:
    parts: list[DescriptionPart] = [Sentence(say("path-margin", margin=signed_from_zero(path.margins[0])))]
    if not path.edits:
        parts.append(Sentence(path.nothing_found))
        if not plain and (reason := path.details.get("reason")):
            parts.append(Sentence(f"Why: {reason}."))
        return tuple(parts)
    parts.append(Sentence(say("path-edits", name=path.flipped_to)))
    for step in path.shown:
        parts.append(Heading(say("path-step", step=str(step), margin=signed_from_zero(path.margins[step]))))
        parts.append(edited(path, step))
    if len(path.shown) < len(path.edits):
        parts.insert(2, Sentence(say("path-last", steps=str(len(path.edits)), last=str(len(path.shown)))))
    return tuple(parts)


def edited(path: Path, step: int) -> DescriptionPart:
    """The input after so many edits: a text with the new words marked, or the values of a row before and after."""
    if not isinstance(path.input, str):
        return Grid(
            (say("before"), say("after")), tuple((edit.before, edit.after) for edit in path.edits[:step])
        )
    words = split_words(path.input)
    pieces: list[tuple[str, bool]] = []
    end = 0
    for edit in sorted(path.edits[:step], key=lambda edit: edit.place or 0):
        place = edit.place or 0
        pieces += [(path.input[end : words.starts[place]], False), (edit.after, True)]
        end = words.ends[place]
    pieces.append((path.input[end:], False))
    return Passage(tuple(piece for piece in pieces if piece[0]))


def _exemplar(exemplar: Exemplar) -> tuple[DescriptionPart, ...]:
    # Not "the most similar prototype", as in figure 2: one of another class may be more similar.
    parts: list[DescriptionPart] = [Sentence(say("exemplar", name=exemplar.prototype_label))]
    shown, own = exemplar.prototype, exemplar.input
    if isinstance(shown, str):
        parts.append(Passage(((shown, False),)))
    else:
        theirs = [own] if isinstance(own, str) else own
        rows = zip(exemplar.features, shown, theirs, strict=True)
        parts.append(
            Grid(
                (say("variable"), say("prototype"), say("original")),
                tuple((name, _value(name, mine), _value(name, other)) for name, mine, other in rows),
            )
        )
    chosen = exemplar.important
    parts.append(Sentence(say("important", kind=_kind(own), chosen=bool(chosen))))
    if chosen:
        names = exemplar.features if isinstance(own, str) else own
        parts.append(
            Grid((), tuple((names[number], signed_from_zero(exemplar.scores[number])) for number in chosen))
        )
    parts.append(Sentence(say("similarity", score=f"{OUT_OF * exemplar.similarity:.2f}", most=str(OUT_OF))))
    return tuple(parts)


def _kind(input: object) -> str:
    return "text" if isinstance(input, str) else "table"


def _value(name: str, described: str) -> str:
    """A value without the name of its column before it."""
    return described.removeprefix(f"{name} = ")


def _composite(composite: Composite, plain: bool) -> tuple[DescriptionPart, ...]:
    """Each part under its name; of a path only the last step, with all edits at once."""
    parts: list[DescriptionPart] = []
    for part in composite.parts:
        parts.append(Heading(part.name))
        found = part.explanation
        if isinstance(found, Path) and found.edits:
            parts.append(Sentence(say("path-edits", name=found.flipped_to)))
            parts.append(edited(found, len(found.edits)))
        elif isinstance(found, Path):
            parts.append(Sentence(found.nothing_found))
        else:
            parts += describe(found, plain=plain)
    if not plain and (left_out := composite.details.get("left out")):
        parts.append(Sentence(f"Left out: {left_out}."))
    return tuple(parts)


def weights(attribution: Attribution) -> list[tuple[str, float]]:
    """The features that score with their scores, those for the class first; what is 0 but for rounding does not."""
    least = ROUNDING * float(np.abs(attribution.scores).max(initial=0.0))
    order = sorted(range(len(attribution.features)), key=lambda number: -attribution.scores[number])
    named = attribution.features if isinstance(attribution.input, str) else attribution.input
    bins = attribution.details.get("bins")
    if isinstance(bins, list) and len(bins) == len(attribution.features):
        named = tuple(map(str, bins))
    return [
        (named[number], float(attribution.scores[number]))
        for number in order
        if abs(attribution.scores[number]) > least
    ]


def _scores(attribution: Attribution) -> tuple[DescriptionPart, ...]:
    """The features that score; of a local model also its baseline, sum and estimate."""
    rows = [(name, signed_from_zero(score)) for name, score in weights(attribution)]
    baseline = attribution.details.get("intercept")
    if isinstance(baseline, float):
        total = float(attribution.scores.sum())
        rows += [
            (say("sum", kind=_kind(attribution.input)), signed_from_zero(total)),
            (say("baseline"), f"{baseline:z.2f}"),
            (say("probability", name=attribution.target_name), f"{baseline + total:z.2f}"),
        ]
    return (Grid((), tuple(rows)),)
