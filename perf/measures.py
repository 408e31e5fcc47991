"""Ten measures over 100 explained sentences, on the mask engine and by Quantus' own code doing the same.

One process, one thread, processor time. Quantus perturbs numbers and knows no words: it is given the words of a sentence as
a row of ones (present) and a model that drops the words whose number is 0, which is how its users measure texts. Both sides
have the same explanations (shap) and the same numbers of perturbed variants where the definition leaves them open.

ferret measures Hugging Face classifiers, and has comprehensiveness and sufficiency over tenths of the tokens: its side is
MiniLM with a head of random weights, asked as ferret asks it.

The two take turns, so that a busy machine slows both: in each of ten rounds all sentences go through Verax and a tenth of them
through the other package (of the transformer a tenth through both). Verax' time is the mean of the rounds, the other's the sum.

    python perf/measures.py [--inputs 100] [--models logistic,forest,cnn,MiniLM]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

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


ROUNDS = 10


def seconds_of(do: Callable[[], object]) -> float:
    """Seconds of the processor."""
    started = time.process_time()
    do()
    return time.process_time() - started


def in_turns(
    texts: Sequence[str],
    explanations: Sequence[Any],
    ours: Callable[[], object],
    theirs: Callable[[Sequence[str], Sequence[Any]], object],
) -> tuple[float, float]:
    """Seconds for all texts: ours, as the mean of all rounds, and theirs, a part of the texts in each round."""
    own = other = 0.0
    for round_number in range(ROUNDS):
        own += seconds_of(ours) / ROUNDS
        part = texts[round_number::ROUNDS], explanations[round_number::ROUNDS]
        other += seconds_of(lambda part=part: theirs(*part))  # type: ignore[misc]
    return own, other


def rows_of(model, texts, explanations, names, **options) -> int:
    """Takes measures; how many rows they asked for."""
    return sum(
        verax.measure(name, **options).measured(model, texts, explanations).cost.rows for name in names
    )


def quantus_of(model) -> tuple[list[str], Callable[[Sequence[str], Sequence[Any]], None]]:
    """Which of the ten Quantus has, and what takes these, input by input: its batches need inputs of one length."""
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

    def take(texts: Sequence[str], explanations: Sequence[Any]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
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

    return list(metrics), take


TENTHS = tuple(tenth / 10 for tenth in range(1, 11))


def ferret_measures(texts) -> None:
    """Two measures of a Hugging Face classifier, by ferret and here; what share of each is the network's own time."""
    import torch
    import transformers

    from verax.data.vectors import minilm_folder

    package = ModuleType("ferret")  # its __init__ imports data sets and plots of other packages
    package.__path__ = list(find_spec("ferret").submodule_search_locations)
    sys.modules["ferret"] = package
    theirs = import_module("ferret.evaluators.faithfulness_measures")
    explanation_of = import_module("ferret.explainers.explanation").Explanation
    torch.manual_seed(0)
    torch.set_num_threads(1)
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(minilm_folder(), local_files_only=True)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(
        minilm_folder(), local_files_only=True
    ).eval()
    model = verax.as_model(network, tokenizer=tokenizer, class_names=("no", "yes"))
    explanations = verax.explainer("random").explain(model, texts)
    pairs = (
        ("comprehensiveness", theirs.AOPC_Comprehensiveness_Evaluation(network, tokenizer)),
        ("sufficiency", theirs.AOPC_Sufficiency_Evaluation(network, tokenizer)),
    )
    rng = np.random.default_rng(0)

    def by_ferret(texts: Sequence[str], explanations: Sequence[Any]) -> None:
        with torch.no_grad():
            for text, explanation in zip(texts, explanations, strict=True):
                tokens = tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"])
                scores = rng.random(len(tokens))
                for _, measure in pairs:
                    measure.compute_evaluation(
                        explanation_of(text, tokens, scores, "random", explanation.target),
                        target=explanation.target,
                    )

    def alone() -> None:
        with torch.no_grad():
            for begin in range(0, len(texts), 32):
                network(
                    **tokenizer(texts[begin : begin + 32], return_tensors="pt", padding=True, truncation=True)
                )

    names = [name for name, _ in pairs]
    rows = rows_of(model, texts, explanations, names, shares=TENTHS)
    whole = rows * seconds_of(alone) / len(texts)
    own = other = 0.0
    for round_number in range(ROUNDS):
        part = texts[round_number::ROUNDS], explanations[round_number::ROUNDS]
        own += seconds_of(lambda part=part: rows_of(model, *part, names, shares=TENTHS))  # type: ignore[misc]
        other += seconds_of(lambda part=part: by_ferret(*part))  # type: ignore[misc]
    print(
        f"| MiniLM | {len(names)}: {', '.join(names)} | {rows:,} | {own:.1f} | ferret {other:.1f} | **{other / own:.1f}x** | "
        f"{whole:.1f} s: that many whole sentences in the network alone, 32 at a time |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--inputs", type=int, default=100)
    parser.add_argument("--models", default="logistic,forest,cnn(epochs=1),MiniLM")
    asked = parser.parse_args()
    data = verax.load_dataset("rotten-tomatoes")
    texts = [str(text) for text in data.test.inputs[: 4 * asked.inputs] if len(str(text).split()) >= 6][
        : asked.inputs
    ]
    print("| model | measures | rows asked | Verax, s | the other, s | ratio | to reach |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in asked.models.split(","):
        if name == "MiniLM":
            ferret_measures(texts)
            continue
        model = verax.fit_model(name, data)
        explanations = verax.explainer("shap", samples=500).explain(model, texts)
        rows_of(model, texts[:2], explanations[:2], TEN)  # what is compiled on first use
        which, by_quantus = quantus_of(model)
        rows = rows_of(model, texts, explanations, TEN)
        ten = seconds_of(lambda: rows_of(model, texts, explanations, TEN))
        print(f"| {name} | ten | {rows:,} | {ten:.2f} | | | |", flush=True)
        own, theirs = in_turns(
            texts,
            explanations,
            lambda: rows_of(model, texts, explanations, which),
            by_quantus,
        )
        print(
            f"| {name} | {len(which)}: {', '.join(which)} | {rows_of(model, texts, explanations, which):,} | {own:.3f} | Quantus "
            f"{theirs:.2f} | **{theirs / own:.0f}x** | {20 if name.startswith('cnn') else 50}x |",
            flush=True,
        )


if __name__ == "__main__":
    main()
