"""The page for who reviews the changed inputs of a study before it goes out: all pairs, the most doubtful first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from verax.errors import VeraxError
from verax.report.common.page import page_style
from verax.report.explanations.explanations_page import _environment
from verax.studies.definition.screen import Passage, Row
from verax.studies.definition.study import Item, Study
from verax.studies.display.stimulus import changes_marked, input_block, variant_block

# A piece of a text or a row, and whether it differs from the other one of the pair.
Piece = tuple[str, bool]


@dataclass(frozen=True)
class Pair:
    """An input and its changed version.

    Attributes:
        item: the item's id.
        strike: what to write into ``struck`` to leave the input out of the next build; empty where none is built.
        original, changed: both in pieces.
        before, after: what the model says of each.
        likelihood: how well the least likely of the new words reads; None where nobody asked.
    """

    item: str
    strike: str
    original: tuple[Piece, ...]
    changed: tuple[Piece, ...]
    before: str
    after: str
    likelihood: float | None


def pairs_of(study: Study) -> list[Pair]:
    """All pairs of a study, the least likely first; items without a changed version are left out."""
    names = study.spec.class_names or study.class_names
    changed = [item for item in study.items.values() if item.variant is not None]
    pairs = [_pair(item, names) for item in changed]
    return sorted(pairs, key=lambda pair: (pair.likelihood is None, pair.likelihood or 0.0, pair.item))


def write_review(study: Study, path: Path) -> int:
    """Writes the page; how many pairs it lists."""
    pairs = pairs_of(study)
    if not pairs:
        raise VeraxError(
            f"The study {study.spec.title!r} has no changed inputs to review; only 'counterfactual' ones have."
        )
    page = (
        _environment()
        .get_template("review.html")
        .render(style=page_style(), title=study.spec.title, pairs=pairs)
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(str(page).encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"The page cannot be written to {str(path)!r} ({error.strerror}); choose another file."
        ) from error
    return len(pairs)


def _pair(item: Item, names: Sequence[str]) -> Pair:
    assert item.variant is not None
    return Pair(
        item=item.id,
        strike=f"{item.part} {item.place}" if item.place >= 0 else "",
        original=_pieces(changes_marked(item, input_block(item))),
        changed=_pieces(variant_block(item)),
        before=names[item.prediction],
        after=names[item.variant.prediction],
        likelihood=item.variant.likelihood,
    )


def _pieces(block: Passage | Row) -> tuple[Piece, ...]:
    if isinstance(block, Passage):
        return tuple((token.text, token.changed) for token in block.tokens)
    return tuple((f"{cell.column}: {cell.value}; ", cell.changed) for cell in block.cells)
