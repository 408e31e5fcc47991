"""A user test: forward and then counterfactual simulation, by the same person with the same method.

Hase and Bansal (2020), section 4: each user test is for one method and one data set and has both parts. Both are the
protocols of those names; here they share people, and their phases, screens and items are told apart by the part's name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from verax.errors import VeraxError
from verax.phrases import say
from verax.studies.definition.screen import Meaning, Prose, Screen
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import DesignRow, Item, OneCondition, Phase, Step, Study
from verax.studies.design import one_row_per_condition
from verax.studies.protocol.contract import (
    Briefing,
    Material,
    Planning,
    Protocol,
    ProtocolAnalysis,
    Role,
    Source,
    protocols,
)
from verax.studies.protocols.counterfactual import Counterfactual
from verax.studies.protocols.forward import Forward
from verax.studies.protocols.screens import method_audience, method_audiences
from verax.studies.protocols.user_test.parts import (
    CHANGED,
    COUNTERFACTUAL,
    FORWARD,
    even_share,
    phase_key,
    role_in_part,
    screen_key,
)

ABOUT = "about"


def _own(material: Material, part: str) -> Material:
    """What a part is made of, with the roles that it knows."""
    return replace(material, items=tuple(role_in_part(material.items, part)))


def _of_part(study: Study, part: str) -> Study:
    return replace(study, items={item.id: item for item in role_in_part(study.items.values(), part)})


@protocols.register("user-test")
class UserTest(Protocol):
    """Forward and then counterfactual simulation by the same people (Hase and Bansal 2020).

    Attributes:
        learning: items to learn from, from the validation part.
        test: items to predict in the forward part, from the test part.
        changed: items of the counterfactual part: others, from the test part too.
        of: draw the items of both parts as if each had so many, and take an even share of them. People with less time
            then have inputs that all others have too, in a build of their own: test = 16, changed = 16, of = 32.
        leaf: whether people may go back to earlier pages of a look until it is over.
        vectors: a GloVe file in which similar words are found; vectors trained on the training texts unless given.
        fluent: changed texts shall read like language; false draws among all, as published.
        struck: inputs that a reviewer struck, as `verax study review` writes them: "test 512".
    """

    asks: ClassVar[str] = (
        "Do explanations help people to predict what the model says of new inputs, and of changed ones?"
    )
    explained: ClassVar[tuple[str, ...]] = ("learning", CHANGED)
    own_models: ClassVar[bool] = True
    shows_weights: ClassVar[bool] = True
    introduces: ClassVar[str] = phase_key(FORWARD, Forward.introduces)
    side_by_side: ClassVar[bool] = Counterfactual.side_by_side

    learning: int = Field(default=16, ge=1)
    test: int = Field(default=32, ge=1)
    changed: int = Field(default=32, ge=1)
    of: int | None = Field(default=None, ge=1)
    leaf: bool = False
    vectors: str | None = None
    fluent: bool = True
    struck: tuple[str, ...] = ()

    @property
    def parts(self) -> dict[str, Protocol]:
        """The two parts as protocols of their own, in order."""
        return {FORWARD: self.first, COUNTERFACTUAL: self.second}

    @property
    def first(self) -> Forward:
        """The forward part."""
        return Forward(learning=self.learning, test=self.test, leaf=self.leaf)

    @property
    def second(self) -> Counterfactual:
        """The counterfactual part."""
        return Counterfactual(test=self.changed, vectors=self.vectors, fluent=self.fluent, struck=self.struck)

    def check_item(self, item: Item) -> None:
        """An item of the counterfactual part needs a changed version."""
        if item.variant is None and item.role == CHANGED:
            raise VeraxError("there is no changed version; fill in 'variant' and 'variant_prediction'")

    def items(self, source: Source) -> list[Item]:
        """Those of both parts; nobody predicts an input in one and its changed version in the other."""
        if self.of is not None:
            whole = self.model_copy(update={"test": self.of, "changed": self.of, "of": None})
            return even_share(whole.items(source), {"test": self.test, CHANGED: self.changed})
        forward = self.first.items(source)
        taken = frozenset(item.place for item in forward if item.part == "test")
        changed = self.second.chosen(source, taken)
        return forward + [
            replace(item, id=f"i{number:03d}", role=CHANGED)
            for number, item in enumerate(changed, start=len(forward) + 1)
        ]

    def phases(self, material: Material) -> tuple[Phase, ...]:
        """Those of both parts, and a page before the second that says what it is about."""
        kind = material.kind

        def title(part: str, own: str) -> str:
            return own if part == FORWARD else say("user-test", "changed-part-of", kind=kind, title=own)

        inside = [
            replace(phase, key=phase_key(part, phase.key), title=title(part, phase.title))
            for part, protocol in self.parts.items()
            for phase in protocol.phases(_own(material, part))
        ]
        changed = say("user-test", "changed-part", kind=kind)
        return (*inside, Phase(phase_key(COUNTERFACTUAL, ABOUT), changed, "instructions"))

    def screens(self, material: Material) -> dict[str, Screen]:
        """Those of both parts, and what is said before the second."""
        screens = {
            screen_key(part, key): screen
            for part, protocol in self.parts.items()
            for key, screen in protocol.screens(_own(material, part)).items()
        }
        # What is said of the task is the same for all; their own method they know from the first part.
        anybody = next(iter(method_audiences(material.spec)))
        said = self.second.briefing(_own(material, COUNTERFACTUAL), anybody).paragraphs
        screens[screen_key(COUNTERFACTUAL, ABOUT)] = Screen(
            say("user-test", "second-part"), (Prose((say("user-test", "second-part-text"), *said)),)
        )
        return screens

    def rows(self, material: Material) -> tuple[DesignRow, ...]:
        """One row per condition: both parts with the same method."""
        return one_row_per_condition(material.spec)

    def steps(self, study: Study, row: DesignRow, seed: int) -> tuple[Step, ...]:
        """The forward part, the page between, the counterfactual part."""
        between = Step(phase_key(COUNTERFACTUAL, ABOUT), screen_key(COUNTERFACTUAL, ABOUT))
        inside = {
            part: [
                replace(step, phase=phase_key(part, step.phase), screen=screen_key(part, step.screen))
                for step in protocol.steps(_of_part(study, part), row, seed)
            ]
            for part, protocol in self.parts.items()
        }
        return (*inside[FORWARD], between, *inside[COUNTERFACTUAL])

    def audience(self, spec: StudySpec, row: DesignRow) -> str:
        """Everybody is told about their own method, or about none."""
        return method_audience(spec, row.get(OneCondition).condition)

    def briefing(self, material: Material, audience: str) -> Briefing:
        """That of the forward part; the other is explained when it comes."""
        first = self.first.briefing(_own(material, FORWARD), audience)
        later = say("user-test", "second-part-later", kind=material.kind)
        return replace(first, paragraphs=(*first.paragraphs, later))

    def score(self, item: Item, meaning: Meaning) -> float:
        """1 for the model's output, on the changed version in the second part; 0 for another class."""
        part = self.second if item.role == CHANGED else self.first
        return part.score(item, meaning)

    def planning(self, spec: StudySpec) -> Planning:
        """Change from first to second predictions over both parts, compared between people."""
        forward = self.first.planning(spec)
        return replace(forward, roles=(*forward.roles, Role(CHANGED, self.changed)), more=(CHANGED,))

    @classmethod
    def analysis(cls) -> ProtocolAnalysis:
        """Both parts alone, and people as blocks across both."""
        from verax.studies.protocols.user_test.analysis import BOTH_PARTS

        return BOTH_PARTS
