"""``verax explain`` and ``verax judge``: explanations side by side, and which explainer to believe."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    Verbose,
    options_for_arguments,
    with_spec_options,
)
from verax.errors import VeraxError
from verax.options import checked_spec
from verax.workflows.options import ExplainSpec, JudgeSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verax.data.dataset import Dataset
    from verax.explain import Explanation
    from verax.reporting.comparison import Comparison
    from verax.workflows.compare import ChosenInput
    from verax.workflows.given_objects import Named


GlobalFolder = Annotated[
    Path | None,
    typer.Option(
        help="Write what the explanations say over all inputs to this folder: a page, SVG, LaTeX, CSV."
    ),
]


@one_sentence
@with_spec_options(ExplainSpec)
def explain(
    *,
    given: dict[str, Any],
    top: Annotated[int, typer.Option(help="How many features to show of each explanation.")] = 6,
    details: Annotated[
        bool, typer.Option("--details", help="Also print how each explanation was made.")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page to look at to this file.")] = None,
    global_view: GlobalFolder = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Of openai:MODEL: print how many requests and tokens it would take; send nothing.",
        ),
    ] = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Explain a model's predictions with several methods, side by side.

    The model is fitted on the training part; texts of your own or inputs of the test part are explained.
    """
    show_reasons(verbose)
    from verax.models.llm.adapt import ENDPOINT
    from verax.workflows.compare import explain_side_by_side, requested

    if top < 1:
        raise VeraxError(f"--top {top} shows nothing; give 1 or more.")
    with options_for_arguments():
        spec = checked_spec(ExplainSpec, given)
        if dry_run and not spec.model.startswith(ENDPOINT):
            raise VeraxError(
                f"--dry-run is for models behind an endpoint (openai:MODEL), and {spec.model!r} is none."
            )
        request = requested(spec, working)
    if dry_run:
        _print_plan(spec.model, request.dataset, request.chosen, request.explainers)
        return
    judged = spec.judge and (html is not None or not as_json)
    comparison = explain_side_by_side(request, judge=judged, during=working)
    if html is not None:
        from verax.reporting.explanations import write_page

        write_page(html, [comparison], "Explanations side by side", _command())
    if global_view is not None:
        _write_global(global_view, _by_method(comparison))
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
    from dataclasses import replace

    from verax.models.llm.adapt import endpoint_for, endpoint_named
    from verax.models.llm.endpoint import EndpointModel

    name, asked = endpoint_named(model)
    for each in named:
        counted = endpoint_for(f"openai:{name}", data, replace(asked, dry_run=True))
        assert isinstance(counted, EndpointModel)
        each.explainer.explain(counted, [one.input for one in chosen], [0] * len(chosen))
        spent = counted.client.spent
        priced = asked.prompt_price or asked.answer_price
        cost = f", {spent.cost(asked):.2g} in money" if priced else ""
        output().print(
            f"{each.name}: {spent.planned:,} requests, about {spent.prompt_tokens:,} tokens in prompts and "
            f"{spent.answer_tokens:,} in answers{cost}; {spent.kept:,} answers are on disk already",
            soft_wrap=True,
        )
    output().print(
        "Nothing was sent. An endpoint that gives no log-probabilities is asked "
        f"{asked.samples} times more for each prompt.",
        soft_wrap=True,
    )


def _print_json(comparison: Comparison) -> None:
    from verax.workflows.compare import as_dicts

    print_json(as_dicts(comparison))


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


def _by_method(comparison: Comparison) -> dict[str, list[Explanation]]:
    found: dict[str, list[Explanation]] = {}
    for subject in comparison.subjects:
        for entry in subject.entries:
            found.setdefault(entry.name, []).append(entry.explanation)
    return found


def _write_global(folder: Path, explanations: Mapping[str, Sequence[Explanation]]) -> None:
    """Global views into a folder; what they say is a message, so that it stands beside any output."""
    from verax.workflows.global_view import global_view

    view = global_view(explanations)
    view.write(folder, _command())
    messages().print(view.sentence, soft_wrap=True)
    for sentence in view.notes:
        messages().print(sentence, soft_wrap=True)
    messages().print(f"Global views are in {folder / 'index.html'}.", soft_wrap=True)


def _what_next(html: Path | None) -> str:
    if html is None:
        return "Next: add --html page.html for a page to look at, or --json for all the numbers."
    return f"The page is in {html}; open it in a browser."


def _command() -> str:
    return shlex.join(["verax", *sys.argv[1:]])


@one_sentence
@with_spec_options(JudgeSpec)
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
            help="A file (CSV, JSON lines, Parquet), with labels or for a fitted model without; or a name (verax list "
            "datasets).",
        ),
    ],
    *,
    given: dict[str, Any],
    html: Annotated[Path | None, typer.Option(help="Write a page to look at to this file.")] = None,
    global_view: GlobalFolder = None,
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
    from verax.results.tables import rows_of
    from verax.workflows.judge import judge as judge_model

    with options_for_arguments():
        found = judge_model(model, data, **given)
    command = shlex.join(["verax", *sys.argv[1:]])
    written = []
    if html is not None:
        written.append(found.page(html, command))
    if global_view is not None:
        _write_global(global_view, found.explanations)
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
