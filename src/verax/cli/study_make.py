"""``verax study init``, ``build``, ``import``, ``preview`` and ``review``: a study is made and looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from verax.cli.console import (
    INTERRUPTED,
    note,
    one_sentence,
    output,
    plain_table,
    print_json,
    say,
    show_reasons,
    working,
)
from verax.cli.options import AsJson, Folder, Verbose, split_names, with_spec_options
from verax.errors import VeraxError
from verax.options import checked_spec
from verax.studies.definition.options import BuildSpec, PreviewSpec
from verax.workflows.analysis import check_installed
from verax.workflows.spec_draft import SpecDraft

if TYPE_CHECKING:
    from rich.table import Table

    from verax.studies.build.build import ItemBalance
    from verax.studies.build.imports import Imported
    from verax.studies.build.imports.hase_bansal import Domain, Test
    from verax.studies.definition.spec import StudySpec
    from verax.studies.definition.study import Study

INIT_EXAMPLES = """Examples:

verax study init forward.toml

verax study init mine.toml --dataset reviews.csv --text-column review --label-column stars --explainers lime,shap --yes
"""


@one_sentence
@with_spec_options(SpecDraft)
def init_command(
    file: Annotated[Path, typer.Argument(metavar="SPEC", help="The file to write.")] = Path("study.toml"),
    *,
    given: dict[str, Any],
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
    answers = {name: str(value) for name, value in given.items()}
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
    draft = SpecDraft()
    for name in SpecDraft.model_fields:
        if name in answers:
            draft = draft.with_answer(name, answers[name])
    return draft


def _asked(answers: Mapping[str, str], path: Path) -> SpecDraft:
    """Asks what is not answered; every answer is kept in a file before the next question."""
    from verax.workflows.spec_draft import is_file, keep, kept

    before = kept(path)
    if before:
        note(f"Your {len(before)} answers of last time are in {path}, and are taken from there.")
    known = {**before, **answers}
    draft, done = SpecDraft(), []
    try:
        for name in SpecDraft.model_fields:
            if name.endswith("_column") and not is_file(draft.dataset):
                continue
            draft = draft.with_answer(name, known[name]) if name in known else _answer(draft, name)
            done.append(name)
            keep(draft, done, path)
    except (typer.Abort, KeyboardInterrupt):
        note("", f"Stopped. What you answered is in {path}; the same command goes on from there.")
        raise typer.Exit(INTERRUPTED) from None
    return draft


def _question(name: str) -> str:
    return (SpecDraft.model_fields[name].description or name).removesuffix(".")


def _answer(draft: SpecDraft, name: str) -> SpecDraft:
    """One question, until its answer can be used."""
    while True:
        typed = typer.prompt(_question(name), default=str(getattr(draft, name)), err=True)
        try:
            return draft.with_answer(name, str(typed))
        except VeraxError as error:
            note(f"{error} Please answer again.")


HASE_BANSAL, REVERSE_TURING = "hase-bansal", "reverse-turing"
IMPORT_EXAMPLES = """Examples:

verax study import spec.toml --items-file items.csv --out studies/mine

verax study import hase-bansal InterpretableNLP-ACL2020 --domain text --protocol forward --out studies/forward

verax study import reverse-turing stimuli/binary --explanations-file lime.csv --out studies/sst
"""


@one_sentence
@with_spec_options(BuildSpec)
def build_command(
    spec: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC",
            help="A TOML file, as verax study init writes one; or a folder of them, each becoming a study.",
        ),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="The study's folder; a stopped build goes on there. Of a folder of specs: where their folders go.",
        ),
    ],
    given: dict[str, Any],
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Build a study from a spec: models, items, explanations and every screen, in one folder."""
    show_reasons(verbose)
    from verax.workflows.study import build_study

    specs = {spec: out}
    if spec.is_dir():
        specs = {path: out / path.stem for path in sorted(spec.glob("*.toml"))}
        if not specs:
            raise VeraxError(f"There is no spec, no file that ends in .toml, in the folder {spec}.")
    reports = []
    for path, folder in specs.items():
        made = build_study(path, folder, during=working, **given)
        reports.append(_about(made.study, folder) | {"computed": made.is_new})
        if not as_json:
            _print_study(made.study, folder, already=not made.is_new, spec=path)
    if as_json:
        print_json({"studies": reports} if spec.is_dir() else reports[0])


