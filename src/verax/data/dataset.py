"""A dataset as the rest of Verax sees it: three parts of inputs and labels, and a hash of their content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from verax.arrays import FloatArray, IndexArray, IntArray
from verax.data.bins import Bands
from verax.data.fields import Fields
from verax.data.table import Schema
from verax.notebook import paragraph_html, table_html

if TYPE_CHECKING:
    import pandas as pd

Inputs = list[str] | FloatArray


@dataclass(frozen=True, eq=False)
class Part:
    """Inputs (texts, or encoded rows of a table) and the number of the true class of each.

    Attributes:
        inputs: texts, or encoded rows.
        labels: the number of each input's class.
        ratings: a number between 0 and 1 for each, where the set is one of ratings; the label is the nearer end.
        columns: what else is known of each input, by name: a subject, a source. No model reads it.
    """

    inputs: Inputs
    labels: IntArray
    ratings: FloatArray | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def take(self, places: IndexArray) -> Part:
        """Only some of them, in this order."""
        inputs = self.inputs
        return Part(
            [inputs[place] for place in places] if isinstance(inputs, list) else inputs[places],
            self.labels[places],
            None if self.ratings is None else self.ratings[places],
            {name: [values[place] for place in places] for name, values in self.columns.items()},
        )

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Part({len(self):,} {'texts' if isinstance(self.inputs, list) else 'rows'})"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Inputs to explain, with their true labels, in a train, a validation and a test part.

    Attributes:
        name: where it came from.
        kind: "text" or "table".
        class_names: what the labels mean: label ``c`` is ``class_names[c]``.
        schema: a table's columns; None for texts.
        fields: of records with several texts (premise and hypothesis), their columns; an input is then one text with a
            line for each. None for plain texts.
        bands: of a set of numbers, the bands that are its classes, from low to high.
        notes: what was dropped on the way here and how much of it, one sentence each.
    """

    name: str
    kind: Literal["text", "table"]
    class_names: tuple[str, ...]
    train: Part
    validation: Part
    test: Part
    schema: Schema | None = None
    notes: tuple[str, ...] = ()
    fields: Fields | None = None
    bands: Bands | None = None

    @property
    def parts(self) -> dict[str, Part]:
        """The three parts by name."""
        return {"train": self.train, "validation": self.validation, "test": self.test}

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts.values())

    @cached_property
    def hash(self) -> str:
        """A hash of inputs, labels, class names, schema and split; the same on every machine."""
        digest = hashlib.sha256()
        columns = [column.plain() for column in self.schema.columns] if self.schema else None
        digest.update(json.dumps([self.kind, self.class_names, columns]).encode())
        for part in self.parts.values():
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part.labels.astype("<i8").tobytes())
            if part.ratings is not None:
                digest.update(part.ratings.astype("<f8").tobytes())
            for content in contents(part.inputs):
                digest.update(len(content).to_bytes(8, "little"))
                digest.update(content)
        return digest.hexdigest()

    def summary(self) -> str:
        """A few lines for people: sizes, classes, columns, and what was dropped."""
        lines = [f"{self.name}: {len(self):,} {'texts' if self.kind == 'text' else 'rows'}"]
        for name, part in self.parts.items():
            sizes = np.bincount(part.labels, minlength=len(self.class_names))
            shares = ", ".join(f"{c} {size:,}" for c, size in zip(self.class_names, sizes, strict=True))
            lines.append(f"  {name:<10} {len(part):>7,}  ({shares})")
        if self.schema is not None:
            numeric, categorical = len(self.schema.numeric), len(self.schema.categorical)
            lines.append(
                f"  columns    {len(self.schema):>7,}  ({numeric} numeric, {categorical} categorical)"
            )
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """All inputs in one DataFrame: the part, the text or the columns, and the label's name."""
        import pandas as pd

        frames = []
        for name, part in self.parts.items():
            if self.fields is not None:
                inputs = self.fields.to_frame([str(record) for record in part.inputs])
            elif self.schema is None:
                inputs = pd.DataFrame({"text": part.inputs})
            else:
                inputs = self.schema.decode(np.asarray(part.inputs))
            inputs.insert(0, "part", name)
            frames.append(inputs.assign(label=[self.class_names[label] for label in part.labels]))
        return pd.concat(frames, ignore_index=True)

    def _repr_html_(self) -> str:
        rows = []
        for name, part in self.parts.items():
            sizes = np.bincount(part.labels, minlength=len(self.class_names))
            rows.append([name, f"{len(part):,}", *(f"{size:,}" for size in sizes)])
        noun = "texts" if self.kind == "text" else f"rows of {len(self.schema or ())} columns"
        title = paragraph_html(f"{len(self):,} {noun}", *self.notes, bold=self.name)
        return title + table_html(["part", "inputs", *self.class_names], rows)

    def __repr__(self) -> str:
        sizes = "/".join(f"{len(part):,}" for part in self.parts.values())
        noun = "texts" if self.kind == "text" else f"rows x {len(self.schema or ())} columns"
        return f"Dataset({self.name!r}, {sizes} {noun}, classes: {', '.join(self.class_names)})"


def contents(inputs: Sequence[str] | FloatArray) -> Iterator[bytes]:
    """Each input as bytes, so that equal inputs have equal bytes on any machine."""
    if isinstance(inputs, np.ndarray):
        # Adding zero makes -0.0 a 0.0; every NaN becomes the same NaN.
        rows = np.where(np.isnan(inputs), np.nan, inputs + 0.0).astype("<f8")
        return (row.tobytes() for row in rows)
    # Lone surrogates occur in scraped texts and have no UTF-8 of their own.
    return (text.encode("utf-8", "surrogatepass") for text in inputs)
