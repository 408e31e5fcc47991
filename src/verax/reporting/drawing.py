"""Figures for every report: small panels drawn by matplotlib, the same bytes for the same numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any
from weakref import WeakKeyDictionary

from verax.installed import require
from verax.stats import Estimate
from verax.text import minus

Axes = Any
Draw = Callable[[Axes], None]

# Okabe and Ito's colours, from the one that is seen best on white to the one that is seen worst.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
# Dashes and markers have other periods than the colours: 60 looks before one returns.
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (2.5, 1.2)), (0, (8, 1.5)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
# In a page these two are the page's own colours, whatever its scheme.
INK, QUIET = "#1b1b1a", "#6b6b6a"

_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "verax",
    "text.parse_math": False,
    "font.size": 10.0,
    "font.family": ["DejaVu Sans"],
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


@dataclass(frozen=True)
class Look:
    """How one series is drawn: three signs, each enough to tell it from its neighbours."""

    colour: str
    dash: Any
    marker: str


@dataclass(frozen=True)
class Frame:
    """The size of a panel and of the margins around its axes, in points."""

    width: float = 310
    height: float = 215
    left: float = 40
    right: float = 80
    top: float = 22
    bottom: float = 38


@dataclass(frozen=True)
class _Hover:
    """A place in the units of its axes, and what is said where the pointer rests on it."""

    axes: Axes
    x: float
    y: float
    words: str


_hovers: WeakKeyDictionary[Any, list[_Hover]] = WeakKeyDictionary()


def hover(axes: Axes, x: float, y: float, words: str) -> None:
    """Shows words while the pointer rests on a point of a figure, in any browser, without a script."""
    _hovers.setdefault(axes.figure, []).append(_Hover(axes, x, y, words))


def with_ends(value: float, low: float | None, high: float | None, decimals: int = 1) -> str:
    """A number with its interval, as it is shown beside a point."""
    shown = minus(f"{value:.{decimals}f}")
    if low is None or high is None:
        return shown
    return f"{shown} [{minus(f'{low:.{decimals}f}')}, {minus(f'{high:.{decimals}f}')}]"


def share_with_ends(estimate: Estimate) -> str:
    """A share with its interval, in per cent."""
    low, high = (None if end is None else 100 * end for end in (estimate.low, estimate.high))
    return f"{with_ends(100 * estimate.mean, low, high)} %"


def looks(names: Sequence[str]) -> dict[str, Look]:
    """One look per name, in the order given."""
    return {
        name: Look(PALETTE[place % len(PALETTE)], DASHES[place % len(DASHES)], MARKERS[place % len(MARKERS)])
        for place, name in enumerate(names)
    }


def panel_svg(draw: Draw, frame: Frame) -> str:
    """One panel as an SVG file."""
    return grid_svg([[draw]], frame)


def grid_svg(draws: Sequence[Sequence[Draw]], frame: Frame) -> str:
    """Panels in rows and columns as one SVG file."""
    rows, columns = len(draws), max((len(row) for row in draws), default=0)
    if not columns:
        raise ValueError("a figure needs at least one panel")
    width, height = columns * frame.width, rows * frame.height
    with _style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        for row, line in enumerate(draws):
            for column, draw in enumerate(line):
                left = column * frame.width + frame.left
                bottom = (rows - 1 - row) * frame.height + frame.bottom
                inner_width = frame.width - frame.left - frame.right
                inner_height = frame.height - frame.top - frame.bottom
                place = (left / width, bottom / height, inner_width / width, inner_height / height)
                draw(figure.add_axes(place))
        written = StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
        spots = _spots(figure, height)
    return _plain(written.getvalue()).replace("</svg>", f"{spots}</svg>")


def _spots(figure: Any, height: float) -> str:
    """Discs that nobody sees, each with its words, over the points of a figure that is drawn."""
    lines = []
    for spot in _hovers.pop(figure, []):
        x, y = spot.axes.transData.transform((spot.x, spot.y))
        lines.append(
            f'<circle class="spot" cx="{x:.1f}" cy="{height - y:.1f}" r="7" fill-opacity="0" pointer-events="all">'
            f"<title>{escape(spot.words)}</title></circle>\n"
        )
    return "".join(lines)


def inlined(svg: str, name: str, label: str) -> str:
    """An SVG file as an element of a page: ids of its own, the page's colours, words for those who cannot see it.

    Args:
        svg: the file.
        name: different for each figure of the page.
        label: what it shows, in a sentence.
    """
    head, rest = svg[svg.index("<svg") :].split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    rest = re.sub(r"<style.*?</style>", "", rest, count=1, flags=re.DOTALL)
    # Only inside tags: a label that looks like a colour or an id stays as it is.
    rest = re.sub(r"<[^>]+>", lambda tag: _themed(tag[0], name), rest)
    return f'<svg {box[0] if box else ""} role="img" aria-label="{escape(label)}">{rest.strip()}'


def _themed(tag: str, name: str) -> str:
    tag = tag.replace("xlink:href", "href").replace(f" font-family: {_FONTS};", "")
    tag = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", tag)
    for place, colour in enumerate(PALETTE, start=1):
        tag = tag.replace(colour, f"var(--series-{place})")
    return tag.replace(INK, "var(--ink)").replace(QUIET, "var(--quiet)")


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places for labels, as near as can be to where they are wanted, at least ``gap`` apart and in their order.

    They stay between ``low`` and ``high``; if they cannot, the gap is made smaller.
    """
    if not wanted:
        return []
    count = len(wanted)
    gap = min(gap, (high - low) / max(1, count - 1))
    order = sorted(range(count), key=lambda number: (wanted[number], -number))
    # Without the gaps, the nearest places that keep the order are a monotone regression: pool what goes down.
    pools: list[list[float]] = []
    for place, number in enumerate(order):
        pools.append([wanted[number] - place * gap, 1.0])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, size = pools.pop()
            before, before_size = pools.pop()
            total = size + before_size
            pools.append([(mean * size + before * before_size) / total, total])
    level = [mean for mean, size in pools for _ in range(int(size))]
    places = [0.0] * count
    for place, number in enumerate(order):
        places[number] = min(max(level[place], low), high - (count - 1) * gap) + place * gap
    return places


def shortened(label: str, longest: int = 16) -> str:
    """A label that fits beside a panel; the middle of a longer one is left out."""
    if len(label) <= longest:
        return label
    head = longest // 2
    return f"{label[:head]}…{label[len(label) - (longest - 1 - head) :]}"


@contextmanager
def _style() -> Iterator[None]:
    """Our settings on top of matplotlib's own defaults, not of the user's, and only meanwhile."""
    require("Drawing a figure", "matplotlib", extra="bench")
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def _plain(svg: str) -> str:
    """The file without what no reader needs, in the fonts of the system it is read on."""
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*<!--.*?-->", "", svg, flags=re.DOTALL)
    return svg.replace("'DejaVu Sans'", _FONTS)
