"""What people look at: highlighted inputs, tables in the terminal, one self-contained page."""

from verax.reporting.comparison import Comparison, Entry, Mark, Segment, Subject, marks, segments
from verax.reporting.explanations import render_page, write_page

__all__ = [
    "Comparison",
    "Entry",
    "Mark",
    "Segment",
    "Subject",
    "marks",
    "render_page",
    "segments",
    "write_page",
]
