"""Accuracy, macro-F1 and seconds of the ready-made networks, beside their papers; writes docs/results/models.md.

    python perf/models.py [--data FOLDER] [--only rotten-tomatoes,adult] [--models cnn]

FOLDER holds published sets (rt-polarity, sst, glove); what is not there is left out. A set takes minutes. What was measured
before is kept in docs/results/models.json, so that sets can be run one at a time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import verax
from verax.data import Dataset, load_dataset

ROOT = Path(__file__).parents[1]
PAGE, NUMBERS = ROOT / "docs/results/models.md", ROOT / "docs/results/models.json"

# By set: how it is loaded from the folder of published sets, and what is fitted on it.
Source = tuple[Callable[[Path], Dataset], tuple[str, ...]]
TEXTS = ("logistic", "cnn", "cnn, GloVe", "bilstm", "bilstm, GloVe", "transformer-mean", "transformer-lstm")
SETS: dict[str, Source] = {
    "rotten-tomatoes": (lambda _: load_dataset("rotten-tomatoes"), TEXTS),
    "rt-polarity": (lambda folder: load_dataset(folder / "rt-polarity", format="rt-polarity"), TEXTS),
    "adult": (lambda _: load_dataset("adult"), ("logistic", "mlp", "mlp-2x50")),
    "sst": (
        lambda folder: load_dataset(folder / "sst", format="sst", label="binary"),
        ("logistic", "cnn", "bilstm, GloVe"),
    ),
    "imdb": (lambda _: load_dataset("imdb"), ("logistic", "cnn", "transformer-mean")),
}
# What the papers report, and why ours need not be the same.
PAPERS = {
    ("rt-polarity", "bilstm"): "80.9 (Hase & Bansal)",
    ("rt-polarity", "bilstm, GloVe"): "80.9 (Hase & Bansal)",
    ("adult", "mlp-2x50"): "83.5 (Hase & Bansal; their loader repeats rows across train and test)",
}


def measure(name: str, data: Dataset, glove: Path) -> dict[str, float]:
    model, _, vectors = name.partition(", ")
    options = {"vectors": str(glove)} if vectors else None
    started = time.perf_counter()
    fitted = verax.fit_model(model, data, options=options)
    seconds = time.perf_counter() - started
    predicted = fitted.predict_proba(data.test.inputs).argmax(axis=1)
    return {
        "accuracy": float(np.mean(predicted == data.test.labels)),
        "macro_f1": macro_f1(predicted, data.test.labels),
        "seconds": seconds,
        "epochs": getattr(getattr(fitted, "record", None), "epochs", 0),
        "train": len(data.train),
        "test": len(data.test),
    }


def macro_f1(predicted: np.ndarray, labels: np.ndarray) -> float:
    scores = []
    for number in np.unique(labels):
        hits = np.sum((predicted == number) & (labels == number))
        scores.append(2 * hits / max(1, np.sum(predicted == number) + np.sum(labels == number)))
    return float(np.mean(scores))


def page(numbers: dict[str, dict[str, dict[str, float]]]) -> str:
    lines = [
        "# Networks on real sets",
        "",
        "Made by `perf/models.py`: test part, seed 0, one thread; settings as in docs/models.md, untuned. Seconds are of",
        "training, on a small machine that others used at the same time: read them as an order of size. Beside each its",
        "paper, where the set is the paper's. The Amazon and arXiv sets of Lertvittayakumjorn & Toni (macro-F1 0.90 and",
        "0.94 for `cnn`; 0.81 and 0.85 for the worse ones) are not to be had here; their formats are read",
        "(`amazon-polarity`, `arxiv`). GloVe is the 50-dimensional one, the 40,000 most frequent words.",
    ]
    for dataset, rows in numbers.items():
        sizes = next(iter(rows.values()))
        lines += [
            "",
            f"## {dataset} ({int(sizes['train']):,} to train, {int(sizes['test']):,} to test)",
            "",
            "| model | accuracy | macro-F1 | seconds | epochs | paper |",
            "|---|---|---|---|---|---|",
        ]
        for model, row in rows.items():
            epochs = int(row["epochs"]) or ""
            lines.append(
                f"| {model} | {row['accuracy']:.3f} | {row['macro_f1']:.3f} | {row['seconds']:.0f} | {epochs} | "
                f"{PAPERS.get((dataset, model), '')} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--only", default=",".join(SETS))
    parser.add_argument("--models", default="")
    given = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    glove = given.data / "glove/glove.6B.50d.top40000.txt.gz"
    numbers = json.loads(NUMBERS.read_text()) if NUMBERS.is_file() else {}
    for dataset in given.only.split(","):
        load, names = SETS[dataset]
        try:
            data = load(given.data)
        except verax.VeraxError as error:
            print(f"{dataset} is left out: {error}")
            continue
        for name in names:
            if (given.models and name not in given.models.split(";")) or (
                name.endswith("GloVe") and not glove.is_file()
            ):
                continue
            row = measure(name, data, glove)
            print(dataset, name, {key: round(value, 3) for key, value in row.items()}, flush=True)
            numbers.setdefault(dataset, {})[name] = row
            NUMBERS.write_text(json.dumps(numbers, indent=1, sort_keys=False) + "\n")
            PAGE.write_text(page(numbers))


if __name__ == "__main__":
    main()
