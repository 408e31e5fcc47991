"""Whether the primary analysis hangs on one item, on one participant, on who is counted, or on late answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verax.errors import VeraxError
from verax.stats import claims
from verax.stats.layout import lay_out
from verax.stats.responses import Responses
from verax.studies.analysis.base import Column, Table
from verax.studies.analysis.effects import Effects, interval, points
from verax.studies.analysis.pairs import as_responses
from verax.studies.analysis.words import in_words

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.claims import Items


@dataclass(frozen=True)
class Claim:
    """One estimate with its own interval, as shares; None where there is none."""

    estimate: float | None
    low: float | None
    high: float | None

    @property
    def sign(self) -> int:
        """1 or -1 where the interval excludes 0, else 0."""
        if self.low is None or self.high is None:
            return 0
        return int(self.low > 0) - int(self.high < 0)


def quick_claims(
    rows: Responses, names: Sequence[str], control: str | None, items: Items, level: float
) -> dict[str, Claim]:
    """The primary estimates and their intervals only: no permutations, no families."""
    parts = lay_out(rows).parts
    found: dict[str, Claim] = {}
    for name in names:
        try:
            place = rows.methods.index(name)
            one = (
                claims.change(parts, place, items)
                if control is None
                else claims.contrast(parts, place, rows.methods.index(control), items)
            )
        except (VeraxError, ValueError):  # nobody is left in the condition, or in the control
            found[name] = Claim(None, None, None)
            continue
        low, high = (None if np.isnan(end[0]) else float(end[0]) for end in one.interval(level))
        found[name] = Claim(float(one.estimate[0]), low, high)
    return found


def sensitivity(pairs: pd.DataFrame, intended: pd.DataFrame, found: Effects, level: float) -> dict[str, Any]:
    """The primary estimates in all variants, in points, as plain values.

    Args:
        pairs: of those analysed per protocol.
        intended: of everybody who answered.
        found: the primary analysis.
        level: coverage of the intervals.
    """
    names = list(found.primary)

    def claim(rows: Responses) -> dict[str, Claim]:
        if rows.missing == len(rows.post):
            return {name: Claim(None, None, None) for name in names}
        return quick_claims(rows, names, found.control, found.items, level)

    rows = as_responses(pairs)
    main = claim(rows)
    variants = {
        "as analysed": main,
        "everybody who answered (intention to treat)": claim(as_responses(intended)),
        "late answers left out": claim(_without(rows, pairs["late"].to_numpy(dtype=bool))),
    }
    return {
        "late_answers": int(pairs["late"].sum()),
        "variants": [
            {"variant": variant, "condition": name, **_plain(one), "turns": one.sign != main[name].sign}
            for variant, each in variants.items()
            for name, one in each.items()
        ],
        "leave_one_out": [
            {"left_out": what, "condition": name, **_range(name, main, left_out)}
            for what, codes, labels in (
                ("item", rows.item, rows.items),
                ("participant", rows.participant, rows.participants),
            )
            for left_out in [
                {str(label): claim(_without(rows, codes == n)) for n, label in enumerate(labels)}
            ]
            for name in names
        ],
    }


def _without(rows: Responses, gone: NDArray[np.bool_]) -> Responses:
    """The responses with some of them missing."""
    return replace(rows, post=np.where(gone, np.nan, rows.post))


def _plain(one: Claim) -> dict[str, Any]:
    return {"estimate": points(one.estimate), "interval": interval(one.low, one.high)}


def _range(name: str, main: dict[str, Claim], left_out: dict[str, dict[str, Claim]]) -> dict[str, Any]:
    """The lowest and highest estimate, and without which ones the interval's verdict is another."""
    known = {who: each[name] for who, each in left_out.items() if each[name].estimate is not None}
    estimates = [100 * (one.estimate or 0.0) for one in known.values()]
    turned = [who for who, one in known.items() if one.sign != main[name].sign]
    return {
        "estimate": points(main[name].estimate),
        "lowest": min(estimates) if estimates else None,
        "highest": max(estimates) if estimates else None,
        "tried": len(known),
        "turns": len(turned) > 0,
        "turned_by": turned[:10],
    }


def sensitivity_table(found: dict[str, Any]) -> Table:
    """All variants in one table."""
    rows = [
        {
            "condition": one["condition"],
            "variant": one["variant"],
            "estimate": one["estimate"],
            "interval": one["interval"],
            "turns": "yes" if one["turns"] else "no",
        }
        for one in found["variants"]
        if one["variant"] != "late answers left out" or found["late_answers"]
    ]
    for one in found["leave_one_out"]:
        rows.append(
            {
                "condition": one["condition"],
                "variant": f"each {one['left_out']} left out in turn: lowest and highest estimate",
                "estimate": one["estimate"],
                "interval": None if one["lowest"] is None else [one["lowest"], one["highest"]],
                "turns": f"without {in_words(one['turned_by'][:3])}" if one["turns"] else "no",
            }
        )
    order = list(dict.fromkeys(row["condition"] for row in rows))
    rows.sort(key=lambda row: order.index(row["condition"]))
    return Table(
        key="sensitivity",
        title="Does the primary analysis hang on single people, items or decisions?",
        columns=(
            Column("condition", "Condition", "text"),
            Column("variant", "Analysed", "text"),
            Column("estimate", "Estimate", "number", "points"),
            Column("interval", "95% interval, or range", "interval", "points"),
            Column("turns", "Conclusion turns", "text"),
        ),
        rows=tuple(rows),
        sentence=_sentence(found),
        notes=(
            "A conclusion turns where the interval of one line alone excludes 0 in one analysis and not in the other.",
        ),
    )


def _sentence(found: dict[str, Any]) -> str:
    late = found["late_answers"]
    turned = [one for one in found["variants"] if one["turns"] and (late or "late" not in one["variant"])]
    parts = [f"with {one['variant']} ({one['condition']})" for one in turned]
    for one in found["leave_one_out"]:
        if one["turns"]:
            parts.append(f"without a single {one['left_out']} ({one['condition']})")
    if parts:
        return f"Some conclusions turn {in_words(parts)}: they rest on little."
    return "No conclusion turns when one item or participant is left out, or when everybody who answered is counted."
