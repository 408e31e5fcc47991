"""The figures of a verification's report: misranked inputs, and heat maps of rankings as in the paper's Figure 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from verax.benchmarks.rationale.findings import PUBLISHED, STRICT, Group, RationaleSummary
from verax.benchmarks.rationale.plan import CEILING
from verax.benchmarks.rationale.run import ShownInput
from verax.data.words import split_words
from verax.phrases import say as say_phrase
from verax.reporting.drawing import (
    INK,
    QUIET,
    Axes,
    Frame,
    Look,
    grid_svg,
    hover,
    inlined,
    looks,
    panel_svg,
    share_with_ends,
    shortened,
)
from verax.reporting.rationale.verdict import has_strict, place
from verax.results.findings import FLOOR

say = partial(say_phrase, "rationale")
TITLES = {STRICT: "panel-strict", PUBLISHED: "panel-published"}


def error_panels(summary: RationaleSummary, names: Mapping[str, str]) -> list[str]:
    """One inline SVG per group and set: a row per explainer, a dot per target, the mean with its interval."""
    return [
        inlined(
            panel_svg(
                partial(draw_errors, group=group, kind=kind, summary=summary, names=names),
                _frame(group, kind, names),
            ),
            f"errors-{number}-{kind}",
            say("panel-errors", place=place(group), inputs=say(TITLES[kind])),
        )
        for number, group in enumerate(summary.groups)
        for kind in TITLES
        if group.sets[kind].explainers
    ]


def error_figure(summary: RationaleSummary, names: Mapping[str, str]) -> str | None:
    """All panels as one file: a group each row."""
    draws = [
        [
            partial(draw_errors, group=group, kind=kind, summary=summary, names=names)
            for kind in TITLES
            if group.sets[kind].explainers
        ]
        for group in summary.groups
    ]
    draws = [row for row in draws if row]
    if not draws:
        return None
    return grid_svg(draws, _frame(summary.groups[0], PUBLISHED, names))


def _frame(group: Group, kind: str, names: Mapping[str, str]) -> Frame:
    shown = [names[label] for label in names if label in group.sets[kind].explainers] or list(names.values())
    widest = max(len(shortened(name)) for name in shown)
    return Frame(width=260 + 6.2 * widest, left=14 + 6.2 * widest, right=14, height=64 + 20.0 * len(shown))


def draw_errors(
    axes: Axes, group: Group, kind: str, summary: RationaleSummary, names: Mapping[str, str]
) -> None:
    """Small dots are targets, the large one their mean, the bar its interval."""
    found = group.sets[kind]
    labels = [label for label in summary.explainers if label in found.explainers]
    targets = [
        target.sets[kind]
        for target in summary.targets
        if (target.dataset, target.difficulty) == (group.dataset, group.difficulty)
        and target.sets[kind].inputs
    ]
    styles = _looks(labels)
    for row, label in enumerate(labels):
        look, mean = styles[label], found.explainers[label].misranked
        for target in targets:
            axes.plot(
                [100 * target.explainers[label].scored.misranked.mean], [row],
                marker="o", markersize=3, color=look.colour, alpha=0.6, linewidth=0, clip_on=False,
            )  # fmt: skip
        if mean.low is not None and mean.high is not None:
            reach = [max(0.0, 100 * mean.low), min(100.0, 100 * mean.high)]
            axes.plot(reach, [row, row], color=look.colour, linewidth=1.5)
        axes.plot([100 * mean.mean], [row], marker=look.marker or "o", markersize=7, color=look.colour, linewidth=0,
                  clip_on=False)  # fmt: skip
        hover(axes, 100 * mean.mean, row, f"{names[label]}: {share_with_ends(mean)}")
    axes.set_title(shortened(_title(group, kind), 52))
    axes.set_yticks(range(len(labels)), [shortened(names[label]) for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(-1, 101)
    axes.set_xlabel(say("panel-errors-axis"))


def tau_panels(summary: RationaleSummary, names: Mapping[str, str]) -> list[str]:
    """One inline SVG per group: the share of misranked strict inputs (all, where none is strict) against tau."""
    return [
        inlined(
            panel_svg(partial(draw_taus, group=group, summary=summary, names=names), _tau_frame(names)),
            f"tau-{number}",
            say("panel-tau", place=place(group)),
        )
        for number, group in enumerate(summary.groups)
        if group.sets[PUBLISHED].explainers
    ]


def _tau_frame(names: Mapping[str, str]) -> Frame:
    widest = max(len(shortened(name)) for name in names.values())
    return Frame(width=250 + 6.2 * widest, right=18 + 6.2 * widest, height=max(215.0, 70 + 13.0 * len(names)))


def draw_taus(axes: Axes, group: Group, summary: RationaleSummary, names: Mapping[str, str]) -> None:
    """A line per explainer: the mean over targets."""
    kind = STRICT if has_strict(summary, group) else PUBLISHED
    targets = [
        target.sets[kind]
        for target in summary.targets
        if (target.dataset, target.difficulty) == (group.dataset, group.difficulty)
        and target.sets[kind].inputs
    ]
    labels = [label for label in summary.explainers if label in group.sets[kind].explainers]
    styles = _looks(labels)
    ends = {}
    for label in labels:
        curves = [target.explainers[label].curve for target in targets]
        length = min(len(curve) for curve in curves)
        taus = [point.tau for point in curves[0][:length]]
        means = [100 * sum(curve[step].misranked for curve in curves) / len(curves) for step in range(length)]
        look = styles[label]
        axes.plot(taus, means, color=look.colour, linestyle=look.dash, marker=look.marker or None, markersize=4,
                  linewidth=1.5, clip_on=False)  # fmt: skip
        ends[label] = (taus[-1], means[-1])
        for tau, mean in zip(taus, means, strict=True):
            hover(axes, tau, mean, f"{names[label]}, tau {tau:g}: {mean:.1f} %")
    _label_ends(axes, ends, names, styles)
    axes.set_title(shortened(_title(group, kind), 52))
    axes.set_ylim(-2, 102)
    axes.set_xlabel("tau")
    axes.set_ylabel(say("panel-tau-axis"), labelpad=2)


def _label_ends(
    axes: Axes, ends: Mapping[str, tuple[float, float]], names: Mapping[str, str], styles: Mapping[str, Look]
) -> None:
    from verax.reporting.drawing import spread

    places = spread([end[1] for end in ends.values()], 9.0, 0.0, 100.0)
    for (label, (x, _)), height in zip(ends.items(), places, strict=True):
        axes.annotate(shortened(names[label]), (x, height), (8, 0), textcoords="offset points", va="center",
                      color=styles[label].colour, annotation_clip=False)  # fmt: skip


def _looks(labels: Sequence[str]) -> dict[str, Look]:
    styles = looks([label for label in labels if label not in (FLOOR, CEILING)])
    return styles | {FLOOR: Look(QUIET, (0, (1, 1.5)), ""), CEILING: Look(INK, (0, (8, 3)), "")}


def _title(group: Group, kind: str) -> str:
    return say(
        "panel-title",
        dataset=group.dataset,
        difficulty=group.difficulty or "none",
        inputs=say(TITLES[kind]),
    )


# So many of the first words are coloured, the intensity falling linearly, and so many are listed.
COLOURED, LISTED = 10, 5


@dataclass(frozen=True)
class Word:
    """A piece of a text: a word, or what stands between words.

    Attributes:
        text: as written.
        level: 10 for the first word of the ranking down to 1 for the tenth; 0 for all others.
        selected: whether the target selects it.
        relevant: whether it is clearly relevant.
    """

    text: str
    level: int = 0
    selected: bool = False
    relevant: bool = False

    @property
    def first(self) -> bool:
        """Whether the explainer puts it first."""
        return self.level == COLOURED


@dataclass(frozen=True)
class HeatMap:
    """One explainer's ranking of a text, and its first words in a list."""

    explainer: str
    words: tuple[Word, ...]
    top: tuple[Word, ...]


