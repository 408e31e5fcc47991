"""What a protocol is, what its analysis is given and finds, and how protocols are found by name.

The analysis of a protocol is one function from `Analysed` to `Findings`, which the protocol names in its `analysis`.
What is the same for all protocols (the flow of participants, attrition, balance, which analyses were planned) is added
by `verax.studies.analysis.analyse`.

A protocol is one module: its parameters, which items it needs, which screens it shows, its design, and a pure function
from a design row and a seed to the steps of a participant. What is around it (instructions, the screening test, the
debriefing) is made by `verax.studies.protocol.common_steps` from its `briefing`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from verax.errors import VeraxError
from verax.options import MUST, plain_problem
from verax.registry import Registry
from verax.results.figures import Figure
from verax.results.tables import Table
from verax.studies.definition.screen import Meaning, Screen
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import Briefing, DesignRow, Item, Material, Phase, Source, Step, Study
from verax.studies.results.study_facts import ItemResult
from verax.studies.results.study_summary import MethodLine, Options, People, Primary, Sensitivity

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.definition.spec_tables import Condition

__all__ = [
    "Analysed",
    "Briefing",
    "Findings",
    "Material",
    "Planning",
    "Protocol",
    "ProtocolAnalysis",
    "Role",
    "Source",
    "make_protocol",
    "protocols",
]


# Right answers of people who guess, or hardly better.
NEAR_CHANCE = 0.55


@dataclass(frozen=True)
class Role:
    """The items of one role that a study has: how many in all, dealt into how many groups."""

    name: str
    items: int
    groups: int = 1


@dataclass(frozen=True)
class Planning:
    """What `verax study power` must know of a protocol.

    Attributes:
        items: the parameter that says how many items are asked about.
        more: other parameters of the same sort, whose items the same people are asked about too.
        roles: the items that a study has.
        answer: what is stored of somebody whose answer about an item is worth so much; `Protocol.score` gives it back.
            Items of planning have two classes.
        compared: "between" people, by what changes from the phase "pre" to the phase "post", or "within" people, each
            of whom meets several conditions.
        graded: whether answers are worth from -1 to 1, by how sure people are; otherwise they are right or wrong.
        undecided: of graded answers, the share that cannot say.
        accuracy: the share of right answers without explanations.
        sessions: that everybody has, each with items of its own.
        beside_control: what is compared with a random control where no condition shows nothing.
    """

    items: str
    roles: tuple[Role, ...]
    answer: Callable[[Item, float], Meaning]
    compared: Literal["between", "within"] = "within"
    graded: bool = False
    undecided: float = 0.0
    accuracy: float = NEAR_CHANCE
    sessions: int = 1
    beside_control: Literal["everything", "methods"] = "everything"
    more: tuple[str, ...] = ()


# What the name of somebody who is known in several studies begins with.
LINKED = "person "


def known_inside(study_hash: str) -> str:
    """What the link of somebody begins with who is known in the parts of one study, and nowhere else."""
    return f"{study_hash[:16]}:"


@dataclass(frozen=True, eq=False)
class Analysed:
    """The answers that an analysis works on, of people or of bots only. Columns: `verax.studies.answers.schema`.

    Attributes:
        study: the study.
        scored: the question whose answers have scores.
        parameters: of the protocol, by name.
        responses: answers in all phases of those who completed the study and are not excluded (per protocol).
        participants: these people, one row each.
        intended: answers of everybody who got a place and answered something in a test phase, exclusions ignored
            (intention to treat).
        intended_participants: these people, one row each.
        conditions: the study's conditions, in the order of the spec.
        people: whether they are people or bots.
    """

    study: Study
    scored: str
    parameters: Mapping[str, object]
    responses: pd.DataFrame
    participants: pd.DataFrame
    intended: pd.DataFrame
    intended_participants: pd.DataFrame
    conditions: tuple[Condition, ...]
    people: People = "participants"

    def person(self, study: int) -> Mapping[str, str]:
        """By participant, who that is in an analysis of several studies: the same in all of them for linked people.

        Args:
            study: the place of this study among them, which tells apart whom nothing links.
        """
        links = self.intended_participants if "link" in self.intended_participants else None
        known = {} if links is None else dict(zip(links["participant"], links["link"], strict=True))
        everybody = {*self.participants["participant"], *self.intended_participants["participant"]}
        return {
            name: f"{LINKED}{known[name]}" if isinstance(known.get(name), str) else f"{study}:{name}"
            for name in map(str, everybody)
        }

    @property
    def control(self) -> str | None:
        """The name of the condition without explanations, if there is one."""
        return next((condition.name for condition in self.conditions if condition.kind == "none"), None)

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the conditions that show something, in the order of the spec."""
        return tuple(condition.name for condition in self.conditions if condition.kind != "none")

    @property
    def explained_methods(self) -> tuple[str, ...]:
        """The names of the conditions that show a method's explanations, random controls left out."""
        return tuple(condition.name for condition in self.conditions if condition.kind == "method")


@dataclass(frozen=True)
class Findings:
    """What the analysis of a protocol found.

    Attributes:
        primary: the primary analysis; None where nothing of it can be estimated (``problems`` says why).
        methods: one line for each, which the joint report compares.
        tables: in the order of the report.
        figures: in the order of the report.
        estimators: by name, plain values: every estimator in full.
        sensitivity: the primary estimates in all variants; None where there is nothing to vary.
        problems: what could not be estimated, and why; one sentence each.
        items: what became of single items, where that is told.
    """

    primary: Primary | None = None
    methods: tuple[MethodLine, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    estimators: Mapping[str, object] = field(default_factory=dict)
    sensitivity: Sensitivity | None = None
    problems: tuple[str, ...] = ()
    items: tuple[ItemResult, ...] = ()


Analysis = Callable[[Analysed, Options], Findings]


@dataclass(frozen=True)
class ProtocolAnalysis:
    """The analysis of one protocol.

    Attributes:
        run: the function.
        keys: the keys of all tables that it may make, so that a plan that names one which cannot be made is understood.
        pooled: makes tables over several studies whose protocols have this same function here; None if there are none.
    """

    run: Analysis
    keys: tuple[str, ...] = ()
    pooled: Callable[[Sequence[Analysed], Options], Findings] | None = None


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
        side_by_side: whether people compare two inputs or explanations, which a phone would show one below the other.
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
    side_by_side: ClassVar[bool] = False
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

    def is_right(self, item: Item, meaning: Meaning) -> bool:
        """Whether an answer counts as right where right answers are counted for a participant."""
        return self.score(item, meaning) > 0

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


def turns_phones_away(spec: StudySpec) -> bool:
    """Whether a study is for computers and tablets.

    As its spec says; else where two things are compared side by side, or several explanations of an answer are read
    together, of which a phone shows a few lines at a time.
    """
    if spec.devices is not None:
        return spec.devices == "desktop"
    together = any(condition.explainer == "composite" for condition in spec.conditions)
    return together or protocols.get(spec.protocol["name"]).side_by_side


def make_protocol(table: Mapping[str, Any]) -> Protocol:
    """The protocol that a spec's ``[protocol]`` table asks for."""
    made_from = protocols.get(table["name"])
    given = {name: value for name, value in table.items() if name != "name"}
    try:
        return made_from(**given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        what = plain_problem(first["msg"])
        known = ", ".join(made_from.model_fields) or "none"
        hint = f"; it has {known}" if first["type"] == "extra_forbidden" else ""
        between = " " if what.startswith(MUST) else ": "
        raise VeraxError(f"The protocol {table['name']!r}, {where}{between}{what}{hint}.") from error
