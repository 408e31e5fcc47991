"""What a study is asked to be, checked as a whole; from a TOML file or from options."""

from __future__ import annotations

import difflib
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from verax.errors import VeraxError
from verax.explain.composite import preset
from verax.options import MUST, plain_problem
from verax.phrases import language_spoken, languages, say, speaking
from verax.studies.definition.own_pages import check_questions, right_answers
from verax.studies.definition.own_questions import OwnQuestion, Quota
from verax.studies.definition.spec_tables import (
    CHECK_RULES,
    About,
    BackgroundName,
    Condition,
    Display,
    ExclusionRule,
    Labels,
    Planned,
    Rating,
    Recruiting,
    ScreeningTest,
    SpecTable,
    Texts,
    Timing,
    WorseModel,
)
from verax.studies.definition.translations import TRANSLATABLE, merged, name_of, without_answers
from verax.toml_text import parse_toml


def preset_conditions(name: str) -> list[dict[str, object]]:
    """The conditions of a preset, as a spec's tables would have them."""
    try:
        methods = preset(name)
    except VeraxError as error:
        raise ValueError(f"{error} Or give each condition a table of its own: [[conditions]]") from error
    return [
        {
            "name": method.name,
            "explainer": method.explainer,
            "parameters": {
                key: list(value) if isinstance(value, tuple) else value
                for key, value in method.parameters.items()
            },
            "sizes": method.sizes,
            "any_sign": method.any_sign,
            "display": method.display,
        }
        for method in methods
    ]


# What a spec may say of its dataset, besides its name: arguments of ``load_dataset``.
SOURCE = ("format", "text", "label", "split", "seed", "limit", "punctuation", "bands")
LANGUAGE_TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
# Tables that specs did not always have.
LATER = (
    "about",
    "labels",
    "background",
    "devices",
    "name",
    "questions",
    "quotas",
    "languages",
    "translations",
)


