"""The shell completes commands, options, and names that there are; its scripts are printed for bash, zsh and fish."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from verax.cli.main import app


def completed(typed: str) -> list[str]:
    """What bash is offered for the last word."""
    words = typed.split(" ")
    asked = {"_VERAX_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    return CliRunner().invoke(app, [], prog_name="verax", env=asked).stdout.split()


def test_commands_and_options_are_completed():
    assert completed("verax st") == ["study"]
    assert set(completed("verax study a")) == {"analyze", "account", "actions"}
    assert "--out" in completed("verax study build --")
    assert completed("verax bench stain --explai") == ["--explainers"]


def test_what_can_be_listed_and_read_is_completed():
    assert completed("verax list ex") == ["explainers"]
    assert completed("verax docs tutorials/own-s") == ["tutorials/own-study"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(shell):
    asked = {"_VERAX_COMPLETE": f"source_{shell}"}
    printed = CliRunner().invoke(app, [], prog_name="verax", env=asked).stdout
    assert f"_VERAX_COMPLETE=complete_{shell}" in printed
