"""``verax judge``: which explainer to believe for a model."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from verax.cli.console import messages, one_sentence, output, plain_table, print_json, show_reasons, working
from verax.cli.options import AsJson, DataFormat, Limit, TextColumn, Verbose, options_for_arguments
from verax.errors import VeraxError


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
    from verax.results.render import rows_of
    from verax.workflows.explainer_names import parse_explainers
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
