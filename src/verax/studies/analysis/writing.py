"""An analysis in its folder: summary.json, results.parquet and manifest.json; the report is written by others."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verax.codec import encoded
from verax.errors import VeraxError
from verax.run.canonical import write_json
from verax.run.manifest import library_versions, machine
from verax.studies.answers.export.csv_cells import guarded
from verax.studies.protocol.findings import Analysed
from verax.studies.results.item_results import ItemResult
from verax.studies.results.options import Options
from verax.studies.results.summary import Summary

if TYPE_CHECKING:
    import pandas as pd

    from verax.studies.model.study import Study

SUMMARY, RESULTS, MANIFEST, TABLES = "summary.json", "results.parquet", "manifest.json", "tables"
ITEMS = "items.csv"


def write_analysis(folder: Path, data: Analysed, summary: Summary, options: Options) -> None:
    """Writes what was found and what it was found from.

    Args:
        folder: made if absent; what an earlier analysis left there is written over.
        data: the answers that were analysed. Texts in people's own words are not written.
        summary: as `analyse` gives it.
        options: how it was analysed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VeraxError(
            f"{str(folder)!r} cannot be the folder of the analysis ({error.strerror}); name another with --out."
        ) from error
    _remove_old_tables(folder)
    write_json(folder / SUMMARY, summary.to_dict())
    without_texts(data.responses, data.study).to_parquet(folder / RESULTS, index=False)
    (folder / ITEMS).unlink(missing_ok=True)
    if summary.items:
        write_items(folder / ITEMS, summary.items)
    written = (SUMMARY, RESULTS, *((ITEMS,) if summary.items else ()))
    hashes = {name: _hash(folder / name) for name in written}
    manifest = {
        "kind": "analysis of a study",
        "study": data.study.hash,
        "people": data.people,
        "source": summary.source,
        "options": encoded(options),
        "hashes": hashes,
        "versions": library_versions(),
        "machine": machine(),
    }
    write_json(folder / MANIFEST, manifest)


def write_items(path: Path, items: Sequence[ItemResult]) -> None:
    """One line for each item and condition: how many were right before and after, and what they saw."""
    names = [
        "item",
        "condition",
        "people",
        "right_before",
        "right_after",
        "label",
        "prediction",
        "right_answer",
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow([*names, "input", "changed", "explanation"])
        for item in items:
            for one in item.counts:
                numbers = [one.people, one.before, one.after]
                texts = [item.label, item.prediction, item.right, item.input, item.changed, one.explanation]
                lines.writerow([item.item, one.condition, *numbers, *map(guarded, texts)])


def _remove_old_tables(folder: Path) -> None:
    """Removes the tables of the analysis that stands there: those that are not made again would pass for new ones."""
    try:
        old = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        keys = [table["key"] for table in old["tables"]]
    except (OSError, ValueError, KeyError, TypeError):  # there is none, or it is somebody else's
        return
    for key in keys:
        for kind in ("md", "tex"):
            (folder / TABLES / f"{key}.{kind}").unlink(missing_ok=True)


def without_texts(answers: pd.DataFrame, study: Study) -> pd.DataFrame:
    """The answers without what people wrote in their own words, which may tell who they are."""
    texts = {
        question.name
        for screen in study.screens.values()
        for question in screen.questions
        if question.kind == "text"
    }
    written = answers["question"].isin(texts) & answers["answer"].notna()
    kept = answers.copy()
    kept.loc[written, "answer"] = None
    kept.loc[written, "withheld"] = True
    return kept


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
