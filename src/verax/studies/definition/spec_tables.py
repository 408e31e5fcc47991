"""The tables of a spec: what may stand under each heading of the TOML file.

They come last, when nothing can be bent by them any more, and nobody has to answer.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    field_validator,
    model_serializer,
    model_validator,
)

from verax.names import parse_name
from verax.phrases import LANGUAGE, say, say_lines, speaking
from verax.studies.definition.screen import Option, Question

BackgroundName = Literal["age", "language", "course", "words"]
PREFIX = "background-"
# Questions with answers to choose from.
_CLOSED = ("age", "language", "course")


def background_question(name: BackgroundName) -> Question:
    """The question of this name; what is stored of an answer are its words in English."""
    prompt, *answers = say_lines("background", name)
    if name == "words":
        return Question(PREFIX + name, prompt, kind="text", required=False)
    labels = (*(answer.removeprefix("- ") for answer in answers), say("background", "unsaid"))
    with speaking(LANGUAGE):
        meanings = (*background_answers(name), say("background", "unsaid"))
    options = tuple(map(Option, labels, meanings))
    return Question(PREFIX + name, prompt, options=options, required=False, fixed_order=True)


def background_answers(name: str) -> tuple[str, ...]:
    """The answers that an exclusion rule may name; none for a question in own words."""
    if name not in _CLOSED:
        return ()
    with speaking(LANGUAGE):
        return tuple(answer.removeprefix("- ") for answer in say_lines("background", name)[1:])


NONE = "none"
# Explainers that choose without a look at the model.
RANDOM = ("random", "random-fragments")
# What the worse of two models learns from, unless the spec says otherwise.
SMALL_SHARE = 0.05


class SpecTable(BaseModel):
    """A table of a spec: nothing in it may be changed, and nothing unknown may stand there."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ScreeningQuestion(SpecTable):
    """One question of the screening test.

    Attributes:
        question: what is asked.
        answers: to choose from.
        correct: the place of the right one, from 1.
    """

    question: str
    answers: list[str] = Field(min_length=2, max_length=9)
    correct: int = Field(ge=1)

    @model_validator(mode="after")
    def _one_of_them(self) -> ScreeningQuestion:
        if self.correct > len(self.answers):
            raise ValueError(f"the correct answer is number {self.correct} of {len(self.answers)}")
        return self


