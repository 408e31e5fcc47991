"""Anchors beside the package anchor-exp on the same models: seconds, rows, calls, precision, coverage, length.

One process, one thread, interleaved input by input; medians of the ratios. Texts: words are left out with a chance of
one half (the package writes UNK in their place, which these models do not know). Tables: Adult as in Ribeiro et al.
(2018). Precision is measured on 10,000 fresh samples that are the same for both: words that are not in the rule are left
out; columns that are not in the rule take the values of training rows. Writes docs/results/anchor.md.

    python perf/anchor.py [--inputs 20] [--bilstm FOLDER] [--mlp FOLDER] [--models logistic,forest,bilstm,mlp-2x50]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

# This file has the name of the package that it measures.
sys.path = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]

import numpy as np
import spacy
from anchor.anchor_tabular import AnchorTabularExplainer
from anchor.anchor_text import AnchorText

import verax
from verax.data import split_words
from verax.explain.anchor.anchor import Anchor
from verax.explain.anchor.pools import Ask, Surroundings
from verax.explain.anchor.removed_words import RemovedWords
from verax.explain.anchor.table_rows import TableRows
from verax.explain.rule import Rule

FRESH = 10_000
PAGE = Path(__file__).parent.parent / "docs" / "results" / "anchor.md"
OURS = {
    "verax": {},
    "verax, as lenient as the package": {"tolerance": 0.05, "beam": 1},
}


@dataclass
class Counted:
    """The package's view of a model: classes, with rows and calls counted."""

    model: verax.models.Model
    rows: int = 0
    calls: int = 0

    def __call__(self, inputs: object) -> np.ndarray:
        given = list(inputs) if self.model.kind == "text" else np.asarray(inputs, dtype=float)
        self.rows += len(given)
        self.calls += 1
        return self.model.predict_proba(given).argmax(axis=1)


@dataclass
class Run:
    """One explanation: what it cost, and the numbers of the rule's features."""

    seconds: float
    rows: int
    calls: int
    conditions: tuple[int, ...]


def package_text(model: verax.models.Model) -> Callable[[str], Run]:
    explainer = AnchorText(spacy.blank("en"), list(model.class_names), use_unk_distribution=True)

    def explain(text: str) -> Run:
        counted = Counted(model)
        started = time.perf_counter()
        found = explainer.explain_instance(text, counted, threshold=0.95)
        seconds = time.perf_counter() - started
        distinct = split_words(text).distinct
        named = {word for name in found.names() for word in split_words(str(name)).distinct}
        numbers = tuple(place for place, word in enumerate(distinct) if word in named)
        return Run(seconds, counted.rows, counted.calls, numbers)

    return explain


def package_table(model: verax.models.Model, train: np.ndarray) -> Callable[[np.ndarray], Run]:
    names = {
        place: list(column.categories)
        for place, column in enumerate(model.schema.columns)
        if column.categories is not None
    }
    explainer = AnchorTabularExplainer(list(model.class_names), list(model.schema.names), train, names)

    def explain(row: np.ndarray) -> Run:
        counted = Counted(model)
        started = time.perf_counter()
        found = explainer.explain_instance(row, counted, threshold=0.95)
        return Run(
            time.perf_counter() - started, counted.rows, counted.calls, tuple(sorted(set(found.features())))
        )

    return explain


def ours(model: verax.models.Model, settings: dict[str, object]) -> Callable[[object], Run]:
    explainer = Anchor(words="removed", **settings)

    def explain(given: object) -> Run:
        inputs = [given] if isinstance(given, str) else np.asarray(given)[None]
        started = time.perf_counter()
        rule: Rule = explainer.explain(model, inputs)[0]
        return Run(time.perf_counter() - started, rule.cost.rows, rule.cost.calls, rule.conditions)

    return explain


def surroundings(model: verax.models.Model, given: object) -> Surroundings:
    if model.kind == "text":
        return RemovedWords(model, [str(given)], 0.5, seed=12345)
    return TableRows(model, np.asarray(given)[None], seed=12345)


