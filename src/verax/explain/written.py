"""Written: an explanation in words, or in any other form that people are shown as it was written.

Rules, lists of weights, examples, sentences of a person or of a language model: what has no scores to mark words with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from verax.errors import VeraxError
from verax.explain.explanation import Cost, Explanation, common_fields, short_repr
from verax.notebook import paragraph_html


@dataclass(frozen=True)
class Written(Explanation):
    """An explanation as it was written.

    Attributes:
        paragraphs: its parts, each with its own spaces and line breaks.
        target: the class that is explained.
        target_name: its name.
        input: the text, or the row as a tuple of "column = value".
        legend: a line on how to read it.
        details: how it was made.
        cost: rows, calls and seconds; two explanations that differ in nothing else are equal.
        explainer: who or what made it.
    """

    paragraphs: tuple[str, ...]
    target: int
    target_name: str = ""
    input: str | tuple[str, ...] = ""
    legend: str = ""
    details: dict[str, object] = field(default_factory=dict, hash=False)
    cost: Cost = field(default_factory=Cost, compare=False)
    explainer: str = ""

    kind: ClassVar[str] = "written"

    def __post_init__(self) -> None:
        if isinstance(self.paragraphs, str):
            raise VeraxError(
                "The paragraphs of a written explanation are several texts, not one; use (text,)."
            )
        if not self.text.strip():
            raise VeraxError("A written explanation must say something; it has no text.")

    @property
    def text(self) -> str:
        """All paragraphs, with an empty line between them."""
        return "\n\n".join(self.paragraphs)

    def __repr__(self) -> str:
        return short_repr(self, repr(self.text))

    def _repr_html_(self) -> str:
        return paragraph_html(*self.paragraphs, bold=self.explainer)

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> Written:
        paragraphs = tuple(data["paragraphs"])
        if not all(isinstance(text, str) for text in paragraphs):
            raise TypeError("a paragraph is no text")
        return cls(paragraphs=paragraphs, legend=str(data.get("legend", "")), **common_fields(data))
