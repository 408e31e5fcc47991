"""Paths: the edits that lead from an input across the model's decision boundary, one at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Cost, Explanation, common_fields, same_fields, short_repr
from verax.notebook import paragraph_html, table_html
from verax.text import signed_from_zero

# So many steps are shown; of a longer path the last ones (Hase and Bansal 2020, section 3.4).
SHOWN = 4
# The score of an edited feature, as a share of the largest, is at least this.
LEAST = 1e-6


@dataclass(frozen=True)
class Edit:
    """One change on the way.

    Attributes:
        feature: the number of the feature that is changed.
        place: the number of the word among the text's words; None in a row.
        before: the word, or the value.
        after: what it becomes.
    """

    feature: int
    place: int | None
    before: str
    after: str


@dataclass(frozen=True)
class Path(Explanation):
    """Edits after which the model predicts another class, the one that changes least first.

    Attributes:
        features: of the input: the distinct words of a text, or the columns of a row.
        edits: in the order of the path; none if no sample has another prediction.
        margins: the evidence margin of the input, then after each edit; see ``decision-boundary`` for what it is.
        flipped_to: the name of the class that is predicted in the end; empty without edits.
        target: the class that is explained: the one that is predicted for the input, or else there are no edits and
            ``details["predicted"]`` names the one that is.
        target_name: its name.
        input: the text, or the row as a tuple of "column = value".
        details: how it was made.
        cost: rows, calls and seconds; two explanations that differ in nothing else are equal.
        explainer: the explainer that made it, as code.
    """

    features: tuple[str, ...]
    edits: tuple[Edit, ...]
    margins: tuple[float, ...]
    flipped_to: str
    target: int
    target_name: str = ""
    input: str | tuple[str, ...] = ""
    details: dict[str, object] = field(default_factory=dict, hash=False)
    cost: Cost = field(default_factory=Cost, compare=False)
    explainer: str = ""

    kind: ClassVar[str] = "path"

    def __post_init__(self) -> None:
        if len(self.margins) != len(self.edits) + 1:
            raise VeraxError(
                f"A path of {len(self.edits)} edits has {len(self.edits) + 1} margins, not {len(self.margins)}."
            )
        if not all(0 <= edit.feature < len(self.features) for edit in self.edits):
            raise VeraxError(
                f"An edit of a path changes one of its {len(self.features)} features, by number from 0."
            )

    @property
    def shown(self) -> list[int]:
        """The numbers of the steps that are shown, from 1: all of them, or the last four."""
        return list(range(max(1, len(self.edits) - SHOWN + 1), len(self.edits) + 1))

    def ranking(self) -> list[int]:
        """Numbers of the features: the edited ones by how far their edits move the margin, then the others."""
        return self.as_attribution().ranking()

    def as_attribution(self) -> Attribution:
        """For each feature how far its edits move the margin, to either side; 0 for what is not edited.

        No score is negative: only together do the edits take the prediction away, and what one of them moves depends on
        those before it. An edit that moves nothing by itself is still one of those that are needed: its feature scores
        ``LEAST`` of the largest score, never 0.
        """
        moved = np.zeros(len(self.features))
        edited = np.array([edit.feature for edit in self.edits], dtype=np.intp)
        np.add.at(moved, edited, np.abs(np.diff(self.margins)))
        moved[edited] = np.maximum(moved[edited], LEAST * (moved.max(initial=0.0) or 1.0))
        return Attribution(
            features=self.features,
            scores=moved,
            **same_fields(self),
        )

    @property
    def nothing_found(self) -> str:
        """What there is to say of a path without edits."""
        name = self.target_name or str(self.target)
        if "predicted" in self.details:
            return f"The model does not predict '{name}' here: only what it predicts can be changed by edits."
        return f"No edits were found that change the prediction '{name}'."

    def __repr__(self) -> str:
        edits = ", ".join(f"{edit.before!r} to {edit.after!r}" for edit in self.edits)
        return short_repr(self, f"{edits} gives {self.flipped_to}" if edits else "no edits change it")

    def _repr_html_(self) -> str:
        name = self.target_name or str(self.target)
        if not self.edits:
            return paragraph_html(self.nothing_found, bold=self.explainer)
        said = f"Edits that change the prediction from {name} to {self.flipped_to}; at first the evidence margin is"
        rows = [
            (edit.before, edit.after, signed_from_zero(margin))
            for edit, margin in zip(self.edits, self.margins[1:], strict=True)
        ]
        return paragraph_html(
            f"{said} {signed_from_zero(self.margins[0])}.", bold=self.explainer
        ) + table_html(("before", "after", "evidence margin"), rows)

    @classmethod
    def _from_dict(cls, data: dict[str, Any]) -> Path:
        return cls(
            features=tuple(map(str, data["features"])),
            edits=tuple(map(_edit_from_dict, data["edits"])),
            margins=tuple(map(float, data["margins"])),
            flipped_to=str(data["flipped_to"]),
            **common_fields(data),
        )


def _edit_from_dict(data: dict[str, Any]) -> Edit:
    place = data.get("place")
    return Edit(
        int(data["feature"]), None if place is None else int(place), str(data["before"]), str(data["after"])
    )
