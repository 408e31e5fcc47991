"""Verax and the packages on the same models, inputs and budgets: ratios, interleaved in one process, one thread.

Run by ``make perf``; writes the whole of perf/RESULTS.md, from one run. ``--quick`` is for a look while working.
Packages are timed on some of the inputs in each repeat (all of them over the repeats), Verax on all of them every time.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import lime.lime_tabular
import lime.lime_text
import numpy as np
import scipy.sparse
import shap
import sklearn
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import verax
from verax.data.words import split_words
from verax.explain.lime import sample_masks
from verax.explain.perturbed import BANKS
from verax.models import fit_classifier
from verax.perturb import dispatch, path_for
from verax.perturb.paths.bags import sparse_rows
from verax.perturb.paths.strings import build_strings, letters

MODELS = ("logistic", "tree", "forest", "xgboost", "mlp")
LONG_WORDS = 230


@dataclass
class Settings:
    """How much is measured."""

    inputs: int = 50
    repeats: int = 3
    table_inputs: int = 100
    of_package: int = 4

    @property
    def package_inputs(self) -> int:
        """How many of them a package is timed on in each repeat: it takes seconds for one."""
        return max(1, min(self.of_package, self.inputs // self.repeats))


@dataclass
class Cell:
    """Seconds per input, one entry per repeat."""

    name: tuple[str, ...]
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, who: str, seconds: float, inputs: int) -> None:
        self.seconds.setdefault(who, []).append(seconds / inputs)

    def ms(self, who: str) -> float:
        return 1e3 * float(np.median(self.seconds[who]))

    def paired(self, one: str, other: str) -> float:
        """The median of the ratios of neighbouring measurements, for a ratio near 1 on a noisy machine."""
        return float(np.median(np.array(self.seconds[one]) / np.array(self.seconds[other])))

    def ratio(self, package: str, ours: str) -> float:
        return self.ms(package) / self.ms(ours)


def timed(function: Callable[[], object]) -> float:
    """Seconds of the processor: with one thread the same as on the wall, but for what other programs take."""
    started = time.process_time()
    function()
    return time.process_time() - started


def forget() -> None:
    """Everything cold: no banks, no split texts, no path for any model."""
    BANKS.clear()
    split_words.cache_clear()
    dispatch._PATHS.clear()


def texts_of(length: str) -> tuple[list[str], np.ndarray, list[str]]:
    """Training texts, labels, and texts to explain: sentences, or documents of 230 words made of them."""
    data = verax.load_dataset("rotten-tomatoes")
    if length == "short":
        return list(data.train.inputs), data.train.labels, list(data.test.inputs)
    rng = np.random.default_rng(0)

    def documents(part, count):
        by_class = [
            [text for text, label in zip(part.inputs, part.labels, strict=True) if label == c] for c in (0, 1)
        ]
        labels = rng.integers(0, 2, count)
        joined = [" ".join(rng.choice(by_class[label], 20)).split() for label in labels]
        return [" ".join(words[:LONG_WORDS]) for words in joined], labels

    train, labels = documents(data.train, 4000)
    return train, labels, documents(data.test, 200)[0]


def text_models(length: str, names):
    train, labels, test = texts_of(length)
    vectorizer = CountVectorizer().fit(train)
    rows = vectorizer.transform(train)
    pipelines = {name: make_pipeline(vectorizer, fit_classifier(name, rows, labels)) for name in names}
    return pipelines, test, (vectorizer, rows, labels)


def lime_text(settings: Settings, length: str, pipelines, texts, num_features: int, budgets) -> list[Cell]:
    cells = []
    package = lime.lime_text.LimeTextExplainer(random_state=0)
    inputs = texts[: settings.inputs]
    for name, pipeline in pipelines.items():
        model = verax.as_model(pipeline)
        for samples in budgets:
            cell = Cell((length, name, f"{samples}"))
            ours = verax.explainer("lime", samples=samples, features=num_features)
            ours.explain(model, inputs[:2])
            for repeat in range(settings.repeats):
                some = inputs[repeat :: settings.repeats][: settings.package_inputs]
                cell.add(
                    "lime",
                    timed(
                        lambda: [
                            package.explain_instance(
                                text,
                                pipeline.predict_proba,
                                num_features=num_features,
                                num_samples=samples,
                            )
                            for text in some
                        ]
                    ),
                    len(some),
                )
                forget()
                cell.add("cold", timed(lambda: ours.explain(model, inputs)), len(inputs))
                cell.add("warm", timed(lambda: ours.explain(model, inputs)), len(inputs))
            cells.append(cell)
            show(cell, "lime", "cold", "warm")
    return cells


def kernel_shap(settings: Settings, length: str, pipelines, texts) -> list[Cell]:
    cells = []
    inputs = texts[: settings.inputs]
    ours = verax.explainer("shap", route="kernel")
    for name, pipeline in pipelines.items():
        vectorizer, classifier = pipeline[0], pipeline[1]
        model = verax.as_model(pipeline)
        rows = vectorizer.transform(inputs).astype(float)
        nothing = scipy.sparse.csr_matrix((1, rows.shape[1]))
        cell = Cell((length, name))
        ours.explain(model, inputs[:2])
        for repeat in range(settings.repeats):
            some = range(repeat, len(inputs), settings.repeats)[: settings.package_inputs]
            sparse = shap.KernelExplainer(lambda batch: classifier.predict_proba(batch)[:, 1], nothing)
            cell.add(
                "shap",
                timed(lambda: [sparse.shap_values(rows[i], l1_reg=False, silent=True) for i in some]),
                len(some),
            )
            cell.add("expert", timed(lambda: [expert_shap(classifier, rows[i]) for i in some]), len(some))
            forget()
            cell.add("cold", timed(lambda: ours.explain(model, inputs)), len(inputs))
            cell.add("warm", timed(lambda: ours.explain(model, inputs)), len(inputs))
        cells.append(cell)
        show(cell, "shap", "expert", "cold", "warm")
    return cells


def expert_shap(classifier, row) -> np.ndarray:
    """shap over the present columns only, with a wrapper that rebuilds sparse rows."""
    columns, counts, width = row.indices, row.data, row.shape[1]

    def answer(present):
        present = present.astype(bool)
        indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        slots = np.nonzero(present)[1]
        rows = scipy.sparse.csr_matrix((counts[slots], columns[slots], indptr), shape=(len(present), width))
        return classifier.predict_proba(rows)[:, 1]

    explainer = shap.KernelExplainer(answer, np.zeros((1, len(columns))))
    return explainer.shap_values(np.ones((1, len(columns))), l1_reg=False, silent=True)


def lime_tables(settings: Settings) -> list[Cell]:
    data = verax.load_dataset("adult-raw")
    rows = data.train.inputs
    inputs = data.test.inputs[: settings.table_inputs]
    package = lime.lime_tabular.LimeTabularExplainer(
        rows, categorical_features=list(data.schema.categorical), random_state=0
    )
    cells = []
    for name in MODELS:
        model = verax.fit_model(name, data)
        cell = Cell((name,))
        ours = verax.explainer("lime", samples=5000, features=10)
        for repeat in range(settings.repeats):
            some = inputs[repeat :: settings.repeats][:4]
            cell.add(
                "lime",
                timed(
                    lambda: [
                        package.explain_instance(row, model.predict_proba, num_features=10, num_samples=5000)
                        for row in some
                    ]
                ),
                len(some),
            )
            from verax.explain import lime as module

            module._POOLS.clear()
            cell.add("ours", timed(lambda: ours.explain(model, inputs)), len(inputs))
        cells.append(cell)
        show(cell, "lime", "ours")
    return cells


def any_estimator(settings: Settings, length: str, fitted) -> list[Cell]:
    """Models without a fast path: the engine against predict_proba on the distinct rows, already built."""
    vectorizer, rows, labels, texts = fitted
    from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier

    tfidf = TfidfVectorizer(vocabulary=vectorizer.vocabulary_)
    tfidf.fit(vectorizer.inverse_transform(rows[:1])[0])
    estimators = {
        "naive Bayes": make_pipeline(vectorizer, MultinomialNB().fit(rows, labels)),
        "AdaBoost": make_pipeline(vectorizer, AdaBoostClassifier(n_estimators=20).fit(rows, labels)),
        "forest on tf-idf": make_pipeline(tfidf, RandomForestClassifier(100).fit(rows, labels)),
    }
    cells = []
    for name, pipeline in estimators.items():
        # A forest without a fast path takes a third of a second per input: fewer of them tell as much.
        inputs = texts[: settings.inputs // 5 if "forest" in name else settings.inputs]
        for samples in (1000, 5000):
            model = verax.as_model(pipeline)
            path = path_for(model)
            ours = verax.explainer("lime", samples=samples)
            ours.explain(model, inputs)
            bags = path.prepare(inputs)
            ready = [
                sparse_rows(bag, ours.bank(len(bag.features)).masks, path.lexicon.n_columns).rows
                for bag in bags
            ]
            cell = Cell((length, name, f"{samples}"))
            n_rows = sum(part.shape[0] for part in ready) / len(ready)
            for _ in range(settings.repeats):
                cell.add(
                    "predict_proba",
                    timed(lambda: [pipeline[1].predict_proba(part) for part in ready]),
                    len(ready),
                )
                cell.add("ours", timed(lambda: ours.explain(model, inputs)), len(inputs))
            # What may be spent: 1.2 times the predictions and 1 ms per 1,000 rows.
            allowed = 1.2 * cell.ms("predict_proba") + n_rows / 1000
            cell.seconds["allowed"] = [allowed / 1e3]
            cells.append(cell)
            show(cell, "predict_proba", "ours", "allowed")
    return cells


def any_callable(settings: Settings, length: str, pipelines, texts) -> list[Cell]:
    """Building strings against lime's own, and the whole against the callable alone."""
    cells = []
    inputs = texts[: settings.inputs]
    package = lime.lime_text.LimeTextExplainer(random_state=0)
    build = package._LimeTextExplainer__data_labels_distances
    pipeline = pipelines["logistic"]
    for samples in (1000, 5000):
        cell = Cell((length, f"{samples}"))

        def strings(samples=samples):
            for text in inputs:
                ready = letters(text)
                masks = sample_masks(len(ready.features), samples, np.random.default_rng(0))
                build_strings(ready, masks.T)

        model = verax.as_model(pipeline.predict_proba)
        ours = verax.explainer("lime", samples=samples)
        ours.explain(model, inputs[:2])
        for repeat in range(settings.repeats):
            some = inputs[repeat :: settings.repeats][: settings.package_inputs]
            cell.add(
                "lime builds",
                timed(
                    lambda: [
                        build(
                            lime.lime_text.IndexedString(text),
                            lambda batch: np.zeros((len(batch), 2)),
                            samples,
                        )
                        for text in some
                    ]
                ),
                len(some),
            )
            cell.add("we build", timed(strings), len(inputs))
            for _ in range(3):  # strings are built anew for each turn: old ones lie warm in the cache
                batches = [
                    build_strings(ready, ours.bank(len(ready.features)).masks.rows())
                    for ready in path_for(model).prepare(some)
                ]
                cell.add(
                    "callable", timed(lambda: [pipeline.predict_proba(batch) for batch in batches]), len(some)
                )
                batches = []
                cell.add("we in all", timed(lambda: ours.explain(model, some)), len(some))
        cells.append(cell)
        show(cell, "lime builds", "we build", "callable", "we in all")
    return cells


