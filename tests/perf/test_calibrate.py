"""The calibration suite: a rate outside its band is named and ends with status 1; the page's other sections stay."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from calibrate import BEGIN, END, HERE, PAGE, main, modules, summary

MODULE = """
from typing import NamedTuple


class Row(NamedTuple):
    claim: str
    promised: str
    measured: float
    runs: int
    low: float
    high: float


def rows(quick):
    return [Row("joint report: a claim", "at most 5%", {measured}, 50 if quick else 500, 0.0, 7.0)]
"""
OTHER = "# Calibration\n\n## One section\n\ntext  with two spaces \n\n| a |\n|---|\n"
AFTER = "\n\n## Another section\n\nmore\n"


@pytest.fixture
def folder(tmp_path):
    """A folder of one module that gives rows and one that has none, as a function of the measured rate."""

    def make(measured):
        place = tmp_path / "modules"
        place.mkdir()
        # A name of its own each time: Python keeps modules that were imported.
        (place / f"calibration_fake{str(measured).replace('.', '_')}.py").write_text(
            MODULE.format(measured=measured)
        )
        (place / "calibration_helper.py").write_text("VALUE = 1\n")
        return place

    return make


@pytest.mark.parametrize(("measured", "status"), [(4.0, 0), (12.5, 1)])
def test_a_rate_outside_its_band_is_named_and_ends_with_status_1(folder, tmp_path, capsys, measured, status):
    page = tmp_path / "page.md"
    page.write_text(OTHER)
    given = ["--quick", "--folder", str(folder(measured)), "--page", str(page)]
    assert main(given) == status
    out = capsys.readouterr().out
    named = "Outside its band: joint report: a claim: 12.5% of 50 runs, allowed 0.0 to 7.0% (at most 5%)."
    assert (named in out) == (status == 1)
    assert f"| joint report: a claim | at most 5% | {measured} | 0.0 to 7.0 | 50 |" in out
    kept = (tmp_path / "page" / "claims.csv").read_text()
    assert f"joint report: a claim,at most 5%,{measured},0.0 to 7.0,50" in kept
    assert f"| joint report | 1 | {1 - status} | {measured} |" in page.read_text()


def test_other_sections_stay_to_the_letter(folder, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"{OTHER}\n## Claims\n\nwords\n\n{BEGIN}\nold table\n{END}{AFTER}")
    main(["--folder", str(folder(3.0)), "--page", str(page)])
    found = page.read_text()
    assert found.startswith(f"{OTHER}\n## Claims\n\nwords\n\n{BEGIN}\n")
    assert found.endswith(f"\n{END}{AFTER}")
    assert "old table" not in found
    assert found.count(BEGIN) == found.count(END) == 1


def test_every_module_of_the_suite_gives_rows():
    names = modules(Path(HERE))
    assert {"calibration_joint", "calibration_rationale", "calibration_within_rows"} <= set(names)
    assert "calibration_rows" not in names


def test_the_summary_is_what_the_stored_claims_say():
    with (PAGE.with_suffix("") / "claims.csv").open(encoding="utf-8", newline="") as file:
        stored = list(csv.reader(file))[1:]
    page = PAGE.read_text(encoding="utf-8")
    assert summary(stored) == page[page.index(BEGIN) + len(BEGIN) : page.index(END)].strip()