def measured(model: verax.models.Model, given: object, conditions: tuple[int, ...]) -> tuple[float, float]:
    """Precision on fresh samples, and coverage."""
    around = surroundings(model, given)
    near = around.neighbourhoods()[0]
    own = [str(given)] if model.kind == "text" else np.asarray(given)[None]
    target = int(model.predict_proba(own).argmax())
    classes = around.predict([Ask(0, near.fresh, conditions, np.arange(FRESH))])[0]
    return float((classes == target).mean()), near.coverage(conditions)


def compare(
    name: str, model: verax.models.Model, inputs: list[object], package: Callable[[object], Run]
) -> str:
    """A table: one line a way to get anchors."""
    ways = {"anchor-exp": package} | {label: ours(model, settings) for label, settings in OURS.items()}
    for way in ways.values():
        way(inputs[0])
    runs: dict[str, list[Run]] = {label: [] for label in ways}
    quality: dict[str, list[tuple[float, float]]] = {label: [] for label in ways}
    for given in inputs:
        for label, way in ways.items():
            run = way(given)
            runs[label].append(run)
            quality[label].append(measured(model, given, run.conditions))
    together = {}
    for label, settings in OURS.items():
        explainer = Anchor(words="removed", **settings)
        batch = inputs if model.kind == "text" else np.stack([np.asarray(row) for row in inputs])
        started = time.perf_counter()
        explainer.explain(model, batch)
        together[label] = (time.perf_counter() - started) / len(inputs)
    lines = [
        f"\n## {name}\n",
        "| | ms, alone | ms, in a batch | times faster, alone (in a batch) | rows | calls | precision | below 0.95 | "
        "coverage | conditions |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    base = np.array([run.seconds for run in runs["anchor-exp"]])
    for label in ways:
        seconds = np.array([run.seconds for run in runs[label]])
        precision, coverage = np.array(quality[label]).T
        faster = (
            ""
            if label == "anchor-exp"
            else (f"{np.median(base / seconds):.0f} ({np.mean(base) / together[label]:.0f})")
        )
        batch_ms = f"{1000 * together[label]:.0f}" if label in together else ""
        lines.append(
            f"| {label} | {1000 * np.median(seconds):.0f} | {batch_ms} | {faster} "
            f"| {np.mean([run.rows for run in runs[label]]):,.0f} | {np.mean([run.calls for run in runs[label]]):,.0f} "
            f"| {precision.mean():.3f} | {int((precision < 0.95).sum())} of {len(inputs)} "
            f"| {coverage.mean():.3f} | {np.mean([len(run.conditions) for run in runs[label]]):.1f} |"
        )
    table = "\n".join(lines)
    print(table, flush=True)
    return table


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=20)
    parser.add_argument("--bilstm", help="A folder of save_model; trained here if not given.")
    parser.add_argument("--mlp", help="The same of mlp-2x50.")
    parser.add_argument(
        "--models", default="logistic,forest,bilstm,mlp-2x50", help="Those that are compared."
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    np.random.seed(0)  # noqa: NPY002 the package draws from the global generator
    reviews, adult = verax.load_dataset("rotten-tomatoes"), verax.load_dataset("adult")
    texts, rows = list(reviews.test.inputs[: given.inputs]), list(adult.test.inputs[: given.inputs])
    parts = []
    wanted = given.models.split(",")
    saved = {"bilstm": given.bilstm, "mlp-2x50": given.mlp}
    for name in (name for name in ("logistic", "forest", "bilstm") if name in wanted):
        model = verax.load_model(saved[name]) if saved.get(name) else verax.fit_model(name, reviews)
        parts.append(compare(f"{name}, {reviews.name}", model, texts, package_text(model)))
    for name in (name for name in ("logistic", "mlp-2x50") if name in wanted):
        model = verax.load_model(saved[name]) if saved.get(name) else verax.fit_model(name, adult)
        parts.append(compare(f"{name}, {adult.name}", model, rows, package_table(model, adult.train.inputs)))
    introduction = " ".join((__doc__ or "").split("\n\n    python")[0].split())
    PAGE.write_text(
        f"# Anchors beside anchor-exp\n\n{introduction}\n" + "\n".join(parts) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