def peak_memory(pipelines, texts) -> dict[tuple[str, int], float]:
    """Peak megabytes above the model, 5,000 samples of 230-word documents, for batches of 1 and 64."""
    peaks = {}
    for name, pipeline in pipelines.items():
        model = verax.as_model(pipeline)
        path_for(model)
        for batch in (1, 64):
            for explainer in (
                verax.explainer("lime", samples=5000),
                verax.explainer("shap", samples=5000, route="kernel"),
            ):
                explainer.explain(model, texts[:1])
                BANKS.clear()
                split_words.cache_clear()
                tracemalloc.start()
                explainer.explain(model, texts[:batch])
                peak = tracemalloc.get_traced_memory()[1] / 2**20
                tracemalloc.stop()
                peaks[name, batch] = max(peak, peaks.get((name, batch), 0.0))
        print(
            f"  memory {name}: {peaks[name, 1]:.0f} MB alone, {peaks[name, 64]:.0f} MB in a batch of 64",
            flush=True,
        )
    return peaks


def show(cell: Cell, *who: str) -> None:
    print("  " + " ".join(f"{part:>10}" for part in cell.name), end=" ")
    print(" ".join(f"{one} {cell.ms(one):.3f} ms" for one in who), flush=True)


def table(cells: list[Cell], names: list[str], columns: list[tuple[str, Callable[[Cell], str]]]) -> str:
    head = "| " + " | ".join([*names, *(title for title, _ in columns)]) + " |"
    rule = "|" + "---|" * (len(names) + len(columns))
    lines = ["| " + " | ".join([*cell.name, *(value(cell) for _, value in columns)]) + " |" for cell in cells]
    return "\n".join([head, rule, *lines])


