"""Protocols that are wrong in one way each, found as "toy_protocols:Dangling"."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from verax.studies.definition.screen import Screen
from verax.studies.definition.study import Briefing, DesignRow, OwnCells, Phase, Step
from verax.studies.display import stimulus
from verax.studies.items import pool
from verax.studies.protocol.contract import Protocol


class Toy(Protocol):
    """Looks at two items."""

    def items(self, source):
        found = pool.candidates(source, "test")
        return [pool.to_item(source, found, number, f"i{number}", "test") for number in range(2)]

    def phases(self, material):
        return (Phase("look", "Look", "test"),)

    def screens(self, material):
        return {item.id: Screen("Look", (stimulus.input_block(item),)) for item in material.items}

    def rows(self, material):
        return (DesignRow(0, material.spec.participants, OwnCells()),)

    def steps(self, study, row, seed):
        return tuple(Step("look", item, item) for item in study.items)

    def briefing(self, material, audience):
        return Briefing(("Look.",))

    def score(self, item, meaning):
        return 0.0


class Dangling(Toy):
    """Leads to a screen that is not there."""

    def steps(self, study, row, seed):
        return (Step("look", "i0", "i0"), Step("look", "i7", "i1"))


class Twins(Toy):
    """Calls two items the same."""

    def items(self, source):
        return [replace(item, id="i0") for item in super().items(source)]


class NoRows(Toy):
    """Has no design."""

    def rows(self, material):
        return ()


class Nobody(Toy):
    """Chooses nothing."""

    def items(self, source):
        return []


class Texts(Toy):
    """Works on texts only."""

    kinds: ClassVar[tuple[str, ...]] = ("text",)
