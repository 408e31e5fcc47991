"""Small pieces of HTML in which results show themselves in a notebook; they need no style sheet and no script."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape

FOR, AGAINST = "#0072b2", "#d55e00"  # told apart by the sign and the side as well


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain texts."""
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{heads}</tr>{lines}</table>"


def paragraph_html(*sentences: str, bold: str = "") -> str:
    """Sentences in one paragraph, a line each, after a bold beginning."""
    lines = [*([f"<b>{escape(bold)}</b>"] if bold else []), *map(escape, sentences)]
    return f"<p>{'<br>'.join(lines)}</p>"


def bars_html(scores: Sequence[tuple[str, float]]) -> str:
    """Names with their numbers and a bar each: to the right of a middle line for, to the left against."""
    longest = max((abs(score) for _, score in scores), default=0.0) or 1.0
    rows = []
    for name, score in scores:
        width = 120 * abs(score) / longest
        left = 120 if score >= 0 else 120 - width
        bar = (
            '<div style="position:relative;width:240px;height:1em">'
            f'<div style="position:absolute;left:{left:.0f}px;width:{width:.0f}px;height:1em;'
            f'background:{FOR if score >= 0 else AGAINST}"></div></div>'
        )
        rows.append(f"<tr><td>{escape(name)}</td><td>{score:+.3f}</td><td>{bar}</td></tr>")
    return f"<table>{''.join(rows)}</table>"


def image_html(svg: str, label: str) -> str:
    """An SVG file as an image on white, so that it can be read in a dark notebook too."""
    data = b64encode(svg.encode("utf-8", "replace")).decode("ascii")
    return f'<img alt="{escape(label)}" style="background:#fff" src="data:image/svg+xml;base64,{data}">'
