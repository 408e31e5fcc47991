"""Accuracy before and after explanations, as in the paper's Tables 1 and 2, and contrasts of conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verax.stats.crossed.between import changes
from verax.stats.crossed.result import Crossed
from verax.stats.responses import responses
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.between.effects import PRACTICE, Effects, interval, points, share_interval
from verax.studies.analysis.between.pairs import complete_pairs
from verax.studies.analysis.contract import Column, Table
from verax.text import counted, listed, signed

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.claims import Items

ALL = "all conditions"
CLAIMS = {
    "random": "about other people and other items like these",
    "fixed": "about other people on these very items (fewer than 16 items allow no more)",
}


def change_table(pairs: pd.DataFrame, found: Effects, where: str, asked: int) -> Table:
    """n, Pre, Post, Change, interval and p by condition; the first row is accuracy before explanations over all.

    Args:
        pairs: answers before and after.
        found: the estimates.
        where: which data and test, for the title.
        asked: how many items all these participants were asked, taken together.
    """
    both = complete_pairs(pairs)
    lacking = f" ({asked - len(both):,} of {asked:,} are not)" if len(both) < asked else ""
    rows = [_all(both, found.items), *(_row(name, both, one) for name, one in found.changes.items())]
    return Table(
        key="change",
        title=f"Change of accuracy, {where}",
        columns=(
            Column("condition", "Condition", "text"),
            Column("participants", "Participants", "count"),
            Column("n", "n", "count"),
            Column("pre", "Pre", "percent"),
            Column("pre_interval", "95% interval of Pre", "interval", "%"),
            Column("post", "Post", "percent"),
            Column("change", "Change", "number", "points"),
            Column("interval", "95% interval", "interval", "points"),
            Column("p", "p", "p"),
            Column("p_adjusted", "p, Holm", "p"),
            Column("detectable", "Found in 80% of studies", "number", "points"),
        ),
        rows=tuple(rows),
        sentence=_change_sentence(found),
        notes=tuple(
            dict.fromkeys(
                [
                    f"n counts items answered both before and after{lacking}; claims are {CLAIMS[found.items]}.",
                    *_warnings(found.changes),
                ]
            )
        ),
    )


def _all(both: pd.DataFrame, items: Items) -> dict[str, Any]:
    """The paper's row "User Avg.": before explanations all conditions are alike, so they are one group."""
    alike = responses(both["participant"], both["item"], ["all"] * len(both), both["pre"])
    (before,) = changes(alike, items)
    return {
        "condition": ALL,
        "participants": before.n_participants,
        "n": before.n_answers,
        "pre": before.estimate,
        "pre_interval": share_interval(before.low, before.high),
        "post": None,
        "change": None,
        "interval": None,
        "p": None,
        "p_adjusted": None,
        "detectable": None,
    }


def _row(name: str, both: pd.DataFrame, one: Crossed) -> dict[str, Any]:
    own = both[both["condition"] == name].groupby("participant")[["pre", "post"]].mean().mean()
    return {
        "key": f"{name}-change",
        "condition": name,
        "participants": one.n_participants,
        "n": one.n_answers,
        "pre": float(own["pre"]) if one.n_answers else None,
        "pre_interval": None,
        "post": float(own["post"]) if one.n_answers else None,
        "change": points(one.estimate),
        "interval": interval(one.low, one.high),
        "p": one.p,
        "p_adjusted": one.p_family,
        "detectable": points(one.detectable),
    }


def _change_sentence(found: Effects) -> str:
    clear = [name for name, one in found.changes.items() if one.verdict != "none"]
    parts = listed(
        [f"{signed(100 * (found.changes[name].estimate or 0.0))} points in {name}" for name in clear]
    )
    said = (
        f"Between the two rounds accuracy changed by {parts}."
        if clear
        else "In no condition did accuracy clearly change between the two rounds."
    )
    said = _untested(found.changes, said)
    if found.control is None:
        return f"{said} {PRACTICE}"
    return (
        f"{said} Change includes practice, also in {found.control}, where nothing was explained: what explanations add "
        "is in the contrasts."
    )


