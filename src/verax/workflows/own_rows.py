"""Inputs of one's own, from a file without labels: what of it a model reads, and a model with no other data at hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from verax.data import Dataset, Part
from verax.data.files import read_rows
from verax.errors import VeraxError
from verax.explain.base import model_inputs
from verax.models import Model, as_model
from verax.models.wrappers import is_texts
from verax.phrases import say

if TYPE_CHECKING:
    import pandas as pd

TEXT = "text"


def own_inputs(
    frame: pd.DataFrame, text: str | None, label: str | None, *, columns: bool = False
) -> tuple[Any, list[Any] | None]:
    """The inputs among the columns of a file, and its labels, if it has a column of that name.

    Args:
        frame: from `read_rows`.
        text: the column of texts; several with commas between; ``text`` if there is one and none is named.
        label: the column of labels.
        columns: whether what reads them takes a table by the names of its columns.
    """
    frame = frame.rename(columns=str)
    labels = frame[label].tolist() if label in frame.columns else None
    if labels is not None:
        frame = frame.drop(columns=[label])
    wanted = [name.strip() for name in (text or "").split(",") if name.strip()]
    if text is None and TEXT in frame.columns and not columns:
        wanted = [TEXT]
    absent = [name for name in wanted if name not in frame.columns]
    if absent:
        raise VeraxError(
            f"There is no column {absent[0]!r} of texts; the file has: {', '.join(frame.columns)}."
        )
    if len(wanted) == 1:
        return frame[wanted[0]].tolist(), labels
    return frame, labels


def adapted_to(model: object, inputs: Any, reference: Any = None) -> tuple[Model, list[str]]:
    """A model of these inputs, whose rows stand for its training rows where no others are given; and what to say."""
    if isinstance(model, Model):
        return model, []
    if reference is not None:
        return as_model(model, reference=reference), []
    if is_texts(inputs):
        adapted = (
            as_model(model, kind="text") if callable(model) and not hasattr(model, "fit") else as_model(model)
        )
        return adapted, []
    if len(inputs) == 1:
        raise VeraxError(
            "One row alone does not say what to put in place of a column that is taken away; give some of the model's "
            "training rows: reference=rows."
        )
    adapted = as_model(model, reference=inputs)
    if adapted.fields is not None and adapted.fields.others is None:
        return adapted, []  # absent words are left out
    return adapted, [say("judge", "given-rows", rows=len(inputs))]


def rows_with_model(
    thing: object, path: str, text: str | None, label: str | None
) -> tuple[Model, Dataset, list[str]]:
    """A fitted model and the inputs of a file, as a dataset whose test part they are; and what to say.

    Args:
        thing: anything fitted.
        path: of the file, or a pattern.
        text: the column of texts.
        label: a column that is left out.
    """
    inputs, _ = own_inputs(read_rows(path), text, label, columns=hasattr(thing, "feature_names_in_"))
    model, notes = adapted_to(thing, inputs)
    rows = model_inputs(model, inputs)
    if not model.class_names:
        model.predict_proba(rows[:1])  # a function's classes are known from its first answer on
    given = rows if isinstance(rows, np.ndarray) else [str(text) for text in rows]
    nothing, unknown = (Part(part, np.zeros(len(part), dtype=np.int64)) for part in (given[:0], given))
    kind: Literal["text", "table"] = "text" if isinstance(given, list) else "table"
    name, schema = Path(path).name, model.schema
    data = Dataset(name, kind, model.class_names, nothing, nothing, unknown, schema, fields=model.fields)
    return model, data, notes
