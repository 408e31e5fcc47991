"""Which inputs become items: the pool of candidates, draws from it, and what was drawn as items.

Candidates are found and narrowed down, some are drawn in balance, and what was drawn becomes items. The numbers that a
draw returns are places in the arrays of the `Candidates` that it drew from.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from verax.arrays import BoolArray, FloatArray, IntArray
from verax.data.dataset import Inputs, contents
from verax.data.table import Schema
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.seeds import stream
from verax.studies.definition.spec_tables import Display
from verax.studies.definition.study import Item, Source, Variant
from verax.studies.display.readable import readable_row

log = logging.getLogger("verax.studies")

# A predicted class, and whether the prediction is right: for two classes TP, FP, TN and FN.
CellOf = tuple[int, bool]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Inputs of one part of a dataset that may become items; every array has one entry for each.

    Attributes:
        part: "train", "validation" or "test".
        places: where they stand in the part.
        labels: true classes.
        predictions: the model's classes.
        probabilities: the model's, (candidates, classes).
        worse_probabilities: the worse model's, where there is one.
        about: what they are, for sentences: "texts of 5 to 60 words in the test part of 'imdb'".
        class_names: for sentences too.
    """

    part: str
    places: IntArray
    labels: IntArray
    predictions: IntArray
    probabilities: FloatArray
    worse_probabilities: FloatArray | None = None
    about: str = "candidates"
    class_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.places)

    @property
    def correct(self) -> BoolArray:
        """Whether the model is right."""
        right: BoolArray = self.labels == self.predictions
        return right

    @property
    def confidence(self) -> FloatArray:
        """The probability of the predicted class."""
        highest: FloatArray = self.probabilities.max(axis=1, initial=0.0)
        return highest

    @property
    def cells(self) -> dict[CellOf, IntArray]:
        """The numbers of the candidates of each predicted class that the model gets right, and wrong."""
        return {
            (prediction, right): np.flatnonzero((self.predictions == prediction) & (self.correct == right))
            for prediction in range(self.probabilities.shape[1])
            for right in (True, False)
        }

    def cell_name(self, cell: CellOf) -> str:
        """A cell in words: "rightly predicted 'positive'"."""
        prediction, right = cell
        name = self.class_names[prediction] if self.class_names else str(prediction)
        return f"{'rightly' if right else 'wrongly'} predicted {name!r}"

    def sizes(self) -> str:
        """How many candidates each cell has, in words."""
        return ", ".join(f"{len(members):,} {self.cell_name(cell)}" for cell, members in self.cells.items())


def candidates(source: Source, part: str) -> Candidates:
    """All inputs of a part that may become items: texts of the length that the spec allows, equal inputs once."""
    inputs = source.dataset.parts[part].inputs
    about = f"{'texts' if source.dataset.kind == 'text' else 'rows'} in the {part} part of {source.dataset.name!r}"
    if not len(inputs):
        raise VeraxError(f"There are no {about}; use more data, or another split (source.split).")
    places = np.array(list(_first_of_each(inputs)), dtype=np.int64)
    equal = len(inputs) - len(places)
    if not isinstance(inputs, np.ndarray):
        display = source.spec.display
        places = places[_fitting([inputs[place] for place in places], display, about)]
        about = about.replace("texts", f"texts of {display.fewest_words} to {display.most_words} words", 1)
    log.info(
        "%s %s may become items, of %s inputs; %s are equal to another and %s too short or too long.",
        *(
            f"{len(places):,}",
            about,
            f"{len(inputs):,}",
            f"{equal:,}",
            f"{len(inputs) - equal - len(places):,}",
        ),
    )
    chosen = take(inputs, places)
    probabilities = source.model.predict_proba(chosen)
    found = Candidates(
        part=part,
        places=places,
        labels=source.dataset.parts[part].labels[places],
        predictions=np.argmax(probabilities, axis=1),
        probabilities=probabilities,
        worse_probabilities=None if source.worse is None else source.worse.predict_proba(chosen),
        about=about,
        class_names=source.dataset.class_names,
    )
    return _matched(source, found, chosen) if source.others else found


def match_counts(source: Source, part: str) -> tuple[int, int]:
    """Of how many inputs of a part that may become items all models predict the same class, and how many there are."""
    alone = candidates(replace(source, others={}), part)
    return len(candidates(source, part)), len(alone)


