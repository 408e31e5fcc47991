"""What a study is asked to be: a TOML file, checked."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from verax.errors import VeraxError

NONE = "none"
# What the worse of two models learns from, unless the spec says otherwise.
SMALL_SHARE = 0.05
# What a spec may say of its dataset, besides its name: arguments of ``load_dataset``.
SOURCE = ("format", "text", "label", "split", "seed", "limit")


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Condition(_Table):
    """What a participant sees beside an item.

    Attributes:
        name: its name in the data; never shown to participants.
        explainer: a name that ``verax list explainers`` shows, ``package.module:Class``, or "none" for nothing.
        parameters: of the explainer.
        like: a control: the scores of this other condition, shuffled among the features of each item.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9_-]+$")
    explainer: str = NONE
    parameters: dict[str, Any] = {}
    like: str | None = None

    @model_validator(mode="after")
    def _one_sort(self) -> Condition:
        if self.like is not None and self.explainer != NONE:
            raise ValueError(
                f"the condition {self.name!r} has an explainer and is also like {self.like!r}; leave one of them out"
            )
        if self.explainer == NONE and self.parameters:
            raise ValueError(f"the condition {self.name!r} has parameters but no explainer; name one")
        return self

    @property
    def kind(self) -> Literal["none", "method", "control"]:
        """Whether it is nothing, a method's explanation, or a random control."""
        if self.like is not None or self.explainer == "random":
            return "control"
        return "none" if self.explainer == NONE else "method"


class WorseModel(_Table):
    """How the worse of two models is made: from a small part of the training data, or a narrower one.

    Attributes:
        model: any model that ``model`` of the spec may be; the better model's name if None.
        most_words: only training texts with at most so many words (a narrower part).
        share: of the training inputs (of these texts, if there is ``most_words``), drawn by seed, the same of each
            class; 0.05 if neither is given.
    """

    model: str | None = None
    most_words: int | None = Field(default=None, ge=1)
    share: float | None = Field(default=None, gt=0, le=1)

    @property
    def kept(self) -> float:
        """The share of the training inputs that is kept."""
        if self.share is None:
            return SMALL_SHARE if self.most_words is None else 1.0
        return self.share


class Display(_Table):
    """How explanations are shown.

    Attributes:
        features: how many of the strongest features are marked; 0 marks all that have a say.
        direction: whether colours show what a feature speaks for; the protocol's own choice if None. Where an answer
            could be read off the direction it is never shown.
        most_words: only texts of at most so many words become items.
        fewest_words: only texts of at least so many.
    """

    features: int = Field(default=6, ge=0)
    direction: bool | None = None
    most_words: int = Field(default=60, ge=1)
    fewest_words: int = Field(default=5, ge=1)

    @model_validator(mode="after")
    def _some_fit(self) -> Display:
        if self.fewest_words > self.most_words:
            raise ValueError(
                f"no text has at least {self.fewest_words} and at most {self.most_words} words; raise most_words"
            )
        return self


class Rating(_Table):
    """The question on each explanation (Hase & Bansal, section 4.4)."""

    question: str = "Does this explanation show me why the system thought what it did?"
    points: int = Field(default=7, ge=2, le=9)
    low: str = "not at all"
    high: str = "completely"


class Timing(_Table):
    """Limits. They are fixed when a page is first shown and are kept by the server.

    Attributes:
        item_seconds: for each item of a timed phase.
        session_minutes: for each timed phase as a whole.
        late: "flag" keeps later answers and flags them. "close" takes none: the limit of an item closes that page
            alone, the limit of a session closes the phase with all that is left of it.
        hold_minutes: how long a place is kept for somebody who does nothing.
    """

    item_seconds: float | None = Field(default=None, gt=0)
    session_minutes: float | None = Field(default=None, gt=0)
    late: Literal["flag", "close"] = "flag"
    hold_minutes: float = Field(default=60, gt=0)


class ScreeningQuestion(_Table):
    """One question of the screening test; answers are numbered from 1."""

    question: str
    answers: list[str] = Field(min_length=2, max_length=9)
    correct: int = Field(ge=1)

    @model_validator(mode="after")
    def _one_of_them(self) -> ScreeningQuestion:
        if self.correct > len(self.answers):
            raise ValueError(f"the correct answer is number {self.correct} of {len(self.answers)}")
        return self


class ScreeningTest(_Table):
    """A test on the method and the procedure before the study; the protocol's own questions if none are given.

    Attributes:
        questions: the test.
        pass_mark: the share of right answers needed.
        attempts: how often it may be tried.
    """

    questions: list[ScreeningQuestion] = []
    pass_mark: float = Field(default=0.75, ge=0, le=1)
    attempts: int = Field(default=2, ge=1, le=5)


