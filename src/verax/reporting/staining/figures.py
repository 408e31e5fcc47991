"""The figures of a staining report: whether the stains took, and recall against the number of features shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from verax.benchmarks.staining.findings import Pair
from verax.phrases import say as say_phrase
from verax.reporting.drawing import (
    INK,
    PALETTE,
    QUIET,
    Axes,
    Draw,
    Frame,
    Look,
    grid_svg,
    hover,
    inlined,
    looks,
    panel_svg,
    share_with_ends,
    shortened,
    spread,
)
from verax.stats import Estimate

say = partial(say_phrase, "staining")
FLOOR, CEILING = "random", "ground-truth"
# What a model is checked on: the stain's own labels, the labels that it covered, and the inputs it left alone.
CHECKS = {
    "stained_region": "check-stained-region",
    "original_region": "check-original-region",
    "outside": "check-outside",
}
# In parts of the axis.
LABEL_GAP = 0.078
LONGEST_LABEL = 20


def recall_panels(pairs: Sequence[Pair], names: Mapping[str, str], most: Sequence[float]) -> list[str]:
    """One inline SVG per pair, titled with its model.

    Args:
        pairs: of one dataset.
        names: explainers in order, with the label each is shown by.
        most: the highest recall that is possible at each budget.
    """
    styles = recall_looks(names)
    frame = recall_frame(names)
    return [
        inlined(
            panel_svg(
                partial(draw_recall, pair=pair, names=names, styles=styles, most=most, title=pair.model),
                frame,
            ),
            f"recall-{_slug(pair.dataset, pair.model)}",
            say("panel-recall", model=pair.model, dataset=pair.dataset),
        )
        for pair in pairs
    ]


def recall_figure(pairs: Sequence[Pair], names: Mapping[str, str], most: Sequence[float]) -> str:
    """All panels as one file: a dataset each row, a model each column."""
    styles = recall_looks(names)
    rows: dict[str, list[Draw]] = {}
    for pair in pairs:
        title = f"{pair.model}, {shortened(pair.dataset, 24)}"
        draw = partial(draw_recall, pair=pair, names=names, styles=styles, most=most, title=title)
        rows.setdefault(pair.dataset, []).append(draw)
    return grid_svg(list(rows.values()), recall_frame(names))


def recall_looks(names: Mapping[str, str]) -> dict[str, Look]:
    """Explainers in colours; the floor and the ceiling in grey and black, without markers."""
    styles = looks([name for name in names if name not in (FLOOR, CEILING)])
    styles[FLOOR] = Look(QUIET, (0, (1, 1.5)), "")
    styles[CEILING] = Look(INK, (0, (8, 3)), "")
    return styles


def recall_frame(names: Mapping[str, str]) -> Frame:
    """Room for the labels at the right, and for one line each."""
    widest = max((len(_label(label)) for label in names.values()), default=0)
    return Frame(right=24 + 6.0 * widest, width=250 + 6.0 * widest, height=max(215.0, 70 + 12.5 * len(names)))


def draw_recall(
    axes: Axes,
    pair: Pair,
    names: Mapping[str, str],
    styles: Mapping[str, Look],
    most: Sequence[float],
    title: str,
) -> None:
    """Lines with interval bands, from floor to ceiling, labelled where they end."""
    budgets = list(range(1, len(most) + 1))
    axes.set_title(shortened(title, 40))
    axes.plot(budgets, most, color=INK, linewidth=0.5)
    axes.text(
        0.98,
        0.02,
        say("panel-most", most=f"{100 * sum(most) / len(most):.0f}"),
        ha="right",
        va="bottom",
        fontsize=7,
        color=QUIET,
        transform=axes.transAxes,
    )
    shown = [name for name in names if name in pair.explainers]
    for name in shown:
        _draw_line(axes, budgets, pair.explainers[name].recall, styles[name])
        for budget, found in zip(budgets, pair.explainers[name].recall, strict=True):
            hover(axes, budget, found.mean, f"{names[name]}, b = {budget}: {share_with_ends(found)}")
    ends = [min(1.0, max(0.0, pair.explainers[name].recall[-1].mean)) for name in shown]
    for name, end, place in zip(shown, ends, spread(ends, LABEL_GAP, 0.0, 1.0), strict=True):
        _draw_label(axes, (budgets[-1], end), place, _label(names[name]), styles[name])
    if not shown:
        axes.text(
            0.5, 0.5, say("panel-empty"), ha="center", va="center", transform=axes.transAxes, color=QUIET
        )
    axes.set_xlim(budgets[0] - 0.3, budgets[-1])
    axes.set_ylim(-0.02, 1.02)
    axes.set_xticks([budget for budget in budgets if budget in (1, 2, 4, 6, 8, 10)])
    axes.set_yticks([0, 0.5, 1.0], ["0", "0.5", "1"])
    axes.set_xlabel(say("panel-features"))
    axes.set_ylabel(say("panel-share"), labelpad=2)


def _draw_line(axes: Axes, budgets: Sequence[int], estimates: Sequence[Estimate], look: Look) -> None:
    if all(estimate.low is not None for estimate in estimates):
        lows, highs = [estimate.low for estimate in estimates], [estimate.high for estimate in estimates]
        axes.fill_between(budgets, lows, highs, color=look.colour, alpha=0.13, linewidth=0)
    axes.plot(
        budgets,
        [estimate.mean for estimate in estimates],
        color=look.colour,
        linestyle=look.dash,
        linewidth=1.5,
        marker=look.marker or None,
        markersize=4,
        clip_on=False,
    )


def _draw_label(axes: Axes, end: tuple[float, float], place: float, label: str, look: Look) -> None:
    """The name beside the end of the line, joined to it, with the line's marker."""
    x, y = end
    style = {"color": look.colour, "clip_on": False}
    axes.plot([x + 0.08, x + 0.75], [y, place], linewidth=0.7, **style)
    axes.plot([x + 0.75, x + 1.35], [place, place], linestyle=look.dash, linewidth=1.5, **style)
    if look.marker:
        axes.plot([x + 1.05], [place], marker=look.marker, markersize=4, linewidth=0, **style)
    axes.text(x + 1.5, place, label, va="center_baseline", fontsize=10)


