"""Anything callable as a model: a function from a batch of inputs to class probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.models.base import Answer, Batch, Inputs, Model, ask, check_class_names
from verax.models.tables import encode_rows
from verax.models.text import check_texts

if TYPE_CHECKING:
    from verax.data.table import Schema


# What a predicted number is called, unless somebody has a name for it.
NUMBER = "prediction"


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
