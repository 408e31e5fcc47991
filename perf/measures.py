"""Ten measures over 100 explained sentences, on the mask engine and by Quantus' own code doing the same.

One process, one thread, processor time. Quantus perturbs numbers and knows no words: it is given the words of a sentence as
a row of ones (present) and a model that drops the words whose number is 0, which is how its users measure texts. Both sides
have the same explanations (shap) and the same numbers of perturbed variants where the definition leaves them open.

    python perf/measures.py [--inputs 100] [--models logistic,forest,cnn] [--quantus]

Quantus (0.6) is not in the dev extra, since it brings opencv: pip install quantus opencv-python-headless.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

import verax
from verax.data.words import split_words

TEN = (
    "comprehensiveness",
    "sufficiency",
    "deletion",
    "insertion",
    "decision-flip-fraction",
    "faithfulness-correlation",
    "infidelity",
    "monotonicity",
    "monotonicity-correlation",
    "log-odds",
)


def ours(model, texts, explanations) -> tuple[float, int]:
    started, rows = time.process_time(), 0
    for name in TEN:
        rows += verax.measure(name).measured(model, texts, explanations).cost.rows
    return time.process_time() - started, rows


def quantus_seconds(model, texts, explanations) -> tuple[float, list[str]]:
    """What Quantus takes for those of the ten that it has, input by input: its batches need inputs of one length."""
    import quantus
    import torch

    class Words(torch.nn.Module):
        """A sentence's words as a row of ones; those that are 0 are left out."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.words = split_words(text)

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            distinct = self.words.distinct
            flat = rows.reshape(len(rows), -1).numpy() > 0.5
            kept = [
                self.words.keep(word for word, there in zip(distinct, row, strict=True) if there)
                for row in flat
            ]
            return torch.from_numpy(model.predict_proba(kept))

    quiet = {"disable_warnings": True, "display_progressbar": False, "normalise": False, "abs": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        metrics = {
            "deletion": quantus.PixelFlipping(features_in_step=1, perturb_baseline=0.0, **quiet),
            "insertion": quantus.Monotonicity(features_in_step=1, perturb_baseline=0.0, **quiet),
            "faithfulness-correlation": quantus.FaithfulnessCorrelation(
                nr_runs=100, subset_size=4, perturb_baseline=0.0, **quiet
            ),
            "monotonicity-correlation": quantus.MonotonicityCorrelation(
                nr_samples=1, features_in_step=1, perturb_baseline=0.0, **quiet
            ),
        }
        started = time.process_time()
        for text, explanation in zip(texts, explanations, strict=True):
            n = len(explanation.scores)
            for metric in metrics.values():
                metric(
                    model=Words(text).eval(),
                    x_batch=np.ones((1, 1, n)),
                    y_batch=np.array([explanation.target]),
                    a_batch=explanation.scores.reshape(1, 1, n),
                    channel_first=True,
                    softmax=False,
                )
    return time.process_time() - started, list(metrics)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--inputs", type=int, default=100)
    parser.add_argument("--models", default="logistic,forest,cnn(epochs=1)")
    parser.add_argument("--quantus", action="store_true")
    asked = parser.parse_args()
    data = verax.load_dataset("rotten-tomatoes")
    texts = [str(text) for text in data.test.inputs[: 4 * asked.inputs] if len(str(text).split()) >= 6][
        : asked.inputs
    ]
    for name in asked.models.split(","):
        model = verax.fit_model(name, data)
        explanations = verax.explainer("shap", samples=500).explain(model, texts)
        ours(model, texts[:2], explanations[:2])  # what is compiled on first use
        seconds, rows = ours(model, texts, explanations)
        print(
            f"{name}: verax, ten measures of {len(texts)} sentences: {seconds:.2f} s, {rows:,} rows",
            flush=True,
        )
        if asked.quantus:
            theirs, which = quantus_seconds(model, texts, explanations)
            started = time.process_time()
            for one in which:
                verax.measure(one)(model, texts, explanations)
            same = time.process_time() - started
            print(
                f"    {', '.join(which)}: verax {same:.2f} s, quantus {theirs:.2f} s, {theirs / same:.0f} times",
                flush=True,
            )


if __name__ == "__main__":
    main()
