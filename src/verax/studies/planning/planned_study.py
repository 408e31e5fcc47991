"""What is planned: a study in the shape of its spec, the question of its primary analysis, and its simulated people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from verax.arrays import FloatArray, IndexArray
from verax.codec import NOT_WRITTEN
from verax.errors import VeraxError
from verax.stats.crossed.within import NOT_SHOWN
from verax.stats.power import Simulated, Spreads
from verax.studies.definition.options import PowerSpec
from verax.studies.definition.spec import StudySpec
from verax.studies.definition.study import Item, Material, Study, Variant
from verax.studies.design import deal
from verax.studies.protocol.contract import Planning, Protocol, Role, make_protocol, protocols

CLASS_NAMES = ("first", "second")


def planning_of(spec: StudySpec) -> Planning:
    """What the spec's protocol says about its planning."""
    planning = make_protocol(spec.protocol).planning(spec)
    if planning is None:
        able = [name for name in protocols if protocols.get(name).planning is not Protocol.planning]
        raise VeraxError(
            f"The protocol {spec.protocol['name']!r} cannot be planned: its analysis is not known; these can: "
            f"{', '.join(able)}."
        )
    return planning


def sized(spec: StudySpec, participants: int | None = None, items: int | None = None) -> StudySpec:
    """The spec with another number of participants for each row of the design, or of items.

    A number of participants is that of all rows, also of conditions that have one of their own.
    """
    parameter = planning_of(spec).items
    protocol = dict(spec.protocol) | ({} if items is None else {parameter: items})
    conditions = spec.conditions
    if participants is not None:
        conditions = [one.model_copy(update={"participants": None}) for one in conditions]
    made = spec.model_copy(
        update={
            "protocol": protocol,
            "conditions": conditions,
            "participants": spec.participants if participants is None else participants,
        }
    )
    make_protocol(protocol).check(made)
    return made


def toy_study(spec: StudySpec) -> Study:
    """The design of a spec on made-up items of two classes, right and wrong in turn; it has no screens."""
    protocol = make_protocol(spec.protocol)
    items = tuple(_items(planning_of(spec).roles))
    material = Material(spec, "text", CLASS_NAMES, items)
    return Study(
        spec=spec,
        kind="text",
        class_names=CLASS_NAMES,
        items={item.id: item for item in items},
        phases={phase.key: phase for phase in protocol.phases(material)},
        rows=protocol.rows(material),
        screens={},
        hash="0" * 64,
    )


