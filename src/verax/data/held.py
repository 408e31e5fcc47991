"""Datasets held in memory: a DataFrame of any library, a Hugging Face Dataset with its parts, inputs and labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verax.data.files import frame_records
from verax.data.inputs import as_frame, plain_inputs
from verax.data.records import Records
from verax.data.registry import Choice
from verax.data.table import Schema
from verax.errors import VeraxError

if TYPE_CHECKING:
    import pandas as pd

LABEL = "label"
# What publishers call the parts of a set.
PARTS = {"train": 0, "training": 0, "validation": 1, "valid": 1, "dev": 1, "test": 2}


@dataclass(frozen=True, eq=False)
class Held:
    """A dataset in memory as a frame.

    Attributes:
        frame: its inputs and labels.
        name: what to call it.
        class_names: the names of the classes that the labels number, if they do.
        parts: the part of each row, if it came in parts.
    """

    frame: pd.DataFrame
    name: str
    class_names: tuple[str, ...] | None = None
    parts: tuple[int, ...] | None = None


def held_records(given: object, choice: Choice, schema: Schema | None) -> tuple[Records, str]:
    """What an object holds, and its name."""
    held = _held(given, choice.label or LABEL)
    records = frame_records(held.frame, choice, schema, held.class_names)
    if held.parts is not None:
        records = replace(records, parts=np.array(held.parts, dtype=np.int8))
    return records, held.name


def _held(given: Any, label: str) -> Held:
    if isinstance(given, Mapping):
        return _of_parts(given, label)
    if isinstance(given, tuple) and len(given) == 2:
        return Held(_beside_labels(given[0], given[1], label), "inputs and labels")
    frame = as_frame(given)
    if frame is None:
        raise VeraxError(
            f"A {type(given).__name__} is no dataset; give a name, a file, a DataFrame with a column of labels, a "
            "Hugging Face Dataset, or (inputs, labels)."
        )
    name = getattr(frame, "attrs", {}).get("name", type(given).__name__)
    return Held(frame, str(name), _class_names(given, label))


def _of_parts(given: Mapping[str, Any], label: str) -> Held:
    """A Hugging Face DatasetDict, or any other dict of parts."""
    import pandas as pd

    frames = {str(name): as_frame(part) for name, part in given.items()}
    unknown = [name for name, frame in frames.items() if frame is None or name.lower() not in PARTS]
    if unknown or not frames:
        raise VeraxError(
            f"A dict of the keys {', '.join(frames)} is no dataset; its keys are train, validation and test, and its "
            "values tables."
        )
    known = {PARTS[name.lower()]: frame for name, frame in frames.items() if frame is not None}
    parts = tuple(part for part, frame in known.items() for _ in range(len(frame)))
    names = [_class_names(part, label) for part in given.values()]
    return Held(pd.concat(known.values(), ignore_index=True), type(given).__name__, names[0], parts)


def _beside_labels(inputs: object, labels: object, label: str) -> pd.DataFrame:
    """Inputs and labels as one frame; texts are its column ``text``."""
    import pandas as pd

    plain, given = plain_inputs(inputs), plain_inputs(labels)
    column = as_frame(given)
    values = given if column is None else column.iloc[:, 0].tolist()
    if len(plain) != len(values):
        raise VeraxError(
            f"There are {len(plain)} inputs but {len(values)} labels; give one label for each input."
        )
    if (frame := as_frame(plain)) is not None:
        if label in frame.columns:
            raise VeraxError(
                f"The inputs have a column {label!r} of their own; rename it, or leave the labels out."
            )
        return frame.reset_index(drop=True).assign(**{label: list(values)})
    if len(plain) and not isinstance(plain[0], str):
        frame = pd.DataFrame(plain)
        return frame.rename(columns=lambda name: f"x{name}").assign(**{label: list(values)})
    return pd.DataFrame({"text": list(plain), label: list(values)})


def _class_names(given: object, label: str) -> tuple[str, ...] | None:
    """The names that a Hugging Face Dataset has for its labels."""
    features = getattr(given, "features", None)
    names = getattr(features.get(label), "names", None) if isinstance(features, Mapping) else None
    return None if names is None else tuple(str(name) for name in names)
