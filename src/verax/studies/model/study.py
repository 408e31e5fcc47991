"""A built study: everything that participants will see, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from verax.studies.model.design_row import DesignRow
from verax.studies.model.item import Item
from verax.studies.model.screen import Screen
from verax.studies.model.spec import StudySpec
from verax.studies.model.steps import Phase, Screening


@dataclass(frozen=True, eq=False)
class Study:
    """A study as it runs.

    Attributes:
        spec: what was asked for.
        kind: "text" or "table".
        class_names: the dataset's.
        items: by id.
        phases: by key, in no order; a participant's steps give the order.
        rows: the design.
        screens: by key.
        screening: how the screening test is judged, if there is one.
        explanations: one record per item, condition and model, with the raw explanation, for later analysis.
        models: "model", "worse" where there are two, and those that conditions have of their own: their name, accuracy
            and numbers of inputs, and of the last how often they say what the study's model says.
        data_hash: of the dataset's content; empty for imported items.
        spec_text: the spec to the letter.
        code: hashes of somebody's own code that it was built with, by what the spec calls it.
        hash: of all frozen files; empty before the study is saved.
    """

    spec: StudySpec
    kind: str
    class_names: tuple[str, ...]
    items: Mapping[str, Item]
    phases: Mapping[str, Phase]
    rows: tuple[DesignRow, ...]
    screens: Mapping[str, Screen]
    screening: Screening | None = None
    explanations: tuple[Mapping[str, Any], ...] = ()
    models: Mapping[str, Any] = field(default_factory=dict)
    data_hash: str = ""
    spec_text: str = field(default="", repr=False)
    hash: str = ""
    code: Mapping[str, str] = field(default_factory=dict)