@dataclass(frozen=True)
class HeatMapExample:
    """A text with the heat maps of all explainers."""

    dataset: str
    target: str
    strict: bool
    maps: tuple[HeatMap, ...]


def heat_maps(inputs: Sequence[ShownInput], names: Mapping[str, str]) -> list[HeatMapExample]:
    """The inputs that were kept to look at."""
    return [
        HeatMapExample(
            given.dataset,
            given.target,
            given.strict,
            tuple(_map(given, names[ranking.explainer], ranking.order) for ranking in given.rankings),
        )
        for given in inputs
    ]


def _map(given: ShownInput, name: str, order: Sequence[int]) -> HeatMap:
    words = split_words(given.text)
    levels = {number: COLOURED - place for place, number in enumerate(order[:COLOURED])}
    marked = [
        Word(word, levels.get(number, 0), number in given.selected, number in given.relevant)
        for number, word in enumerate(words.words)
    ]
    pieces: list[Word] = []
    last = 0
    for word, start, end in zip(marked, words.starts, words.ends, strict=True):
        if start > last:
            pieces.append(Word(given.text[last:start]))
        pieces.append(word)
        last = end
    if last < len(given.text):
        pieces.append(Word(given.text[last:]))
    return HeatMap(name, tuple(pieces), tuple(marked[number] for number in order[:LISTED]))
