"""What a protocol is, and how protocols are found by name.

A protocol is one module: its parameters, which items it needs, which screens it shows, its design, and a pure function
from a design row and a seed to the steps of a participant. What is around it (instructions, the screening test, the
debriefing) is made by `verax.studies.protocol.surroundings` from its `briefing`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from verax.errors import VeraxError
from verax.registry import Registry
from verax.studies.model.design_row import DesignRow
from verax.studies.model.item import Item
from verax.studies.model.screen import Meaning, Screen
from verax.studies.model.sources import Briefing, Material, Source
from verax.studies.model.spec import StudySpec
from verax.studies.model.steps import Phase, Step
from verax.studies.model.study import Study
from verax.studies.protocol.findings import ProtocolAnalysis
from verax.studies.protocol.planning import Planning

__all__ = ["Briefing", "Material", "Protocol", "Source", "make_protocol", "protocols"]


class Protocol(BaseModel, ABC):
    """A way to test people; its fields are the parameters under ``[protocol]`` of a spec.

    Attributes:
        kinds: the kinds of data that it works on.
        explained: the roles of the items that conditions explain; the others need no explanations.
        explains_worse: whether the worse model's predictions are explained too.
        own_models: whether a condition may have a model of its own: nothing of a model is shown or asked about but the
            class that it predicts, which is the same for all models.
        shows_weights: whether scores can be displayed as weights, from which the model's answer can be read off.
        asks_about_changes: whether people are asked about the changed versions of items.
        needs_explanations: whether nothing can be asked without an explanation, so that no condition goes without one.
        shows_fragments: whether it shows fragments; the control there are fragments at random, elsewhere a method's own
            scores, shuffled.
        scored: the question of its test phases whose answers `score` judges.
        introduces: the key of the phase in which each audience learns of its own method; the question on it follows.
            Everything before is the same for all audiences. Empty: before the protocol's first step.
        asks: the question that it answers, in one sentence for reports.
        strategy: whether participants are asked, in their own words, how they found their answers: at the end, or where
            the protocol asks itself.
        asks_strategy_itself: whether the protocol has pages of its own for that.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kinds: ClassVar[tuple[str, ...]] = ("text", "table")
    explained: ClassVar[tuple[str, ...]] = ("test",)
    explains_worse: ClassVar[bool] = False
    own_models: ClassVar[bool] = False
    shows_weights: ClassVar[bool] = False
    asks_about_changes: ClassVar[bool] = False
    needs_explanations: ClassVar[bool] = False
    shows_fragments: ClassVar[bool] = False
    scored: ClassVar[str] = "prediction"
    introduces: ClassVar[str] = ""
    asks: ClassVar[str] = ""
    asks_strategy_itself: ClassVar[bool] = False

    strategy: bool = False

    @classmethod
    def draft(cls, items: int) -> dict[str, int]:
        """Parameters for a first spec in which so many inputs are judged."""
        return {"test": items}

    def check(self, spec: StudySpec) -> None:
        """Refuses, in one sentence, what a spec asks for and this protocol cannot do; before anything is computed."""

    def check_item(self, item: Item) -> None:
        """Refuses an item that was made elsewhere and lacks what this protocol shows of it."""
        if self.explains_worse and item.worse is None:
            raise VeraxError("the cell 'worse' is empty; fill in the probabilities of the worse model")
        if self.explains_worse and item.worse and item.worse[item.prediction] < max(item.worse):
            raise VeraxError("the two models predict different classes; leave the item out")

    @abstractmethod
    def items(self, source: Source) -> list[Item]:
        """Chooses the items; too few candidates are a sentence that says how many there are."""

    @abstractmethod
    def phases(self, material: Material) -> tuple[Phase, ...]:
        """Its phases."""

    @abstractmethod
    def screens(self, material: Material) -> dict[str, Screen]:
        """All screens that any participant may see, by key."""

    @abstractmethod
    def rows(self, material: Material) -> tuple[DesignRow, ...]:
        """The design."""

    @abstractmethod
    def steps(self, study: Study, row: DesignRow, seed: int) -> tuple[Step, ...]:
        """A participant's steps, without the screening test before and the debriefing after."""

    @abstractmethod
    def briefing(self, material: Material, audience: str) -> Briefing:
        """The instructions and the screening test for one audience."""

    @abstractmethod
    def score(self, item: Item, meaning: Meaning) -> float:
        """What an answer to the question `scored` is worth, from -1 or 0 to 1, which only the best answer is.

        Args:
            item: what was asked about.
            meaning: what is stored: the meaning of the option that was chosen.
        """

    @classmethod
    def analysis(cls) -> ProtocolAnalysis | None:
        """How answers are analysed; None for a protocol of which only the flow of participants is reported.

        Import what it takes inside of the method: who serves a study needs none of it.
        """
        return None

    def planning(self, spec: StudySpec) -> Planning | None:  # noqa: ARG002
        """What `verax study power` must know; None for a protocol that cannot be planned by simulation."""
        return None

    def audience(self, spec: StudySpec, row: DesignRow) -> str:  # noqa: ARG002
        """Which briefing participants of a row get."""
        return "everybody"

    def stood_for(self, material: Material) -> dict[str, str]:  # noqa: ARG002
        """What the debriefing reveals of classes that were kept secret: their names, by the mark of the class."""
        return {}

    def names(self, study: Study, number: int) -> tuple[str, ...]:  # noqa: ARG002
        """What the classes are called for the participant of this number."""
        return tuple(study.spec.class_names or study.class_names)


protocols: Registry[type[Protocol]] = Registry(
    "study protocol", "verax.protocols", home="verax.studies.protocols"
)


def question_of(name: str) -> str:
    """The question that a protocol answers, in one sentence; nothing where it has none or is not installed."""
    try:
        return protocols.get(name).asks
    except VeraxError:
        return ""


def make_protocol(table: Mapping[str, Any]) -> Protocol:
    """The protocol that a spec's ``[protocol]`` table asks for."""
    made_from = protocols.get(table["name"])
    given = {name: value for name, value in table.items() if name != "name"}
    try:
        return made_from(**given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        known = ", ".join(made_from.model_fields) or "none"
        hint = f"; it has {known}" if first["type"] == "extra_forbidden" else ""
        raise VeraxError(f"The protocol {table['name']!r}, {where}: {what}{hint}.") from error
