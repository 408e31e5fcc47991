"""One self-contained page: the verdict on explanations, then all of them side by side; it needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from verax.errors import VeraxError
from verax.report.common.page import page_script, page_style
from verax.report.explanations.comparison import (
    Comparison,
    Scored,
    agreement,
    aligned,
    decimals,
    facts,
    how,
    in_table,
    scored,
    signed,
    verdict,
)
from verax.report.explanations.highlight import ranked, segments
from verax.results.verdict import has_intervals
from verax.text import MINUS

# How many features stand open in the table of a text; the rest can be unfolded, up to the most that are listed.
BARS, MOST = 8, 200
CLASSES = 6
# So many methods beside each other; the next ones go below, so that nothing is cut on a phone and on paper.
BESIDE = 4


def write_page(path: Path, comparisons: Sequence[Comparison], title: str, made_by: str = "") -> None:
    """Writes the page, and the folder it lies in if that does not exist."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A lone surrogate has no UTF-8; it becomes a question mark rather than an error.
        path.write_bytes(render_page(comparisons, title, made_by).encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"The page cannot be written to {str(path)!r} ({error.strerror}); choose another file."
        ) from error


def render_page(comparisons: Sequence[Comparison], title: str, made_by: str = "") -> str:
    """The page as HTML.

    Args:
        comparisons: what to show, one section each.
        title: the heading.
        made_by: the command that made the page, shown at the end.
    """
    template = _environment().get_template("comparison.html")
    page = template.render(
        comparisons=comparisons, title=title, made_by=made_by, style=page_style(), script=page_script()
    )
    return str(page)


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("verax.report"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "agreement": agreement,
        "aligned": aligned,
        "blocks": blocks,
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
        "decimals": decimals,
        "facts": facts,
        "has_intervals": has_intervals,
        "how": how,
        "in_table": in_table,
        "number": number,
        "ranked": ranked,
        "score": score,
        "scored": scored,
        "segments": segments,
        "verdict": verdict,
    }
    environment.globals |= {"bars": BARS, "classes": CLASSES, "most": MOST}
    return environment


def blocks(methods: Sequence[Scored]) -> list[list[int]]:
    """The places of methods that stand beside each other in a table."""
    places = list(range(len(methods)))
    return [places[start : start + BESIDE] for start in range(0, len(places), BESIDE)]


def score(value: float, digits: int) -> str:
    """A score as the page prints it, with a true minus sign."""
    return signed(value, digits).strip().replace("-", MINUS)


def number(value: float, digits: int = 0) -> str:
    """A number with thousands set apart."""
    return f"{value:,.{digits}f}".replace("-", MINUS)
