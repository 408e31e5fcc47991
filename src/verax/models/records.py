"""Models of records: several texts at once, or texts beside other columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from verax.arrays import FloatArray
from verax.data.fields import Fields
from verax.data.inputs import as_frame
from verax.errors import VeraxError
from verax.models.base import Answer, Batch, Inputs, Model, ask, check_class_names
from verax.models.wrappers import NUMBER, learn_schema

if TYPE_CHECKING:
    from verax.models.wrappers import RawRows


class RecordModel(Model):
    """Something that is called with a DataFrame, in which some columns hold texts.

    Its inputs are records: rows of a frame, dicts, or texts with a line for each column (:class:`Fields`).

    Attributes:
        function: from such a frame to probabilities, or to numbers.
        fields: the columns.
        reference: training records as texts, if they were given.
        background: encoded values of the columns that are no texts, which stand in where one is absent.
        estimator: what was fitted, if the model was made of it and not of a function.
    """

    kind = "text"
    fields: Fields

    def __init__(
        self,
        function: Callable[[Batch], Answer],
        fields: Fields,
        *,
        class_names: Sequence[str] | None = None,
        output: str = "classes",
        reference: Sequence[str] | None = None,
        estimator: object = None,
    ) -> None:
        self.function, self.fields, self.output = function, fields, output
        self.reference, self.estimator = reference, estimator
        self.background = fields.encoded(list(reference or ()))
        if class_names is None and output == "number":
            class_names = (NUMBER,)
        self.class_names = () if class_names is None else check_class_names(class_names, class_names)

    def predict_proba(self, inputs: Inputs) -> FloatArray:
        """Probabilities of the classes, one row per record, checked."""
        records = self.fields.join(inputs)
        if not records:
            return np.empty((0, len(self.class_names)))
        return self._asked(self.fields.to_frame(records), len(records))

    def ask_parts(self, texts: Sequence[Sequence[str]], rows: FloatArray) -> FloatArray:
        """The same of the texts of each column of them, and encoded rows of the others."""
        return self._asked(self.fields.frame(texts, rows), len(rows))

    def _asked(self, frame: Batch, n_inputs: int) -> FloatArray:
        probabilities = ask(self.function, frame, n_inputs, len(self.class_names) or None)
        if not self.class_names:
            self.class_names = tuple(f"class {number}" for number in range(probabilities.shape[1]))
        return probabilities

    def __repr__(self) -> str:
        return f"RecordModel({', '.join(self.fields.names)}; texts: {', '.join(self.fields.texts)})"


def record_model(
    function: Callable[[Batch], Answer],
    texts: Sequence[str],
    reference: RawRows | None,
    *,
    names: Sequence[str] = (),
    class_names: Sequence[str] | None = None,
    output: str = "classes",
    estimator: object = None,
) -> RecordModel:
    """A model of records.

    Args:
        function: called with frames.
        texts: the columns whose words are features.
        reference: training rows, a frame; needed where there are other columns.
        names: all columns, in the order of the fit, where that is known.
        class_names: as of any model.
        output: "classes" or "number".
        estimator: what was fitted.
    """
    texts = tuple(dict.fromkeys(map(str, texts)))
    frame = as_frame(reference)
    if reference is not None and frame is None:
        raise VeraxError(
            f"The model reads the texts of the columns {', '.join(texts)}, and reference= has no columns with names; "
            "give a DataFrame."
        )
    columns = tuple(names) or (texts if frame is None else tuple(map(str, frame.columns)))
    others = [name for name in columns if name not in texts]
    schema = None
    if others:
        if frame is None:
            raise VeraxError(
                f"The model reads the columns {', '.join(others)} beside texts; give some of its training rows, from "
                "which absent columns take values: reference=frame."
            )
        absent = [name for name in columns if name not in map(str, frame.columns)]
        if absent:
            raise VeraxError(f"The rows of reference= have no column {absent[0]!r}, which the model reads.")
        schema = learn_schema(frame.rename(columns=str)[others])
    fields = Fields(columns, texts, schema)
    records = None if frame is None else fields.join(frame)
    return RecordModel(
        function, fields, class_names=class_names, output=output, reference=records, estimator=estimator
    )
