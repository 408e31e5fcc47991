"""What participants call an input and its features."""

from __future__ import annotations

from dataclasses import dataclass

from verax.studies.model.sources import Material


@dataclass(frozen=True)
class Terms:
    """What participants call an input and its features."""

    one: str
    many: str
    piece: str
    pieces: str


TERMS = {
    "text": Terms("text", "texts", "word", "words"),
    "table": Terms("record", "records", "value", "values"),
}


def terms(material: Material) -> Terms:
    """The words for the study's kind of data."""
    return TERMS[material.kind]
