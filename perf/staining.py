"""One data staining cell, Verax against the plain way with ``lime`` and ``shap``: explaining, and the whole with training.

Rotten Tomatoes, |F| = 2, five models, 50 flipped inputs, lime + shap + greedy at 1,000 samples. One thread. The plain way
is timed on some of the inputs and scaled to 50; both sides explain the same fitted models of the same stains.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import lime.lime_text
import numpy as np
import scipy.sparse
import shap
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

import verax
from verax.benchmarks.staining import jobs, training
from verax.benchmarks.staining.spec import StainRequest
from verax.benchmarks.staining.stainable import make_stainable
from verax.data import split_words
from verax.explain.perturbed import BANKS

MODELS = ("logistic", "tree", "forest", "xgboost", "mlp")
SAMPLES = 1000
INPUTS = 50
WISH = StainRequest(size=2)


def clock(function):
    started = time.perf_counter()
    value = function()
    return value, time.perf_counter() - started


def plain_models():
    """What a person would write."""
    return {
        "logistic": LogisticRegression(max_iter=1000),
        "tree": DecisionTreeClassifier(),
        "forest": RandomForestClassifier(n_jobs=1),
        "xgboost": XGBClassifier(n_jobs=1),
        "mlp": MLPClassifier(early_stopping=True, random_state=0),
    }


def plain_greedy(predict, text):
    words = split_words(text)
    texts = [text] + [words.keep(set(words.distinct) - {word}) for word in words.distinct]
    answers = predict(texts)[:, 1]
    return answers[0] - answers[1:]


def plain_explaining(pipeline, texts):
    """Seconds per input of lime, shap and greedy the plain way."""
    vectorizer, classifier = pipeline[0], pipeline[1]
    package = lime.lime_text.LimeTextExplainer(random_state=0)
    nothing = scipy.sparse.csr_matrix((1, len(vectorizer.vocabulary_)))
    kernel = shap.KernelExplainer(lambda rows: classifier.predict_proba(rows)[:, 1], nothing)
    seconds = {}
    _, seconds["lime"] = clock(
        lambda: [
            package.explain_instance(text, pipeline.predict_proba, num_features=10, num_samples=SAMPLES)
            for text in texts
        ]
    )
    _, seconds["shap"] = clock(
        lambda: [
            kernel.shap_values(vectorizer.transform([text]).astype(float), nsamples=SAMPLES, silent=True)
            for text in texts
        ]
    )
    _, seconds["greedy"] = clock(lambda: [plain_greedy(pipeline.predict_proba, text) for text in texts])
    return {name: found / len(texts) for name, found in seconds.items()}


def our_explaining(model, texts):
    seconds = {}
    for name, explainer in (
        ("lime", verax.explainer("lime", samples=SAMPLES)),
        ("shap", verax.explainer("shap", samples=SAMPLES)),
        ("greedy", verax.explainer("greedy")),
    ):
        _, found = clock(lambda: explainer.explain(model, texts))
        seconds[name] = found / len(texts)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stains", type=int, default=3)
    parser.add_argument("--some", type=int, default=5, help="inputs per model that the plain way is timed on")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    source = {"name_or_path": "rotten-tomatoes", "seed": 0}
    ready = make_stainable(source, "presence")
    rows, parts = ready.rows, (ready.dataset.train, ready.dataset.validation, ready.dataset.test)
    # Loading compiled code happens once in a process, not once in a job.
    labels = (parts[0].labels, parts[1].labels)
    our_explaining(training.fit("fast-forest", ready, labels, None, 0), list(parts[2].inputs[:2]))
    totals = {"plain": {}, "ours": {}}
    for stain in range(arguments.stains):
        drawn = jobs.stain_of(ready, WISH, 1, stain)
        fired = [drawn.stain.fired(values) for values in ready.values]
        labels = [drawn.stain.labels(where, part.labels) for where, part in zip(fired, parts, strict=True)]
        weight = np.where(fired[0] >= 0, 50, 1)
        flipped = np.flatnonzero(labels[2] != parts[2].labels)[:INPUTS]
        texts = [parts[2].inputs[place] for place in flipped]
        BANKS.clear()
        split_words.cache_clear()
        for name, classifier in plain_models().items():
            _, fit = clock(
                lambda: (
                    classifier.fit(rows[0], labels[0], sample_weight=weight)
                    if name != "mlp"
                    else classifier.fit(
                        rows[0][np.repeat(np.arange(len(weight)), weight)], np.repeat(labels[0], weight)
                    )
                )
            )
            seconds = plain_explaining(make_pipeline(ready.vectorizer, classifier), texts[: arguments.some])
            model, our_fit = clock(
                lambda: training.fit(
                    "fast-forest" if name == "forest" else name, ready, (labels[0], labels[1]), weight, stain
                )
            )
            ours = our_explaining(model, texts)
            for who, training_seconds, found in (("plain", fit, seconds), ("ours", our_fit, ours)):
                entry = totals[who].setdefault(name, {})
                entry.setdefault("training", []).append(training_seconds)
                for method, per_input in found.items():
                    entry.setdefault(method, []).append(per_input * INPUTS)
        print(
            f"stain {stain}: {drawn.stain.describe(ready.dataset.class_names)}, {len(texts)} flipped inputs",
            flush=True,
        )
    report(totals)


def report(totals) -> None:
    medians = {
        who: {
            name: {what: float(np.median(values)) for what, values in entry.items()}
            for name, entry in models.items()
        }
        for who, models in totals.items()
    }
    methods = ("lime", "shap", "greedy", "training")
    print("\nseconds per cell (50 inputs), medians over stains")
    print(f"{'':>18}" + "".join(f"{name:>10}" for name in MODELS) + f"{'sum':>10}")
    sums = {}
    for who in ("plain", "ours"):
        for what in methods:
            values = [medians[who][name][what] for name in MODELS]
            sums[who, what] = sum(values)
            print(
                f"{who + ' ' + what:>18}"
                + "".join(f"{value:>10.3f}" for value in values)
                + f"{sum(values):>10.3f}"
            )
    explaining = {who: sum(sums[who, what] for what in methods[:-1]) for who in ("plain", "ours")}
    whole = {who: explaining[who] + sums[who, "training"] for who in ("plain", "ours")}
    print(
        f"\nexplaining: {explaining['plain']:.1f} s -> {explaining['ours']:.3f} s, {explaining['plain'] / explaining['ours']:.0f}x"
    )
    print(
        f"whole cell: {whole['plain']:.1f} s -> {whole['ours']:.2f} s, {whole['plain'] / whole['ours']:.1f}x"
    )


if __name__ == "__main__":
    main()