def _items(roles: Sequence[Role]) -> list[Item]:
    """As many items as the protocol would choose, dealt into groups by what the model says and whether it is right."""
    items: list[Item] = []
    for role in roles:
        strata = [(place // 2 % 2 == 0, place % 2) for place in range(role.items)]
        before = len(items)
        items += [
            _item(before + place + 1, role.name, right, prediction, group, flips=place // 4 % 2 == 0)
            for place, ((right, prediction), group) in enumerate(
                zip(strata, deal(strata, role.groups), strict=True)
            )
        ]
    return items


def _item(number: int, role: str, right: bool, prediction: int, group: int, *, flips: bool) -> Item:
    return Item(
        id=f"i{number:04d}",
        role=role,
        input=f"text {number}",
        label=prediction if right else 1 - prediction,
        prediction=prediction,
        group=group,
        variant=Variant(f"changed text {number}", (), 1 - prediction if flips else prediction),
    )


@dataclass(frozen=True)
class Question:
    """The comparison that the primary analysis makes for the first method.

    Attributes:
        protocol: the protocol's name.
        method: the condition that has the effect.
        reference: what it is compared with; None if its own Change is tested.
        comparisons: how many comparisons are corrected together.
        sessions: that everybody has, each with items of its own.
        unit: of effects: "points" of accuracy, or "hundredths of the score".
        within: whether people are compared with themselves.
    """

    protocol: str
    method: str
    reference: str | None
    comparisons: int
    unit: Literal["points", "hundredths of the score"]
    sessions: int = 1
    within: bool = field(default=False, metadata=NOT_WRITTEN)  # the protocol says it

    def asked(self, items: int) -> str:
        """A number of items in words."""
        if self.sessions == 1:
            return f"{items} items"
        return f"{items} items ({items // self.sessions} in each of {self.sessions} sessions)"

    def sized(self, effect: float) -> str:
        """An effect in words."""
        return f"{effect:.3g} points" if self.unit == "points" else f"{effect / 100:.2f} in the mean score"

    def to_words(self) -> str:
        """What is tested."""
        if self.reference is None:
            return f"the Change of {self.method}"
        where = ", within people" if self.within else ""
        return f"{self.method} against {self.reference}{where}"


def question_of(spec: StudySpec) -> Question:
    """What the primary analysis of a spec will ask."""
    name = spec.protocol["name"]
    planning = planning_of(spec)
    kinds = {condition.name: condition.kind for condition in spec.conditions}
    methods = [condition for condition, kind in kinds.items() if kind == "method"] or list(kinds)
    plain = [condition for condition, kind in kinds.items() if kind == "none"]
    controls = [condition for condition, kind in kinds.items() if kind == "control"]
    unit: Literal["points", "hundredths of the score"] = (
        "hundredths of the score" if planning.graded else "points"
    )
    if planning.compared == "between":
        reference = plain[0] if plain and len(kinds) > 1 else None
        method = next(condition for condition in methods if condition != reference)
        return Question(name, method, reference, len(kinds) - (reference is not None), unit)
    if len(kinds) < 2:
        raise VeraxError(
            f"The spec has one condition, {next(iter(kinds))!r}: there is nothing to compare it with; add a control."
        )
    # Without a control two methods are compared, which is what is asked then.
    references = plain + controls + methods[1:]
    method = next(condition for condition in methods if condition != references[0])
    everything = plain or planning.beside_control == "everything"
    compared = len(kinds) - 1 if everything else len(methods)
    return Question(
        name,
        method,
        references[0],
        compared if plain or controls else 1,
        unit,
        planning.sessions,
        within=True,
    )


# Of graded answers: the share that are sure.
SURE = 0.5


@dataclass(frozen=True)
class People:
    """How simulated people are.

    Attributes:
        accuracy: share of right answers without explanations; None is the protocol's default.
        between_people: standard deviation of their log-odds; what they gain differs in proportion.
        between_items: the same of items.
    """

    accuracy: float | None = None
    between_people: float = Spreads.person
    between_items: float = Spreads.item

    @classmethod
    def asked(cls, spec: PowerSpec) -> People:
        """As the options say; what they leave out is as usual."""
        given = {"between_people": spec.between_people, "between_items": spec.between_items}
        return cls(spec.accuracy, **{name: value for name, value in given.items() if value is not None})

    def spreads(self) -> Spreads:
        """All standard deviations: gains differ as much, for their size, as in the calibration."""
        if self.between_people < 0 or self.between_items < 0:
            raise VeraxError("How much people and items differ are standard deviations: give numbers from 0.")
        default = Spreads()
        gain = default.person_change if isinstance(default.person_change, float) else 0.3
        return Spreads(
            person=self.between_people,
            item=self.between_items,
            person_change=gain * self.between_people / default.person,
            item_change=default.item_change * self.between_items / default.item,
        )

    def right(self, planning: Planning) -> float:
        """Their accuracy without explanations."""
        return planning.accuracy if self.accuracy is None else self.accuracy


def values_of(drawn: Simulated, shown: IndexArray, method: int, planning: Planning) -> FloatArray:
    """The scores of simulated people: helped under the method, not helped under all other conditions.

    Args:
        drawn: answers without and with help to every item.
        shown: what is shown under which condition.
        method: the place of the condition that helps.
        planning: whether answers are graded, or right and wrong.
    """
    right = np.where(shown == method, drawn.post, drawn.pre)
    right = np.where(shown == NOT_SHOWN, np.nan, right)
    if not planning.graded:
        return right
    # How sure people are is drawn anew in every study, and the same for every effect, as are the people themselves.
    chance = np.random.default_rng(shown.size).random((2, *right.shape))
    worth = np.where(chance[0] < SURE, 1.0, 0.5)
    worth = np.where(chance[1] < planning.undecided, 0.0, worth)
    return np.asarray((2 * right - 1) * worth, dtype=np.float64)


def share_of(effect: float, planning: Planning) -> float:
    """An effect in points, or hundredths of the score, as a share of right answers."""
    if not planning.graded:
        return effect / 100
    worth = (1 - planning.undecided) * (SURE + 0.5 * (1 - SURE))
    return effect / 100 / (2 * worth)
