"""What people look at: highlighted inputs, tables in the terminal, one self-contained page.

The layer can be called: ``verax.report([run, analysis], out="report.html")`` is `verax.workflows.report.report`.
"""

import sys
from importlib import import_module
from types import ModuleType

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


class _Callable(ModuleType):
    """A layer by whose name people also call a workflow: a package has only one attribute of that name."""

    def __call__(self, results: object, out: object = "report.html") -> object:
        # By name: nothing in this layer knows of the workflows above it.
        return import_module("verax.workflows.report").report(results, out)


sys.modules[__name__].__class__ = _Callable
