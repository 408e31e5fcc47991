"""Every command in docs/deployment.md exists, with every option that stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from verax.cli.main import app

PAGE = Path(__file__).parents[2] / "docs" / "deployment.md"
COMMAND = re.compile(r"(?:^|[`/' ])(verax study [^`'\n]*)", re.MULTILINE)


def typed() -> list[str]:
    """What the page tells to type: whole lines, commands inside of sentences, and those of services."""
    page = re.sub(
        r"\$\$\(date[^)]*\)", "DATE", PAGE.read_text(encoding="utf-8")
    )  # systemd's way to write $(date)
    return [found.group(1).split(" > ")[0].strip() for found in COMMAND.finditer(page)]


def test_the_page_has_every_command_of_a_studys_life():
    named = {command.split()[2] for command in typed()}
    assert named >= {
        "account", "analyze", "backup", "bots", "build", "export", "freeze", "move", "preview", "purge", "restore",
        "serve", "status", "withdraw",
    }  # fmt: skip


@pytest.mark.parametrize("command", sorted(set(typed())))
def test_a_command_of_the_page_exists_with_its_options(command):
    # Parsed as the program would, to the last option and argument; but nothing is run.
    group = typer.main.get_command(app).commands["study"]
    _, _, name, *arguments = shlex.split(command)
    if len(arguments) == 0:
        assert name in group.commands  # only spoken of
    else:
        group.commands[name].make_context(name, arguments)
