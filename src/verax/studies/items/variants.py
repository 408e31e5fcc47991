"""Perturbed versions of candidates, half of which flip the prediction, for counterfactual simulation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from verax.arrays import FloatArray
from verax.data.dataset import Dataset
from verax.data.table import Schema
from verax.data.vectors import WordVectors
from verax.errors import VeraxError
from verax.perturb.counterfactual.changes import Counterfactual, ValueChange, WordChange
from verax.seeds import stream
from verax.studies.definition.study import Source, Variant
from verax.studies.display.readable import readable_row
from verax.studies.items.pool import Candidates, CellOf, equal_shares, schema_of, take

if TYPE_CHECKING:
    from verax.perturb.counterfactual import Language

# So many candidates in a row without the wanted version of any, and the search of a cell is given up.
MOST_MISSES = 50
# Where changed texts shall read like language, so many times as many as are needed are made, and the likeliest taken.
TO_CHOOSE_FROM = 3


def with_variants(
    source: Source,
    pool: Candidates,
    numbers: Sequence[int],
    flips: Sequence[bool],
    seed: int,
    *,
    vectors: str | None = None,
    fluent: bool = False,
) -> list[Variant | None]:
    """A perturbed version of each of some candidates, of which all models say the same; None where none was found.

    Args:
        source: the dataset and the model.
        pool: the candidates.
        numbers: which of them.
        flips: for each whether the model shall say something else of its version, or the same.
        seed: of the draws.
        vectors: a GloVe file in which similar words are found; vectors are trained on the training texts if None.
        fluent: whether changed texts shall read like language, by a small language model of the training texts.
    """
    from verax.perturb.counterfactual import counterfactual_rows, counterfactual_texts

    inputs = take(source.dataset.parts[pool.part].inputs, pool.places[list(numbers)])
    others = tuple(source.others.values())
    made: list[Counterfactual | None]
    if isinstance(inputs, list):
        made = counterfactual_texts(
            source.model,
            inputs,
            flips,
            _word_vectors(source.dataset, vectors),
            others=others,
            language=_language(source.dataset) if fluent else None,
            seed=seed,
        )
    else:
        schema = schema_of(source)
        made = counterfactual_rows(
            source.model, inputs, flips, schema, _values(source.dataset, schema), others=others, seed=seed
        )
    return [None if version is None else _variant(source, version) for version in made]


def balanced_variants(
    source: Source,
    pool: Candidates,
    count: int,
    seed: int,
    *about: str | int,
    vectors: str | None = None,
    fluent: bool = False,
    struck: Collection[int] = (),
) -> list[tuple[int, Variant]]:
    """As `balanced`, each with a perturbed version; in every cell half of the versions flip the prediction.

    Args:
        source: the dataset and the model.
        pool: the candidates.
        count: how many; it must divide by 4 x classes.
        seed: of the draws.
        about: what the draw is for; draws with other words are independent of this one.
        vectors: see `with_variants`.
        fluent: see `with_variants`.
        struck: places, in the pool's part of the dataset, of inputs that are not to be used.
    """
    shares = equal_shares(pool, count, parts=2)
    generator = stream(seed, "variants", *about)
    drawn: list[tuple[int, Variant]] = []
    for cell, share in shares.items():
        waiting = [
            int(number)
            for number in generator.permutation(pool.cells[cell])
            if int(pool.places[number]) not in struck
        ]
        for flip in (True, False):
            taken, tried = _search(source, pool, waiting, flip, share // 2, seed, vectors, fluent=fluent)
            if len(taken) < share // 2:
                raise VeraxError(_too_few(pool, cell, flip, share // 2, len(taken), tried))
            drawn += taken
            used = {number for number, _ in taken}
            waiting = [number for number in waiting if number not in used]
    return [drawn[place] for place in generator.permutation(len(drawn))]


def _search(
    source: Source,
    pool: Candidates,
    waiting: Sequence[int],
    flip: bool,
    wanted: int,
    seed: int,
    vectors: str | None,
    *,
    fluent: bool,
) -> tuple[list[tuple[int, Variant]], int]:
    """So many of those waiting that have such a version, and how many were tried for them.

    The first ones; or, if they shall read like language, the likeliest of the first few times as many.
    """
    taken: list[tuple[int, Variant]] = []
    place = misses = 0
    enough = wanted * (TO_CHOOSE_FROM if fluent else 1)
    while len(taken) < enough and place < len(waiting) and misses < MOST_MISSES:
        batch = waiting[place : place + enough - len(taken)]
        place += len(batch)
        made = with_variants(source, pool, batch, [flip] * len(batch), seed, vectors=vectors, fluent=fluent)
        some = [(number, variant) for number, variant in zip(batch, made, strict=True) if variant is not None]
        misses = 0 if some else misses + len(batch)
        taken += some
    taken.sort(key=lambda found: _unlikeliness(found[1]))
    return taken[:wanted], place


def _unlikeliness(variant: Variant) -> float:
    """How badly a changed text reads; of rows, and where nobody asked, all are alike."""
    return 0.0 if variant.likelihood is None else -variant.likelihood


def _too_few(pool: Candidates, cell: CellOf, flip: bool, wanted: int, taken: int, tried: int) -> str:
    what = "flips" if flip else "keeps"
    return (
        f"Of {tried} {pool.about} that are {pool.cell_name(cell)} and were tried, {taken} have a perturbed version "
        f"that {what} the prediction, and {wanted} are needed; ask for fewer items, or use more data."
    )


def _variant(source: Source, made: Counterfactual) -> Variant:
    if isinstance(made.perturbed, str):
        words = [change for change in made.changes if isinstance(change, WordChange)]
        spans = tuple((change.start, change.end) for change in words)
        return Variant(made.perturbed, spans, made.perturbed_prediction, made.likelihood)
    columns = tuple(change.column for change in made.changes if isinstance(change, ValueChange))
    return Variant(readable_row(schema_of(source), made.perturbed), columns, made.perturbed_prediction)


@lru_cache(maxsize=2)
def _word_vectors(dataset: Dataset, path: str | None) -> WordVectors:
    """The vectors, once for the many searches of a study."""
    from verax.perturb.counterfactual import read_vectors, train_vectors

    return (
        read_vectors(path)
        if path is not None
        else train_vectors([str(text) for text in dataset.train.inputs])
    )


@lru_cache(maxsize=2)
def _language(dataset: Dataset) -> Language:
    from verax.perturb.counterfactual import Language

    return Language.from_texts(str(text) for text in dataset.train.inputs)


@lru_cache(maxsize=2)
def _values(dataset: Dataset, schema: Schema) -> tuple[FloatArray, ...]:
    from verax.perturb.counterfactual import column_values

    return column_values(schema, dataset.train.inputs)
