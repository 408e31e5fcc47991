"""Accuracy before and after explanations: tables, figures, and the cross-check by the linear mixed model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from verax.phrases import say as say_phrase
from verax.results.figures import Bars, Distribution, Figure, Interval, Intervals, Shares, series
from verax.results.tables import (
    Source,
    Sources,
    Table,
    Value,
    build_table,
    count,
    interval,
    number,
    p_value,
    share,
    text,
)
from verax.results.units import PERCENT, POINTS, Ends
from verax.stats.crossed.between import changes
from verax.stats.crossed.result import Crossed
from verax.stats.estimate import Effect
from verax.stats.hase2020 import Changes
from verax.stats.mixed.linear import linear_changes, linear_contrasts
from verax.stats.responses import responses
from verax.stats.thresholds import ALPHA
from verax.studies.analysis.between.effects import Effects, as_responses, complete_pairs
from verax.studies.analysis.primary import NamedClaim, share_ends, untested, warnings_of
from verax.text import MINUS, signed

if TYPE_CHECKING:
    import pandas as pd

    from verax.stats.crossed.claims import Items


say = partial(say_phrase, "analysis")
say_table = partial(say_phrase, "study-tables")
ALL = "all conditions"


@dataclass(frozen=True)
class _ChangeRow:
    """Accuracy before and after in one condition; over all conditions there is no change."""

    condition: str
    participants: int
    n: int
    pre: float | None
    pre_ends: Ends = None
    post: float | None = None
    change: Crossed | None = None

    @property
    def key(self) -> str | None:
        return None if self.change is None else f"{self.condition}-change"


def change_table(pairs: pd.DataFrame, effects: Effects, where: str, asked: int) -> Table:
    """n, Pre, Post, Change, interval and p by condition; the first row is accuracy before explanations over all.

    Args:
        pairs: answers before and after.
        effects: the estimates.
        where: which data and test, for the title.
        asked: how many items all these participants were asked, taken together.
    """
    both = complete_pairs(pairs)
    sources: Sources[_ChangeRow] = (
        Source("key", lambda line: line.key),
        text("condition", say_table("column-condition"), lambda line: line.condition),
        count("participants", say_table("column-participants"), lambda line: line.participants),
        count("n", "n", lambda line: line.n),
        share("pre", say_table("column-pre"), lambda line: line.pre),
        interval("pre_interval", say_table("column-interval-of-pre"), lambda line: line.pre_ends, PERCENT),
        share("post", say_table("column-post"), lambda line: line.post),
        number(
            "change",
            say_table("column-change"),
            _if_changed(lambda change: POINTS.of(change.estimate)),
            POINTS,
        ),
        interval(
            "interval",
            say_table("column-interval"),
            _if_changed(lambda change: POINTS.interval(change.low, change.high)),
            POINTS,
        ),
        p_value("p", "p", _if_changed(lambda change: change.p)),
        p_value("p_adjusted", say_table("column-p-holm"), _if_changed(lambda change: change.p_family)),
        number(
            "detectable",
            say_table("column-detectable"),
            _if_changed(lambda change: POINTS.of(change.detectable)),
            POINTS,
        ),
    )
    return build_table(
        "change",
        say_table("change", where=where),
        [_all(both, effects.items), *(_line(name, both, change) for name, change in effects.changes.items())],
        sources,
        _change_sentence(effects),
        dict.fromkeys(
            [
                say_table("change-n", lacking=asked - len(both), asked=asked, items=effects.items),
                *warnings_of(effects.changes),
            ]
        ),
    )


def _if_changed(value: Callable[[Crossed], Value]) -> Callable[[_ChangeRow], Value]:
    return lambda line: None if line.change is None else value(line.change)


def _all(both: pd.DataFrame, items: Items) -> _ChangeRow:
    """The paper's row "User Avg.": before explanations all conditions are alike, so they are one group."""
    alike = responses(both["participant"], both["item"], ["all"] * len(both), both["pre"])
    (before,) = changes(alike, items)
    return _ChangeRow(ALL, before.n_participants, before.n_answers, before.estimate, share_ends(before))


def _line(name: str, both: pd.DataFrame, change: Crossed) -> _ChangeRow:
    own = both[both["condition"] == name].groupby("participant")[["pre", "post"]].mean().mean()
    pre, post = (float(own[phase]) if change.n_answers else None for phase in ("pre", "post"))
    return _ChangeRow(name, change.n_participants, change.n_answers, pre, post=post, change=change)


