"""``verax study init``: asks what a study is about, and writes its spec."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verax.cli.console import INTERRUPTED, note, one_sentence, print_json, say
from verax.cli.options import AsJson
from verax.errors import VeraxError

if TYPE_CHECKING:
    from verax.workflows.spec_draft import SpecDraft

INIT_EXAMPLES = """Examples:

verax study init forward.toml

verax study init mine.toml --dataset reviews.csv --text-column review --label-column stars --explainers lime,shap --yes
"""
QUESTIONS = {
    "title": "Title, which participants read",
    "protocol": "Protocol (verax list protocols)",
    "dataset": "Dataset: a name (verax list datasets) or a file",
    "text_column": "The file's column of texts; empty if its rows are a table",
    "label_column": "The file's column of labels",
    "model": "Model (verax list models), package.module:name, or a saved one",
    "explainers": "Explainers, with commas between (verax list explainers)",
    "participants": "People for each row of the design, e.g. for each condition",
    "items": "Inputs that each study asks about; 0 for the protocol's own number",
    "contact": "Whom can participants ask?",
    "entry": "How do people come in: link, code, prolific or mturk?",
}


@one_sentence
def init_command(
    file: Annotated[Path, typer.Argument(metavar="SPEC", help="The file to write.")] = Path("study.toml"),
    title: Annotated[str | None, typer.Option(help="Shown to participants.")] = None,
    protocol: Annotated[str | None, typer.Option(help="See verax list protocols.")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", "-d", help="A name, or a file.")] = None,
    text_column: Annotated[str | None, typer.Option(help="A file's column of texts.")] = None,
    label_column: Annotated[str | None, typer.Option(help="A file's column of labels.")] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="See verax list models.")] = None,
    explainers: Annotated[
        str | None, typer.Option("--explainers", "-e", help="Names with commas between.")
    ] = None,
    participants: Annotated[int | None, typer.Option(help="For each row of the design.")] = None,
    items: Annotated[int | None, typer.Option(help="Inputs that people are asked about.")] = None,
    contact: Annotated[str | None, typer.Option(help="Whom participants can ask.")] = None,
    entry: Annotated[str | None, typer.Option(help="link, code, prolific or mturk.")] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Ask nothing: what is not given is as usual.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over an older file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the spec of a study: asks for what no option gives, again where an answer cannot be used.

    Who stops with Ctrl-C loses nothing: the next call goes on with the next question.
    """
    if file.exists() and not force:
        raise VeraxError(f"There is a file {file} already; give another name, or --force to write over it.")
    given = {
        "title": title, "protocol": protocol, "dataset": dataset, "text_column": text_column,
        "label_column": label_column, "model": model, "explainers": explainers, "participants": participants,
        "items": items, "contact": contact, "entry": entry,
    }  # fmt: skip
    answers = {name: str(value) for name, value in given.items() if value is not None}
    draft = _given(answers) if yes else _asked(answers, file.with_name(f"{file.name}.answers"))
    draft.check()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(draft.to_toml(), encoding="utf-8")
    file.with_name(f"{file.name}.answers").unlink(missing_ok=True)
    if as_json:
        print_json({"file": str(file), "spec": draft.to_toml()})
        return
    say(
        f"The spec is in {file}; read it, and change what you like.",
        f"Next: verax study build {file} --out studies/{file.stem}",
    )


def _given(answers: Mapping[str, str]) -> SpecDraft:
    from verax.workflows.spec_draft import SpecDraft

    draft = SpecDraft()
    for name in QUESTIONS:
        if name in answers:
            draft = draft.with_answer(name, answers[name])
    return draft


def _asked(answers: Mapping[str, str], path: Path) -> SpecDraft:
    """Asks what is not answered; every answer is kept in a file before the next question."""
    from verax.workflows.spec_draft import SpecDraft, is_file, keep, kept

    before = kept(path)
    if before:
        note(f"Your {len(before)} answers of last time are in {path}, and are taken from there.")
    known = {**before, **answers}
    draft, done = SpecDraft(), []
    try:
        for name in QUESTIONS:
            if name.endswith("_column") and not is_file(draft.dataset):
                continue
            draft = draft.with_answer(name, known[name]) if name in known else _answer(draft, name)
            done.append(name)
            keep(draft, done, path)
    except (typer.Abort, KeyboardInterrupt):
        note("", f"Stopped. What you answered is in {path}; the same command goes on from there.")
        raise typer.Exit(INTERRUPTED) from None
    return draft


def _answer(draft: SpecDraft, name: str) -> SpecDraft:
    """One question, until its answer can be used."""
    while True:
        typed = typer.prompt(QUESTIONS[name], default=str(getattr(draft, name)), err=True)
        try:
            return draft.with_answer(name, str(typed))
        except VeraxError as error:
            note(f"{error} Please answer again.")
