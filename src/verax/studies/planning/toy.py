"""A study in the shape of its spec, with made-up items: for planning, before anything is built."""

from __future__ import annotations

from collections.abc import Sequence

from verax.errors import VeraxError
from verax.studies.design.rows import deal
from verax.studies.model.item import Item, Variant
from verax.studies.model.sources import Material
from verax.studies.model.spec import StudySpec
from verax.studies.model.study import Study
from verax.studies.protocol.contract import Protocol, make_protocol, protocols
from verax.studies.protocol.planning import Planning, Role

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
