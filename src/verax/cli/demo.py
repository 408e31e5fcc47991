"""``verax demo``: one minute with real reviews, every explainer, and a page to look at."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verax.cli.console import one_sentence, output, show_reasons, working

if TYPE_CHECKING:
    from verax.data import Dataset
    from verax.models import Model
    from verax.report.comparison import Comparison

TEXT_EXPLAINERS = "lime,shap,greedy,greedy-path,random,random(ngram=3)"
TABLE_EXPLAINERS = "lime,shap,greedy,greedy-path,random"
# Reviews of a length that fits a screen six times.
SHORTEST, LONGEST = 60, 180


@one_sentence
def demo(
    out: Annotated[Path, typer.Option(help="The folder that the page is written to.")] = Path("demo"),
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say which way was taken, and why.")
    ] = False,
) -> None:
    """Explain a few real film reviews, and one person's income, with every explainer; one minute.

    Prints the explanations side by side and writes a page to look at.
    """
    show_reasons(verbose)
    from verax.report.page import write_page
    from verax.report.terminal import legend, render

    started = time.perf_counter()
    console = output()
    comparisons = []
    for name, model, explainers, count in (
        ("rotten-tomatoes", "logistic", TEXT_EXPLAINERS, 3),
        ("rotten-tomatoes", "forest", TEXT_EXPLAINERS, 1),
        ("adult", "logistic", TABLE_EXPLAINERS, 1),
    ):
        comparisons.append(_explained(name, model, explainers, count))
        console.print(render(comparisons[-1], top=5, width=console.width))
        console.print()
    page = out / "index.html"
    write_page(page, comparisons, "Verax: explanations side by side", f"verax demo --out {out}")
    console.print(legend())
    console.print(f"This took {time.perf_counter() - started:.0f} seconds.")
    console.print('Try next: verax explain --text "A warm, funny and moving film." --explainers lime,shap')
    console.print(f"The page is in {page}; open it in a browser.", soft_wrap=True)


def _explained(name: str, model_name: str, explainers: str, count: int) -> Comparison:
    from verax.cli.compare import compare, from_test_part
    from verax.cli.names import parse_explainers
    from verax.data import load_dataset
    from verax.models import fit_model

    with working(f"loading {name}"):
        data = load_dataset(name)
    with working(f"fitting {model_name} on {len(data.train):,} inputs of {name}"):
        model = fit_model(model_name, data)
    numbers, note = choose(data, model, count)
    return compare(
        data, model, model_name, from_test_part(numbers, data), parse_explainers(explainers), notes=[note]
    )


def choose(data: Dataset, model: Model, count: int) -> tuple[Sequence[int], str]:
    """Test inputs worth looking at, and a sentence on how good the model is.

    They are an input of the last class that the model gets right, one of the first class, and the one where it is
    most sure and wrong; of medium length if they are texts.
    """
    import numpy as np

    probabilities = model.predict_proba(data.test.inputs)
    predicted, labels = probabilities.argmax(axis=1), data.test.labels
    right = predicted == labels
    fits = np.array([not isinstance(x, str) or SHORTEST <= len(x) <= LONGEST for x in data.test.inputs])
    last = len(data.class_names) - 1
    wrong = np.where(fits & ~right, probabilities.max(axis=1), -1.0)
    candidates = [
        np.argmax(fits & right & (labels == last)),
        np.argmax(fits & right & (labels == 0)),
        np.argmax(wrong),
    ]
    noun = "texts" if data.kind == "text" else "rows"
    note = (
        f"Fitted on {len(data.train):,} {noun}; right on {100 * right.mean():.1f}% of "
        f"{len(data.test):,} others."
    )
    return [int(number) for number in candidates[:count]], note
