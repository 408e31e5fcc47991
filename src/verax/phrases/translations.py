"""What a translation of the phrases lacks, and what stands in it that should not.

A translation comes from somebody else and is said to participants: what cannot be said, or unfolds without end, is
found here and not on their pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fluent.syntax import FluentParser, ast

from verax.phrases import LANGUAGE, PARTICIPANT_AREAS, phrases_of

# Of a phrase, in characters without its slots. Fluent says 2,500 at a time, and phrases that refer to others twice each
# would grow without end.
LONGEST, DEEPEST = 2000, 20
MOST_CHARACTERS = 1_000_000  # of a file
FUNCTIONS = ("NUMBER", "DATETIME")


@dataclass
class _Found:
    """What a phrase has, with those that it refers to.

    Attributes:
        said: slots that are said, and
        chosen_by: those that only choose.
        wrong: what cannot be said of it, each behind "it".
        length: in characters, at the most.
        depth: how many phrases are in each other.
    """

    said: set[str] = field(default_factory=set)
    chosen_by: set[str] = field(default_factory=set)
    wrong: set[str] = field(default_factory=set)
    length: int = 0
    depth: int = 0

    def add(self, other: _Found) -> None:
        self.said |= other.said
        self.chosen_by |= other.chosen_by
        self.wrong |= other.wrong
        self.length += other.length
        self.depth = max(self.depth, other.depth)


class _Reader:
    """What the phrases of an area have; each is looked at once, however many refer to it."""

    def __init__(self, entries: Mapping[str, ast.Message | ast.Term]) -> None:
        self._entries = entries
        self._found: dict[str, _Found] = {}
        self._within: list[str] = []

    def phrase(self, name: str) -> _Found:
        """What a phrase has, or the term whose name begins with a hyphen."""
        if name in self._within:
            return _Found(wrong={f"refers to itself by {name!r}"})
        if name not in self._found:
            entry = self._entries.get(name)
            if entry is None:
                return _Found(wrong={f"refers to a phrase {name!r} that there is not"})
            if entry.value is None:
                return _Found(wrong={"says nothing"})
            self._within.append(name)
            found = self._pattern(entry.value)
            self._within.pop()
            found.depth += 1
            if found.length > LONGEST or found.depth > DEEPEST:
                found = _Found(found.said, found.chosen_by, {"is too long with all that it refers to"})
            self._found[name] = found
        return self._found[name]

    def _pattern(self, pattern: ast.Pattern) -> _Found:
        found = _Found()
        for element in pattern.elements:
            if isinstance(element, ast.Placeable):
                found.add(self._expression(element.expression))
            else:
                found.length += len(element.value)
        return found

    def _expression(self, expression: object) -> _Found:
        match expression:
            case ast.Placeable():
                return self._expression(expression.expression)
            case ast.VariableReference():
                return _Found(said={expression.id.name})
            case ast.MessageReference() | ast.TermReference() if expression.attribute is not None:
                return _Found(wrong={f"refers to a part of {expression.id.name!r}, and phrases have none"})
            case ast.MessageReference():
                return self.phrase(expression.id.name)
            case ast.TermReference():
                return self.phrase(f"-{expression.id.name}")
            case ast.FunctionReference():
                found = _Found()
                if expression.id.name not in FUNCTIONS:
                    found.wrong.add(f"has a function {expression.id.name!r} that there is not")
                for given in expression.arguments.positional:
                    found.add(self._expression(given))
                return found
            case ast.SelectExpression():
                return self._choice(expression)
        return _Found(length=len(getattr(expression, "value", "")))

    def _choice(self, expression: ast.SelectExpression) -> _Found:
        selector = self._expression(expression.selector)
        found = _Found(chosen_by=selector.said | selector.chosen_by, wrong=set(selector.wrong))
        if not isinstance(expression.selector, ast.VariableReference):
            found.said |= selector.said
        variants = [self._pattern(variant.value) for variant in expression.variants]
        for variant in variants:
            found.add(replace(variant, length=0))
        found.length = max((variant.length for variant in variants), default=0)
        return found


def translation_problems(
    texts: Mapping[str, str],
    original: Mapping[str, str] | None = None,
    areas: Sequence[str] = PARTICIPANT_AREAS,
) -> list[str]:
    """What is wrong with a translation, a sentence each: phrases and slots that are missing, and foreign slots.

    A translation may have phrases of its own that others refer to, as languages with cases need them, and need not
    choose by everything that the original chooses by. What the original says, it says too.

    Args:
        texts: the translation's phrase files, by area.
        original: those of the language that it was translated from; English if None.
        areas: the files that it needs; by default all that participants read.
    """
    source = phrases_of(LANGUAGE) if original is None else original
    return [problem for area in areas for problem in _read_problems(area, texts, source)]


def _read_problems(area: str, texts: Mapping[str, str], source: Mapping[str, str]) -> list[str]:
    try:
        return list(_area_problems(area, texts, source))
    except RecursionError:
        return [f"{area}.ftl has phrases in each other that are too deep to be said."]


def _area_problems(area: str, texts: Mapping[str, str], source: Mapping[str, str]) -> Iterator[str]:
    if area not in texts:
        yield f"The file {area}.ftl is missing; translate all of its phrases."
        return
    if len(texts[area]) > MOST_CHARACTERS:
        yield f"{area}.ftl has {len(texts[area]):,} characters, and a file of phrases at most {MOST_CHARACTERS:,}."
        return
    ours, theirs = _messages(area, source), _messages(area, texts)
    for junk in (entry for entry in FluentParser().parse(texts[area]).body if isinstance(entry, ast.Junk)):
        line = (junk.content or "").strip().split("\n")[0]
        yield f"{area}.ftl has something that is no phrase: {line!r}."
    for name, original in ours.items():
        if name not in theirs:
            yield f"{area}.ftl lacks the phrase {name!r}."
            continue
        has = theirs[name]
        for slot in sorted(original.said - has.said):
            yield f"{area}.ftl, {name}: the slot {{ ${slot} }} is missing."
        for slot in sorted((has.said | has.chosen_by) - original.said - original.chosen_by):
            yield f"{area}.ftl, {name}: there is no slot {{ ${slot} }} in the original."
        for wrong in sorted(has.wrong):
            yield f"{area}.ftl, {name}: it {wrong}."


def _messages(area: str, texts: Mapping[str, str]) -> dict[str, _Found]:
    """What the phrases of an area have."""
    known: dict[str, ast.Message | ast.Term] = {}
    own: list[str] = []
    for name in dict.fromkeys(("common", area)):
        for entry in FluentParser().parse(texts.get(name, "")[:MOST_CHARACTERS]).body:
            if isinstance(entry, ast.Message):
                known[entry.id.name] = entry
                own += [entry.id.name] if name == area else []
            elif isinstance(entry, ast.Term):
                known[f"-{entry.id.name}"] = entry
    reader = _Reader(known)
    return {name: reader.phrase(name) for name in own}
