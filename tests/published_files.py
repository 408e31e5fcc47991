"""Small made-up files in the formats in which the papers' sets are published, in one folder as for ``--data``."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

FILLER = [
    *("the", "film", "phone", "case", "book", "plot", "with", "about", "some", "of", "its", "own"),
    *("slow", "quick", "then", "here", "page", "beer", "head", "a", "this", "is"),
]
# Words that tell one class from the others; those that tell all fields of papers.
TELLING = (("bad", "poor", "dull"), ("good", "fine", "warm"))
FIELDS = {
    "cs.CL": ("parser", "algorithm"),
    "cs.LG": ("learning", "algorithm"),
    "math.DS": ("orbit", "theorem"),
    "math.CO": ("graph", "theorem"),
    "quant-ph": ("qubit", "particle"),
    "hep-ph": ("boson", "particle"),
}


class Texts:
    """Texts of a class, of which some say otherwise, so that what learns from them errs."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def of(self, telling: Sequence[Sequence[str]], label: int, length: int) -> str:
        """A text of filler with some telling words, of another class in one text of six."""
        own = label if self.rng.random() > 1 / 6 else int(self.rng.integers(len(telling)))
        said = self.rng.choice(telling[own], 1 + int(self.rng.integers(2)))
        words = self.rng.permutation([*self.rng.choice(FILLER, length), *said])
        return " ".join(words) + " ."


def beer(folder: Path, count: int) -> None:
    """Lei et al.'s reviews: five ratings, a tab, a text in tokens."""
    texts = Texts(1)
    for place in range(3):
        for part, size in (("train", count), ("heldout", count // 4)):
            lines = []
            for _ in range(size):
                rating = float(texts.rng.choice([0.1, 0.2, 0.8, 0.9]))
                said = texts.of(TELLING, int(rating > 0.5), 8)
                lines.append(f"{' '.join([f'{rating:.2f}'] * 5)}\t{said}")
            file = folder / f"reviews.aspect{place}" / f"reviews.aspect{place}.{part}.txt.gz"
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(gzip.compress("\n".join(lines).encode()))


def stars(folder: Path, count: int) -> None:
    """Amazon's reviews of cell phones and Goodreads' of books, as McAuley's group publishes them."""
    texts = Texts(2)
    for name, star, text in (
        ("reviews_Cell_Phones_and_Accessories_5.json.gz", "overall", "reviewText"),
        ("goodreads_reviews_dedup.json.gz", "rating", "review_text"),
    ):
        lines = []
        for _ in range(count):
            given = int(texts.rng.integers(1, 6))
            lines.append(json.dumps({star: given, text: texts.of(TELLING, int(given > 3), 10)}))
        (folder / name).write_bytes(gzip.compress("\n".join(lines).encode()))


def human_grounded(folder: Path, count: int) -> None:
    """Amazon Review Polarity, arXiv's metadata and GloVe."""
    texts = Texts(3)
    amazon = folder / "amazon_review_polarity_csv"
    amazon.mkdir()
    for part in ("train", "test"):
        with (amazon / f"{part}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL)
            for number in range(count):
                writer.writerow([number % 2 + 1, "A title", texts.of(TELLING, number % 2, 12)])
    with (folder / "arxiv-metadata-oai-snapshot.json").open("w", encoding="utf-8") as file:
        telling = list(FIELDS.values())
        for number in range(2 * count):
            place = number % len(FIELDS)
            abstract = f"  We study: {texts.of(telling, place, 110)}\n"
            file.write(
                json.dumps({"id": str(number), "abstract": abstract, "categories": list(FIELDS)[place]})
                + "\n"
            )
    known = [
        *FILLER,
        *TELLING[0],
        *TELLING[1],
        *{word for two in telling for word in two},
        "we",
        "study",
        ".",
        ":",
    ]
    with (folder / "glove.6B.200d.txt").open("w", encoding="utf-8") as file:
        for word in known:
            file.write(f"{word} {' '.join(f'{value:.3f}' for value in texts.rng.normal(0, 0.3, 200))}\n")


def reverse_turing(folder: Path, count: int) -> None:
    """SST and probing tasks as SentEval distributes them, HatEval as its organisers do."""
    texts = Texts(4)
    sst = folder / "sst" / "fine"
    sst.mkdir(parents=True)
    for part in ("train", "dev", "test"):
        labels = texts.rng.integers(0, 5, 2 * count)
        lines = [f"{label} {texts.of(TELLING, int(label > 2), 8)}" for label in labels]
        (sst / f"sentiment-{part}").write_text("\n".join(lines), encoding="utf-8")
    hateful = folder / "hateval2019"
    hateful.mkdir()
    for part in ("train", "dev", "test"):
        with (hateful / f"hateval2019_en_{part}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "text", "HS", "TR", "AG"])
            for number in range(count):
                writer.writerow([number, texts.of(TELLING, number % 2, 8), number % 2, 0, 0])
    probing = folder / "probing"
    probing.mkdir()
    for name, classes in (
        ("subj_number", ("NN", "NNS")),
        ("past_present", ("PAST", "PRES")),
        ("sentence_length", ("0", "1")),
    ):
        lines = [
            f"{part}\t{classes[number % 2]}\t{texts.of(TELLING, number % 2, 8)}"
            for part in ("tr", "va", "te")
            for number in range(count)
        ]
        (probing / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")


def sentences(folder: Path, count: int) -> None:
    """The sentences of Pang and Lee."""
    texts = Texts(5)
    (folder / "rt-polarity").mkdir()
    for label, name in enumerate(("neg", "pos")):
        lines = [texts.of(TELLING, label, 8) for _ in range(count)]
        (folder / "rt-polarity" / f"rt-polarity.{name}").write_text("\n".join(lines), encoding="latin-1")
