"""Explanations side by side in the terminal: the input with its words marked, then a table of scores.

Colour is never the only sign: a marked word stands in brackets with + (for the target) or - (against it), and the
two strongest are bold and underlined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from verax.explain.account import Conditions, Grid, Heading, Part, Passage
from verax.explain.explanation import Attribution
from verax.report.explanations.comparison import (
    Comparison,
    Entry,
    Subject,
    agreement,
    decimals,
    facts,
    how,
    signed,
    verdict,
)
from verax.report.explanations.highlight import Mark, Segment, ranked, segments

# Two hues that colour-blind people can tell apart, legible on black and on white.
FOR, AGAINST = "#2a8fd6", "#d55e00"
# Longer texts are cut in the terminal; the page shows all.
LONGEST_TEXT = 700
# Nobody reads more classes than this; the explained and the true one are always among them.
CLASSES = 4
WIDEST_FEATURE = 32
# Control characters as their pictures, so that a text cannot move the cursor.
PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"} | {0x7F: 0x2421}


class Scored(NamedTuple):
    """An explanation with scores, and what its user calls the method."""

    entry: Entry
    attribution: Attribution

    @property
    def name(self) -> str:
        """The method as the user calls it."""
        return self.entry.name


def render(comparison: Comparison, top: int, width: int, *, details: bool = False) -> RenderableType:
    """Every input of a comparison, for a console of this width; with details, how each explanation was made."""
    parts: list[RenderableType] = [Text(f"{comparison.model} on {comparison.dataset}", style="bold reverse")]
    parts += [Text(note, style="dim") for note in comparison.notes]
    for subject in comparison.subjects:
        parts += ["", *_subject(subject, top, width)]
        if details:
            parts += [Padding(_details(subject), (1, 0, 0, 2), expand=False)]
    return Group(*parts)


def legend() -> Text:
    """What the marks mean."""
    text = Text("Marks: ")
    text.append("[+word]", style=FOR)
    text.append(" speaks for the explained class, ")
    text.append("[-word]", style=AGAINST)
    text.append(" against it; the two strongest ")
    text.append("[++word]", style=f"bold underline {FOR}")
    text.append(" have the sign twice.")
    return text


def _subject(subject: Subject, top: int, width: int) -> Iterator[RenderableType]:
    yield Text.assemble((subject.title, "bold"), ": ", clean(verdict(subject)))
    yield Padding(_probabilities(subject), (0, 0, 0, 2), expand=False)
    scored = [Scored(entry, entry.attribution) for entry in subject.entries if entry.attribution is not None]
    if isinstance(subject.input, str) and scored:
        yield Padding(_texts(scored, top), (1, 0, 0, 2), expand=False)
    for block in _blocks(scored, top, width - 2):
        yield Padding(_scores(block, top), (1, 0, 0, 2), expand=False)
    for entry in subject.entries:
        if entry.attribution is None:
            yield Padding(told(entry), (1, 0, 0, 2), expand=False)
    if any(entry.fragments is not None for entry in subject.entries):
        yield Padding(_fragments(subject), (1, 0, 0, 2), expand=False)
    yield Padding(clean(agreement(subject)), (1, 0, 0, 2), expand=False)


def _fragments(subject: Subject) -> Table:
    """Evidence beside counter-evidence, a line for each method."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    target = clean(subject.class_names[subject.target])
    for head in ("", f"for {target}", f"against {target}"):
        table.add_column(Text(head), overflow="fold")
    for entry in subject.entries:
        if entry.fragments is not None:
            sides = (entry.fragments.evidence, FOR), (entry.fragments.counter_evidence, AGAINST)
            shown = [
                Text(" / ".join(clean(part.text).replace("\n", " ") for part in side) or "–", style=hue)
                for side, hue in sides
            ]
            table.add_row(Text(entry.name, style="bold"), *shown)
    return table


def _details(subject: Subject) -> Table:
    """How each explanation was made."""
    grid = Table.grid(padding=(0, 2))
    for entry in subject.entries:
        said = "; ".join(f"{name}: {value}" for name, value in facts(entry.explanation).items())
        grid.add_row(Text(entry.name, style="bold"), Text(said or "–", style="dim"))
    return grid


def _probabilities(subject: Subject) -> Table:
    grid = Table.grid(padding=(0, 1))
    shown = subject.likeliest(CLASSES)
    for number in shown:
        probability = subject.probabilities[number]
        note = "explained" if number == subject.target else ""
        grid.add_row(
            clean(subject.class_names[number]), f"{probability:.3f}", "█" * round(20 * probability), note
        )
    if len(shown) < len(subject.class_names):
        grid.add_row(f"and {len(subject.class_names) - len(shown)} more")
    return grid


