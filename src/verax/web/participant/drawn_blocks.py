"""The blocks of a screen, made ready for the templates: classes get their names, bars their lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from verax.studies.model.screen import Bars, Block, Evidence, Facts, Passage, Prose, Quote, Row, with_names
from verax.text import always_signed

TOGETHER = {
    ("passage", "passage"),
    ("row", "row"),
    ("evidence", "evidence"),
    ("passage", "bars"),
    ("row", "bars"),
    ("passage", "quote"),
    ("row", "quote"),
}


@dataclass(frozen=True)
class Bar:
    """A number beside a name; ``length`` in per cent of the longest possible bar."""

    name: str
    number: str
    length: float
    sign: int


@dataclass(frozen=True)
class Chart:
    """Bars as they are drawn."""

    bars: tuple[Bar, ...]
    title: str
    legend: str

    type: str = "bars"


Drawn = Prose | Passage | Row | Facts | Evidence | Quote | Chart


def drawn(block: Block, names: Sequence[str]) -> Drawn:
    """The block in one participant's words. The words of the input itself stay as they are."""
    title = with_names(block.title, names)
    match block:
        case Prose():
            return Prose(tuple(with_names(text, names) for text in block.paragraphs), title)
        case Passage() | Row():
            return replace(block, title=title, legend=with_names(block.legend, names))
        case Quote():
            text = with_names(block.text, names) if block.names_classes else block.text
            return replace(block, text=text, title=title, legend=with_names(block.legend, names))
        case Facts():
            pairs = tuple((with_names(name, names), with_names(value, names)) for name, value in block.pairs)
            return Facts(pairs, title)
        case Evidence():
            return replace(block, title=title)
        case Bars():
            return _chart(block, title, names)


def side_by_side(blocks: Sequence[Drawn]) -> Iterator[tuple[Drawn, ...]]:
    """The blocks in order; those that are read together stand together.

    These are two texts, evidence and counter-evidence, or an input and its explanation in numbers or words.
    """
    waiting = list(blocks)
    while waiting:
        many = 2 if tuple(block.type for block in waiting[:2]) in TOGETHER else 1
        yield tuple(waiting[:many])
        del waiting[:many]


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
    return Chart(bars, title, with_names(block.legend, names))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