def _change_sentence(effects: Effects) -> str:
    clear = [
        say("changed-part", size=POINTS.said(100 * (change.estimate or 0.0)), condition=name)
        for name, change in effects.changes.items()
        if change.verdict != "none"
    ]
    said = untested(effects.changes, say("rounds-changed", parts=clear) if clear else say("rounds-unchanged"))
    if effects.control is None:
        return f"{said} {say('practice')}"
    return f"{said} {say('practice-in-control', control=effects.control)}"


def contrast_table(effects: Effects) -> Table:
    """Change of each condition minus that of the control: what explanations add to practice."""
    control, against = str(effects.control), effects.against
    lines = [NamedClaim(name, claim, f"{name}-vs-{control}") for name, claim in against.items()]
    clear = [
        say(
            "contrast-part",
            size=f"{abs(100 * (claim.estimate or 0.0)):.1f}",
            side=claim.verdict,
            condition=name,
        )
        for name, claim in against.items()
        if claim.verdict != "none"
    ]
    sentence = untested(
        against,
        say("contrast-clear", control=control, parts=clear)
        if clear
        else say("contrast-unclear", control=control),
    )
    return build_table(
        "contrast",
        say_table("contrast", control=control),
        lines,
        _contrast(say_table("column-p-dunnett")),
        sentence,
        [
            say_table("contrast-difference", control=control),
            say_table("contrast-corrected", comparisons=effects.family),
            *warnings_of(against),
        ],
    )


def pairs_table(claims: Mapping[tuple[str, str], Crossed], planned: int) -> Table:
    """Conditions compared with each other; the planned pairs are one family, the others another."""
    lines = [
        NamedClaim(f"{first} {MINUS} {second}", claim, f"{first}-vs-{second}")
        for (first, second), claim in claims.items()
    ]
    clear = {pair: claim.estimate or 0 for pair, claim in claims.items() if claim.verdict != "none"}
    better = [pair if estimate > 0 else pair[::-1] for pair, estimate in clear.items()]
    parts = [say("pair-part", more=first, fewer=second) for first, second in better]
    sentence = untested(
        {say("against", condition=one, reference=other): claim for (one, other), claim in claims.items()},
        say("pairs-clear", parts=parts) if clear else say("pairs-unclear"),
    )
    families = (
        say("families-apart", planned=planned, others=len(claims) - planned)
        if 0 < planned < len(claims)
        else say("families-together")
    )
    return build_table(
        "pairs",
        say_table("pairs"),
        lines,
        _contrast(say_table("column-p-holm")),
        sentence,
        [families, *warnings_of({f"{a}-vs-{b}": claim for (a, b), claim in claims.items()})],
    )


def _contrast(corrected: str) -> Sources[NamedClaim]:
    """The columns of a difference of changes."""
    return (
        Source("key", lambda line: line.key),
        text("condition", say_table("column-condition"), lambda line: line.name),
        count("participants", say_table("column-participants"), lambda line: line.claim.n_participants),
        number(
            "difference", say_table("column-difference"), lambda line: POINTS.of(line.claim.estimate), POINTS
        ),
        interval(
            "interval",
            say_table("column-interval"),
            lambda line: POINTS.interval(line.claim.low, line.claim.high),
            POINTS,
        ),
        interval(
            "simultaneous",
            say_table("column-simultaneous"),
            lambda line: POINTS.interval(line.claim.low_family, line.claim.high_family),
            POINTS,
        ),
        p_value("p", "p", lambda line: line.claim.p),
        p_value("p_adjusted", corrected, lambda line: line.claim.p_family),
        p_value("p_permutation", say_table("column-p-permutation"), lambda line: line.claim.p_exact),
        number(
            "detectable",
            say_table("column-detectable"),
            lambda line: POINTS.of(line.claim.detectable),
            POINTS,
        ),
    )


def disagreement(ours: Crossed, estimate: float | None, p: float | None) -> str | None:
    """Why two estimators do not agree on one claim, or None if they do."""
    if ours.estimate is None or ours.se is None or estimate is None or p is None or ours.p is None:
        return None
    if abs(ours.estimate - estimate) > ours.se / 2:
        return say_table("differs-in-size", ours=signed(100 * ours.estimate), other=signed(100 * estimate))
    if (ours.p <= ALPHA) != (p <= ALPHA):
        return say_table("differs-in-p", ours=f"{ours.p:.3f}", other=f"{p:.3f}")
    return None


def change_figure(effects: Effects, published: Changes | None) -> Figure:
    """Change by condition: the crossed estimator, and the published procedure beside it."""
    groups = {"crossed": effects.changes.items()} | (
        {}
        if published is None
        else {
            say_table("group-reproduction"): [(str(line.method), line.change) for line in published.methods]
        }
    )
    rows = tuple(
        Interval(name, POINTS.of(change.estimate), POINTS.of(change.low), POINTS.of(change.high), group)
        for group, lines in groups.items()
        for name, change in lines
    )
    return Figure(
        "change",
        say_table("figure-change"),
        Intervals(say_table("figure-change-axis"), 0, rows),
        say_table("figure-change-says"),
    )


