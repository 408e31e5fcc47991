"""What people look at: highlighted inputs, tables in the terminal, one self-contained page."""

from verax.report.comparison import Comparison, Entry, Subject
from verax.report.highlight import Mark, Segment, marks, segments
from verax.report.page import render_page, write_page

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
