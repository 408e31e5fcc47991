"""A small dataset and a model whose scores are known by hand, in a folder of their own."""

import csv
import logging
import sys
from dataclasses import dataclass

import pytest

from helpers import forget

# Probability of "up": 0.5, 0.1 more with the word good, 0.2 less with the word bad.
MODEL = '''
def known(dataset):
    def probabilities(texts):
        up = [0.5 + 0.1 * ("good" in text.split()) - 0.2 * ("bad" in text.split()) for text in texts]
        return [[1 - p, p] for p in up]
    return probabilities


def bigrams(dataset):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(CountVectorizer(ngram_range=(1, 2)), LogisticRegression())
    return pipeline.fit(dataset.train.inputs, dataset.train.labels)


class Broken:
    """Always fails."""

    def explain(self, model, inputs, targets=None):
        raise RuntimeError("out of\\ncheese")
'''


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with reviews.csv, people.csv and own_models.py in it."""
    with (tmp_path / "reviews.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for number in range(20):
            writer.writerow([f"a good warm film {number}", "up"])
            writer.writerow([f"a bad dull film {number}", "down"])
    with (tmp_path / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "job", "rich"])
        for number in range(30):
            writer.writerow([20 + number, "clerk" if number % 2 else "judge", "yes" if number > 14 else "no"])
    (tmp_path / "own_models.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    # Modules of this folder, whatever other tests in this process left behind under the same names.
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delenv("COLUMNS", raising=False)
    forget("my_package")
    yield tmp_path
    forget("my_package")
    forget("own_models")


@pytest.fixture(autouse=True)
def tests_are_trusted(monkeypatch):
    """The small study's protocol is code that its folder names; what happens without this is in test_foreign.py."""
    monkeypatch.setenv("VERAX_TRUST", "small_study")


@pytest.fixture
def verax(capsys, monkeypatch):
    """Runs the command line in this process."""
    from verax.cli.main import main

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["verax", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Ended(ended.value.code or 0, printed.out, printed.err)

    yield run
    logging.captureWarnings(False)
    for name in ("verax", "py.warnings"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
        logger.setLevel(logging.NOTSET)
