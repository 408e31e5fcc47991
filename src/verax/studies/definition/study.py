"""A built study as plain data: its items, the rows of its design, its steps, and what it is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from verax.errors import VeraxError
from verax.studies.definition.screen import Meaning, Screen
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.spec_tables import ScreeningQuestion
from verax.studies.definition.translations import Edition
from verax.text import plain

if TYPE_CHECKING:
    from verax.data.dataset import Dataset
    from verax.explain.explanation import Explanation
    from verax.models.base import Model


@dataclass(frozen=True)
class Variant:
    """A perturbed version of an item's input.

    Attributes:
        input: the perturbed text, or the row as (column, value) pairs.
        changed: the changed places: character spans of a text, or column numbers of a row.
        prediction: what the model says of it.
        likelihood: how well its least likely word reads where it stands, as
            `verax.perturb.counterfactual.language.Language.change` has it; None where nobody asked.
    """

    input: str | tuple[tuple[str, str], ...]
    changed: tuple[tuple[int, int], ...] | tuple[int, ...]
    prediction: int
    likelihood: float | None = None


@dataclass(frozen=True)
class Item:
    """An input with its true label and its model output.

    Attributes:
        id: unique in the study, and says nothing about the item ("i017").
        role: what it is for: "learning", "test", "training", "evaluation".
        input: the text, or the row as (column, value) pairs.
        label: the true class.
        prediction: the model's class.
        probabilities: the model's probabilities.
        dataset, part, place: where it came from: the dataset, its part, and the place in that part.
        source: its name where it was made, for items that were imported.
        group: the item group of a Latin square, from 0.
        variant: the perturbed version, for counterfactual simulation.
        worse: the other model's class and probabilities, for the choice between two models.
    """

    id: str
    role: str
    input: str | tuple[tuple[str, str], ...]
    label: int
    prediction: int
    probabilities: tuple[float, ...] = ()
    dataset: str = ""
    part: str = ""
    place: int = -1
    source: str = ""
    group: int = 0
    variant: Variant | None = None
    worse: tuple[float, ...] | None = None

    @property
    def correct(self) -> bool:
        """Whether the model is right."""
        return self.label == self.prediction

    @property
    def flips(self) -> bool:
        """Whether the model says something else of the variant."""
        return self.variant is not None and self.variant.prediction != self.prediction


@dataclass(frozen=True)
class OneCondition:
    """Between people: everything under one condition."""

    condition: str

    def in_words(self) -> str:
        """What participants get, in a few words."""
        return self.condition


@dataclass(frozen=True)
class Round:
    """A condition with the group of items that is shown under it."""

    condition: str
    group: int


@dataclass(frozen=True)
class Rounds:
    """Within people: one condition after the other, each with items of its own."""

    rounds: tuple[Round, ...]

    def in_words(self) -> str:
        """What participants get, in a few words."""
        return ", ".join(one_round.condition for one_round in self.rounds)


@dataclass(frozen=True)
class ItemBlock:
    """Within people: a block of items, each under a condition of its own.

    Attributes:
        block: the number of the block, which rows with other rotations of the conditions share.
        conditions: by item.
    """

    block: int
    conditions: Mapping[str, str] = field(hash=False)

    def in_words(self) -> str:
        """What participants get, in a few words."""
        return f"block {self.block}"


class OwnCells(dict[str, Any]):
    """What a protocol with a design of its own must know; anything that survives JSON."""

    def in_words(self) -> str:
        """All of it, name by name."""
        return "; ".join(f"{name}: {plain(value)}" for name, value in self.items())


Cells = OneCondition | Rounds | ItemBlock | OwnCells
C = TypeVar("C", OneCondition, Rounds, ItemBlock, OwnCells)


@dataclass(frozen=True)
class DesignRow:
    """One row of the design: participants of a row get the same items under the same conditions.

    Attributes:
        number: its place in the design.
        target: how many participants shall complete it.
        cells: what they get: conditions, item groups, their order.
    """

    number: int
    target: int
    cells: Cells = field(hash=False)

    @property
    def condition(self) -> str | None:
        """The only condition that its participants see; None if they see several."""
        return self.cells.condition if isinstance(self.cells, OneCondition) else None

    def get(self, sort: type[C]) -> C:
        """The cells, which are of this sort in the designs of a protocol."""
        if not isinstance(self.cells, sort):
            raise VeraxError(
                f"Row {self.number} of the design has {self.cells.in_words() or 'nothing'!r} where the protocol needs "
                f"{sort.__name__}; build the study again."
            )
        return self.cells


@dataclass(frozen=True)
class Phase:
    """A part of a study, as participants know it.

    Attributes:
        key: its name in the data: "learning", "pre", "training-2".
        title: its name on the page.
        kind: what it is for; only "test" phases are analysed, "screening" decides who goes on.
        session_seconds: a limit for the whole phase, counted from the first display of its first step.
        item_seconds: a limit for each of its steps, counted from its first display.
        late: "flag" keeps answers after a limit and flags them. "close" takes none: an item's limit closes that step
            alone, and the next one is shown; the session's limit closes the phase, and its other steps are skipped.
        leaf: whether earlier pages of the phase may be looked at again until it is over.
    """

    key: str
    title: str
    kind: Literal["instructions", "screening", "learning", "training", "test", "questions", "debrief"]
    session_seconds: float | None = None
    item_seconds: float | None = None
    late: Literal["flag", "close"] = "flag"
    leaf: bool = False


@dataclass(frozen=True)
class Step:
    """One screen in one participant's way.

    Attributes:
        phase: the key of its phase.
        screen: the key of its screen in the study.
        item: the item that it is about.
        condition: what is shown beside the item.
    """

    phase: str
    screen: str
    item: str | None = None
    condition: str | None = None


@dataclass(frozen=True)
class Screening:
    """How the screening test is judged.

    Attributes:
        answers: the right answer (what the option means) by question.
        pass_mark: right answers needed.
        attempts: how often it may be tried; instructions are shown again before each.
    """

    answers: Mapping[str, Meaning] = field(hash=False)
    pass_mark: int = 0
    attempts: int = 1

    def passed(self, given: Mapping[str, object]) -> bool:
        """Whether the answers suffice."""
        right = sum(given.get(name) == answer for name, answer in self.answers.items())
        return bool(right >= self.pass_mark)


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
        editions: what it is in further languages, by language; see `verax.studies.definition.languages`.
        phrases: phrase files of languages that do not come with Verax, by language and area.
        media: the hash of each picture, sound and film that its texts show, by name.
        home: the folder where it lies, if it was saved; no part of it.
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
    editions: Mapping[str, Edition] = field(default_factory=dict)
    phrases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    media: Mapping[str, str] = field(default_factory=dict)
    home: str = field(default="", repr=False)
