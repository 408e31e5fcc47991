"""What one screen shows and asks: plain data, frozen in the study's folder, drawn by the web layer.

A class is never named in a screen: it is written as `class_mark(number)`, and each participant's own names (the real
ones, or neutral ones in a masked task) take its place when the page is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, ClassVar, Literal

from verax.errors import VeraxError

# Importance is shown in so many steps above "none".
LEVELS = 4
_CLASS_MARK = re.compile("⟦([0-9]+)⟧")


def class_mark(number: int) -> str:
    """The place holder of a class in any text of a screen."""
    return f"⟦{number}⟧"


def marked_classes(text: str) -> set[int]:
    """The classes that a text of a screen names."""
    return {int(number) for number in _CLASS_MARK.findall(text)}


def fits(text: str, shown: str) -> bool:
    """Whether this is what the text looks like to somebody, with any names in place of the classes' marks."""
    pattern = ".+?".join(map(re.escape, _CLASS_MARK.split(text)[::2]))
    return re.fullmatch(pattern, shown, re.DOTALL) is not None


def with_names(text: str, names: Sequence[str]) -> str:
    """The text with each class called by its name."""
    for number, name in enumerate(names):
        text = text.replace(class_mark(number), name)
    return text


@dataclass(frozen=True)
class Token:
    """A piece of a text as written, spaces included; only pieces that are words bear marks.

    Attributes:
        text: the characters.
        word: whether it is a word (every word gets the same markup, marked or not).
        level: 0 (unmarked) to `LEVELS`.
        sign: 1 speaks for the target, -1 against it, 0 where the direction must not show.
        changed: whether a perturbation put it there.
    """

    text: str
    word: bool = True
    level: int = 0
    sign: int = 0
    changed: bool = False


@dataclass(frozen=True)
class Prose:
    """Paragraphs; a paragraph that begins with "- " is a point of a list."""

    paragraphs: tuple[str, ...]
    title: str = ""

    type: ClassVar[str] = "prose"


@dataclass(frozen=True)
class Passage:
    """A text, perhaps highlighted."""

    tokens: tuple[Token, ...]
    title: str = ""
    legend: str = ""

    type: ClassVar[str] = "passage"


@dataclass(frozen=True)
class Cell:
    """One column of a row; the marks mean what they mean in a `Token`."""

    column: str
    value: str
    level: int = 0
    sign: int = 0
    changed: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a table, perhaps highlighted."""

    cells: tuple[Cell, ...]
    title: str = ""
    legend: str = ""

    type: ClassVar[str] = "row"


@dataclass(frozen=True)
class Facts:
    """Pairs of a name and a value: the true label, the model's output."""

    pairs: tuple[tuple[str, str], ...]
    title: str = ""

    type: ClassVar[str] = "facts"


@dataclass(frozen=True)
class Evidence:
    """Fragments of an input; an empty list is said to be empty."""

    fragments: tuple[str, ...]
    title: str = ""

    type: ClassVar[str] = "evidence"


@dataclass(frozen=True)
class Quote:
    """A text that is shown as it was written, with its spaces and line breaks: an explanation in somebody's words."""

    text: str
    title: str = ""
    legend: str = ""

    type: ClassVar[str] = "quote"


@dataclass(frozen=True)
class Lines:
    """Lines of an explanation in the study's own words, perhaps below a heading; classes are written as their marks."""

    text: str
    heading: str = ""


