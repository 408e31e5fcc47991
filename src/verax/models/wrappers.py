"""Models around what people have: pipelines that count words, estimators of table rows, and anything callable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

import numpy as np

from verax.arrays import FloatArray
from verax.data.inputs import as_frame, is_date, plain_inputs, texts_in
from verax.errors import VeraxError
from verax.models.base import Answer, Batch, Inputs, Model, ask, check_class_names

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator
    from sklearn.feature_extraction.text import CountVectorizer

    from verax.data.table import Schema
    from verax.models.base import Rows


# ---- Text pipelines


@dataclass(frozen=True, eq=False)
class TextPipeline(Model):
    """A fitted vectoriser, the steps after it, and a classifier on its rows.

    Attributes:
        vectorizer: a fitted CountVectorizer, TfidfVectorizer or HashingVectorizer.
        transforms: the steps between vectoriser and classifier, in order; often none.
        classifier: anything fitted with ``predict_proba`` on the last transform's output.
        class_names: one name per class, in the classifier's order.
        reference: training texts, for explainers that learn from them first; None if not given.
    """

    vectorizer: CountVectorizer
    transforms: tuple[BaseEstimator, ...]
    classifier: BaseEstimator
    class_names: tuple[str, ...]
    reference: Sequence[str] | None = field(default=None, repr=False)

    kind = "text"

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per text, checked."""
        texts = check_texts(inputs)
        return self._ask(lambda batch: self._from_rows(self.vectorizer.transform(batch)), texts, len(texts))

    def predict_rows(self, rows: Rows) -> FloatArray:
        """Probabilities from sparse rows in the space of the vectoriser's output, checked."""
        return self._ask(self._from_rows, rows, rows.shape[0])

    def _from_rows(self, rows: Rows) -> Answer:
        for transform in self.transforms:
            rows = transform.transform(rows)
        return self.classifier.predict_proba(rows)

    def _ask(self, function: Callable[[Batch], Answer], batch: Batch, n_inputs: int) -> FloatArray:
        if n_inputs == 0:
            return np.empty((0, len(self.class_names)))
        return ask(function, batch, n_inputs, len(self.class_names))


def check_texts(inputs: Inputs) -> list[str]:
    """The inputs as a list of strings, or a sentence that names the one that is not."""
    texts = texts_in(inputs)
    if set(map(type, texts)) <= {str}:  # one pass in C for the usual case
        return texts
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise VeraxError(
                f"Input {number} is {text!r} (a {type(text).__name__}), not a text; "
                "replace it by a string, or leave it out (inputs are counted from 0)."
            )
    return texts


def is_texts(inputs: object) -> TypeGuard[Sequence[str]]:
    """Whether these are texts, one or more, rather than rows of a table."""
    if isinstance(inputs, str | bytes) or not isinstance(inputs, Iterable):
        return False
    plain = plain_inputs(inputs)
    if not isinstance(plain, list):
        return False
    kinds = set(map(type, plain))
    return bool(kinds) and all(issubclass(kind, str) for kind in kinds)


# ---- Estimators of table rows

# Rows as people have them: encoded or not, an array, a list of rows or a frame.
RawRows: TypeAlias = "Inputs | pd.DataFrame"


def number_of(estimator: BaseEstimator, inputs: Batch) -> Answer:
    """What a model of numbers says: its prediction; of one that finds outliers how unusual each input is."""
    if hasattr(estimator, "score_samples"):
        return -np.asarray(estimator.score_samples(inputs))
    return estimator.predict(inputs)