def accuracy_figure(pairs: pd.DataFrame, effects: Effects) -> Figure:
    """Accuracy before and after, by condition, with intervals."""
    both = complete_pairs(pairs)
    bars = []
    for label, phase in ((say_table("group-before"), "pre"), (say_table("group-after"), "post")):
        rows = as_responses(both, only=phase)
        by_name = dict(zip(rows.methods, changes(rows, effects.items), strict=True))
        shares = [by_name[name] for name in effects.changes]
        ends = [share_ends(accuracy) for accuracy in shares]
        bars.append(series(label, [PERCENT.of(accuracy.estimate) for accuracy in shares], ends))
    return Figure(
        "accuracy",
        say_table("figure-before-after"),
        Bars(say_table("figure-before-after-axis"), tuple(effects.changes), tuple(bars)),
        say_table("figure-before-after-says"),
    )


def ratings_figure(rated: pd.DataFrame, order: tuple[str, ...], scale: int) -> Figure:
    """How often each rating was given, by condition."""
    levels = range(1, scale + 1)
    by_name = {name: rated.loc[rated["condition"] == name, "rating"] for name in order}
    rows = tuple(
        Shares(name, tuple(float((own == level).mean()) for level in levels))
        for name, own in by_name.items()
        if len(own)
    )
    return Figure(
        "ratings",
        say_table("figure-ratings"),
        Distribution(say_table("figure-ratings-axis"), tuple(str(level) for level in levels), rows),
        say_table("figure-ratings-says"),
    )


def mixed_effects(pairs: pd.DataFrame, effects: Effects, level: float) -> dict[str, Effect]:
    """The claims of the primary analysis by the mixed model, by condition."""
    rows = as_responses(pairs)
    names = list(effects.primary)
    if effects.control is not None:
        fitted = linear_contrasts(rows, [(name, effects.control) for name in names], level)
        return dict(zip(names, fitted, strict=True))
    by_method = dict(zip(rows.methods, linear_changes(rows, level), strict=True))
    return {name: by_method[name] for name in names}


def disagreements(effects: Effects, mixed: dict[str, Effect]) -> dict[str, str]:
    """By condition, where the two ways do not agree."""
    said = {
        name: disagreement(claim, mixed[name].estimate, mixed[name].p)
        for name, claim in effects.primary.items()
    }
    return {name: why for name, why in said.items() if why is not None}


@dataclass(frozen=True)
class _CrossCheckRow:
    condition: str
    crossed: Crossed
    mixed: Effect


def cross_check_table(effects: Effects, mixed: dict[str, Effect]) -> Table:
    """Both estimates of the primary analysis side by side."""
    lines = [_CrossCheckRow(name, claim, mixed[name]) for name, claim in effects.primary.items()]
    about_items = (say_table("mixed-items"),) if effects.items == "fixed" else ()
    sources: Sources[_CrossCheckRow] = (
        text("condition", say_table("column-condition"), lambda line: line.condition),
        number("crossed", say_table("column-crossed"), lambda line: POINTS.of(line.crossed.estimate), POINTS),
        interval("crossed_interval", say_table("column-interval"), lambda line: _ends(line.crossed), POINTS),
        p_value("crossed_p", "p", lambda line: line.crossed.p),
        number(
            "mixed",
            say_table("column-linear-mixed-model"),
            lambda line: POINTS.of(line.mixed.estimate),
            POINTS,
        ),
        interval("mixed_interval", say_table("column-interval"), lambda line: _ends(line.mixed), POINTS),
        p_value("mixed_p", "p", lambda line: line.mixed.p),
    )
    return build_table(
        "cross-check",
        say_table("cross-check"),
        lines,
        sources,
        _sentence(disagreements(effects, mixed))
        if any(line.crossed.p is not None and line.mixed.p is not None for line in lines)
        else say_table("mixed-no-test"),
        [
            say_table("mixed-p"),
            say_table("mixed-variances"),
            *about_items,
            *dict.fromkeys(warning for effect in mixed.values() for warning in effect.warnings),
        ],
    )


def _ends(effect: Crossed | Effect) -> Ends:
    return POINTS.interval(effect.low, effect.high)


def _sentence(apart: dict[str, str]) -> str:
    if not apart:
        return say_table("mixed-agrees")
    parts = [say("mixed-disagrees-part", condition=name, why=why) for name, why in apart.items()]
    return say_table("mixed-does-not", parts=parts)