def told(entry: Entry) -> Group:
    """An explanation that is not scores, in words."""
    parts: list[RenderableType] = [Text(entry.name, style="bold")]
    parts += [_part(part) for part in entry.account]
    cost = f"{entry.cost.rows:,} rows, {1000 * entry.cost.seconds:.1f} ms; {how(entry.explanation)}"
    return Group(*parts, Text(cost, style="dim"))


def _part(part: Part) -> RenderableType:
    if isinstance(part, Conditions):
        return Text("\n".join(f"{place}. {clean(item)}" for place, item in enumerate(part.items, start=1)))
    if isinstance(part, Passage):
        text = Text()
        for piece, changed in part.pieces:
            text.append(f"**{clean(piece)}**" if changed else clean(piece), style="bold" if changed else "")
        return Padding(text, (0, 0, 0, 2), expand=False)
    if isinstance(part, Grid):
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", show_header=bool(part.header))
        for place in range(max(map(len, part.rows), default=0)):
            table.add_column(part.header[place] if part.header else "", overflow="fold")
        for row in part.rows:
            table.add_row(*(Text(clean(cell)) for cell in row))
        return table
    return Text(clean(part.text), style="bold" if isinstance(part, Heading) else "")


def _texts(scored: Sequence[Scored], top: int) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", max_width=20)
    grid.add_column(overflow="fold")
    for entry in scored:
        grid.add_row(Text(entry.name), marked_text(segments(entry.attribution, top)))
    return grid


def marked_text(pieces: Sequence[Segment]) -> Text:
    """A text as written with its marked words in brackets, cut where it gets too long."""
    text, left = Text(), LONGEST_TEXT
    for piece in pieces:
        shown = clean(piece.text[:left])
        if shown:
            text.append(_bracketed(shown, piece.mark), style=_style(piece.mark))
        left -= len(shown)
    rest = sum(len(piece.text) for piece in pieces) - LONGEST_TEXT
    if rest > 0:
        text.append(f" ... ({rest:,} characters more; --html shows all)", style="dim")
    return text


def _bracketed(shown: str, mark: Mark | None) -> str:
    if mark is None:
        return shown
    return f"[{('+' if mark.sign > 0 else '-') * (2 if mark.strong else 1)}{shown}]"


def _style(mark: Mark | None) -> str:
    if mark is None or mark.sign == 0:
        return ""
    hue = FOR if mark.sign > 0 else AGAINST
    return f"bold underline {hue}" if mark.strong else hue


def _blocks(entries: Sequence[Scored], top: int, width: int) -> Iterator[list[Scored]]:
    """As many methods beside each other as the width takes, then the next ones below."""
    block: list[Scored] = []
    used = 5
    for entry in entries:
        needed = _column_width(entry, top) + 2
        if block and used + needed > width:
            yield block
            block, used = [], 5
        block.append(entry)
        used += needed
    if block:
        yield block


def _column_width(entry: Scored, top: int) -> int:
    features = [min(WIDEST_FEATURE, cell_len(mark.feature)) for mark in ranked(entry.attribution, top)]
    return max(cell_len(entry.name), 10 + max(features, default=0), 16)


def _scores(block: Sequence[Scored], top: int) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", justify="right", style="dim")
    for entry in block:
        table.add_column(Text(entry.name), width=_column_width(entry, top), overflow="fold")
    columns = [_cells(entry, top) for entry in block]
    height = max(len(cells) for cells in columns)
    for place in range(height):
        table.add_row(str(place + 1), *(cells[place] if place < len(cells) else "" for cells in columns))
    table.add_section()
    table.add_row("rows", *(f"{entry.attribution.cost.rows:,}" for entry in block), style="dim")
    table.add_row("ms", *(f"{1000 * entry.attribution.cost.seconds:.1f}" for entry in block), style="dim")
    table.add_row("how", *(Text(how(entry.attribution)) for entry in block), style="dim")
    return table


def _cells(entry: Scored, top: int) -> list[Text]:
    digits = decimals(entry.attribution)
    listed = ranked(entry.attribution, top)
    numbers = [signed(mark.score, digits) for mark in listed]
    widest = max((len(number) for number in numbers), default=0)
    cells = []
    for mark, number in zip(listed, numbers, strict=True):
        cell = Text(f"{number:>{widest}} ", no_wrap=True, overflow="ellipsis")
        cell.append(clean(mark.feature).replace("\n", " "), style=_style(mark))
        cell.truncate(widest + 1 + WIDEST_FEATURE, overflow="ellipsis")
        cells.append(cell)
    return cells


def clean(text: str) -> str:
    """A text that only shows characters, with pictures in place of control characters."""
    return text.translate(PICTURES)