@dataclass(frozen=True, eq=False)
class TableModel(Model):
    """A fitted classifier or regressor on the rows of a table.

    Attributes:
        estimator: anything fitted with ``predict_proba``, or with ``predict`` if it predicts a number.
        schema: the table's columns.
        class_names: one name per class, in the estimator's order; of a regressor the name of the number.
        reference: encoded training rows, for explainers that need bins or a background; None if not given.
        columns: of an estimator that was fitted on DataFrames, their columns in that order: rows become such a frame
            before it is called. Empty for one that reads encoded rows.
        output: what it predicts, "classes" or a "number"; see :func:`number_of`.
    """

    estimator: BaseEstimator
    schema: Schema = field(repr=False)
    class_names: tuple[str, ...]
    reference: FloatArray | None = field(default=None, repr=False)
    columns: tuple[str, ...] = field(default=(), repr=False)
    output: str = "classes"

    kind = "table"

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per input, checked.

        Args:
            inputs: encoded rows (a float array), a DataFrame, or a list of rows.
        """
        rows = encode_rows(inputs, self.schema)
        if len(rows) == 0:
            return np.empty((0, len(self.class_names)))
        return ask(self._probabilities, rows, len(rows), len(self.class_names))

    def _probabilities(self, rows: FloatArray) -> Answer:
        if self.output == "number":
            return number_of(self.estimator, self.as_read(rows))
        return self.estimator.predict_proba(self.as_read(rows))

    @property
    def frames(self) -> bool:
        """Whether the estimator reads DataFrames."""
        return bool(self.columns)

    def as_read(self, rows: FloatArray) -> FloatArray | pd.DataFrame:
        """Encoded rows as the estimator reads them: as they are, or as the DataFrame that they stand for."""
        return self.schema.decode(rows, self.columns) if self.columns else rows

    def in_order(self, rows: FloatArray) -> FloatArray:
        """Encoded rows with the columns that the estimator reads, in its order."""
        return rows[:, [self.schema.names.index(name) for name in self.columns]] if self.columns else rows


def learn_schema(reference: RawRows, names: Sequence[str] | None = None) -> Schema:
    """The columns of raw rows; in a DataFrame the types decide what is a number."""
    from verax.data.table import Schema

    if (frame := as_frame(reference)) is not None:
        kinds = [(str(name), kind) for name, kind in frame.infer_objects().dtypes.items()]
        categorical = [name for name, kind in kinds if not (is_date(kind) or kind.kind in ("i", "u", "f"))]
        categorical += [
            name for name, kind in kinds if hasattr(kind, "categories") and name not in categorical
        ]
        schema = Schema.learn(frame, categorical=categorical)
        # Cells that would be one number are categories (None beside NaN among objects).
        merged = [column.name for column in schema.columns if column.original and not column.original.exact]
        return Schema.learn(frame, categorical=[*categorical, *merged]) if merged else schema
    if names is None and len(reference) and hasattr(reference[0], "__len__"):
        names = [f"x{number}" for number in range(len(reference[0]))]
    return Schema.learn(reference, names=names)


def encode_rows(rows: RawRows, schema: Schema) -> FloatArray:
    """Rows in any form as a checked float64 array: numbers as they are, categories as their codes.

    Arrays of numbers (and lists of them, one per row) are taken as encoded already; anything else is encoded.
    """
    rows = plain_inputs(rows)
    if isinstance(rows, list):
        if not rows:
            return np.empty((0, len(schema)))
        if all(_is_encoded(row) for row in rows):
            rows = np.stack(rows)
    if (frame := as_frame(rows)) is not None:
        rows = frame
    return schema.check(rows) if _is_encoded(rows) else schema.encode(rows)


def _is_encoded(rows: object) -> bool:
    return isinstance(rows, np.ndarray) and rows.dtype.kind in "fiub"


# ---- Functions


# What a predicted number is called, unless somebody has a name for it.
NUMBER = "prediction"
OUTLIER = "anomaly score"


class CallableModel(Model):
    """A function that is given a list of texts, or rows of a table, and returns probabilities.

    Attributes:
        function: called with ``list[str]`` (text), or with encoded rows, a float64 array (table).
        output: whether it returns class probabilities ("classes") or one number per input ("number").
        frames: the function is called with DataFrames instead, of the types and cells that the schema remembers.
        schema: the table's columns; None for texts.
        reference: training texts or encoded training rows, for explainers that learn or need a background, or None.
        class_names: as given, or ``class 0``, ``class 1``, ... once the first answer has shown how many there
            are (empty until then).
    """

    def __init__(
        self,
        function: Callable[[Batch], Answer],
        *,
        kind: str = "text",
        class_names: Sequence[str] | None = None,
        schema: Schema | None = None,
        reference: Sequence[str] | FloatArray | None = None,
        frames: bool = False,
        output: str = "classes",
    ) -> None:
        if kind == "table" and schema is None:
            raise VeraxError(
                "A callable on table rows needs to know its columns; give reference= (training rows) "
                "or schema=."
            )
        self.function = function
        self.kind = kind
        self.output = output
        self.schema = schema
        self.reference = reference
        self.frames = frames
        if class_names is None and output == "number":
            class_names = (NUMBER,)
        self.class_names = () if class_names is None else check_class_names(class_names, class_names)

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per input, checked."""
        batch: Batch = check_texts(inputs) if self.schema is None else encode_rows(inputs, self.schema)
        if len(batch) == 0:
            return np.empty((0, len(self.class_names)))
        if self.frames and self.schema is not None:
            batch = self.schema.decode(batch)
        probabilities = ask(self.function, batch, len(batch), len(self.class_names) or None)
        if not self.class_names:
            self.class_names = tuple(f"class {number}" for number in range(probabilities.shape[1]))
        return probabilities

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return f"CallableModel({name}, kind={self.kind!r}, class_names={self.class_names!r})"
