"""Tables on who took part in a study: losses by condition, people and answers over the design."""

from __future__ import annotations

from dataclasses import dataclass

from verax.results.tables import Table


@dataclass(frozen=True)
class Attrition(Table):
    """Losses by condition, with the test that they are alike.

    Attributes:
        p: None where there is nothing to test.
        test: its name.
    """

    p: float | None = None
    test: str = "none"


@dataclass(frozen=True)
class ItemAnswers:
    """How many scored answers the items of a condition got, the fewest and the most."""

    condition: str
    items: int
    answers: int
    fewest_per_item: int
    most_per_item: int


@dataclass(frozen=True)
class Balance(Table):
    """People per row of the design; and by condition, answers per item."""

    answers: tuple[ItemAnswers, ...] = ()
