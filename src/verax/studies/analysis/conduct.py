"""How people were treated, in sentences: what a reader must know to judge whether the form bent the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verax.studies.design.answer_order import order_count
from verax.studies.protocol.findings import Analysed

if TYPE_CHECKING:
    import pandas as pd


def conduct(data: Analysed, screening: str) -> tuple[str, ...]:
    """One paragraph for each matter; that on the screening test is given."""
    return tuple(said for said in (answer_orders(data), screening) if said)


def answer_orders(data: Analysed) -> str:
    """In which order answers stood, and how evenly the orders are spread over those who are analysed."""
    orders = order_count(data.study)
    if orders == 1:
        return "Answers stood in the same order on everybody's pages."
    what = (
        "classes in the one order or its reverse, scales from the one end or the other"
        if orders == 2
        else f"{orders} orders of the classes, scales from the one end or the other"
    )
    said = f"The order of answers was counterbalanced between participants ({what})"
    people = data.participants[data.participants["answer_order"].notna()]
    if people.empty:
        return f"{said}."
    return f"{said}; among those analysed {_spread(people, orders)}."


def _spread(people: pd.DataFrame, orders: int) -> str:
    named = people["condition"].notna().all()
    groups = people["condition"] if named else people["answer_order"] * 0
    apart = 0
    for _, group in people.groupby(groups)["answer_order"]:
        counts = group.value_counts().reindex(range(orders), fill_value=0)
        apart = max(apart, int(counts.max() - counts.min()))
    where = "within each condition" if named else "over all of them"
    return (
        f"the orders differ by at most {apart} in number {where}" if apart else f"they are as often {where}"
    )
