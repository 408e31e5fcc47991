"""What a study is made from: the source of its items, and what its screens and instructions are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from verax.studies.model.item import Item
from verax.studies.model.spec import StudySpec
from verax.studies.model.spec_tables import ScreeningQuestion

if TYPE_CHECKING:  # a server has no use for them, and they take long to load
    from verax.data.dataset import Dataset
    from verax.explain.explanation import Explanation
    from verax.models.base import Model


@dataclass(frozen=True, eq=False)
class Source:
    """What items are chosen from.

    Attributes:
        spec: what was asked for.
        dataset: where inputs come from.
        model: the model under study.
        worse: the worse one, where the protocol needs two.
        others: by name, what conditions have in the model's place; items are inputs of which all say the same.
    """

    spec: StudySpec
    dataset: Dataset
    model: Model
    worse: Model | None = None
    others: Mapping[str, Model] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Material:
    """What screens are made of.

    Attributes:
        spec: what was asked for.
        kind: "text" or "table".
        class_names: the dataset's.
        items: chosen by the protocol, or imported.
        explanations: by (item id, condition name, "model" or "worse"); conditions of kind "none" have none.
        scales: by condition name: the thresholds between levels of importance, from all of the study's explanations.
    """

    spec: StudySpec
    kind: str
    class_names: tuple[str, ...]
    items: tuple[Item, ...]
    explanations: Mapping[tuple[str, str, str], Explanation] = field(default_factory=dict)
    scales: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Briefing:
    """What participants read before they begin, and what they are asked about it.

    Attributes:
        paragraphs: the instructions; a paragraph that begins with "- " is a point of a list.
        questions: the screening test. All audiences of a protocol have as many, with the same right answers.
        method: the question on what this audience is shown, which teaches or is one of the test, as the spec says; all
            audiences of a protocol have one, or none.
        reading: how it is read; shown again after that question.
        introduction: what is said of it among the instructions where that question is one of the test; elsewhere the
            protocol says it on a page of its own, where explanations first appear.
    """

    paragraphs: tuple[str, ...]
    questions: tuple[ScreeningQuestion, ...] = ()
    method: ScreeningQuestion | None = None
    reading: tuple[str, ...] = ()
    introduction: tuple[str, ...] = ()
