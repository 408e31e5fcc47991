"""The page of findings: everything in itself, the answer first, tables as data."""

import os
import re
from dataclasses import replace

from verax.benchmarks.contract import BenchmarkSummary, Failure, Found
from verax.reporting.run_page import Brief, findings_page, in_terminal, render_page, write_run
from verax.results.tables import Column, Table
from verax.results.verdict import Verdict
from verax.run.manifest import finish_manifest, start_manifest


def page_of(**more):
    table = Table(
        "one", "A table", (Column("name", "measure", "text"), Column("share", "share", "percent")),
        ({"name": "gini <b>", "share": 0.25}, {"name": "entropy", "share": None}), "What it means.",
    )  # fmt: skip
    given = {
        "title": "Which?",
        "asked": "Two of them.",
        "sentences": ["This one.", "Not that."],
        "how": "By hand.",
    }
    return findings_page(tables=[table], **{**given, **more})


def test_the_answer_comes_first_and_nothing_is_fetched():
    written = render_page(page_of())
    assert written.index("This one.") < written.index("Not that.") < written.index("A table")
    assert "gini &lt;b&gt;" in written
    assert "25.0%" in written
    assert "–" in written  # what is missing
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", written)
    assert "What failed" not in written


def test_failures_and_what_was_left_out_are_said():
    page = page_of(failures=[Failure("stain 1", "VeraxError: no room")], left_out=["stain 2: did not learn"])
    written = render_page(page)
    assert "stain 1: <code>VeraxError: no room</code>" in written
    assert "stain 2: did not learn" in written


def test_a_terminal_shows_the_same_numbers(capsys):
    from rich.console import Console

    page = page_of()
    Console(width=80).print(in_terminal(Brief(page.verdict, page.tables)))
    shown = capsys.readouterr().out
    assert "This one." in shown
    assert "25.0%" in shown


def test_a_page_is_drawn_again_only_if_it_would_differ_or_a_file_of_it_is_gone(tmp_path):
    (table,) = page_of().tables
    summary = BenchmarkSummary("mine", "Mine", "What?", {}, Verdict("This one.", (), ""), (), (table,))
    page, pasted = tmp_path / "report.html", tmp_path / "tables" / "one.md"

    def drawn(found):
        """Whether it is drawn; what was written before is told by its time."""
        start_manifest(tmp_path, {"benchmark": "mine"})
        if page.exists():
            os.utime(page, (0, 0))
        write_run(tmp_path, Found(found), finish_manifest(tmp_path))
        return page.stat().st_mtime > 0

    assert drawn(summary)
    assert not drawn(summary)
    assert drawn(replace(summary, verdict=Verdict("Not that.", (), "")))
    assert "Not that." in page.read_text(encoding="utf-8")
    assert not drawn(replace(summary, verdict=Verdict("Not that.", (), "")))
    pasted.unlink()
    assert drawn(replace(summary, verdict=Verdict("Not that.", (), "")))
    assert pasted.is_file()