@dataclass(frozen=True)
class Excerpt:
    """A text within an explanation, shown as it is: its pieces, each with whether a change put it there."""

    pieces: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Grid:
    """A small table within an explanation: a header, which may be empty, and rows that begin with their name."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


WordedPart = Lines | Excerpt | Grid


@dataclass(frozen=True)
class WordedExplanation:
    """An explanation that is worded here, part by part, so that no character of a text can be taken for layout."""

    parts: tuple[WordedPart, ...]
    title: str = ""
    legend: str = ""

    type: ClassVar[str] = "told"

    def plain(self, joint: str) -> str:
        """All of it as lines, with what was changed between stars and this between the cells of tables."""
        return "\n".join(line for part in self.parts for line in _plain_lines(part, joint))


def starred(pieces: Sequence[tuple[str, bool]]) -> str:
    """A text with what was changed between stars, as Hase and Bansal (2020) showed it."""
    return "".join(f"**{text}**" if changed else text for text, changed in pieces)


def _plain_lines(part: WordedPart, joint: str) -> list[str]:
    match part:
        case Lines():
            return [line for line in (part.heading, part.text) if line]
        case Excerpt():
            return [starred(part.pieces)]
        case Grid():
            return [joint.join(row) for row in (part.header, *part.rows) if row]


@dataclass(frozen=True)
class Bars:
    """Numbers beside names, as bars with their value: class probabilities from 0 to 1, or scores with a sign."""

    pairs: tuple[tuple[str, float], ...]
    title: str = ""
    legend: str = ""

    type: ClassVar[str] = "bars"


Block = Prose | Passage | Row | Facts | Evidence | Quote | WordedExplanation | Bars


# What is stored of an answer.
Meaning = str | int | float


@dataclass(frozen=True)
class Option:
    """One answer: what the participant reads, and what is stored. The page holds only its place in the list."""

    label: str
    means: Meaning


@dataclass(frozen=True)
class Question:
    """Something to answer.

    Attributes:
        name: the key of the answer in a response: "prediction", "rating", "strategy".
        prompt: the question.
        kind: "choice" (big buttons), "scale" (a row of points with words at its ends) or "text".
        options: the answers of a choice or a scale, in order.
        low, high: words at the ends of a scale.
        required: whether it must be answered.
        fixed_order: whether its answers stand in this order for everybody; others are counterbalanced between
            participants (`verax.studies.design`).
    """

    name: str
    prompt: str
    kind: Literal["choice", "scale", "text"] = "choice"
    options: tuple[Option, ...] = ()
    low: str = ""
    high: str = ""
    required: bool = True
    fixed_order: bool = False


@dataclass(frozen=True)
class Screen:
    """Everything on one page.

    Attributes:
        heading: one line at the top.
        blocks: what is shown, in order.
        questions: what is asked; none means only a button to go on.
        echo: the name of the question of the step before whose answer is shown here ("You said ...").
        button: the words on the button.
        paired: whether its answers speak of its inputs in order, the first of the one on the left: where answers are
            read from the other end, the inputs change places with them.
    """

    heading: str
    blocks: tuple[Block, ...] = ()
    questions: tuple[Question, ...] = ()
    echo: str = ""
    button: str = "Continue"
    paired: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The screen as plain data; older studies, which have no such pairs, stay as they are."""
        data = asdict(self)
        if not self.paired:
            del data["paired"]
        data["blocks"] = [asdict(block) | {"type": block.type} for block in self.blocks]
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Screen:
        """The screen that `to_dict` wrote."""
        return cls(
            heading=data["heading"],
            blocks=tuple(_block(block) for block in data["blocks"]),
            questions=tuple(
                Question(**question | {"options": tuple(Option(**option) for option in question["options"])})
                for question in data["questions"]
            ),
            echo=data["echo"],
            button=data["button"],
            paired=data.get("paired", False),
        )


def _block(data: dict[str, Any]) -> Block:
    fields = {name: value for name, value in data.items() if name != "type"}
    match data["type"]:
        case "prose":
            return Prose(**fields | {"paragraphs": tuple(fields["paragraphs"])})
        case "passage":
            return Passage(**fields | {"tokens": tuple(Token(**token) for token in fields["tokens"])})
        case "row":
            return Row(**fields | {"cells": tuple(Cell(**cell) for cell in fields["cells"])})
        case "facts":
            return Facts(**fields | {"pairs": tuple((name, value) for name, value in fields["pairs"])})
        case "evidence":
            return Evidence(**fields | {"fragments": tuple(fields["fragments"])})
        case "quote":
            worded_here = fields.pop("names_classes", False)
            return told_in_tabs(**fields) if worded_here else Quote(**fields)
        case "told":
            return WordedExplanation(**fields | {"parts": tuple(map(_worded_part, fields["parts"]))})
        case "bars":
            return Bars(**fields | {"pairs": tuple((name, value) for name, value in fields["pairs"])})
    raise VeraxError(f"A screen has a block of type {data['type']!r}, which this version does not know.")


def _worded_part(data: dict[str, Any]) -> WordedPart:
    if "pieces" in data:
        return Excerpt(tuple((text, changed) for text, changed in data["pieces"]))
    if "rows" in data:
        return Grid(tuple(data["header"]), tuple(map(tuple, data["rows"])))
    return Lines(**data)


def told_in_tabs(text: str, title: str, legend: str) -> WordedExplanation:
    """What studies hold that were built when tables were lines with tabs, with one before a header's first cell."""
    parts: list[WordedPart] = []
    for is_table, run in groupby(text.split("\n"), key=lambda line: "\t" in line):
        lines = list(run)
        if not is_table:
            parts += [Lines(said)] if (said := "\n".join(lines).strip("\n")) else []
            continue
        header = lines.pop(0)[1:].split("\t") if lines[0].startswith("\t") else []
        parts.append(Grid(tuple(header), tuple(tuple(line.split("\t")) for line in lines)))
    return WordedExplanation(tuple(parts), title, legend)