class StudySpec(SpecTable):
    """A study. See ``docs/studies.md`` and the ready specs under ``examples/``.

    Attributes:
        title: shown to participants.
        name: by which a database and experimenters tell it from other studies with this title; the title if empty.
        about: what the first page says of the study: purpose, duration, pay, who runs it, ethics approval.
        dataset: a name of ``verax list datasets``, or a file.
        source: further arguments of ``load_dataset``: ``format``, ``text``, ``label``, ``split``, ``seed``, ``limit``,
            ``punctuation``, ``bands``.
        model: a name of ``verax list models``, ``package.module:function``, or a file.
        worse: the worse model, for the choice between two.
        protocol: its ``name`` and parameters, see ``verax list protocols``.
        conditions: at least one; or the name of a preset, such as "human-grounded".
        screening: the test before the study; ``screening = false`` leaves it out.
        display: how explanations look.
        rating: the question on each explanation, in ``forward`` and ``counterfactual``.
        timing: limits of parts with questions.
        texts: what participants read besides the items.
        exclusion: rules that were declared beforehand; they mark people and delete nothing.
        participants: how many shall complete each row of the design.
        replace_excluded: places of people who completed the study and are excluded by a rule are offered again, at
            most so large a share of each row's places, rounded up; 0 offers none again.
        hidden_question: pages with questions have one more that people neither see nor hear, to tell machines; who
            answers it is flagged, and not excluded.
        devices: "desktop" turns phones away before anything else, "any" takes everybody. Unless given: "desktop" in
            ``counterfactual``, ``user-test`` and ``model-choice``, where what is compared must stand side by side, and
            with the explainer ``composite``, whose parts are read together; "any" elsewhere.
        entry: how people come in: whoever has the link, by code, or from Prolific or MTurk.
        recruiting: where they go at the end.
        background: what people are asked about themselves at the end, if they like to say: "age", "language",
            "course", "words".
        questions: of one's own: pages before, between and after the parts; see docs/questions.md.
        quotas: how many people with a certain answer to a question of one's own are taken.
        class_names: what classes are called on the pages; the dataset's own names unless given.
        answer_order: "counterbalanced" between participants: classes change places, scales are read from either end;
            "direction" where the classes themselves have an order (grades, stars), which is kept and read from either
            end; "fixed" shows all the same order.
        labels: what a table's columns and values are called on the pages.
        analysis: named contrasts and measures that were planned beforehand, free text by name; the margin of
            "equivalence" is a number with a unit.
        retention_days: when the answers shall be deleted.
        languages: in which people can take part: those that come with Verax, and those of ``translations`` with phrases
            of their own. Browsers choose; the first is for everybody whose browser wants none.
        translations: by language, what is said otherwise in it, in tables as those of the spec; with a dataset or a
            model of its own, a language has items of its own. ``phrases`` is a folder of phrase files.
        seed: of everything.
    """

    title: str = Field(min_length=1)
    name: str = ""
    dataset: str
    source: dict[str, Any] = Field(default_factory=dict)
    model: str = "logistic"
    worse: WorseModel | None = None
    protocol: dict[str, Any]
    conditions: list[Condition] = Field(min_length=1)
    participants: int = Field(default=10, ge=1)
    class_names: list[str] | None = None
    answer_order: Literal["counterbalanced", "direction", "fixed"] = "counterbalanced"
    about: About = About()
    labels: Labels = Labels()
    display: Display = Display()
    rating: Rating = Rating()
    timing: Timing = Timing()
    screening: ScreeningTest | None = ScreeningTest()
    texts: Texts = Texts()
    devices: Literal["any", "desktop"] | None = None
    entry: Literal["link", "code", "prolific", "mturk"] = "link"
    recruiting: Recruiting = Recruiting()
    replace_excluded: float = Field(default=0.25, ge=0, le=1)
    hidden_question: bool = False
    background: tuple[BackgroundName, ...] = ()
    questions: tuple[OwnQuestion, ...] = ()
    quotas: tuple[Quota, ...] = ()
    exclusion: list[ExclusionRule] = Field(default_factory=list)
    analysis: dict[str, Planned] = Field(default_factory=dict)
    retention_days: int | None = Field(default=None, ge=1)
    languages: tuple[str, ...] = Field(default=("en",), min_length=1)
    translations: dict[str, dict[str, Any]] = Field(default_factory=dict)
    seed: int = 0

    @model_serializer(mode="wrap")
    def _without_what_is_not_said(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Tables that came later are written only where they are used: older studies stay as they are."""
        written: dict[str, object] = write(self)
        fields = type(self).model_fields
        unused = {
            name
            for name in LATER
            if getattr(self, name) == fields[name].get_default(call_default_factory=True)
        }
        return {name: value for name, value in written.items() if name not in unused}

    @model_validator(mode="after")
    def _translations_fit(self) -> StudySpec:
        for language in self.languages:
            if self.languages.count(language) > 1:
                raise ValueError(f"the language {language!r} is named twice")
            if not LANGUAGE_TAG.fullmatch(language):
                raise ValueError(f"{language!r} is no tag of a language; write one such as en, de or pt-BR")
            if language not in languages() and not self.translations.get(language, {}).get("phrases"):
                raise ValueError(
                    f"there are no phrases in {language!r}; there are: {', '.join(languages())}. For another language, "
                    f"name the folder of its phrase files under [translations.{language}], phrases = ..."
                )
        for language, said in self.translations.items():
            if language not in self.languages:
                raise ValueError(f"there is a translation to {language!r}, which is not among the languages")
            for name in said:
                if name not in (*TRANSLATABLE, "phrases"):
                    raise ValueError(
                        f"a translation has no {name!r}; it may have {', '.join((*TRANSLATABLE, 'phrases'))}"
                    )
            for table, own in (("questions", self.questions), ("conditions", self.conditions)):
                known = {name_of(one.model_dump()) for one in own}
                for one in said.get(table, []):
                    if name_of(one) not in known:
                        raise ValueError(
                            f"the translation to {language!r} has {name_of(one)!r} under {table}, which the spec has "
                            "not; check the name"
                        )
            self.in_language(language)
        return self

    def in_language(self, language: str) -> StudySpec:
        """The same in one of its languages: what its translation says stands in place of what the spec says."""
        # Phrases that somebody else wrote are there only while the study is built or shown.
        ready = language_spoken() == language or language in languages()
        with nullcontext() if language_spoken() == language else speaking(language):
            rating = {
                name: say("reading", f"rating-{name}")
                for name in ("question", "low", "high")
                if ready and getattr(self.rating, name) == Rating.model_fields[name].default
            }
        said = {"rating": rating} | {
            name: value for name, value in self.translations.get(language, {}).items() if name != "phrases"
        }
        if "rating" in said:
            said["rating"] = {**rating, **said["rating"]}
        if "questions" in said:
            # Answers keep the words under which they are stored; pages show those of the language.
            said["questions"] = [without_answers(asked) for asked in said["questions"]]
        own = self.model_dump(mode="json") | {"translations": {}, "languages": [language]}
        if language not in languages():
            own["languages"] = ["en"]
        return type(self)(**merged(own, said))

    def open_to_all(self) -> StudySpec:
        """The same for whoever has the link, as in a preview: without what a platform or codes are needed for."""
        needed = {"bonus": (), "sandbox": False, "link": False, "signed": False}
        recruiting = self.recruiting.model_copy(update=needed)
        return self.model_copy(update={"entry": "link", "recruiting": recruiting})

    @property
    def own_name(self) -> str:
        """What tells it from other studies: its name, or its title where it has none."""
        return self.name or self.title

    @field_validator("screening", mode="before")
    @classmethod
    def _or_none(cls, screening: Any) -> Any:
        return None if screening is False else screening

    @field_validator("conditions", mode="before")
    @classmethod
    def _by_name(cls, conditions: Any) -> Any:
        """A preset by its name, in place of a table for each condition."""
        return preset_conditions(conditions) if isinstance(conditions, str) else conditions

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
        if self.recruiting.attention_url and not {one.rule for one in self.exclusion} & set(CHECK_RULES):
            raise ValueError(
                "recruiting.attention_url is for people who fail checks, but no exclusion rule says who does; declare "
                'the rule "failed-checks" or "attention-checks", or leave the address out'
            )
        if self.entry not in ("prolific", "mturk") and self.recruiting.bonus:
            raise ValueError(
                f"recruiting.bonus is paid by a platform, and people enter by {self.entry!r}; leave it out"
            )
        if self.entry == "link" and self.recruiting.link:
            raise ValueError(
                "recruiting.link knows people by their platform or their code, and whoever has the link enters; leave "
                'it out, or write entry = "code"'
            )
        if self.entry not in ("prolific", "mturk") and self.recruiting.signed:
            raise ValueError(
                f"recruiting.signed is of the ids of a platform, and people enter by {self.entry!r}; leave it out"
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
            if condition.display == "weights" and self.display.direction is False:
                raise ValueError(
                    f"the condition {condition.name!r} is displayed as weights, which say what a feature speaks for, "
                    "but display.direction is false; leave one of them out"
                )
        return self

    @model_validator(mode="after")
    def _asked_for(self) -> StudySpec:
        for rule in self.exclusion:
            if rule.question is not None and rule.question not in self.background:
                raise ValueError(
                    f"an exclusion rule is about {rule.question!r}, which is not asked; add it to background"
                )
        return self

    @model_validator(mode="after")
    def _questions_fit(self) -> StudySpec:
        try:
            check_questions(self.questions, self.quotas, [condition.name for condition in self.conditions])
        except VeraxError as error:
            raise ValueError(str(error).rstrip(".")) from error
        if "attention-checks" in {one.rule for one in self.exclusion} and not right_answers(self.questions):
            raise ValueError(
                'the rule "attention-checks" is declared, but no question checks attention; add a block '
                '"attention-check", or attention = true to a block of statements'
            )
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
            if like in {condition.name for condition in self.conditions}
            else "does not exist"
        )
        raise ValueError(
            f"the condition {name!r} is like {like!r}, which {what}; "
            + (f"make it like one of: {', '.join(others)}" if others else "add a condition with an explainer")
        )

    def condition(self, name: str) -> Condition:
        """The condition of that name."""
        return next(condition for condition in self.conditions if condition.name == name)

    def method_of(self, name: str) -> Condition:
        """The condition whose method a condition shows: a control looks as what it is like, any other as itself."""
        condition = self.condition(name)
        return condition if condition.like is None else self.condition(condition.like)


def make_study_spec(options: dict[str, Any], source: str = "the spec") -> StudySpec:
    """A spec from options; what is wrong with them is one sentence."""
    try:
        return StudySpec(**options)
    except ValidationError as error:
        first, *others = error.errors()
        where = ".".join(str(part) for part in first["loc"])
        what = plain_problem(first["msg"])
        if first["type"] == "extra_forbidden":
            what = _no_such_option(first["loc"])
        elif first["type"] == "missing":
            what = "this is missing; add it"
        more = f" ({len(others)} more to mend)" if others else ""
        place = f"{source}, {where}" if where else source
        between = " " if what.startswith(MUST) else ": "
        raise VeraxError(
            f"{place}{between}{what}{more}{'' if (what + more).endswith('?') else '.'}"
        ) from error


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
    inside = [_table_of(argument) for argument in get_args(annotation)]
    return next((table for table in [annotation, *inside] if hasattr(table, "model_fields")), None)


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
    return make_study_spec(parse_toml(text, source), source)