def _matched(source: Source, found: Candidates, inputs: Inputs) -> Candidates:
    """Those of which every condition's model predicts the same class: so all are right, or all are wrong (section 4.3).

    Whoever sees whichever model is then asked about the same inputs, with the same right answers.
    """
    same = np.ones(len(found), dtype=np.bool_)
    for model in source.others.values():
        same &= np.argmax(model.predict_proba(inputs), axis=1) == found.predictions
    return where(found, same, "of which all models predict the same class")


def take(inputs: Inputs, places: Sequence[int] | IntArray) -> Inputs:
    """Some inputs of a part, as models and explainers want them."""
    return inputs[places] if isinstance(inputs, np.ndarray) else [inputs[place] for place in places]


def where(pool: Candidates, keep: BoolArray, about: str) -> Candidates:
    """Those for which ``keep`` holds; a sentence if there are none.

    Args:
        pool: the candidates.
        keep: one entry for each.
        about: added to what they are called: "that the model gets wrong".
    """
    if not keep.any():
        raise VeraxError(
            f"None of the {len(pool):,} {pool.about} is one {about}; use more data, or ask for less."
        )
    return _some(pool, keep, f"{pool.about} {about}")


def without(pool: Candidates, numbers: Sequence[int]) -> Candidates:
    """All but those with these numbers, which were drawn already."""
    keep = np.ones(len(pool), dtype=np.bool_)
    keep[list(numbers)] = False
    about = pool.about if pool.about.endswith(" left") else f"{pool.about} left"
    return _some(pool, keep, about)


def confident(pool: Candidates, above: float) -> Candidates:
    """Those whose predicted class has a probability above this."""
    advice = f"the highest is {pool.confidence.max():.3f}: lower the threshold below that"
    return _with_probability(pool, pool.confidence > above, f"above {above:g}", advice)


def unconfident(pool: Candidates, below: float) -> Candidates:
    """Those whose predicted class has a probability below this."""
    advice = f"the lowest is {pool.confidence.min():.3f}: raise the threshold above that"
    return _with_probability(pool, pool.confidence < below, f"below {below:g}", advice)


def _with_probability(pool: Candidates, keep: BoolArray, range_of: str, advice: str) -> Candidates:
    if not keep.any():
        raise VeraxError(
            f"None of the {len(pool):,} {pool.about} has a predicted class with a probability {range_of}; {advice}."
        )
    return _some(pool, keep, f"{pool.about} with a probability {range_of}")


def wrong(pool: Candidates) -> Candidates:
    """Those that the model gets wrong."""
    return where(pool, ~pool.correct, "that the model gets wrong")


def agreed(pool: Candidates) -> Candidates:
    """Those of which both models predict the same class."""
    if pool.worse_probabilities is None:
        raise VeraxError("Two models are compared, but the spec has one; add a table [worse] to the spec.")
    same: BoolArray = np.argmax(pool.worse_probabilities, axis=1) == pool.predictions
    return where(pool, same, "of which both models predict the same class")


def _fitting(texts: Sequence[str], display: Display, about: str) -> BoolArray:
    """Which texts have as many words as may be shown; a sentence if none has."""
    lengths = np.array([len(split_words(text)) for text in texts], dtype=np.int64)
    fitting: BoolArray = (lengths >= display.fewest_words) & (lengths <= display.most_words)
    if not fitting.any():
        raise VeraxError(
            f"None of the {len(texts):,} {about} has {display.fewest_words} to {display.most_words} words; they have "
            f"{lengths.min()} to {lengths.max():,}: change display.fewest_words or display.most_words."
        )
    return fitting


def _first_of_each(inputs: Inputs) -> Iterator[int]:
    seen: set[bytes] = set()
    for place, content in enumerate(contents(inputs)):
        if content not in seen:
            seen.add(content)
            yield place


def _some(pool: Candidates, keep: BoolArray, about: str) -> Candidates:
    worse = pool.worse_probabilities
    return replace(
        pool,
        places=pool.places[keep],
        labels=pool.labels[keep],
        predictions=pool.predictions[keep],
        probabilities=pool.probabilities[keep],
        worse_probabilities=None if worse is None else worse[keep],
        about=about,
    )


def schema_of(source: Source) -> Schema:
    """A table's columns."""
    schema = source.dataset.schema
    if schema is None:
        raise VeraxError(f"The dataset {source.dataset.name!r} has no columns; it is no table with a schema.")
    return schema


def balanced(pool: Candidates, count: int, seed: int, *about: str | int) -> list[int]:
    """Equal numbers over all cells (predicted class, right or wrong), in random order.

    For two classes the cells are the true and false positives and negatives.

    Args:
        pool: the candidates.
        count: how many; it must divide by the number of cells, 2 x classes.
        seed: of the draw.
        about: what the draw is for; draws with other words are independent of this one.
    """
    return _draw(pool.cells, equal_shares(pool, count), stream(seed, "balanced", *about))


