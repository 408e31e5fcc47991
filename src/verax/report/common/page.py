"""What every page needs inside itself, so that it works from a file without a network: its style and its script."""

from __future__ import annotations

from importlib.resources import files


def page_style() -> str:
    """The stylesheet of every report."""
    return "\n".join(_static(name) for name in ("verax.css", "report.css"))


def page_script() -> str:
    """Sorting and filtering of tables, folded parts that open where somebody goes or prints; a page works without."""
    return _static("report.js")


def _static(name: str) -> str:
    return files("verax.report").joinpath("static", name).read_text(encoding="utf-8")
