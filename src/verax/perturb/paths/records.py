"""Records with texts in several columns: absent words are dropped, other absent columns take values of other rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from verax.arrays import BoolArray, FloatArray, IndexArray
from verax.models.base import Inputs
from verax.models.llm.prompt import Placed
from verax.models.records import RecordModel
from verax.perturb.masks import MAX_ROWS, Answer, Masks, Prepared, Variants, distinct_rows
from verax.perturb.paths.composition import tree_model_in
from verax.perturb.paths.strings import Letters, build_strings, letters_of

# A column that is absent takes its values from so many training rows, and the answers are averaged. Fewer than in
# tables without texts: a row with texts takes a model longer.
BACKGROUND_ROWS = 20


@dataclass(frozen=True, eq=False)
class Record(Prepared):
    """A record whose words and columns can be taken away.

    Attributes:
        placed: its features and where they stand.
        columns: the column of each feature.
        texts: the texts, each as an array of characters; their features are numbered as the record's.
        row: the other columns, encoded.
        owner: for each of them, the number of its feature.
    """

    placed: Placed
    columns: tuple[str, ...]
    texts: tuple[Letters, ...]
    row: FloatArray
    owner: IndexArray


@dataclass(frozen=True, eq=False)
class RecordPath:
    """Asks a model of records about records without some of their words and columns."""

    model: RecordModel
    name: str = "records"

    @property
    def fallback(self) -> str:
        """Why a model with trees is asked row by row; empty for any other."""
        return (
            "rows that hold texts are asked about as a whole" if tree_model_in(self.model.estimator) else ""
        )

    def prepare(self, inputs: Inputs) -> list[Record]:
        """Each record with its words by column."""
        return [self._record(text) for text in self.model.fields.join(inputs)]

    def evaluate(self, prepared: Sequence[Record], masks: Iterable[Variants]) -> Iterator[Answer]:
        """One answer per record."""
        for record, variants in zip(prepared, masks, strict=True):
            parts = [self._answer(record, block) for block in variants.blocks(MAX_ROWS // BACKGROUND_ROWS)]
            yield Answer(
                np.concatenate([part.probabilities for part in parts]),
                sum(part.rows for part in parts),
                sum(part.calls for part in parts),
            )

    def _answer(self, record: Record, block: Masks) -> Answer:
        first, inverse = distinct_rows(block.columns())
        present = block.rows()[first]
        texts = [build_strings(text, present) for text in record.texts]
        there: BoolArray = present[:, record.owner]
        # One row where all other columns are there, else one for each background row.
        others = self.model.background[:BACKGROUND_ROWS]
        times = np.where(there.all(axis=1) | (len(others) == 0), 1, max(1, len(others)))
        which = np.repeat(np.arange(len(present)), times)
        rows = np.repeat(record.row[None], len(which), axis=0)
        if len(others):
            number = np.arange(len(which)) - np.repeat(np.cumsum(times) - times, times)
            rows = np.where(there[which], rows, others[number % len(others)])
        answers = self.model.ask_parts([[cells[place] for place in which] for cells in texts], rows)
        sums = np.zeros((len(present), answers.shape[1]))
        np.add.at(sums, which, answers)
        return Answer((sums / times[:, None])[inverse], len(which), 1)

    def _record(self, text: str) -> Record:
        fields = self.model.fields
        features, spans, columns = fields.words(text)
        places = dict(zip(fields.names, fields.spans(text), strict=True))
        texts = []
        for name in fields.texts:
            start, end = places[name]
            own = [
                (first - start, last - start, number)
                for number, column in enumerate(columns)
                if column == name
                for first, last in spans[number]
            ]
            texts.append(letters_of(text[start:end], features, own))
        names = () if fields.others is None else fields.others.names
        return Record(
            features=features,
            placed=Placed(features, tuple(map(tuple, spans)), text, 0),
            columns=tuple(columns),
            texts=tuple(texts),
            row=fields.encoded([text])[0],
            owner=np.array([features.index(name) for name in names], dtype=np.intp),
        )