def equal_shares(pool: Candidates, count: int, parts: int = 1) -> dict[CellOf, int]:
    """The same number for each cell; a sentence if the count does not divide, or a cell has too few.

    Args:
        pool: the candidates.
        count: of all cells together.
        parts: into how many equal parts each cell's number must divide.
    """
    cells = pool.cells
    unit = parts * len(cells)
    if count < 1 or count % unit:
        what = "predicted class x right or wrong" + (" x flips or not" if parts > 1 else "")
        raise VeraxError(
            f"{count} items cannot be balanced over {unit} cells ({what}); ask for a multiple of {unit}."
        )
    smallest = min(len(members) for members in cells.values())
    if smallest < count // len(cells):
        raise too_few(pool, count, smallest // parts * unit)
    return dict.fromkeys(cells, count // len(cells))


def halves(pool: Candidates, count: int, seed: int, *about: str | int) -> list[int]:
    """Equal numbers of right and wrong predictions, the predicted classes in each as even as they can be.

    The arguments are those of `balanced`; ``count`` must be even.
    """
    if count < 2 or count % 2:
        raise VeraxError(
            f"{count} items cannot be half right and half wrong predictions; ask for an even number."
        )
    generator = stream(seed, "halves", *about)
    cells = pool.cells
    shares: dict[CellOf, int] = {}
    for right in (True, False):
        half = {cell: members for cell, members in cells.items() if cell[1] == right}
        shares |= _even(half, count // 2, generator)
    smaller = min(int(pool.correct.sum()), int((~pool.correct).sum()))
    if sum(shares.values()) < count:
        raise too_few(pool, count, 2 * smaller)
    return _draw(cells, shares, generator)


def spread(pool: Candidates, count: int, seed: int, *about: str | int) -> list[int]:
    """Any number of candidates, as even over the cells (predicted class, right or wrong) as they can be.

    The arguments are those of `balanced`.
    """
    if count < 1:
        raise VeraxError(f"{count} items are none; ask for 1 or more.")
    generator = stream(seed, "spread", *about)
    shares = _even(pool.cells, count, generator)
    if sum(shares.values()) < count:
        raise too_few(pool, count, len(pool))
    return _draw(pool.cells, shares, generator)


def _even(cells: Mapping[CellOf, IntArray], count: int, generator: np.random.Generator) -> dict[CellOf, int]:
    """Shares of the cells that differ only where a cell is used up; who gets what cannot be divided is random."""
    shares = dict.fromkeys(cells, 0)
    order = [list(cells)[number] for number in generator.permutation(len(cells))]
    while sum(shares.values()) < count:
        open_cells = [cell for cell in order if shares[cell] < len(cells[cell])]
        if not open_cells:
            break
        for cell in open_cells[: count - sum(shares.values())]:
            shares[cell] += 1
    return shares


def _draw(
    cells: Mapping[CellOf, IntArray], shares: Mapping[CellOf, int], generator: np.random.Generator
) -> list[int]:
    """So many of each cell, all in random order."""
    drawn = [generator.permutation(cells[cell])[:share] for cell, share in shares.items()]
    return [int(number) for number in generator.permutation(np.concatenate(drawn))]


def too_few(pool: Candidates, count: int, possible: int) -> VeraxError:
    """The sentence on a draw that cannot be made."""
    advice = [f"ask for at most {possible} items"] if possible else []
    if pool.about.startswith("texts"):
        advice.append("widen display.fewest_words and display.most_words")
    return VeraxError(
        f"{count} balanced items cannot be drawn from the {len(pool):,} {pool.about} ({pool.sizes()}); "
        f"{', '.join([*advice, 'or use more data'])}."
    )


def to_item(
    source: Source,
    pool: Candidates,
    number: int,
    id: str,
    role: str,
    group: int = 0,
    variant: Variant | None = None,
) -> Item:
    """The candidate with this number as an item."""
    place = int(pool.places[number])
    given = source.dataset.parts[pool.part].inputs[place]
    worse = pool.worse_probabilities
    return Item(
        id=id,
        role=role,
        input=given if isinstance(given, str) else readable_row(schema_of(source), given),
        label=int(pool.labels[number]),
        prediction=int(pool.predictions[number]),
        probabilities=tuple(pool.probabilities[number].tolist()),
        dataset=source.dataset.name,
        part=pool.part,
        place=place,
        group=group,
        variant=variant,
        worse=None if worse is None else tuple(worse[number].tolist()),
    )
