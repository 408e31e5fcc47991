"""The blocks of a screen, made ready for the templates: classes get their names, bars their lengths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from verax.studies.model.screen import Bars, Block, Evidence, Facts, Passage, Prose, Quote, Row, with_names
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


@dataclass(frozen=True)
class Lines:
    """A piece of an explanation in words: some lines, or the rows of a table, with its header where it has one."""

    text: str = ""
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Told:
    """An explanation in words, as it is drawn."""

    pieces: tuple[Lines, ...]
    title: str
    legend: str

    type: str = "quote"


Drawn = Prose | Passage | Row | Facts | Evidence | Told | Chart


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
            pieces = _pieces(text) if block.names_classes else (Lines(text),)
            return Told(pieces, title, with_names(block.legend, names))
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


def _pieces(text: str) -> tuple[Lines, ...]:
    """A text with its tables apart: lines with tabs, of which one before the first cell makes a header."""
    pieces = []
    for is_table, run in groupby(text.split("\n"), key=lambda line: "\t" in line):
        lines = list(run)
        if not is_table:
            pieces.append(Lines("\n".join(lines).strip("\n")))
            continue
        header = lines.pop(0)[1:] if lines[0].startswith("\t") else ""
        rows = tuple(tuple(line.split("\t")) for line in lines)
        pieces.append(Lines(header=tuple(header.split("\t")) if header else (), rows=rows))
    return tuple(piece for piece in pieces if piece.text or piece.rows)


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
