"""Made-up items and explanations, for tests of protocols: nothing is loaded or trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verax.data.words import split_words
from verax.explain.explanation import Attribution
from verax.studies.model.item import Item, Variant
from verax.studies.model.sources import Material
from verax.studies.model.spec_file import make_study_spec

# Words of no language, so that none of them can stand in an instruction by chance.
CLASS_NAMES = ("zorbic", "plenkish", "quadrile", "vurmal", "drosty", "hembril")
WORDS = ("blarn", "crell", "dravin", "fropple", "glint", "hast", "jorrow", "kreb", "mulp", "nosk")


def sample_material(
    protocol: Mapping[str, Any],
    roles: Mapping[str, int],
    *,
    kind: str = "text",
    classes: int = 2,
    groups: int = 1,
    conditions: Sequence[Mapping[str, Any]] = (
        {"name": "plain"},
        {"name": "method", "explainer": "lime"},
        {"name": "control", "like": "method"},
    ),
    options: Mapping[str, Any] | None = None,
) -> Material:
    """Made-up items and explanations, balanced over (prediction, right or wrong); nothing is trained.

    Args:
        protocol: the ``[protocol]`` table of a spec.
        roles: how many items each role has in each group.
        kind: "text" or "table".
        classes: how many there are, at most six.
        groups: item groups, or blocks.
        conditions: as in a spec.
        options: further entries of the spec.
    """
    spec = make_study_spec(
        {
            "title": "A study",
            "dataset": "made-up",
            "protocol": dict(protocol),
            "conditions": [dict(condition) for condition in conditions],
            **(options or {}),
        }
    )
    items: list[Item] = []
    for role, count in roles.items():
        for group in range(groups):
            for place in range(count):
                items.append(_item(len(items) + 1, role, group, place, kind, classes))
    explanations = {
        (item.id, condition.name, model): _attribution(item, number, model)
        for item in items
        for number, condition in enumerate(spec.conditions)
        if condition.kind != "none"
        for model in ("model", "worse")
    }
    edges = {condition.name: (0.2, 0.4, 0.6) for condition in spec.conditions if condition.kind != "none"}
    return Material(spec, kind, CLASS_NAMES[:classes], tuple(items), explanations, edges)


def _item(number: int, role: str, group: int, place: int, kind: str, classes: int) -> Item:
    """The places of a role run through all cells in turn, and flips through twice as many."""
    prediction = place % classes
    right = place // classes % 2 == 0
    flips = place // (2 * classes) % 2 == 0
    rest = 0.4 / (classes - 1)
    shown, changed = _inputs(number, kind)
    return Item(
        id=f"i{number:03d}",
        role=role,
        input=shown,
        label=prediction if right else (prediction + 1) % classes,
        prediction=prediction,
        probabilities=tuple(0.6 if number == prediction else rest for number in range(classes)),
        group=group,
        variant=Variant(*changed, (prediction + 1) % classes if flips else prediction),
        worse=tuple(0.5 if number == prediction else 0.5 / (classes - 1) for number in range(classes)),
    )


def _inputs(number: int, kind: str) -> tuple[Any, tuple[Any, Any]]:
    """An input that no other item has, and a version in which its second part is changed."""
    words = [WORDS[(number + step) % len(WORDS)] for step in range(4)] + [f"{WORDS[0]}{number}"]
    if kind == "text":
        start = len(words[0]) + 1
        changed = " ".join([words[0], "snerk", *words[2:]])
        return " ".join(words), (changed, ((start, start + len("snerk")),))
    row = tuple((f"column {place}", word) for place, word in enumerate(words))
    return row, ((row[0], (row[1][0], "snerk"), *row[2:]), (1,))


def _attribution(item: Item, number: int, model: str) -> Attribution:
    """Scores of both signs, which differ between conditions and between models."""
    features = (
        split_words(item.input).distinct
        if isinstance(item.input, str)
        else [column for column, _ in item.input]
    )
    scores = np.array([0.9, -0.7, 0.5, -0.3, 0.1])
    shown = (
        item.input
        if isinstance(item.input, str)
        else tuple(f"{name} = {value}" for name, value in item.input)
    )
    return Attribution(
        tuple(features), np.roll(scores, number + (model == "worse")), item.prediction, input=shown
    )