def _label(name: str) -> str:
    return shortened(name, LONGEST_LABEL)


def learnt_panels(pairs: Sequence[Pair], learnt: float) -> list[str]:
    """One inline SVG per check: stained models and unstained twins of one dataset."""
    frame = learnt_frame(pairs)
    return [
        inlined(
            panel_svg(partial(draw_learnt, pairs=pairs, check=check, learnt=learnt, title=say(title)), frame),
            f"took-{_slug(pairs[0].dataset, check)}",
            say("panel-accuracy", check=say(title)),
        )
        for check, title in CHECKS.items()
    ]


def learnt_figure(pairs: Sequence[Pair], learnt: float) -> str:
    """All panels as one file: a dataset each row, a check each column."""
    rows: dict[str, list[Pair]] = {}
    for pair in pairs:
        rows.setdefault(pair.dataset, []).append(pair)
    draws = [
        [
            partial(
                draw_learnt,
                pairs=row,
                check=check,
                learnt=learnt,
                title=say(title) if place else f"{dataset}: {say(title)}",
            )
            for place, (check, title) in enumerate(CHECKS.items())
        ]
        for dataset, row in rows.items()
    ]
    return grid_svg(draws, learnt_frame(pairs))


def learnt_frame(pairs: Sequence[Pair]) -> Frame:
    """Room for the models' names at the left, one line each."""
    widest = max(len(shortened(pair.model)) for pair in pairs)
    models = len({pair.model for pair in pairs})
    return Frame(width=240 + 6.2 * widest, left=14 + 6.2 * widest, right=14, height=62 + 22.0 * models)


def draw_learnt(axes: Axes, pairs: Sequence[Pair], check: str, learnt: float, title: str) -> None:
    """A dot with its interval for each stained model, a hollow square for its twin."""
    axes.set_title(shortened(title, 46))
    if check == "stained_region":
        axes.axvline(learnt, color=INK, linewidth=0.5)
    for place, pair in enumerate(pairs):
        took, twin = checked(pair, check)
        apart = 0.16 if twin else 0.0
        _draw_dot(axes, place - apart, took, Look(PALETTE[0], "-", "o"), PALETTE[0])
        _draw_dot(axes, place + apart, twin, Look(PALETTE[1], "-", "s"), "none")
        for estimate, where, what in (
            (took, place - apart, say("dot-stained")),
            (twin, place + apart, say("dot-twin")),
        ):
            if estimate:
                hover(axes, estimate.mean, where, f"{pair.model}, {what}: {share_with_ends(estimate)}")
    axes.set_yticks(range(len(pairs)), [shortened(pair.model) for pair in pairs])
    axes.set_ylim(len(pairs) - 0.4, -0.6)
    axes.set_xlim(-0.01, 1.01)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100%"])
    twins = any(checked(pair, check)[1] for pair in pairs)
    axes.set_xlabel(say("panel-twins", twins=twins))
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=QUIET, alpha=0.25, linewidth=0.5)
    axes.set_axisbelow(True)


def checked(pair: Pair, check: str) -> tuple[Estimate | None, Estimate | None]:
    """An accuracy of the stained model and of its twin, by its key in `CHECKS`; None where there is none."""
    took = pair.accuracies
    return getattr(took, check, None), getattr(took.twin if took else None, check, None)


def _draw_dot(axes: Axes, place: float, estimate: Estimate | None, look: Look, fill: str) -> None:
    if not estimate:
        return
    if estimate.low is not None:
        axes.plot([estimate.low, estimate.high], [place, place], color=look.colour, linewidth=1.5)
    # A white or dark ground under a hollow marker would not follow the page, so its bar shows through.
    axes.plot(
        [estimate.mean],
        [place],
        look.marker,
        markersize=5.5,
        color=look.colour,
        markerfacecolor=fill,
        clip_on=False,
    )


def _slug(dataset: str, name: str) -> str:
    """A name for ids: letters and digits, and a number that tells names apart which look alike without the rest."""
    import hashlib

    both = f"{dataset} {name}"
    kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in both)[:40]
    return f"{kept}-{hashlib.sha256(both.encode('utf-8', 'replace')).hexdigest()[:6]}"