class Condition(SpecTable):
    """What a participant sees beside an item.

    Attributes:
        name: its name in the data; never shown to participants.
        explainer: a name that ``verax list explainers`` shows, ``package.module:Class``, or "none" for nothing; its
            parameters may stand behind it, as in "lime(samples=500)".
        parameters: of the explainer.
        like: a control: the scores of this other condition, shuffled among the features of each item.
        model: what is explained here, if not the study's model: any model that ``model`` of the spec may be. Items are
            then inputs of which all models predict the same class.
        display: how scores are shown: "marks" on the input and bars beside it, or "weights", which add up with a
            baseline to an estimate of the model's output, as Hase and Bansal (2020) showed LIME.
        question: on how to read this condition's explanations, in place of the one on their kind.
        sizes: how many words a fragment of evidence may have, where a task shows fragments; as the protocol says if
            None. A method that gives fragments shows its own.
        participants: how many shall complete it, where that is another number than the study's; between people only.
        any_sign: evidence are the fragments with the highest scores and counter-evidence those with the lowest,
            whatever their sign.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9_-]+$")
    explainer: str = NONE
    parameters: dict[str, Any] = {}
    like: str | None = None
    model: str | None = None
    display: Literal["marks", "weights"] = "marks"
    question: ScreeningQuestion | None = None
    sizes: tuple[Annotated[int, Field(ge=1)], ...] | None = Field(default=None, min_length=1)
    any_sign: bool = False
    participants: int | None = Field(default=None, ge=1)

    @model_serializer(mode="wrap")
    def _without_what_is_not_said(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Entries that came later are written only where they are used: older studies stay as they are."""
        written: dict[str, object] = write(self)
        later = {
            "model": None,
            "display": "marks",
            "question": None,
            "sizes": None,
            "any_sign": False,
            "participants": None,
        }
        return {name: value for name, value in written.items() if name not in later or value != later[name]}

    @model_validator(mode="before")
    @classmethod
    def _parameters_in_the_name(cls, given: Any) -> Any:
        written = given.get("explainer") if isinstance(given, dict) else None
        if not isinstance(written, str) or "(" not in written:
            return given
        named = parse_name(written, "explainer", "lime(samples=500)")
        if twice := sorted(named.options.keys() & dict(given.get("parameters", {}))):
            raise ValueError(f"the parameter {twice[0]!r} of {named.name!r} is given twice; give it once")
        return {
            **given,
            "explainer": named.name,
            "parameters": {**named.options, **given.get("parameters", {})},
        }

    @model_validator(mode="after")
    def _one_sort(self) -> Condition:
        if self.like is not None and self.explainer != NONE:
            raise ValueError(
                f"the condition {self.name!r} has an explainer and is also like {self.like!r}; leave one of them out"
            )
        if self.explainer == NONE and self.display != "marks":
            raise ValueError(
                f"the condition {self.name!r} has a display but no explainer; leave it out: a control looks like "
                "its method"
            )
        if self.explainer == NONE and self.parameters:
            raise ValueError(f"the condition {self.name!r} has parameters but no explainer; name one")
        if self.explainer == NONE and self.model is not None:
            raise ValueError(
                f"the condition {self.name!r} has a model of its own but no explainer of it; name one, or leave it out"
            )
        return self

    @property
    def kind(self) -> Literal["none", "method", "control"]:
        """Whether it is nothing, a method's explanation, or a random control."""
        if self.like is not None or self.explainer in RANDOM:
            return "control"
        return "none" if self.explainer == NONE else "method"


