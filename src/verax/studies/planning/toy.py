"""A study in the shape of its spec, with made-up items: for planning, before anything is built."""

from __future__ import annotations

from typing import Any

from verax.errors import VeraxError
from verax.studies.design.rows import deal
from verax.studies.model.item import Item, Variant
from verax.studies.model.sources import Material
from verax.studies.model.spec import StudySpec
from verax.studies.model.study import Study
from verax.studies.protocol.contract import make_protocol

CLASS_NAMES = ("first", "second")
# The parameter that says how many items are asked about, by protocol.
ITEMS = {
    "forward": "test",
    "counterfactual": "test",
    "reverse-turing": "evaluation",
    "model-choice": "test",
    "class-from-evidence": "test",
    "uncertain-case": "test",
}


def sized(spec: StudySpec, participants: int | None = None, items: int | None = None) -> StudySpec:
    """The spec with another number of participants for each row of the design, or of items."""
    name = spec.protocol["name"]
    if name not in ITEMS:
        raise VeraxError(
            f"The protocol {name!r} cannot be planned: its analysis is not known; these can: {', '.join(ITEMS)}."
        )
    protocol = dict(spec.protocol) | ({} if items is None else {ITEMS[name]: items})
    made = spec.model_copy(
        update={
            "protocol": protocol,
            "participants": spec.participants if participants is None else participants,
        }
    )
    make_protocol(protocol).check(made)
    return made


def toy_study(spec: StudySpec) -> Study:
    """The design of a spec on made-up items of two classes, right and wrong in turn; it has no screens."""
    protocol = make_protocol(spec.protocol)
    items = tuple(_items(spec, protocol))
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


def _items(spec: StudySpec, protocol: Any) -> list[Item]:
    """As many items as the protocol would choose, in its groups."""
    name = spec.protocol["name"]
    if name == "reverse-turing":
        groups = len(spec.conditions)
        made = _role("training", groups * protocol.training, groups, 0)
        return made + _role("evaluation", groups * protocol.evaluation, groups, len(made))
    if name == "forward":
        return _role("learning", protocol.learning, 1, 0) + _role("test", protocol.test, 1, protocol.learning)
    if name == "counterfactual":
        return _role("test", protocol.test, 1, 0)
    return _role("test", protocol.test, protocol.test // protocol.items_per_participant, 0)


def _role(role: str, count: int, groups: int, before: int) -> list[Item]:
    """The items of one role, dealt into groups by what the model says and whether it is right."""
    strata = [(place // 2 % 2 == 0, place % 2) for place in range(count)]
    return [
        _item(before + place + 1, role, right, prediction, group, flips=place // 4 % 2 == 0)
        for place, ((right, prediction), group) in enumerate(zip(strata, deal(strata, groups), strict=True))
    ]


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
