"""docs/extending.md: another protocol outside of the repository, of the page's own blocks, run to the report."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import httpx
import pytest

from real_parts import LONG

PAGE = Path(__file__).parents[3] / "docs" / "extending.md"
VERAX = [sys.executable, "-c", "from verax.cli.main import main; main()"]


def blocks() -> dict[str, str]:
    """The page's files by name, and its commands."""
    page = PAGE.read_text(encoding="utf-8").split("## A benchmark of your own")[0]
    titled = re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', page, re.DOTALL)
    (commands,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    return dict(titled) | {"commands": commands}


def installed(folder: Path) -> None:
    """The package's metadata as an installer writes it: its name, its version, and its entry points."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    about = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    about.mkdir()
    about.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
    )
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {where}" for name, where in points.items()))
    ]
    about.joinpath("entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("verax-oversight")
    for name, content in blocks().items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    folder.joinpath("verax_oversight", "__init__.py").touch()
    installed(folder)
    return folder


@pytest.fixture(scope="module")
def environment(package: Path) -> dict[str, str]:
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"}


def run(command: list[str], package: Path, environment: dict[str, str]) -> str:
    ended = subprocess.run(
        command, cwd=package, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_its_own_test_passes_and_it_is_listed(package, environment):
    checked = run(
        [sys.executable, "-c", "import test_oversight; test_oversight.test_it_keeps_the_contract()"],
        package,
        environment,
    )
    assert checked == ""
    listed = run([*VERAX, "list", "protocols"], package, environment)
    assert re.search(r"oversight +Say whether the model is right", listed)


def test_it_is_planned_built_previewed_walked_by_bots_analysed_and_reported(package, environment):
    commands = [shlex.split(line) for line in blocks()["commands"].splitlines()]
    assert [" ".join(command[:3]) for command in commands] == [
        "verax study power",
        "verax study build",
        "verax study preview",
        "verax study bots",
        "verax study analyze",
        "verax report studies/oversight/analysis-bots",
    ]
    told = {}
    for command in commands:
        arguments = command[1:]
        if "preview" in arguments:
            told["preview"] = previewed([*VERAX, *arguments, "--port", "0"], package, environment)
        else:
            told[" ".join(arguments[:2])] = run([*VERAX, *arguments], package, environment)
    assert "lime against none, within people" in told["study power"]
    assert (
        "Is the model&#39;s answer right?" in told["preview"] or "Is the computer right?" in told["preview"]
    )
    assert re.search(r"complete +12", told["study bots"])
    summary = json.loads(
        package.joinpath("studies/oversight/analysis-bots/summary.json").read_text(encoding="utf-8")
    )
    assert summary["protocol"] == "oversight"
    assert [line["key"] for line in summary["primary"]["estimates"]] == ["lime-vs-none"]
    assert summary["flow"]["complete"] == 12
    own = package.joinpath("studies/oversight/analysis-bots/report.html").read_text(encoding="utf-8")
    assert "Do explanations help people to see when the model is wrong?" in own
    # Its table of contrasts is the primary analysis, which stands on the page once, under what was measured.
    assert summary["primary"]["measure"] in html.unescape(own)
    assert "right verdicts, minus those with" in package.joinpath("report.html").read_text(encoding="utf-8")


def previewed(command: list[str], package: Path, environment: dict[str, str]) -> str:
    """The first page of the first row, from the real server."""
    with subprocess.Popen(
        command, cwd=package, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            address = next(
                found[0] for line in server.stdout if (found := re.search(r"http://[\w.]+:\d+", line))
            )
            chooser = httpx.get(f"{address}/", timeout=LONG).text
            assert re.findall(r'href="(/row/[^"]*)"', chooser) == ["/row/0/", "/row/1/"]
            return httpx.get(f"{address}/row/0/", timeout=LONG).text
        finally:
            server.terminate()
