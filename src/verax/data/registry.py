"""Where datasets and published formats are registered, ours and other people's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from verax.data.records import Records
from verax.errors import VeraxError
from verax.registry import Registry


@dataclass(frozen=True)
class Choice:
    """What the caller said about the file, for formats where there is something to choose.

    Attributes:
        text: the column or field that holds the text.
        label: the column, field or aspect that holds the label.
        ratings: whether ratings are wanted as they are, rather than as classes.
    """

    text: str | None = None
    label: str | None = None
    ratings: bool = False

    def among(self, format_name: str, labels: tuple[str, ...] = ()) -> str:
        """The chosen one of a format's labels (the first unless told otherwise; "" if it has but one)."""
        if self.text is not None or (self.label is not None and not labels):
            raise VeraxError(
                f"The format {format_name!r} has one text and one label; leave text and label out."
            )
        if self.label is not None and self.label not in labels:
            raise VeraxError(
                f"The format {format_name!r} has no label {self.label!r}; choose: {', '.join(labels)}."
            )
        return self.label or (labels[0] if labels else "")


Source = Callable[[], Records]
Reader = Callable[[Path, Choice], Records]

datasets: Registry[Source] = Registry("dataset", "verax.datasets", home="verax.data")
dataset_formats: Registry[Reader] = Registry("format", "verax.formats", home="verax.data.formats")