class Texts(_Table):
    """Everything said to participants besides the items. Empty lines separate paragraphs; None takes the default.

    Attributes:
        welcome: the first page.
        consent: what is agreed to.
        instructions: general instructions, in place of the protocol's own.
        task: what the model does, in one or two sentences; not shown in masked tasks.
        debrief: after the last answer.
        contact: whom to write to.
    """

    welcome: str | None = None
    consent: str | None = None
    instructions: str | None = None
    task: str | None = None
    debrief: str | None = None
    contact: str = ""


# What each rule means is in `verax.studies.answers.exclusion_rules`.
RuleName = Literal["too-fast", "failed-checks", "left", "late", "same-answer"]


class ExclusionRule(_Table):
    """A rule declared before the study; it never deletes anything.

    Attributes:
        rule: which one.
        limit: seconds for "too-fast" (median per answer), the share for the others.
    """

    rule: RuleName
    limit: float | None = None


# An address that can stand in a link as it is.
URL = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]+)?([/?][A-Za-z0-9._~:/?#@!$&'()*+,;=%\[\]-]*)?")


class Recruiting(_Table):
    """Where people go when the study is over for them: addresses of the platform that they came from.

    Attributes:
        completion_url: after the last page; Prolific's is https://app.prolific.com/submissions/complete?cc=CODE.
        screened_out_url: who did not pass the screening test.
        declined_url: who did not agree.
        full_url: who found no free place.
        sandbox: people come from MTurk's sandbox, not from its market.
    """

    completion_url: str | None = None
    screened_out_url: str | None = None
    declined_url: str | None = None
    full_url: str | None = None
    sandbox: bool = False

    @field_validator("completion_url", "screened_out_url", "declined_url", "full_url")
    @classmethod
    def _is_address(cls, url: str | None) -> str | None:
        if url is not None and not URL.fullmatch(url):
            raise ValueError(
                f"{url!r} is not an address that begins with https://; copy it from the platform"
            )
        return url

    @property
    def urls(self) -> dict[str, str]:
        """The addresses that are given, by what a participant's page is: complete, screened-out, declined, full."""
        given = {
            "complete": self.completion_url,
            "screened-out": self.screened_out_url,
            "declined": self.declined_url,
            "full": self.full_url,
        }
        return {page: url for page, url in given.items() if url is not None}


class Equivalence(_Table):
    """The margin within which a difference does not matter, under the name "equivalence" of the plan.

    Attributes:
        margin: above 0.
        unit: "points" of accuracy, or a "score" in the three tasks with graded answers.
    """

    margin: float = Field(gt=0)
    unit: Literal["points", "score"]

    def __str__(self) -> str:
        return f"within {self.margin:g} {self.unit}"


# A union that knows by its form which of the two is meant, so that what is wrong is said of that one only.
Planned = Annotated[
    Annotated[str, Tag("text")] | Annotated[Equivalence, Tag("table")],
    Discriminator(lambda planned: "text" if isinstance(planned, str) else "table"),
]


class StudySpec(_Table):
    """A study. See ``docs/studies.md`` and the ready specs under ``examples/``.

    Attributes:
        title: shown to participants.
        dataset: a name or a file; ``source`` holds further arguments of ``load_dataset``.
        model: a ready-made name, ``package.module:function``, or a file.
        worse: the worse model, for the choice between two.
        protocol: its ``name`` and parameters, see ``verax list protocols``.
        conditions: at least one.
        screening: the test before the study; ``screening = false`` leaves it out.
        participants: how many shall complete each row of the design.
        entry: how people come in: whoever has the link, by code, or from Prolific or MTurk.
        recruiting: where they go at the end.
        class_names: what classes are called on the pages; the dataset's own names if None.
        analysis: named contrasts and measures that were planned beforehand, free text by name; the margin of
            "equivalence" is a number with a unit.
        retention_days: when the answers shall be deleted.
        seed: of everything.
    """

    title: str = Field(min_length=1)
    dataset: str
    source: dict[str, Any] = {}
    model: str = "logistic"
    worse: WorseModel | None = None
    protocol: dict[str, Any]
    conditions: list[Condition] = Field(min_length=1)
    participants: int = Field(default=10, ge=1)
    class_names: list[str] | None = None
    display: Display = Display()
    rating: Rating = Rating()
    timing: Timing = Timing()
    screening: ScreeningTest | None = ScreeningTest()
    texts: Texts = Texts()
    entry: Literal["link", "code", "prolific", "mturk"] = "link"
    recruiting: Recruiting = Recruiting()
    exclusion: list[ExclusionRule] = []
    analysis: dict[str, Planned] = {}
    retention_days: int | None = Field(default=None, ge=1)
    seed: int = 0

    @field_validator("screening", mode="before")
    @classmethod
    def _or_none(cls, screening: Any) -> Any:
        return None if screening is False else screening

    @field_validator("source")
    @classmethod
    def _known_arguments(cls, source: dict[str, Any]) -> dict[str, Any]:
        for name in source:
            if name not in SOURCE:
                raise ValueError(f"there is no {name!r}; [source] may have {', '.join(SOURCE)}")
        return source

    @field_validator("analysis", mode="before")
    @classmethod
    def _texts_but_for_the_margin(cls, analysis: Any) -> Any:
        for name, planned in analysis.items() if isinstance(analysis, dict) else ():
            if name == "equivalence" and isinstance(planned, int | float):
                raise ValueError(
                    f'a margin has a unit; write equivalence = {{ margin = {planned}, unit = "points" }}'
                )
            if name != "equivalence" and not isinstance(planned, str):
                raise ValueError(f"{name!r} is a text; only 'equivalence' has a margin with a unit")
        return analysis

    @field_validator("class_names")
    @classmethod
    def _distinct(cls, names: list[str] | None) -> list[str] | None:
        for name in names or ():
            if not name.strip():
                raise ValueError("a name is empty; give every class one")
            if (names or []).count(name) > 1:
                raise ValueError(f"two classes are called {name!r}; give each its own name")
        return names

    @field_validator("protocol")
    @classmethod
    def _has_a_name(cls, protocol: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(protocol.get("name"), str):
            raise ValueError("[protocol] needs a name; `verax list protocols` shows them")
        return protocol

    @model_validator(mode="after")
    def _recruiting_fits(self) -> StudySpec:
        if self.entry == "mturk" and self.recruiting.urls:
            raise ValueError(
                "[recruiting] has addresses, but MTurk is told of the end by a form of its own; leave them out"
            )
        if self.entry != "mturk" and self.recruiting.sandbox:
            raise ValueError(
                f'recruiting.sandbox is of MTurk, and people enter by {self.entry!r}; write entry = "mturk"'
            )
        return self

    @model_validator(mode="after")
    def _conditions_fit(self) -> StudySpec:
        names = [condition.name for condition in self.conditions]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two conditions are called {name!r}")
        for condition in self.conditions:
            if condition.like is not None:
                self._check_like(condition.name, condition.like)
        return self

    @property
    def plan(self) -> dict[str, str]:
        """What was planned, in words."""
        return {name: str(planned) for name, planned in self.analysis.items()}

    def _check_like(self, name: str, like: str) -> None:
        """A control is made of a method's explanations, so it must be like one."""
        others = [condition.name for condition in self.conditions if condition.kind == "method"]
        if like in others:
            return
        what = (
            "has no method's explanations"
            if like in {one.name for one in self.conditions}
            else "does not exist"
        )
        raise ValueError(
            f"the condition {name!r} is like {like!r}, which {what}; "
            + (f"make it like one of: {', '.join(others)}" if others else "add a condition with an explainer")
        )

    def condition(self, name: str) -> Condition:
        """The condition of that name."""
        return next(condition for condition in self.conditions if condition.name == name)


def make_study_spec(options: dict[str, Any], source: str = "the spec") -> StudySpec:
    """A spec from options; what is wrong with them is one sentence."""
    try:
        return StudySpec(**options)
    except ValidationError as error:
        first, *others = error.errors()
        where = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            what = _no_such_option(first["loc"])
        elif first["type"] == "missing":
            what = "this is missing; add it"
        more = f" ({len(others)} more to mend)" if others else ""
        place = f"{source}, {where}" if where else source
        raise VeraxError(f"{place}: {what}{more}{'' if (what + more).endswith('?') else '.'}") from error


def _no_such_option(place: tuple[int | str, ...]) -> str:
    """What may stand where an unknown option stands."""
    table: Any = StudySpec
    for part in place[:-1]:
        if isinstance(part, str) and part in table.model_fields:
            table = _table_of(table.model_fields[part].annotation)
    known = list(table.model_fields)
    near = difflib.get_close_matches(str(place[-1]), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
    return f"there is no such option; {hint}"


def _table_of(annotation: Any) -> Any:
    """The table inside an annotation such as ``list[Condition]`` or ``WorseModel | None``."""
    inside = [_table_of(one) for one in get_args(annotation)]
    return next((one for one in [annotation, *inside] if hasattr(one, "model_fields")), None)


def read_study_spec(path: str | Path) -> StudySpec:
    """The spec in a TOML file."""
    return parse_study_spec(read_spec_text(path), Path(path).name)


def read_spec_text(path: str | Path) -> str:
    """What a spec file holds, to the letter."""
    try:
        return Path(path).read_bytes().decode("utf-8")
    except FileNotFoundError as error:
        raise VeraxError(f"There is no spec file {str(path)!r}; check the path.") from error
    except OSError as error:
        raise VeraxError(f"The spec {str(path)!r} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise VeraxError(f"The spec {str(path)!r} is not UTF-8 text ({error}).") from error


def parse_study_spec(text: str, source: str = "the spec") -> StudySpec:
    """The spec in the text of a TOML file; ``source`` is what errors call it."""
    import tomllib

    try:
        options = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise VeraxError(f"{source} is not TOML ({error}).") from error
    return make_study_spec(options, source)
