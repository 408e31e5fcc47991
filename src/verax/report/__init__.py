"""What people look at: highlighted inputs, tables in the terminal, one self-contained page."""

from verax.report.explanations.comparison import Comparison, Entry, Subject
from verax.report.explanations.explanations_page import render_page, write_page
from verax.report.explanations.highlight import Mark, Segment, marks, segments

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
