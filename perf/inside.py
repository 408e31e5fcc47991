"""Methods that look inside a network: many texts at once against one by one.

    python perf/inside.py [--texts 1000] [--model saved-folder]

Processor time in one process and one thread, interleaved, medians: what else the machine does hardly matters. Rotten
Tomatoes; a saved network, or 'cnn' and 'bilstm' of two epochs.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch

import verax
from verax.models import fit_model
from verax.models.neural.saving import load_model

torch.set_num_threads(1)
METHODS = ("gradient-x-input", "lrp", "deeplift", "grad-cam-text")


def measure(model, texts, name: str, repeats: int) -> tuple[float, float]:
    """Milliseconds per text: all together, and one by one (a fifth of them)."""
    explainer = verax.explainer(name)
    some = texts[: max(1, len(texts) // 5)]
    together, alone = [], []
    explainer.explain(model, texts[:8])
    for _ in range(repeats):
        started = time.process_time()
        explainer.explain(model, texts)
        together.append((time.process_time() - started) / len(texts))
        started = time.process_time()
        for text in some:
            explainer.explain(model, [text])
        alone.append((time.process_time() - started) / len(some))
    return 1000 * statistics.median(together), 1000 * statistics.median(alone)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--model", help="a folder of verax.save_model")
    given = parser.parse_args()
    data = verax.load_dataset("rotten-tomatoes")
    texts = list(data.test.inputs)[: given.texts]
    print("| model | method | together, ms a text | one by one, ms a text | ratio |\n|---|---|---|---|---|")
    for network in (given.model,) if given.model else ("cnn", "bilstm"):
        model = load_model(network) if given.model else fit_model(network, data, options={"epochs": 2})
        called = type(model.network).__name__.removesuffix("Network").lower()
        for name in METHODS if called == "cnn" else ("gradient-x-input", "lrp"):
            together, alone = measure(model, texts, name, given.repeats)
            print(
                f"| {called} | {name} | {together:.3f} | {alone:.2f} | {alone / together:.1f} |", flush=True
            )


if __name__ == "__main__":
    main()