@one_sentence
@with_spec_options(PreviewSpec)
def preview_command(
    folder: Folder,
    *,
    given: dict[str, Any],
    row: Annotated[int | None, typer.Option(help="Say where to see this row of the design.")] = None,
) -> None:
    """Walk through a study's pages; nothing is recorded."""
    check_installed()
    from verax.studies.definition.study_files import load_study
    from verax.web.preview import preview as show

    if row is not None:
        numbers = [design_row.number for design_row in load_study(folder).rows]
        if row not in numbers:
            raise VeraxError(f"There is no row {row}; the design has the rows {numbers[0]} to {numbers[-1]}.")
        say(f"Row {row} is at /row/{row}/ below the address.")
    asked = checked_spec(PreviewSpec, given)
    show(folder, port=asked.port, host=asked.host)


@one_sentence
def import_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            help=f"A TOML file, {HASE_BANSAL} for the published forms of Hase and Bansal (2020), or {REVERSE_TURING} "
            "for the published stimuli of Gonzalez and Søgaard (2020).",
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="Of the published forms: their repository; of the stimuli: a task."
        ),
    ] = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The study's folder.")],
    items_file: Annotated[
        Path | None, typer.Option(help="The items: CSV, JSON lines, Parquet or xlsx, one record for each.")
    ] = None,
    explanations_file: Annotated[
        Path | None, typer.Option(help="A file of explanations, if they are not in the items' file.")
    ] = None,
    domain: Annotated[str | None, typer.Option(help="Of the published forms: text or tabular.")] = None,
    protocol: Annotated[
        str | None, typer.Option(help="Of the published forms: forward, counterfactual or user-test (both).")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Of the published forms, with commas between; the paper's five by default."),
    ] = None,
    spec: Annotated[
        Path | None,
        typer.Option(help="A spec for the published forms, in place of --protocol and --methods."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write in place of another study that nobody has answered.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a study of items, model outputs and explanations from files; nothing is computed.

    One record for each item: id, role, text (or row.NAME for each column), label, prediction, and
    explanation.NAME for each condition that shows one.
    """
    published = {
        "FOLDER": folder,
        "--domain": domain,
        "--protocol": protocol,
        "--methods": methods,
        "--spec": spec,
    }
    own = {"--items-file": items_file, "--explanations-file": explanations_file}
    if source == REVERSE_TURING:
        of_forms = {
            "--domain": domain,
            "--protocol": protocol,
            "--methods": methods,
            "--items-file": items_file,
        }
        _refuse(of_forms, f"is not for {REVERSE_TURING}")
        asked, text, imported = _stimuli(folder, explanations_file, spec)
    elif source == HASE_BANSAL:
        _refuse(own, f"is for a spec of your own, not for {HASE_BANSAL}")
        asked, text, imported = _published(folder, domain, protocol, methods, spec)
    else:
        _refuse(published, f"is for {HASE_BANSAL}, not for a spec of your own")
        asked, text, imported = _from_files(Path(source), items_file, explanations_file)
    _save(asked, text, imported, out, force=force, as_json=as_json)


def _refuse(options: Mapping[str, object], why: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise VeraxError(f"{name} {why}; leave it out.")


def _from_files(path: Path, items: Path | None, explanations: Path | None) -> tuple[StudySpec, str, Imported]:
    from verax.studies.build.imports import import_files
    from verax.studies.definition.spec import parse_study_spec, read_spec_text

    if items is None:
        raise VeraxError("Name the file of the items with --items-file.")
    text = read_spec_text(path)
    asked = parse_study_spec(text, path.name)
    return asked, text, import_files(asked, items, explanations)


def _published(
    folder: Path | None, domain: str | None, protocol: str | None, methods: str | None, spec: Path | None
) -> tuple[StudySpec, str, Imported]:
    from verax.studies.build.imports import import_hase_bansal
    from verax.studies.build.imports.hase_bansal import CLASS_NAMES, METHODS, hase_bansal_spec
    from verax.studies.definition.spec import parse_study_spec, read_spec_text

    if folder is None:
        raise VeraxError(
            f"Name the folder of the published repository: verax study import {HASE_BANSAL} FOLDER."
        )
    if domain not in CLASS_NAMES:
        raise VeraxError(f"Choose one with --domain: {' or '.join(CLASS_NAMES)}.")
    chosen = cast("Domain", domain)
    if spec is None:
        if protocol not in ("forward", "counterfactual", "user-test"):
            raise VeraxError("Choose one with --protocol: forward, counterfactual or user-test.")
        wanted = METHODS if methods is None else tuple(split_names(methods))
        text = hase_bansal_spec(chosen, cast("Test", protocol), wanted)
    else:
        _refuse({"--protocol": protocol, "--methods": methods}, "is in the spec that --spec names")
        text = read_spec_text(spec)
    asked = parse_study_spec(text, "the spec" if spec is None else spec.name)
    return asked, text, import_hase_bansal(asked, folder, chosen)


def _stimuli(
    folder: Path | None, explanations: Path | None, spec: Path | None
) -> tuple[StudySpec, str, Imported]:
    from verax.studies.build.imports import import_stimuli
    from verax.studies.definition.spec import read_spec_text

    if folder is None:
        raise VeraxError(f"Name the folder of a task: verax study import {REVERSE_TURING} FOLDER.")
    return import_stimuli(folder, explanations, None if spec is None else read_spec_text(spec))


def _save(asked: StudySpec, text: str, imported: Imported, out: Path, *, force: bool, as_json: bool) -> None:
    from verax.studies.build.imports import make_study

    made = make_study(asked, text, imported, out, force=force)
    if as_json:
        print_json(_about(made, out) | {"notes": list(imported.notes)})
        return
    say(*(f"note: {sentence}" for sentence in imported.notes))
    _print_study(made, out)


def _print_power(spec: StudySpec, path: Path) -> None:
    """What a study of this size would find, and a warning where that is little; nothing where it cannot be told."""
    from verax.studies.planning.power import design_power

    try:
        found = design_power(spec)
    except VeraxError:  # a protocol of somebody's own that says nothing of its planning
        return
    output().print(f"power         {found.sentence()}")
    if found.is_low:
        say(f"Plan more people or items before you recruit: verax study power {path} says how many.")


def _about(made: Study, out: Path) -> dict[str, object]:
    """What was made, for other programs."""
    from verax.studies.build.build import design_places, unsaid
    from verax.studies.protocol.common_steps import minutes, uninformative
    from verax.studies.protocol.contract import turns_phones_away

    return {
        "folder": str(out),
        "title": made.spec.title,
        "hash": made.hash,
        "protocol": made.spec.protocol["name"],
        "dataset": made.spec.dataset,
        "models": made.models,
        "conditions": {condition.name: condition.kind for condition in made.spec.conditions},
        "items": len(made.items),
        "rows": len(made.rows),
        "places": design_places(made),
        "phones": not turns_phones_away(made.spec),
        "minutes": round(minutes(made), 1),
        "unsaid": unsaid(made.spec),
        "uninformative": uninformative(made),
    }


def _print_study(made: Study, out: Path, *, already: bool = False, spec: Path | None = None) -> None:
    """What was made, in a few lines; with the power of the design where it was built from a spec."""
    from verax.studies.build.build import design_places, unsaid
    from verax.studies.protocol.common_steps import minutes, uninformative
    from verax.studies.protocol.contract import turns_phones_away

    console = output()
    if already:
        say(f"The study is already built in {out}; nothing was computed.")
    console.print(f"{made.spec.title}", style="bold")
    console.print(f"protocol      {made.spec.protocol['name']} on {made.spec.dataset}")
    for which, about in made.models.items():
        console.print(f"{which:<13} {_model(about)}")
    console.print(
        f"conditions    {', '.join(f'{condition.name} ({condition.kind})' for condition in made.spec.conditions)}"
    )
    console.print()
    console.print(_balance_table(made))
    console.print()
    console.print(
        f"design        {len(made.rows)} rows, "
        f"{design_places(made)} places; about {minutes(made):.0f} minutes a participant"
    )
    if turns_phones_away(made.spec):
        why = (
            ""
            if made.spec.devices
            else ', which cannot show together what is compared (devices = "any" takes them)'
        )
        console.print(f"devices       computers and tablets; phones are turned away{why}")
    console.print(f"hash          {made.hash}")
    if spec is not None:
        _print_power(made.spec, spec)
    for name, (without, items) in uninformative(made).items():
        say(
            f"{name}: {without} of {items} pages carry no information: both sides show the same. Answers to them can "
            "only be guesses; more items, other sizes of fragments or another method have fewer of them."
        )
    if missing := unsaid(made.spec):
        say(
            f"Before you recruit, say on the first page what people should know: {', '.join(missing)} in the spec."
        )
    say(f"Next: verax study preview {out}")


def _model(about: dict[str, object]) -> str:
    learnt = about["training_inputs"]
    source = "" if learnt is None else f", learnt from {learnt:,}"
    alike = f", says the same of {about['agreement']:.1%}" if "agreement" in about else ""
    mean = f" (macro-F1 {about['macro_f1']:.2f})" if "macro_f1" in about else ""
    right = f"right on {about['accuracy']:.1%} of {about['test_inputs']:,} test inputs{mean}"
    return f"{about['name']}, {right}{source}{alike}"


def _balance_table(made: Study) -> Table:
    """How the items of each role are spread: by predicted class, and whether the model is right."""
    from verax.studies.build.build import item_balance

    groups = item_balance(made.items.values())
    roles = list(dict.fromkeys(group.role for group in groups))
    words = ("predicted", "model is")
    table = plain_table(*words, *(f"{role} items" for role in roles), left=words)
    by_place = {(group.prediction, group.correct, group.role): group for group in groups}
    for prediction, correct in dict.fromkeys((group.prediction, group.correct) for group in groups):
        counts = [_count(by_place[prediction, correct, role]) for role in roles]
        table.add_row(made.class_names[prediction], "right" if correct else "wrong", *counts)
    return table


def _count(group: ItemBalance) -> str:
    """A group's number, and what it is made of."""
    inside = []
    if group.flips is not None:
        inside.append(f"{group.flips} flip")
    if len(group.groups) > 1:
        least, most = min(group.groups), max(group.groups)
        inside.append(f"{least} in each group" if least == most else f"{least} to {most} in a group")
    return f"{group.items} ({', '.join(inside)})" if inside else str(group.items)


REVIEW_EXAMPLES = "Example: verax study review studies/counterfactual"


@one_sentence
def review_command(
    folder: Folder,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The page; review.html in the study's folder if not given."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Lists all pairs of an input and its changed version, the most doubtful first, and how to strike them."""
    from verax.reporting.study import pairs_of, write_review
    from verax.studies.definition.study_files import load_study

    path = out or folder / "review.html"
    study = load_study(folder)
    many = write_review(study, path)
    if as_json:
        print_json({"page": str(path), "pairs": [asdict(pair) for pair in pairs_of(study)]})
    else:
        say(f"{many} pairs to review: {path}")
