"""Explanations in plain words: what a method found, for people who know nothing of methods, without its own numbers.

With ``display.wording = "published"`` they are shown as Hase and Bansal (2020) showed theirs instead: `stimulus`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from verax.data.words import unmarked
from verax.explain import description as told
from verax.explain.composite import Composite
from verax.explain.explanation import Attribution, Explanation
from verax.explain.kinds import OUT_OF, Exemplar, Path, Rule
from verax.phrases import say as say_phrase
from verax.studies.definition.screen import Grid, Lines, WordedPart
from verax.studies.display.legends import heading_of
from verax.studies.display.readable import ranges_in_words, readable, row_in_words

say = partial(say_phrase, "described")
# A word with what an apostrophe cuts off it, as people read it: "doesn't", "film's".
WHOLE = re.compile(r"\w+(?:['’]\w+)*")
APOSTROPHE = re.compile(r"['’]")


def plain_parts(explanation: Explanation, features: int) -> Iterator[WordedPart | told.Passage]:
    """An explanation part by part; texts come as they are, with what was changed.

    Args:
        explanation: whose scores, if it is a composite with some, are of the model's answer.
        features: how many of the strongest features are named; 0 names all.
    """
    match explanation:
        case Composite():
            for part in explanation.parts:
                yield Lines("", heading_of(part.explanation))
                yield from plain_parts(part.explanation, features)
        case Rule():
            yield Lines("\n".join(_rule(explanation)))
        case Path():
            yield from _path(explanation)
        case Exemplar():
            yield from _exemplar(explanation)
        case Attribution():
            yield Lines("\n".join(_scores(explanation, features)))


def _rule(rule: Rule) -> Iterator[str]:
    kind = _kind(rule)
    if rule.named:
        yield say("plain-rule", kind=kind, name=rule.target_name)
        named = whole_words(rule.input, rule.named) if isinstance(rule.input, str) else rule.named
        for number, one in enumerate(named, start=1):
            yield f"{number}. {ranges_in_words(one)}"
    elif not rule.reached:
        yield say("plain-rule-none-found", kind=kind, name=rule.target_name)
    elif not rule.measured:
        yield say("plain-rule-nothing-to-change", kind=kind)
    else:
        yield say("plain-rule-none-needed", name=rule.target_name)
    if not rule.reached:
        yield say("plain-rule-how-often", named=bool(rule.named), often=f"{100 * rule.precision:.0f}")


def _path(path: Path) -> Iterator[WordedPart | told.Passage]:
    if not path.edits:
        yield Lines(say("plain-path-none"))
        return
    yield Lines(say("plain-path", edits=len(path.edits), name=path.flipped_to))
    edited = told.edited(path, len(path.edits))
    yield _grid(edited) if isinstance(edited, told.Grid) else _passage(edited)


def _exemplar(exemplar: Exemplar) -> Iterator[WordedPart | told.Passage]:
    _, shown, *_ = told.describe(exemplar)  # the sentence of the paper, then the example itself
    yield Lines(say("plain-exemplar", name=exemplar.prototype_label))
    yield _grid(shown) if isinstance(shown, told.Grid) else _passage(shown)
    lines = []
    for case, sign in (("plain-alike", 1), ("plain-apart", -1)):
        chosen = [number for number in exemplar.important if sign * exemplar.scores[number] > 0]
        if chosen:
            lines.append(say(case, names=_named(exemplar, chosen)))
    score = f"{OUT_OF * exemplar.similarity:.1f}"
    yield Lines("\n".join([*lines, say("plain-similarity", score=score, most=str(OUT_OF))]))


def _scores(attribution: Attribution, features: int) -> Iterator[str]:
    """The strongest features, those for the model's answer and those against it, the strongest first."""
    found = sorted(told.weights(attribution), key=lambda one: -abs(one[1]))[: features or None]
    for case, sign in (("plain-for", 1), ("plain-against", -1)):
        names = [name for name, score in found if sign * score > 0]
        if isinstance(attribution.input, str):
            names = whole_words(attribution.input, names)
        if names:
            yield say(case, names=", ".join(map(ranges_in_words, names)))


def _named(exemplar: Exemplar, numbers: Sequence[int]) -> str:
    own = exemplar.input
    if isinstance(own, str):
        return ", ".join(whole_words(own, [exemplar.features[number] for number in numbers]))
    return ", ".join(ranges_in_words(own[number]) for number in numbers)


def _grid(grid: told.DescriptionPart) -> Grid:
    assert isinstance(grid, told.Grid)
    return Grid(grid.header, tuple(map(row_in_words, grid.rows)))


def _passage(passage: told.DescriptionPart) -> told.Passage:
    assert isinstance(passage, told.Passage)
    return passage


def _kind(explanation: Rule) -> str:
    return "text" if isinstance(explanation.input, str) else "table"


def whole_words(text: str, words: Sequence[str]) -> list[str]:
    """Words of a text as people read them, each once: "doesn't" for "doesn" and for "t"."""
    whole = WHOLE.findall(readable(text))
    return list(dict.fromkeys(_whole(whole, unmarked(word)) for word in words))


def _whole(whole: Sequence[str], word: str) -> str:
    return word if word in whole else next((one for one in whole if word in _pieces(one)), word)


def _pieces(whole: str) -> set[str]:
    """What a word is cut into: "does", "doesn", "n" and "t" are all pieces of "doesn't"."""
    pieces = APOSTROPHE.split(whole)
    if len(pieces) == 2 and pieces[0].lower().endswith("n") and pieces[1].lower() == "t":
        return {*pieces, pieces[0][:-1], pieces[0][-1]}
    return set(pieces) if pieces[1:] else set()


def piece_of(text: str, word: str) -> str:
    """A word as it is named beside a text: a piece of one keeps its apostrophe, as in "'t" and "doesn'"."""
    word = unmarked(word)
    (whole,) = whole_words(text, [word])
    for mark in "'’":
        if whole.endswith(f"{mark}{word}"):
            return f"{mark}{word}"
        if whole.startswith(f"{word}{mark}"):
            return f"{word}{mark}"
    return word