class WorseModel(SpecTable):
    """How the worse of two models is made: from a small part of the training data, a narrower one, or in little time.

    Attributes:
        model: any model that ``model`` of the spec may be; the better model's name unless given.
        most_words: only training texts with at most so many words (a narrower part).
        share: of the training inputs (of those that the other entries leave), drawn by seed, the same of each class;
            0.05 if there is no other entry.
        epochs: how many times a network sees its training part.
        only: only inputs with these values in a column that the dataset keeps (a narrower part): one of a table's own,
            or one beside the texts, such as arXiv's ``category``. As many to learn from and to watch as the better
            model has, where the dataset has them outside its test part.
    """

    model: str | None = None
    most_words: int | None = Field(default=None, ge=1)
    share: float | None = Field(default=None, gt=0, le=1)
    epochs: int | None = Field(default=None, ge=1)
    only: dict[str, list[str]] | None = Field(default=None, min_length=1)

    @model_serializer(mode="wrap")
    def _without_what_is_not_said(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Entries that came later are written only where they are used: older studies stay as they are."""
        written: dict[str, object] = write(self)
        return {
            name: value
            for name, value in written.items()
            if value is not None or name not in ("epochs", "only")
        }

    @property
    def kept(self) -> float:
        """The share of the training inputs that is kept."""
        if self.share is None:
            others = (self.most_words, self.epochs, self.only)
            return SMALL_SHARE if all(other is None for other in others) else 1.0
        return self.share


class Display(SpecTable):
    """How explanations are shown.

    Attributes:
        features: how many of the strongest features are marked; 0 marks all that have a say.
        direction: whether colours show what a feature speaks for; the protocol's own choice unless given. Where an
            answer could be read off the direction it is never shown.
        most_words: only texts of at most so many words become items.
        fewest_words: only texts of at least so many.
        wording: how rules, paths, examples and composites are told: "plain", without what only readers of papers know,
            or "published", as Hase and Bansal (2020) told them.
    """

    features: int = Field(default=6, ge=0)
    direction: bool | None = None
    most_words: int = Field(default=60, ge=1)
    fewest_words: int = Field(default=5, ge=1)
    wording: Literal["plain", "published"] = "plain"

    @model_validator(mode="after")
    def _some_fit(self) -> Display:
        if self.fewest_words > self.most_words:
            raise ValueError(
                f"no text has at least {self.fewest_words} and at most {self.most_words} words; raise most_words"
            )
        return self


class Rating(SpecTable):
    """The question on each explanation (Hase & Bansal, section 4.4).

    Attributes:
        question: what is asked; the paper's unless given.
        points: of the scale.
        low, high: the words at its ends.
    """

    question: str = "Does this explanation show me why the system thought what it did?"
    points: int = Field(default=7, ge=2, le=9)
    low: str = "not at all"
    high: str = "completely"


class About(SpecTable):
    """What people are told on the first page, before they decide; the contact stands under ``[texts]``.

    Attributes:
        purpose: what the study is for, in a sentence that gives no answer away.
        minutes: how long it takes; pages then say how much is left.
        pay: what people get for it, with its currency.
        run_by: the person or the group, and where they work.
        ethics: who approved it, and the number of the approval.
        score: whether people read at the very end how many of their answers were right.
    """

    purpose: str = ""
    minutes: float | None = Field(default=None, gt=0)
    pay: str = ""
    run_by: str = ""
    ethics: str = ""
    score: bool = True


class Labels(SpecTable):
    """What columns of a table and their values are called on the pages; data and exports keep their own names.

    Attributes:
        columns: by the table's name of a column.
        values: by column, by the table's name of a value.
    """

    columns: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}


class Timing(SpecTable):
    """Limits. They are fixed when a page is first shown and are kept by the server.

    Attributes:
        item_seconds: for each item of a timed phase.
        session_minutes: for each timed phase as a whole.
        late: "flag" keeps later answers and flags them. "close" takes none: the limit of an item closes that page
            alone, the limit of a session closes the phase with all that is left of it.
        hold_minutes: how long a place is kept for somebody who does nothing.
        reading_seconds: pages that ask nothing (instructions, looks at items) can be left after so many seconds.
    """

    item_seconds: float | None = Field(default=None, gt=0)
    session_minutes: float | None = Field(default=None, gt=0)
    late: Literal["flag", "close"] = "flag"
    hold_minutes: float = Field(default=60, gt=0)
    reading_seconds: float | None = Field(default=None, gt=0, le=600)

    @model_serializer(mode="wrap")
    def _without_what_is_not_said(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        """What came later is written only where it is used: older studies stay as they are."""
        written: dict[str, object] = write(self)
        return {
            name: value for name, value in written.items() if value is not None or name != "reading_seconds"
        }


class ScreeningTest(SpecTable):
    """A test on the method and the procedure before the study; the protocol's own questions if none are given.

    Attributes:
        questions: the test.
        pass_mark: the share of right answers needed.
        attempts: how often it may be tried.
        method: what the question on the participant's own method is for. "teaches": it is asked after the test, and
            everybody then reads the right answer. "excludes": it is one of the test, as published; who fails then
            depends on the condition.
    """

    questions: list[ScreeningQuestion] = []
    pass_mark: float = Field(default=0.75, ge=0, le=1)
    attempts: int = Field(default=2, ge=1, le=5)
    method: Literal["teaches", "excludes"] = "teaches"


class Texts(SpecTable):
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


# What each rule means is in `verax.studies.answers.exclusion`.
RuleName = Literal[
    "too-fast", "failed-checks", "attention-checks", "left", "late", "same-answer", "background"
]
# Whoever is excluded by one of these has failed checks, as platforms have them.
CHECK_RULES = ("failed-checks", "attention-checks")


class ExclusionRule(SpecTable):
    """A rule declared before the study; it never deletes anything.

    Attributes:
        rule: which one.
        limit: seconds for "too-fast" (median per answer), the share for the others; each rule has its own default.
        question: of "background": which question it is about.
        answers: of "background": the answers that exclude.
    """

    rule: RuleName
    limit: float | None = None
    question: BackgroundName | None = None
    answers: list[str] = []

    @model_serializer(mode="wrap")
    def _without_what_is_not_said(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Entries that came later are written only where they are used: older studies stay as they are."""
        written: dict[str, object] = write(self)
        return {
            name: value for name, value in written.items() if value or name not in ("question", "answers")
        }

    @model_validator(mode="after")
    def _names_answers(self) -> ExclusionRule:
        if self.rule != "background":
            if self.question is not None or self.answers:
                raise ValueError(
                    f"the rule {self.rule!r} is about no question; leave question and answers out"
                )
            return self
        known = background_answers(self.question or "")
        if not known:
            raise ValueError(
                'the rule "background" needs a question with answers: "age", "language" or "course"'
            )
        for answer in self.answers or [""]:
            if answer not in known:
                raise ValueError(
                    f"{answer!r} is no answer to {self.question!r}; there are: {'; '.join(known)}"
                )
        return self


# An address that can stand in a link as it is.
URL = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]+)?([/?][A-Za-z0-9._~:/?#@!$&'()*+,;=%\[\]-]*)?")


# What a bonus may be paid by, of each person.
BONUS_COLUMNS = ("right", "answers", "points", "score", "minutes", "pages")


class Bonus(SpecTable):
    """A rule by which people are paid more than the others; see `verax study payments`.

    Attributes:
        column: what it is paid by: "right" (scored answers that are right), "answers" (scored answers), "points" (the
            sum of the scores), "score" (their mean), "minutes" or "pages" (answered).
        amount: in the currency of the study on the platform.
        at_least: it is paid to those who have so much; everybody unless given.
        for_each: the amount is paid for each full unit above ``at_least`` instead of once.
        most: of this rule for one person.
    """

    column: str
    amount: float = Field(gt=0)
    at_least: float | None = None
    for_each: bool = False
    most: float | None = Field(default=None, gt=0)

    @field_validator("column")
    @classmethod
    def _is_known(cls, column: str) -> str:
        if column not in BONUS_COLUMNS:
            raise ValueError(
                f"there is no column {column!r} to pay a bonus by; there are: {', '.join(BONUS_COLUMNS)}"
            )
        return column


class Recruiting(SpecTable):
    """Where people go when the study is over for them: addresses of the platform that they came from.

    Attributes:
        completion_url: after the last page; Prolific's is https://app.prolific.com/submissions/complete?cc=CODE.
        screened_out_url: who did not pass the screening test.
        declined_url: who did not agree.
        full_url: who found no free place.
        attention_url: who finished but is excluded by the rule "failed-checks" or "attention-checks"; one of them has
            to be declared.
        bonus: who is paid more than the others; one rule after the other, added up.
        sandbox: people come from MTurk's sandbox, not from its market.
        link: people are asked whether they may be known again in other studies of the same research: in those whose
            folders lie in the same place.
        signed: people come by links that only `verax study links` can make, so that nobody invents ids.
    """

    completion_url: str | None = None
    screened_out_url: str | None = None
    declined_url: str | None = None
    full_url: str | None = None
    attention_url: str | None = None
    bonus: tuple[Bonus, ...] = ()
    sandbox: bool = False
    link: bool = False
    signed: bool = False

    @model_serializer(mode="wrap")
    def _without_what_is_not_said(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Entries that came later are written only where they are used: older studies stay as they are."""
        written: dict[str, object] = write(self)
        return {
            name: value for name, value in written.items() if value or name not in ("attention_url", "bonus")
        }

    @field_validator("completion_url", "screened_out_url", "declined_url", "full_url", "attention_url")
    @classmethod
    def _is_address(cls, url: str | None) -> str | None:
        if url is not None and not URL.fullmatch(url):
            raise ValueError(
                f"{url!r} is not an address that begins with https://; copy it from the platform"
            )
        return url

    @property
    def urls(self) -> dict[str, str]:
        """The addresses that are given, by the page: complete, screened-out, declined, full or attention."""
        given = {
            "complete": self.completion_url,
            "screened-out": self.screened_out_url,
            "declined": self.declined_url,
            "full": self.full_url,
            "attention": self.attention_url,
        }
        return {page: url for page, url in given.items() if url is not None}


class Equivalence(SpecTable):
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