def ms(who: str) -> tuple[str, Callable[[Cell], str]]:
    return f"{who}, ms", lambda cell: f"{cell.ms(who):.3g}"


def ratio(package: str, ours: str) -> tuple[str, Callable[[Cell], str]]:
    def shown(cell: Cell) -> str:
        found = cell.ratio(package, ours)
        return f"**{found:.1f}x**" if found < 10 else f"**{found:.0f}x**"

    return f"{package} / {ours}", shown


# The cost of a call itself is spread over its inputs.
FEWER = f"What is to be reached is meant for {Settings.inputs} inputs a call: with fewer the cost of a call itself weighs more. "


def between(ratios: list[float]) -> str:
    return f"1/{min(ratios):,.0f} to 1/{max(ratios):,.0f}"


def verdict(reached: bool) -> str:
    return "reached" if reached else "NOT reached"


def machine() -> str:
    cpu = (
        next(
            (
                line.split(":")[1].strip()
                for line in Path("/proc/cpuinfo").read_text().splitlines()
                if "model name" in line
            ),
            platform.processor(),
        )
        if Path("/proc/cpuinfo").exists()
        else platform.processor()
    )
    versions = ", ".join(
        f"{module.__name__} {module.__version__}"
        for module in (np, sklearn, shap)
        if hasattr(module, "__version__")
    )
    return f"{cpu}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}, lime 0.2.0.1; one thread."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 inputs, once; nothing is written")
    parser.add_argument("--inputs", type=int, default=Settings.inputs)
    parser.add_argument("--repeats", type=int, default=Settings.repeats)
    arguments = parser.parse_args()
    settings = Settings(3, 1, 20) if arguments.quick else Settings(arguments.inputs, arguments.repeats)
    warnings.simplefilter("ignore")
    results: dict[str, list[Cell]] = {}

    def note(section: str, cells: list[Cell]) -> None:
        results.setdefault(section, []).extend(cells)

    began = time.process_time()
    for length in ("short", "long"):
        print(f"{length} texts: fitting", file=sys.stderr, flush=True)
        pipelines, texts, fitted = text_models(length, MODELS)
        note("lime", lime_text(settings, length, pipelines, texts, 10, (1000, 5000)))
        few = Settings(max(settings.repeats, settings.inputs // 5), settings.repeats)
        alone = {"logistic": pipelines["logistic"]}
        note("forward", lime_text(few, length, alone, texts, 6, (1000, 5000)))
        note("shap", kernel_shap(settings, length, pipelines, texts))
        note("any", any_estimator(settings, length, (*fitted, texts)))
        note("strings", any_callable(settings, length, pipelines, texts))
        peaks = peak_memory(pipelines, texts)  # of long texts, which come last
    note("tables", lime_tables(settings))
    if not arguments.quick:
        page = report(settings, results, peaks, (time.process_time() - began) / 60)
        Path(__file__).with_name("RESULTS.md").write_text(page)
        print("written: perf/RESULTS.md")


# Around a table that readers open if they want it.
CLOSED = ("", "</details>", "")


def opened(title: str) -> tuple[str, ...]:
    """The lines before a folded table; CLOSED stands behind it."""
    return ('<details markdown="1">', f"<summary>{title}</summary>", "")


def report(
    settings: Settings, results: dict[str, list[Cell]], peaks: dict[tuple[str, int], float], minutes: float
) -> str:
    """The whole page."""
    lime_cells, shap_cells = results["lime"], results["shap"]
    cold = [cell.ratio("lime", "cold") for cell in lime_cells]
    warm = [cell.ratio("lime", "warm") for cell in lime_cells]
    forward = [cell.ratio("lime", "warm") for cell in results["forward"]]
    sparse = [cell.ratio("shap", "warm") for cell in shap_cells]
    sparse_cold = [cell.ratio("shap", "cold") for cell in shap_cells]
    expert = [cell.ratio("expert", "warm") for cell in shap_cells]
    tables = [cell.ratio("lime", "ours") for cell in results["tables"]]
    spent = [cell.ms("ours") / cell.ms("allowed") for cell in results["any"]]
    build = [cell.ratio("lime builds", "we build") for cell in results["strings"]]
    whole = [cell.paired("we in all", "callable") for cell in results["strings"]]
    peak = max(peaks.values())
    goals = [
        (
            "`lime` text, everything cold",
            "30x in every cell",
            f"{min(cold):.0f}x to {max(cold):.0f}x",
            min(cold) >= 30,
        ),
        (
            "`lime` text, mask banks built",
            "100x in every cell",
            f"{min(warm):.0f}x to {max(warm):.0f}x",
            min(warm) >= 100,
        ),
        ("the same, median", "200x", f"{np.median(warm):.0f}x", np.median(warm) >= 200),
        (
            "`lime` with forward selection",
            "500x",
            f"{min(forward):.0f}x to {max(forward):.0f}x",
            min(forward) >= 500,
        ),
        (
            "`shap` on sparse rows, banks built",
            "300x in every cell",
            f"{min(sparse):.0f}x to {max(sparse):.0f}x",
            min(sparse) >= 300,
        ),
        (
            "`shap` on sparse rows, everything cold",
            "(none)",
            f"{min(sparse_cold):.0f}x to {max(sparse_cold):.0f}x",
            None,
        ),
        (
            "`shap` used by an expert, banks built",
            "30x in every cell",
            f"{min(expert):.0f}x to {max(expert):.0f}x",
            min(expert) >= 30,
        ),
        (
            f"`lime` on tables, {settings.table_inputs} inputs",
            "20x",
            f"{min(tables):.0f}x to {max(tables):.0f}x",
            min(tables) >= 20,
        ),
        (
            "any estimator: time spent / time allowed",
            "at most 1",
            f"{min(spent):.2f} to {max(spent):.2f}",
            max(spent) <= 1,
        ),
        (
            "any callable: building strings",
            "10x",
            f"{min(build):.0f}x to {max(build):.0f}x",
            min(build) >= 10,
        ),
        (
            "any callable: total / callable alone",
            "at most 1.1",
            f"{min(whole):.2f} to {max(whole):.2f}",
            max(whole) <= 1.1,
        ),
        ("peak memory above the model", "under 64 MB", f"{peak:.0f} MB", peak < 64),
    ]
    lines = [
        "# Speed",
        "",
        f"**On bags of words LIME takes {between(cold)} of the time of its package when everything is cold, and {between(warm)} later; "
        f"KernelSHAP by sampling {between(sparse_cold)}, and {between(sparse)}; LIME on tables {between(tables)}.**",
        "",
        f"One run of one state: `make perf`, {date.today():%-d %B %Y}, {minutes:.0f} minutes of one processor. Verax "
        f"{verax.__version__} on {machine()}",
        "Ratios of medians of processor time; packages and Verax take turns in one process. "
        f"{settings.inputs} inputs a call, {settings.repeats} repeats; packages on {settings.package_inputs} of them in each. "
        f"{FEWER if settings.inputs < Settings.inputs else ''}"
        "[Networks, studies, language models](OTHERS.md) are measured by other scripts.",
        "",
        "| against | to reach | measured | |",
        "|---|---|---|---|",
        *(
            f"| {what} | {goal} | {found} | {'' if ok is None else verdict(bool(ok))} |"
            for what, goal, found, ok in goals
        ),
        "",
        "Cold: no mask bank, no split text, no path for the model; the path's own check is inside the time. Banks built:",
        "the state from the second model on. Both sides select ten features, as `lime` does by default.",
        "",
        *opened("LIME on texts, milliseconds per input"),
        table(
            lime_cells,
            ["text", "model", "samples"],
            [ms("lime"), ms("cold"), ms("warm"), ratio("lime", "cold"), ratio("lime", "warm")],
        ),
        *CLOSED,
        *opened("LIME on texts with forward selection (6 features)"),
        table(
            results["forward"],
            ["text", "model", "samples"],
            [ms("lime"), ms("cold"), ms("warm"), ratio("lime", "cold"), ratio("lime", "warm")],
        ),
        *CLOSED,
        *opened("KernelSHAP on texts, 2 * features + 2048 coalitions"),
        "`shap` with sparse rows, a zero background and l1_reg=False; the expert builds an explainer over the present",
        'columns only. Verax is held to sampling (`route="kernel"`); by default it would take an exact route for trees.',
        "",
        table(
            shap_cells,
            ["text", "model"],
            [
                ms("shap"),
                ms("expert"),
                ms("cold"),
                ms("warm"),
                ratio("shap", "cold"),
                ratio("shap", "warm"),
                ratio("expert", "warm"),
            ],
        ),
        *CLOSED,
        *opened("LIME on tables (Adult, 14 columns, 5,000 samples)"),
        table(results["tables"], ["model"], [ms("lime"), ms("ours"), ratio("lime", "ours")]),
        *CLOSED,
        *opened("Any estimator: no fast path"),
        table(results["any"], ["text", "model", "samples"], [ms("predict_proba"), ms("ours"), ms("allowed")]),
        *CLOSED,
        *opened("Any callable on strings"),
        table(
            results["strings"],
            ["text", "samples"],
            [
                ms("lime builds"),
                ms("we build"),
                ratio("lime builds", "we build"),
                ms("callable"),
                ms("we in all"),
            ],
        ),
        *CLOSED,
        *opened("Peak memory above the model: 5,000 samples, 230-word documents"),
        "| model | one input, MB | batch of 64, MB |",
        "|---|---|---|",
        *(f"| {name} | {peaks[name, 1]:.0f} | {peaks[name, 64]:.0f} |" for name in MODELS),
        *CLOSED,
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
