"""The blocks of a screen, made ready for the templates: classes get their names, bars their lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from verax.studies.definition.screen import (
    Bars,
    Block,
    Evidence,
    Excerpt,
    Facts,
    Grid,
    Lines,
    Passage,
    Prose,
    Quote,
    Row,
    WordedExplanation,
    WordedPart,
    with_names,
)
from verax.text import always_signed

# So many blocks stand side by side where the window is wide enough.
COLUMNS = 3


@dataclass(frozen=True)
class Bar:
    """A number beside a name; ``length`` in per cent of the longest possible bar."""

    name: str
    number: str
    length: float
    sign: int


@dataclass(frozen=True)
class Chart:
    """Bars as they are drawn; ``shares`` are probabilities of classes."""

    bars: tuple[Bar, ...]
    title: str
    legend: str
    shares: bool = False

    type: str = "bars"


Drawn = Prose | Passage | Row | Facts | Evidence | Quote | WordedExplanation | Chart


def drawn(block: Block, names: Sequence[str]) -> Drawn:
    """The block in one participant's words. The words of the input itself stay as they are."""
    title = with_names(block.title, names)
    match block:
        case Prose():
            return Prose(tuple(with_names(text, names) for text in block.paragraphs), title)
        case Passage() | Row() | Quote():
            return replace(block, title=title, legend=with_names(block.legend, names))
        case WordedExplanation():
            parts = tuple(_telling(part, names) for part in block.parts)
            return WordedExplanation(parts, title, with_names(block.legend, names))
        case Facts():
            pairs = tuple((with_names(name, names), with_names(value, names)) for name, value in block.pairs)
            return Facts(pairs, title)
        case Evidence():
            return replace(block, title=title)
        case Bars():
            return _chart(block, title, names)


def parted(blocks: Sequence[Drawn]) -> tuple[list[Drawn], list[Drawn]]:
    """What the model said, and the rest: outputs stand above what explains them."""
    outputs = [block for block in blocks if is_output(block)]
    return outputs, [block for block in blocks if not is_output(block)]


def is_output(block: Drawn) -> bool:
    """Whether a block says what the model said: its answer, or how probable it finds each."""
    if isinstance(block, Chart):
        return block.shares
    return isinstance(block, Facts)


def side_by_side(blocks: Sequence[Drawn]) -> Iterator[tuple[Drawn, ...]]:
    """The blocks in order; inputs, and what explains them, are read together and stand together."""
    for spoken, run in groupby(blocks, key=lambda block: isinstance(block, Prose)):
        waiting = list(run)
        many = 1 if spoken else COLUMNS
        for first in range(0, len(waiting), many):
            yield tuple(waiting[first : first + many])


def _telling(part: WordedPart, names: Sequence[str]) -> WordedPart:
    """A part of an explanation with the names of classes wherever the study speaks."""
    match part:
        case Lines():
            return Lines(with_names(part.text, names), with_names(part.heading, names))
        case Grid():
            rows = tuple(tuple(with_names(cell, names) for cell in row) for row in part.rows)
            return Grid(part.header, rows)
        case Excerpt():
            return part


def _chart(block: Bars, title: str, names: Sequence[str]) -> Chart:
    # Names with a class in them stand for probabilities; features are never written with a class mark.
    shares = all(with_names(name, names) != name for name, _ in block.pairs)
    longest = 1.0 if shares else max((abs(value) for _, value in block.pairs), default=0.0)
    bars = tuple(
        Bar(
            name=with_names(name, names),
            number=_percent(value) if shares else always_signed(value),
            length=round(100 * abs(value) / longest, 1) if longest else 0.0,
            sign=0 if shares else (value > 0) - (value < 0),
        )
        for name, value in block.pairs
    )
    return Chart(bars, title, with_names(block.legend, names), shares)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
