"""The command ``verax``."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from verax.cli.demo import demo
from verax.cli.explain import explain, judge
from verax.cli.listing import docs, list_things
from verax.cli.options import split_names
from verax.cli.report import REPORT_EXAMPLE, VERIFY_EXAMPLE, paper, report, verify
from verax.foreign import guard, trust

EXAMPLES = """Examples:

verax demo

verax judge forest adult

verax list explainers

verax explain --text "A warm, funny and moving film."

verax explain --dataset adult --model forest --explainers lime,shap --input 3 --html page.html

verax explain --dataset reviews.csv --text-column review --label-column stars --n 2 --json

verax study init forward.toml

verax study build forward.toml --out studies/forward

verax docs tutorials/own-study
"""

BENCH = "Compare explainers without people."


class _Bench(TyperGroup):
    """``verax bench``: its commands are made when asked for, since the specs behind them take time to import."""

    def list_commands(self, ctx: Any) -> list[str]:
        self._fill()
        from verax.cli.bench import outside_names

        own = super().list_commands(ctx)
        return [*own, *(name for name in outside_names() if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        self._fill()
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            return command
        from verax.cli.bench import outside_command, outside_names

        return outside_command(cmd_name) if cmd_name in outside_names() else None

    def _fill(self) -> None:
        if not self.commands:
            from verax.cli.bench import bench

            self.commands.update(typer.main.get_group(bench).commands)


# Groups of commands that are imported when they are asked for.
LATER = {"study": ("verax.cli.study", "study"), "atlas": ("verax.cli.atlas", "atlas")}


class _Commands(dict[str, Any]):
    """Commands by name; those of `LATER` are made when somebody asks for one."""

    def __getitem__(self, name: str) -> Any:
        if super().__getitem__(name) is None:
            module, own = LATER[name]
            self[name] = typer.main.get_group(getattr(import_module(module), own))
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401

    def items(self) -> Any:
        return [(name, self[name]) for name in self]

    def values(self) -> Any:
        return [self[name] for name in self]


class _Root(TyperGroup):
    """``verax``: what takes time to import is left until somebody types it, or asks for help."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.commands = _Commands({**self.commands, **dict.fromkeys(LATER)})

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(self.commands)


app = typer.Typer(
    name="verax",
    cls=_Root,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("demo")(demo)
app.command(
    "explain",
    epilog='Example: verax explain -d adult -m forest -e "lime,shap(samples=500)" -i 3 --html page.html'
    "\n\nMore: verax docs explainers",
)(explain)
app.command(
    "judge",
    epilog="Example: verax judge model.joblib customers.csv --label-column churned --html page.html"
    "\n\nMore: verax docs judge",
)(judge)
app.command("list")(list_things)
app.command("paper", epilog="Example: verax paper sippy-2020\n\nMore: verax docs papers")(paper)
app.command("report", epilog=REPORT_EXAMPLE)(report)
app.command("verify", epilog=VERIFY_EXAMPLE)(verify)
app.command("docs", epilog="Example: verax docs studies")(docs)
app.add_typer(typer.Typer(name="bench", cls=_Bench, no_args_is_help=True), help=BENCH)


def _version(asked: bool) -> None:
    if asked:
        from verax.installed import VERSION

        typer.echo(f"verax {VERSION}")
        raise typer.Exit


@app.callback(epilog=EXAMPLES)
def verax(
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    trusted: Annotated[
        str,
        typer.Option(
            "--trust",
            metavar="NAMES",
            envvar="VERAX_TRUST",
            help="Modules and saved models that a spec or a study's folder names and that may run; commas between.",
        ),
    ] = "",
) -> None:
    """Verax tells you whether an explanation of a machine-learning prediction can be trusted."""
    trust(split_names(trusted))


def _agrees(question: str) -> bool:
    return typer.confirm(question, err=True)


def main() -> None:
    """Runs the command line; the console script's entry."""
    # Modules of the current folder can be named (my_models:load), as with ``python -m``.
    sys.path.append(os.getcwd())
    # But what only a file names is somebody else's code, until the user says that it may run.
    at_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    guard(_agrees if at_terminal else None)
    app(prog_name="verax")


if __name__ == "__main__":
    main()