def contrast_table(found: Effects) -> Table:
    """Change of each condition minus that of the control: what explanations add to practice."""
    rows = tuple(_contrast(f"{name}-vs-{found.control}", name, one) for name, one in found.against.items())
    clear = {name: one for name, one in found.against.items() if one.verdict != "none"}
    sentence = _untested(
        found.against,
        f"Compared with {found.control}, where only practice could help, the change of accuracy was {_gains(clear)}."
        if clear
        else f"No condition's accuracy clearly changed more, or less, than that of {found.control}; the last column "
        "says how large an effect would have been found.",
    )
    return Table(
        key="contrast",
        title=f"Change compared with {found.control} (no explanation)",
        columns=_contrast_columns("p, Dunnett"),
        rows=rows,
        sentence=sentence,
        notes=(
            f"A difference is Post − Pre of the condition minus Post − Pre of {found.control}; participants are those "
            "of both.",
            f"Corrected by Dunnett's distribution for {counted(len(rows), 'comparison')} with one control. The "
            "permutation test exchanges the conditions of people (all ways if at most 5,000, else 9,999 draws) and "
            "takes the items as fixed.",
            *_warnings(found.against),
        ),
    )


def pairs_table(found: dict[tuple[str, str], Crossed], planned: int) -> Table:
    """Conditions compared with each other; the planned pairs are one family, the others another."""
    rows = tuple(
        _contrast(f"{first}-vs-{second}", f"{first} \N{MINUS SIGN} {second}", one)
        for (first, second), one in found.items()
    )
    clear = [pair for pair, one in found.items() if one.verdict != "none"]
    better = [pair if (found[pair].estimate or 0) > 0 else pair[::-1] for pair in clear]
    parts = listed([f"higher in {first} than in {second}" for first, second in better])
    sentence = _untested(
        {f"{first} against {second}": one for (first, second), one in found.items()},
        f"The change of accuracy was {parts}."
        if clear
        else "No two conditions clearly differ from each other.",
    )
    families = (
        f"The {counted(planned, 'planned pair')} and the other {len(found) - planned} are corrected apart, by Holm."
        if 0 < planned < len(found)
        else "Corrected by Holm for all pairs."
    )
    return Table(
        key="pairs",
        title="Conditions compared with each other",
        columns=_contrast_columns("p, Holm"),
        rows=rows,
        sentence=sentence,
        notes=(families, *_warnings({f"{a}-vs-{b}": one for (a, b), one in found.items()})),
    )


def _contrast_columns(corrected: str) -> tuple[Column, ...]:
    return (
        Column("condition", "Condition", "text"),
        Column("participants", "Participants", "count"),
        Column("difference", "Difference", "number", "points"),
        Column("interval", "95% interval", "interval", "points"),
        Column("simultaneous", "Simultaneous 95% interval", "interval", "points"),
        Column("p", "p", "p"),
        Column("p_adjusted", corrected, "p"),
        Column("p_permutation", "p, permutation", "p"),
        Column("detectable", "Found in 80% of studies", "number", "points"),
    )


def _contrast(key: str, title: str, one: Crossed) -> dict[str, Any]:
    return {
        "key": key,
        "condition": title,
        "participants": one.n_participants,
        "difference": points(one.estimate),
        "interval": interval(one.low, one.high),
        "simultaneous": interval(one.low_family, one.high_family),
        "p": one.p,
        "p_adjusted": one.p_family,
        "p_permutation": one.p_exact,
        "detectable": points(one.detectable),
    }


def _gains(clear: dict[str, Crossed]) -> str:
    return listed(
        [
            f"{abs(100 * (one.estimate or 0.0)):.1f} points {one.verdict} in {name}"
            for name, one in clear.items()
        ]
    )


def _untested(found: dict[str, Crossed], otherwise: str) -> str:
    """The sentence, with the lines that allow no claim taken out of it: that nothing was shown would be no news."""
    names = [name for name, one in found.items() if not one.enough]
    if not names:
        return otherwise
    why = "the answers are too few for a test, or do not vary"
    if len(names) == len(found):
        return f"Nothing is claimed: {why}."
    return f"{otherwise} Nothing is claimed of {listed(names)}: {why}."


def _warnings(found: dict[str, Crossed]) -> list[str]:
    """What the estimator says beside its claims, once each, with whose it is."""
    said: dict[str, list[str]] = {}
    for name, one in found.items():
        for warning in one.warnings:
            said.setdefault(warning, []).append(name)
    return [
        warning if len(names) == len(found) else f"{listed(names)}: {warning}"
        for warning, names in said.items()
    ]


def disagreement(ours: Crossed, estimate: float | None, p: float | None) -> str | None:
    """Why two estimators do not agree on one claim, or None if they do."""
    if ours.estimate is None or ours.se is None or estimate is None or p is None or ours.p is None:
        return None
    if abs(ours.estimate - estimate) > ours.se / 2:
        return f"{signed(100 * ours.estimate)} against {signed(100 * estimate)} points"
    if (ours.p <= ALPHA) != (p <= ALPHA):
        return f"p = {ours.p:.3f} against {p:.3f}"
    return None
