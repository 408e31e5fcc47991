"""``verax study review``: the changed inputs of a study, on one page, before people see them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from verax.cli.console import one_sentence, print_json, say
from verax.cli.options import AsJson, Folder

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
    from verax.report.study.review_page import pairs_of, write_review
    from verax.studies.definition.study_files import load_study

    path = out or folder / "review.html"
    study = load_study(folder)
    many = write_review(study, path)
    if as_json:
        print_json({"page": str(path), "pairs": [asdict(pair) for pair in pairs_of(study)]})
    else:
        say(f"{many} pairs to review: {path}")
