"""``verax explain`` and ``verax judge``: explanations side by side, and which explainer to believe."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verax.cli.console import (
    messages,
    note,
    one_sentence,
    output,
    plain_table,
    print_json,
    show_reasons,
    working,
)
from verax.cli.options import (
    AsJson,
    DataFormat,
    LabelColumn,
    Limit,
    TextColumn,
    Verbose,
    options_for_arguments,
)
from verax.errors import VeraxError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verax.data.dataset import Dataset
    from verax.models import Model
    from verax.reporting.comparison import Comparison
    from verax.workflows.compare import ChosenInput, FragmentChoice
    from verax.workflows.given_objects import Named


DEFAULT_INPUTS = 3
DEFAULT_EXPLAINERS = "lime,shap,greedy"


@one_sentence
def explain(
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="A name (verax list datasets), or a file or folder.")
    ] = "rotten-tomatoes",
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help="A name (verax list models), with options as in 'cnn(epochs=2)'; package.module:name, or a saved one.",
        ),
    ] = "logistic",
    explainers: Annotated[
        str | None,
        typer.Option(
            "--explainers",
            "-e",
            help="Names with commas between, e.g. 'lime,shap(samples=500),greedy'; lime,shap,greedy if left out.",
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="The methods of a paper instead, such as 'simulatability' (verax list presets)."),
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="A text to explain; may be given several times.")
    ] = None,
    number: Annotated[
        list[int] | None,
        typer.Option(
            "--input", "-i", help="The number, from 0, of an input of the test part; several times."
        ),
    ] = None,
    first: Annotated[
        int | None,
        typer.Option(
            "--n", "-n", help=f"The first so many of the test part; {DEFAULT_INPUTS} if nothing is chosen."
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="The class to explain, by name or number; the predicted one by default."),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="Perturbed rows for each explainer that samples.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the split, the model and the explainers.")] = 0,
    top: Annotated[int, typer.Option(help="How many features to show of each explanation.")] = 6,
    limit: Annotated[
        int | None, typer.Option(help="Use at most so many inputs of the dataset; faster.")
    ] = None,
    format: DataFormat = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    html: Annotated[Path | None, typer.Option(help="Write a page to look at to this file.")] = None,
    as_json: AsJson = False,
    fragments: Annotated[
        int | None,
        typer.Option(
            help="Also show so many fragments for the class beside as many against it, one line a method."
        ),
    ] = None,
    sizes: Annotated[
        str, typer.Option(help="How many words a fragment may have, e.g. 2,3,4 for n-grams.")
    ] = "1",
    any_sign: Annotated[
        bool,
        typer.Option("--any-sign", help="Fragments of the highest and lowest scores, whatever their sign."),
    ] = False,
    details: Annotated[
        bool, typer.Option("--details", help="Also print how each explanation was made.")
    ] = False,
    judged: Annotated[
        bool,
        typer.Option(
            "--judge/--no-judge", help="Say first which of the methods to trust here; explains thrice."
        ),
    ] = True,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Of openai:MODEL: print how many requests and tokens it would take; send nothing.",
        ),
    ] = False,
    verbose: Verbose = False,
) -> None:
    """Explain a model's predictions with several methods, side by side.

    The model is fitted on the training part; texts of your own or inputs of the test part are explained.
    """
    show_reasons(verbose)
    from verax.data import load_dataset
    from verax.models import resolve_model
    from verax.models.llm.adapt import ENDPOINT
    from verax.models.ready import check_model
    from verax.models.resolve import is_saved
    from verax.workflows.compare import compare, from_test_part, from_texts, parse_target
    from verax.workflows.given_objects import parse_explainers, preset_explainers

    # What was mistyped is told before any work.
    if preset is not None and explainers is not None:
        raise VeraxError("--preset names the explainers already; give either --preset or --explainers.")
    named = (
        parse_explainers(DEFAULT_EXPLAINERS if explainers is None else explainers, samples, seed)
        if preset is None
        else preset_explainers(preset, seed)
    )
    chosen_fragments = _fragment_choice(fragments, sizes, any_sign)
    if not is_saved(model) and not model.startswith(ENDPOINT):
        check_model(model)
    if dry_run and not model.startswith(ENDPOINT):
        raise VeraxError(f"--dry-run is for models behind an endpoint (openai:MODEL), and {model!r} is none.")
    if top < 1:
        raise VeraxError(f"--top {top} shows nothing; give 1 or more.")
    if first is not None and first < 1:
        raise VeraxError(f"--n {first} explains nothing; give 1 or more.")
    with working(f"loading {dataset}"), options_for_arguments():
        data = load_dataset(
            dataset, format=format, text=text_column, label=label_column, seed=seed, limit=limit
        )
    chosen = from_texts(text or [], data) + from_test_part(number or [], data)
    if first is not None or not chosen:
        chosen += from_test_part(range(min(first or DEFAULT_INPUTS, len(data.test))), data)
    if dry_run:
        _print_plan(model, data, chosen, named)
        return
    with working(f"fitting {model}"):
        fitted = resolve_model(model, data, seed=seed)
    wanted = parse_target(target, fitted)
    comparison = compare(
        data, fitted, model, chosen, named, wanted, data.notes, during=working, fragments=chosen_fragments
    )
    if judged and (html is not None or not as_json):
        comparison = _judged(comparison, fitted, chosen, named)
    if html is not None:
        from verax.reporting.explanations import write_page

        write_page(html, [comparison], "Explanations side by side", _command())
    if as_json:
        note(*comparison.notes)
        _print_json(comparison)
    else:
        _print_verdict(comparison)
        _print_side_by_side(comparison, top, details)
    if not as_json or html is not None:
        (messages() if as_json else output()).print(_what_next(html), soft_wrap=True)


def _print_plan(model: str, data: Dataset, chosen: Sequence[ChosenInput], named: Sequence[Named]) -> None:
    """How much a model behind an endpoint would be asked; nothing is sent."""
    from verax.models.llm.adapt import endpoint_for
    from verax.models.llm.client import EndpointOptions
    from verax.models.llm.endpoint import EndpointModel

    for each in named:
        counted = endpoint_for(model, data, EndpointOptions(dry_run=True))
        assert isinstance(counted, EndpointModel)
        each.explainer.explain(counted, [one.input for one in chosen], [0] * len(chosen))
        spent = counted.client.spent
        output().print(
            f"{each.name}: {spent.planned:,} requests, about {spent.prompt_tokens:,} tokens in prompts and "
            f"{spent.answer_tokens:,} in answers; {spent.kept:,} answers are on disk already",
            soft_wrap=True,
        )
    output().print("Nothing was sent.")


def _print_json(comparison: Comparison) -> None:
    from verax.workflows.compare import as_dicts

    print_json(as_dicts(comparison))


def _fragment_choice(count: int | None, sizes: str, any_sign: bool) -> FragmentChoice | None:
    from verax.workflows.compare import FragmentChoice

    if count is None:
        if sizes != "1" or any_sign:
            raise VeraxError("--sizes and --any-sign are of fragments; say how many, with --fragments 3.")
        return None
    if count < 1:
        raise VeraxError(f"--fragments {count} shows nothing; give 1 or more.")
    parts = [part.strip() for part in sizes.split(",")]
    if not all(part.isdecimal() and int(part) >= 1 for part in parts):
        raise VeraxError(f"--sizes {sizes} cannot be read; write numbers of words with commas, e.g. 2,3,4.")
    return FragmentChoice(count, tuple(map(int, parts)), any_sign)


def _judged(
    comparison: Comparison, model: Model, chosen: Sequence[ChosenInput], named: Sequence[Named]
) -> Comparison:
    """The comparison with its verdict, or with a note that says why there is none."""
    from verax.workflows.compare import with_verdict

    try:
        with working("judging the explanations"):
            return with_verdict(comparison, model, chosen, named)
    except VeraxError as error:
        return replace(comparison, notes=(*comparison.notes, f"The explanations are not judged: {error}"))


def _print_verdict(comparison: Comparison) -> None:
    from verax.results.tables import verdict_lines

    if comparison.verdict is not None:
        for line in verdict_lines(comparison.verdict):
            output().print(line, highlight=False)
        output().print()


def _print_side_by_side(comparison: Comparison, top: int, details: bool) -> None:
    from verax.reporting.comparison import scored
    from verax.reporting.explanations import legend, render_terminal

    console = output()
    console.print(render_terminal(comparison, top, console.width, details=details))
    if any(map(scored, comparison.subjects)):
        console.print()
        console.print(legend())


def _what_next(html: Path | None) -> str:
    if html is None:
        return "Next: add --html page.html for a page to look at, or --json for all the numbers."
    return f"The page is in {html}; open it in a browser."


def _command() -> str:
    return shlex.join(["verax", *sys.argv[1:]])


@one_sentence
def judge(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A saved model (model.joblib), package.module:name, or a ready-made one (verax list models).",
        ),
    ],
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A file with labels (CSV, JSON lines, Parquet), or a name (verax list datasets).",
        ),
    ],
    explainers: Annotated[
        str,
        typer.Option(
            "--explainers", "-e", help="Names with commas between, e.g. 'lime,shap(samples=500),greedy'."
        ),
    ] = "lime,shap,greedy",
    n: Annotated[int, typer.Option("--n", "-n", help="Judge on so many inputs of the test part.")] = 20,
    seconds: Annotated[
        float, typer.Option(help="How long it may take, about; what is left out is said.")
    ] = 120.0,
    target: Annotated[
        str | None,
        typer.Option(help="The class to explain, by name or number; the predicted one by default."),
    ] = None,
    planted: Annotated[
        bool, typer.Option("--planted/--no-planted", help="Also plant known reasons in copies of the model.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Of the split, of a ready-made model and of what is random.")] = 0,
    limit: Limit = None,
    format: DataFormat = None,
    text_column: TextColumn = None,
    label_column: Annotated[
        str | None, typer.Option("--label-column", "--label", help="A file's column of labels ('label').")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page to look at to this file.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the verdict and its table to this file.")
    ] = None,
    latex: Annotated[Path | None, typer.Option(help="Write the table in LaTeX to this file.")] = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Say which explainer to believe for a model.

    What the explainers name is taken away and left alone, beside random features and the best possible ones; and where
    the model can be fitted again, known reasons are planted in copies of it. The answer is the first sentence.
    """
    show_reasons(verbose)
    from verax.data import load_dataset
    from verax.models.ready import check_model
    from verax.models.resolve import is_saved
    from verax.results.tables import rows_of
    from verax.workflows.given_objects import parse_explainers
    from verax.workflows.judge import judge as judge_model

    # What was mistyped is told before any work.
    if not seconds > 0:
        raise VeraxError(f"--seconds {seconds:g} leaves no time; give more than 0.")
    named = {each.name: each.explainer for each in parse_explainers(explainers, seed=seed)}
    if not is_saved(model):
        check_model(model)
    with working(f"loading {data}"), options_for_arguments():
        dataset = load_dataset(
            data, format=format, text=text_column, label=label_column, seed=seed, limit=limit
        )
    found = judge_model(
        model, dataset, named, targets=target, n=n, seed=seed, seconds=seconds, planted=planted
    )
    command = shlex.join(["verax", *sys.argv[1:]])
    written = []
    if html is not None:
        written.append(found.page(html, command))
    for path, words in ((markdown, found.to_markdown), (latex, found.to_latex)):
        if path is not None:
            _write(path, words())
            written.append(path)
    if as_json:
        print_json(found.to_dict())
    else:
        console = output()
        console.print(found.verdict.sentence)
        console.print()
        numbers = found.table
        table = plain_table(*(column.title for column in numbers.columns), left=("", "explainer"), gap=1)
        for row in rows_of(numbers):
            table.add_row(*row)
        console.print(table)
        console.print()
        for sentence in found.verdict.rests_on:
            console.print(sentence)
    where = messages() if as_json else output()
    for path in written:
        where.print(f"Written to {path}.", soft_wrap=True)
    if not written and not as_json:
        where.print(
            f"It took {found.seconds:.0f} s. Next: add --html page.html for a page with all explanations, or --json.",
            soft_wrap=True,
        )


def _write(path: Path, words: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(words, encoding="utf-8")
    except OSError as error:
        raise VeraxError(
            f"Nothing can be written to {str(path)!r} ({error.strerror}); choose another file."
        ) from error
