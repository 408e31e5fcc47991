"""Benchmarks and studies on one page: every explainer in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verax.errors import VeraxError
from verax.notebook import paragraph_html
from verax.phrases import say
from verax.reporting.joint.page import JointReport, places, write_joint_report
from verax.workflows.analysis import Analysis
from verax.workflows.bench import BenchmarkRun

Result = BenchmarkRun[Any] | Analysis | str | Path


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A page for benchmarks and studies.

    Attributes:
        page: where it is.
        numbers: where its numbers are, as JSON.
        summary: these numbers.
    """

    page: Path
    numbers: Path
    summary: JointReport

    def __repr__(self) -> str:
        return f"Report({str(self.page)!r})"

    def _repr_html_(self) -> str:
        return paragraph_html(self.summary.answer, say("common", "report-is", path=str(self.page)))


def report(results: Result | Sequence[Result], out: str | Path = "report.html") -> Report:
    """Puts benchmarks and studies on one page: every explainer in each, and whether they agree.

    Args:
        results: what `verax.stain`, `verax.rationale`, `verax.bench` and a study's `analyze` gave, or their folders.
        out: a page (.html; its numbers go beside it as .json) or a folder.
    """
    given = [results] if isinstance(results, BenchmarkRun | Analysis | str | Path) else list(results)
    folders = [_folder(result) for result in given]
    summary = write_joint_report(folders, Path(out))
    page, numbers, _ = places(Path(out))
    return Report(page, numbers, summary)


def _folder(result: Result) -> Path:
    if isinstance(result, BenchmarkRun | Analysis):
        return result.folder
    if isinstance(result, str | Path):
        return Path(result)
    raise VeraxError(
        f"A {type(result).__name__} is no result to report; give what verax.stain, verax.rationale or a study's "
        "analyze returned, or the folder of one."
    )
