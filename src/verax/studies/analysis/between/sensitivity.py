"""Whether the primary analysis hangs on one item, on one participant, on who is counted, or on late answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verax.errors import VeraxError
from verax.stats.crossed import claims
from verax.stats.crossed.layout import lay_out
from verax.stats.responses import Responses
from verax.studies.analysis.between.effects import Effects, interval, points
from verax.studies.analysis.between.pairs import as_responses, complete_pairs
from verax.studies.analysis.contract import Column, Table
from verax.text import listed

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.claims import Items
    from verax.stats.crossed.result import Crossed


AS_ANALYSED = "as analysed"
ALONE = (
    "A conclusion turns where the interval of one line alone excludes 0 in one analysis and not in the other."
)


@dataclass(frozen=True)
class Claim:
    """One estimate with its own interval, as shares; None where there is none."""

    estimate: float | None
    low: float | None
    high: float | None

    def sign(self, widened: float) -> int:
        """1 or -1 where the interval, made so many times as wide, excludes 0, else 0."""
        if self.estimate is None or self.low is None or self.high is None:
            return 0
        margin = widened * (self.high - self.low) / 2
        return int(self.estimate - margin > 0) - int(self.estimate + margin < 0)


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
    wider = {name: _widened(one) for name, one in found.primary.items()}
    variants = {
        AS_ANALYSED: main,
        "everybody who answered (intention to treat)": claim(as_responses(intended)),
        "late answers left out": claim(_without(rows, pairs["late"].to_numpy(dtype=bool))),
    }
    stopped = intended["pre"].notna() & intended["post"].isna()
    if stopped.any():
        carried = intended.assign(post=intended["post"].fillna(intended["pre"]))
        variants["everybody, missing second answers as no change"] = claim(as_responses(carried))
    with_change = set(complete_pairs(intended)["participant"])
    return {
        "late_answers": int(pairs["late"].sum()),
        "turning": "A conclusion turns where the simultaneous interval, which counts all conditions, excludes 0 in one "
        "analysis and not in the other; the intervals shown are of one line alone.",
        "without_change": len(set(intended["participant"]) - with_change),
        "variants": [
            {
                "variant": variant,
                "condition": name,
                **_plain(one),
                "turns": found.primary[name].enough and one.sign(wider[name]) != main[name].sign(wider[name]),
            }
            for variant, each in variants.items()
            for name, one in each.items()
        ],
        "leave_one_out": [
            {
                "left_out": what,
                "condition": name,
                **_range(name, main, left_out if found.primary[name].enough else {}, wider[name]),
            }
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


def _widened(one: Crossed) -> float:
    """How much wider the interval is that holds together with the other conditions': conclusions are drawn from it."""
    ends = (one.low, one.high, one.low_family, one.high_family)
    if None in ends or one.low == one.high:
        return 1.0
    low, high, low_family, high_family = (end or 0.0 for end in ends)
    return (high_family - low_family) / (high - low)


def _range(
    name: str, main: dict[str, Claim], left_out: dict[str, dict[str, Claim]], wider: float
) -> dict[str, Any]:
    """The lowest and highest estimate, and without which ones the interval's verdict is another."""
    known = {who: each[name] for who, each in left_out.items() if each[name].estimate is not None}
    estimates = [100 * (one.estimate or 0.0) for one in known.values()]
    turned = [who for who, one in known.items() if one.sign(wider) != main[name].sign(wider)]
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
    compared = any(one["variant"] == AS_ANALYSED for one in found["variants"])
    rows = [
        {
            "condition": one["condition"],
            "variant": one["variant"],
            "estimate": one["estimate"],
            "interval": one["interval"],
            "turns": ("yes" if one["turns"] else "no") if one["variant"] != AS_ANALYSED and compared else "",
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
                "turns": f"without {listed(one['turned_by'][:3])}" if one["turns"] else "no",
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
            found.get("turning", ALONE),
            *_without_change(found.get("without_change", 0)),
        ),
    )


def _without_change(many: int) -> tuple[str, ...]:
    """Who is not even in the analysis of everybody."""
    if not many:
        return ()
    who = "1 participant" if many == 1 else f"{many:,} participants"
    return (
        f"{who} answered no item in both rounds and {'has' if many == 1 else 'have'} no change: counted only where "
        "missing second answers are no change.",
    )


def _sentence(found: dict[str, Any]) -> str:
    if not any(one["variant"] == AS_ANALYSED for one in found["variants"]):
        return (
            "Nobody is analysed per protocol: there is nothing that these estimates could be compared with."
        )
    late = found["late_answers"]
    turned: dict[str, list[str]] = {}
    for one in found["variants"]:
        if one["turns"] and (late or "late" not in one["variant"]):
            turned.setdefault(f"with {one['variant']}", []).append(one["condition"])
    for one in found["leave_one_out"]:
        if one["turns"]:
            turned.setdefault(f"when one {one['left_out']} is left out", []).append(one["condition"])
    if turned:
        parts = listed([f"{how} ({listed(names)})" for how, names in turned.items()])
        return f"Some conclusions turn {parts}: they rest on little."
    if found["leave_one_out"] and all(one["lowest"] is None for one in found["leave_one_out"]):
        return "Nothing is claimed, so no conclusion can turn."
    return "No conclusion turns when one item or participant is left out, or when everybody who answered is counted."
