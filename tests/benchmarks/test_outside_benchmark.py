"""docs/extending.md: a benchmark outside of the repository, of the page's own blocks, run to the joint report."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from studies.protocols.test_extending_page import VERAX, installed
from verax.reporting.joint.evaluations import read_evaluations
from verax.results.findings import read_findings
from verax.run import Store

# Commands one after the other in one process: most of the time of each would be its imports.
SEVERAL = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from verax.cli.main import main
ended = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["verax", *words]
    out, error, status = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(error):
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
    ended.append([status, out.getvalue(), error.getvalue()])
print(json.dumps(ended))
"""
REFUSED = """
import verax
for options in ({"out": "runs/repeat", "top": 1}, {"tops": 1}):
    try:
        verax.bench("repeat", **options)
    except verax.VeraxError as error:
        print(error)
"""
PAGE = Path(__file__).parents[2] / "docs" / "extending.md"


def blocks() -> dict[str, str]:
    """The files of the benchmark's package by name, and its commands."""
    page = PAGE.read_text(encoding="utf-8").split("## A benchmark of your own")[1]
    titled = re.findall(r'```\w+ title="verax-repeat/([^"]+)"\n(.*?)```', page, re.DOTALL)
    (commands,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    return dict(titled) | {"commands": commands}


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("verax-repeat")
    for name, content in blocks().items():
        folder.joinpath(name).write_text(content, encoding="utf-8")
    installed(folder)
    return folder


@pytest.fixture(scope="module")
def call(package):
    """A command in the package's folder: its exit status, standard output and standard error."""
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"}

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=package, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    return run


@pytest.fixture(scope="module")
def commands(call):
    """Several commands: of each its exit status, standard output and standard error."""

    def run(*typed: str) -> list[list[Any]]:
        ended = call(sys.executable, "-c", SEVERAL, json.dumps([shlex.split(line) for line in typed]))
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    return run


@pytest.fixture(scope="module")
def finished(package, call) -> list[str]:
    """What the page's commands print."""
    told = []
    for line in blocks()["commands"].splitlines():
        ended = call(*VERAX, *shlex.split(line)[1:])
        assert ended.returncode == 0, ended.stdout + ended.stderr
        told.append(ended.stdout)
    return told


def test_it_is_a_command_with_the_options_of_its_spec(commands):
    listed, shown, wrong, unknown = commands(
        "bench --help", "bench repeat --help", "bench repeat --top 0", "bench repeal"
    )
    assert re.search(r"repeat +See whether explainers name the same features", listed[1])
    assert re.search(r"stain +Plant a known flaw", listed[1])
    options = " ".join(shown[1].split())
    assert "--top" in options
    assert "How many features an explanation names (1 or more)" in options
    assert "--jobs" in options
    assert wrong[0] == 2
    assert wrong[2].startswith("Error: top must be at least 1")
    assert unknown[0] == 2


def test_it_runs_to_a_report_whose_numbers_are_those_of_its_jobs(package, finished):
    folder = package / "runs" / "repeat"
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    rows = {one.method: one for one in read_findings(summary, "here")}
    assert list(rows) == ["lime", "shap", "random"]
    values = {}
    for stored in folder.joinpath("jobs").rglob("*.json"):
        outcome = vars(Store(folder).get(stored.stem))
        values[outcome["name"].split(",")[0]] = outcome["value"]
    for method, row in rows.items():
        assert row.estimate == pytest.approx(100 * np.mean(values[method]))
        assert (row.n, row.counted, row.unit) == (20, "inputs", "per cent")
        assert (row.name, row.title, row.dataset) == (
            "repeat",
            "Repetition, rotten-tomatoes",
            "rotten-tomatoes",
        )
        assert row.model == "logistic"
        assert len(row.key) == 16
    # Explainers that measure the model agree with themselves; random scores do so by accident.
    assert rows["lime"].estimate > rows["random"].estimate
    assert rows["lime"].sign == "yes"
    assert rows["random"].sign == "open"
    assert "shown to be better than random by features that two seeds both name" in " ".join(
        finished[0].split()
    )
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Repetition, rotten-tomatoes" in page
    assert "See whether explainers name the same features" in page
    assert f"{rows['lime'].estimate:.1f}" in page
    assert (folder / "figures" / "overall-0.svg").exists()
    assert f"{rows['lime'].estimate:.1f}" in (folder / "tables" / "overall-0.md").read_text(encoding="utf-8")


def test_it_stands_in_the_joint_report(package, finished):
    both = json.loads((package / "report.json").read_text(encoding="utf-8"))
    (evaluation,) = both["evaluations"]
    assert (evaluation["name"], evaluation["kind"]) == ("Repetition, rotten-tomatoes", "benchmark")
    (read,), _ = read_evaluations([package / "runs" / "repeat"])
    assert [one.explainer for one in read.standings] == ["lime", "shap", "random"]
    assert "passes the benchmark" in (package / "report.html").read_text(encoding="utf-8") or (
        "pass the benchmark" in (package / "report.html").read_text(encoding="utf-8")
    )


def test_it_is_a_function_and_a_finished_run_computes_nothing_until_its_code_changes(package, call, finished):
    stored = sorted((package / "runs" / "repeat" / "jobs").rglob("*.json"))
    times = [path.stat().st_mtime_ns for path in stored]
    ended = call(sys.executable, "in_python.py")
    assert ended.returncode == 0, ended.stderr
    assert "shown to be better than random" in ended.stdout
    assert sorted((package / "runs" / "repeat" / "jobs").rglob("*.json")) == stored
    assert [path.stat().st_mtime_ns for path in stored] == times
    other, typed = call(sys.executable, "-c", REFUSED).stdout.splitlines()
    assert "holds another run" in other
    assert "There is no option 'tops'; did you mean 'top'?" in typed
    code = package / "verax_repeat.py"
    code.write_text(
        code.read_text(encoding="utf-8").replace("max(len(one), 1)", "max(len(one), 2)"), encoding="utf-8"
    )
    again = call(sys.executable, "in_python.py")
    assert "repeat changed since the run in runs/repeat began" in again.stderr
    assert len(list((package / "runs" / "repeat" / "jobs").rglob("*.json"))) == 2 * len(stored)


def test_one_that_cannot_be_imported_takes_no_other_command_with_it(package, commands):
    points = next(package.glob("*.dist-info")) / "entry_points.txt"
    before = points.read_text(encoding="utf-8")
    points.write_text(before + "broken = verax_absent:Nothing\nempty = json:JSONDecoder\n", encoding="utf-8")
    try:
        listed, broken, empty = commands("bench --help", "bench broken", "bench empty")
        assert re.search(r"broken +Cannot be loaded", listed[1])
        assert re.search(r"stain +Plant a known flaw", listed[1])
        assert broken[0] == 2
        assert "The benchmark 'broken' cannot be" in broken[2]
        assert "is no benchmark" in empty[2]
    finally:
        points.write_text(before, encoding="utf-8")
