"""``verax study``: tests of explanations with people."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import typer

from verax.cli.study_analyze import ANALYZE_EXAMPLES, analyze_command
from verax.cli.study_data import (
    BACKUP_EXAMPLES,
    EXPORT_EXAMPLES,
    MOVE_EXAMPLES,
    PAYMENTS_EXAMPLES,
    PURGE_EXAMPLES,
    RESTORE_EXAMPLES,
    WITHDRAW_EXAMPLES,
    actions_command,
    backup_command,
    export_command,
    move_command,
    payments_command,
    purge_command,
    restore_command,
    withdraw_command,
)
from verax.cli.study_launch import CHECK_EXAMPLES, PILOT_EXAMPLES, check_command, pilot_command
from verax.cli.study_make import (
    IMPORT_EXAMPLES,
    INIT_EXAMPLES,
    REVIEW_EXAMPLES,
    build_command,
    import_command,
    init_command,
    preview_command,
    review_command,
)
from verax.cli.study_run import (
    ACCOUNT_EXAMPLES,
    FREEZE_EXAMPLES,
    STATUS_EXAMPLES,
    account_command,
    codes_command,
    freeze_command,
    links_command,
    serve_command,
    status_command,
)
from verax.cli.study_simulate import BOTS_EXAMPLES, POWER_EXAMPLES, bots_command, power_command

study = typer.Typer(
    name="study",
    no_args_is_help=True,
    help="Compare explainers with people: build, look at and run studies.",
)

# In the order of a study's life, as the help lists them: what is done, the command, its examples.
COMMANDS: dict[str, dict[str, tuple[Callable[..., None], str]]] = {
    "Make a study": {
        "init": (init_command, INIT_EXAMPLES),
        "build": (
            build_command,
            "Example: verax study build forward.toml --out studies/forward --jobs 2",
        ),
        "import": (import_command, IMPORT_EXAMPLES),
        "review": (review_command, REVIEW_EXAMPLES),
        "preview": (preview_command, "Example: verax study preview studies/forward"),
        "power": (power_command, POWER_EXAMPLES),
    },
    "Before the first participant": {
        "bots": (bots_command, BOTS_EXAMPLES),
        "pilot": (pilot_command, PILOT_EXAMPLES),
        "freeze": (freeze_command, FREEZE_EXAMPLES),
        "account": (account_command, ACCOUNT_EXAMPLES),
        "links": (links_command, "Example: verax study links studies/forward --ids ids.txt > links.txt"),
        "check": (check_command, CHECK_EXAMPLES),
        "codes": (codes_command, "Example: verax study codes studies/forward --n 40 > codes.txt"),
    },
    "While people take part": {
        "serve": (
            serve_command,
            "Example: verax study serve studies/forward --host 0.0.0.0 --port 80 --workers 2",
        ),
        "status": (status_command, STATUS_EXAMPLES),
        "actions": (actions_command, "Example: verax study actions studies/forward --json > actions.json"),
        "withdraw": (withdraw_command, WITHDRAW_EXAMPLES),
        "purge": (purge_command, PURGE_EXAMPLES),
        "backup": (backup_command, BACKUP_EXAMPLES),
        "restore": (restore_command, RESTORE_EXAMPLES),
        "move": (move_command, MOVE_EXAMPLES),
    },
    "What they answered": {
        "export": (export_command, EXPORT_EXAMPLES),
        "analyze": (analyze_command, ANALYZE_EXAMPLES),
        "payments": (payments_command, PAYMENTS_EXAMPLES),
    },
}

# Where the documentation says more, for whoever has installed the package and has no other copy of it.
PAGES = {
    "tutorials/own-study": ("init",),
    "studies": ("build", "preview", "freeze", "pilot"),
    "importing": ("import",),
    "counterfactuals": ("review",),
    "planning": ("power",),
    "bots": ("bots",),
    "recruiting": ("codes", "links", "withdraw", "purge", "payments"),
    "deployment": ("account", "check", "serve", "status", "actions", "backup", "restore", "move"),
    "data": ("export",),
    "analysis": ("analyze",),
}
PAGE_OF = {name: page for page, names in PAGES.items() for name in names}


def _help(command: Callable[..., None]) -> str:
    """A command's docstring with each paragraph in one line, for terminals of any width."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


for _panel, _commands in COMMANDS.items():
    for _name, (_command, _examples) in _commands.items():
        _epilog = f"{_examples}\n\nMore: verax docs {PAGE_OF[_name]}"
        study.command(_name, help=_help(_command), epilog=_epilog, rich_help_panel=_panel)(_command)
