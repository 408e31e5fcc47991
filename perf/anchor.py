"""Anchors beside the package anchor-exp on the same models: time, rows, calls, precision, coverage, length.

One process, one thread, interleaved input by input; processor time, which other work on the machine disturbs little. Texts:
words are left out with a chance of one half (the package writes UNK in their place, which these models do not know). Tables:
Adult as in Ribeiro et al. (2018). Precision is measured on 10,000 fresh samples that are the same for all: words that are
not in the rule are left out; columns that are not in the rule take the values of training rows.

    python perf/anchor.py [--inputs 20] [--promised 200] [--bilstm FOLDER] [--mlp FOLDER] [--words removed]
                          [--models logistic,forest,xgboost,bilstm,mlp-2x50] [--datasets rotten-tomatoes,adult]

With --words similar the promise is looked at where words are replaced by similar ones, which the package cannot do here: it
asks a language model for them.

Prints what lies beside docs/results/anchor.md as CSV: a comparison for each model, and with --promised how many of so many rules are
as precise as promised.
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
from scipy.stats import beta, binom

import verax
from verax.data import split_words
from verax.explain.anchor.anchor import CHANGE, TEMPERATURE, TOP, Anchor
from verax.explain.anchor.samples import RemovedWords, Sampler, SimilarWords
from verax.explain.anchor.table_rows import TableRows
from verax.explain.kinds import Rule
from verax.perturb.counterfactual.text_changes import Distribution
from verax.perturb.counterfactual.thesaurus import thesaurus_for

FRESH = 10_000
# As it comes the package takes a rule that is surely above 0.90; told so, one that is surely above 0.95, as Verax does.
PACKAGES = {
    "anchor-exp": {"threshold": 0.95},
    "anchor-exp, as strict as verax": {"threshold": 0.96, "epsilon_stop": 0.01},
}
# Our settings, and the package's settings with which they have the promise in common.
OURS = {
    "verax": ({}, "anchor-exp, as strict as verax"),
    "verax, a beam of one like the package's": ({"beam": 1}, "anchor-exp, as strict as verax"),
    "verax, as lenient as the package": ({"tolerance": 0.05, "beam": 1}, "anchor-exp"),
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


def package_text(model: verax.models.Model, settings: dict[str, float]) -> Callable[[str], Run]:
    explainer = AnchorText(spacy.blank("en"), list(model.class_names), use_unk_distribution=True)

    def explain(text: str) -> Run:
        counted = Counted(model)
        started = time.process_time()
        found = explainer.explain_instance(text, counted, **settings)
        seconds = time.process_time() - started
        distinct = split_words(text).distinct
        named = {word for name in found.names() for word in split_words(str(name)).distinct}
        numbers = tuple(place for place, word in enumerate(distinct) if word in named)
        return Run(seconds, counted.rows, counted.calls, numbers)

    return explain


def package_table(
    model: verax.models.Model, train: np.ndarray, settings: dict[str, float]
) -> Callable[[np.ndarray], Run]:
    names = {
        place: list(column.categories)
        for place, column in enumerate(model.schema.columns)
        if column.categories is not None
    }
    explainer = AnchorTabularExplainer(list(model.class_names), list(model.schema.names), train, names)

    def explain(row: np.ndarray) -> Run:
        counted = Counted(model)
        started = time.process_time()
        found = explainer.explain_instance(row, counted, **settings)
        return Run(
            time.process_time() - started, counted.rows, counted.calls, tuple(sorted(set(found.features())))
        )

    return explain


def ours(model: verax.models.Model, settings: dict[str, object]) -> Callable[[object], Run]:
    explainer = Anchor(words="removed", **settings)

    def explain(given: object) -> Run:
        inputs = [given] if isinstance(given, str) else np.asarray(given)[None]
        started = time.process_time()
        rule: Rule = explainer.explain(model, inputs)[0]
        return Run(time.process_time() - started, rule.cost.rows, rule.cost.calls, rule.conditions)

    return explain


def sampler(model: verax.models.Model, given: object, words: str) -> Sampler:
    if model.kind == "text" and words == "similar":
        wanted = Distribution(CHANGE, TOP, TEMPERATURE)
        return SimilarWords(model, [str(given)], thesaurus_for(model, "trained", "perf"), wanted, seed=12345)
    if model.kind == "text":
        return RemovedWords(model, [str(given)], CHANGE, seed=12345)
    return TableRows(model, np.asarray(given)[None], seed=12345)


def measured(
    model: verax.models.Model, given: object, conditions: tuple[int, ...], words: str = "removed"
) -> tuple[float, float]:
    """Precision on fresh samples, and coverage."""
    around = sampler(model, given, words)
    near = around.neighbourhoods()[0]
    if not near.loose:
        return 1.0, near.coverage(conditions)  # nothing can be changed
    own = [str(given)] if model.kind == "text" else np.asarray(given)[None]
    target = int(model.predict_proba(own).argmax())
    classes = around.predict([near.fresh_question(conditions, np.arange(FRESH))])[0]
    return float((classes == target).mean()), near.coverage(conditions)


def compare(
    name: str, model: verax.models.Model, inputs: list[object], packages: dict[str, Callable[[object], Run]]
) -> str:
    """A table: one line a way to get anchors."""
    ways = packages | {label: ours(model, settings) for label, (settings, _) in OURS.items()}
    for way in ways.values():
        way(inputs[0])
    runs: dict[str, list[Run]] = {label: [] for label in ways}
    quality: dict[str, list[tuple[float, float]]] = {label: [] for label in ways}
    for given in inputs:
        for label, way in ways.items():
            run = way(given)
            runs[label].append(run)
            quality[label].append(measured(model, given, run.conditions))
    lines = [
        f"\n## {name}, {len(inputs)} inputs\n",
        "| | ms, alone | ms, in a batch | times faster at the same promise, alone (in a batch) | rows | calls | precision | "
        "below 0.95 | coverage | conditions |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for label in ways:
        faster, batch_ms = "", ""
        if label in OURS:
            settings, other = OURS[label]
            together = in_a_batch(model, inputs, settings)
            batch_ms = f"{1000 * together:.0f}"
            faster = times_faster(runs[other], runs[label], together)
        precision, coverage = np.array(quality[label]).T
        lines.append(
            f"| {label} | {1000 * np.mean([run.seconds for run in runs[label]]):.0f} | {batch_ms} | {faster} "
            f"| {np.mean([run.rows for run in runs[label]]):,.0f} | {np.mean([run.calls for run in runs[label]]):,.0f} "
            f"| {precision.mean():.3f} | {int((precision < 0.95).sum())} of {len(inputs)} "
            f"| {coverage.mean():.3f} | {np.mean([len(run.conditions) for run in runs[label]]):.1f} |"
        )
    return "\n".join(lines)


def in_a_batch(model: verax.models.Model, inputs: list[object], settings: dict[str, object]) -> float:
    """Seconds for an input where all are explained together."""
    batch = inputs if model.kind == "text" else np.stack([np.asarray(row) for row in inputs])
    started = time.process_time()
    Anchor(words="removed", **settings).explain(model, batch)
    return (time.process_time() - started) / len(inputs)


def times_faster(theirs: list[Run], own: list[Run], together: float) -> str:
    """The ratio of the mean times, with a 95% bootstrap interval over inputs; and in a batch."""
    base, seconds = (np.array([run.seconds for run in runs]) for runs in (theirs, own))
    drawn = np.random.default_rng(0).integers(len(base), size=(2_000, len(base)))
    low, high = np.quantile(base[drawn].mean(axis=1) / seconds[drawn].mean(axis=1), [0.025, 0.975])
    return f"{base.mean() / seconds.mean():.0f} [{low:.0f}, {high:.0f}] ({base.mean() / together:.0f})"


def promise(name: str, model: verax.models.Model, inputs: list[object], words: str) -> str:
    """A line: how many of the rules that claim the precision have it."""
    batch = inputs if model.kind == "text" else np.stack([np.asarray(row) for row in inputs])
    rules = Anchor(words=words).explain(model, batch)
    claimed = [
        (rule, *measured(model, given, rule.conditions, words))
        for rule, given in zip(rules, inputs, strict=True)
        if rule.reached
    ]
    precision = np.array([share for _, share, _ in claimed])
    # A rule of exactly 0.95 is below it on half of all samples of 10,000: those that are clearly below count apart.
    clearly = int((binom.cdf(np.rint(precision * FRESH), FRESH, 0.95) < 0.05 / len(claimed)).sum())
    below = int((precision < 0.95).sum())
    share = proportion(below, len(claimed))
    return (
        f"| {name} | {len(inputs)} | {len(claimed)} | {precision.mean():.3f} | {precision.min():.3f} "
        f"| {below} ({share}) | {clearly} | {np.mean([coverage for _, _, coverage in claimed]):.3f} "
        f"| {np.mean([len(rule.conditions) for rule, _, _ in claimed]):.1f} "
        f"| {sum(not rule.conditions for rule, _, _ in claimed)} |"
    )


def proportion(count: int, total: int) -> str:
    """A share in percent with its exact 95% interval (Clopper and Pearson)."""
    low = beta.ppf(0.025, count, total - count + 1) if count else 0.0
    high = beta.ppf(0.975, count + 1, total - count) if count < total else 1.0
    return f"{100 * count / total:.1f}% [{100 * low:.1f}, {100 * high:.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=20, help="Those of the comparison; 0 for none.")
    parser.add_argument("--promised", type=int, default=0, help="Inputs on which the promise is looked at.")
    parser.add_argument("--bilstm", help="A folder of save_model; trained here if not given.")
    parser.add_argument("--mlp", help="The same of mlp-2x50.")
    parser.add_argument(
        "--models", default="logistic,forest,xgboost,bilstm,mlp-2x50", help="Which are asked."
    )
    parser.add_argument("--datasets", default="rotten-tomatoes,adult")
    parser.add_argument(
        "--words", default="removed", help="How texts are perturbed where the promise is looked at."
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    np.random.seed(0)  # noqa: NPY002 the package draws from the global generator
    saved = {"bilstm": given.bilstm, "mlp-2x50": given.mlp}
    for dataset in map(verax.load_dataset, given.datasets.split(",")):
        other = "bilstm" if dataset.kind == "table" else "mlp-2x50"
        for name in (name for name in given.models.split(",") if name != other):
            model = verax.load_model(saved[name]) if saved.get(name) else verax.fit_model(name, dataset)
            inputs = list(dataset.test.inputs)
            packages = {
                label: package_table(model, dataset.train.inputs, settings)
                if dataset.kind == "table"
                else package_text(model, settings)
                for label, settings in PACKAGES.items()
            }
            if given.promised:
                print(
                    promise(f"{name}, {dataset.name}", model, inputs[: given.promised], given.words),
                    flush=True,
                )
            if given.inputs:
                print(compare(f"{name}, {dataset.name}", model, inputs[: given.inputs], packages), flush=True)


if __name__ == "__main__":
    main()
