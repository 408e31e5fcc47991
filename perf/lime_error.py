"""How wrong LIME's samples are, beside the closed form of infinitely many: writes docs/results/lime-error.md.

The model is a random forest on Rotten Tomatoes. Every text is explained exactly and with several numbers of samples, under
several seeds; the text is the unit of all intervals. Times are processor times, medians of turns in one process.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np

import verax
from verax.explain.lime import Lime
from verax.perturb import path_for

PAGE = Path(__file__).parents[1] / "docs" / "results" / "lime-error.md"
SAMPLES = (100, 300, 1_000, 5_000, 25_000)
SEEDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=200)
    arguments = parser.parse_args()
    data = verax.load_dataset("rotten-tomatoes")
    model = verax.fit_model("forest", data)
    path = path_for(model)
    texts = [text for text in data.test.inputs if path.prepare([text])[0].single][: arguments.texts]
    exact = Lime(samples="exact").explain(model, texts)
    targets = [explanation.target for explanation in exact]
    rows = [row_of(model, texts, targets, exact, samples) for samples in SAMPLES]
    write(rows, speed(model, texts, targets), len(texts), np.mean([len(e.features) for e in exact]))


def row_of(model, texts, targets, exact, samples):
    """Errors of one number of samples, a mean over seeds for each text."""
    errors = np.zeros((SEEDS, len(texts), 5))
    for seed in range(SEEDS):
        for number, (limit, drawn) in enumerate(
            zip(exact, Lime(samples=samples, seed=seed).explain(model, texts, targets), strict=True)
        ):
            errors[seed, number] = compare(limit.scores, drawn.scores)
    per_text = errors.mean(axis=0)
    mean = per_text.mean(axis=0)
    half = 1.96 * per_text.std(axis=0, ddof=1) / np.sqrt(len(texts))
    return samples, mean, half


def compare(limit, drawn):
    """The largest error, the share of it in the largest score, same first word, share of the top three, rank correlation."""
    largest = np.abs(limit - drawn).max()
    order, other = np.argsort(-limit, kind="stable"), np.argsort(-drawn, kind="stable")
    top = min(3, len(limit))
    ranks = np.argsort(np.argsort(limit)), np.argsort(np.argsort(drawn))
    correlation = np.corrcoef(*ranks)[0, 1] if len(limit) > 2 else 1.0
    return (
        largest,
        largest / max(np.abs(limit).max(), 1e-12),
        order[0] == other[0],
        len(set(order[:top]) & set(other[:top])) / top,
        correlation,
    )


def speed(model, texts, targets):
    """Milliseconds of processor time per text, medians of five turns: the closed form, and 1,000 samples."""
    taken = {"exact": [], 1_000: []}
    for _ in range(5):
        for samples, times in taken.items():
            started = time.process_time()
            Lime(samples=samples).explain(model, texts, targets)
            times.append((time.process_time() - started) / len(texts) * 1_000)
    return {samples: statistics.median(times) for samples, times in taken.items()}


def write(rows, milliseconds, n_texts, words):
    """The page."""
    at_1000 = next(mean for samples, mean, _ in rows if samples == 1_000)
    lines = [
        "# How wrong are LIME's samples?",
        "",
        f"With 1,000 samples LIME names another first word than it would with infinitely many for "
        f"{100 * (1 - at_1000[2]):.0f}% of the reviews, and its largest error is {100 * at_1000[1]:.0f}% of the largest score.",
        "",
        "Written by `perf/lime_error.py`. For a random forest on a bag of words, what infinitely many samples would give has a",
        'closed form, `lime(samples="exact")`: there is nothing to draw, and so nothing to be wrong. Beside it, the same '
        "explainer",
        f"with a number of samples, on {n_texts} test reviews of Rotten Tomatoes ({words:.0f} distinct words on average; those "
        "in which",
        f"no two words feed one column of the model), {SEEDS} seeds each. Means over reviews with 95% intervals; the review is "
        "the unit.",
        "",
        "| samples | largest error | of the largest score | same first word | of the top three | rank correlation |",
        "|---|---|---|---|---|---|",
    ]
    for samples, mean, half in rows:
        low, high = np.maximum(mean - half, 0.0), mean + half
        high[2:] = np.minimum(high[2:], 1.0)
        lines.append(
            f"| {samples:,} | {mean[0]:.4f} [{low[0]:.4f}, {high[0]:.4f}] | {100 * mean[1]:.1f}% "
            f"[{100 * low[1]:.1f}, {100 * high[1]:.1f}] | {100 * mean[2]:.1f}% [{100 * low[2]:.1f}, {100 * high[2]:.1f}] | "
            f"{100 * mean[3]:.1f}% [{100 * low[3]:.1f}, {100 * high[3]:.1f}] | {mean[4]:.3f} [{low[4]:.3f}, {high[4]:.3f}] |"
        )
    lines += [
        "",
        f"The closed form takes {milliseconds['exact']:.2f} ms of processor time a review, 1,000 samples "
        f"{milliseconds[1_000]:.2f} ms (masks at hand; medians of",
        "five turns in one process, one thread). It is checked against weighted least squares on all variants of short texts, and",
        "against 1,000,000 samples of a longer one (0.0003 apart, where the largest score is 0.09), in `tests/explain/test_lime.py`.",
        "",
        "What this says is how far an explanation is from what LIME means to compute, not whether that is the model's reason:",
        "see [staining](staining.md) for that.",
    ]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
