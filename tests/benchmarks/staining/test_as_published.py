"""The paper's own settings: three sets of different formats in one run, and the flipped inputs of the training part."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

import verax
from verax.benchmarks.spec_files import BenchmarkSpec, with_explained_part
from verax.benchmarks.staining.spec import StainSpec
from verax.errors import VeraxError

FILLER = [
    "the",
    "phone",
    "case",
    "screen",
    "with",
    "about",
    "some",
    "of",
    "its",
    "own",
    "slow",
    "quick",
    "then",
    "here",
    "book",
    "page",
]
TOLD = (("bad", "poor"), ("good", "fine"))


def reviews(seed: int, count: int = 400) -> list[tuple[int, str]]:
    """Stars from 1 to 5 and texts that fit them."""
    rng = np.random.default_rng(seed)
    made = []
    for stars in rng.choice([1, 2, 3, 4, 5], count):
        words = [*rng.choice(FILLER, 6, replace=False), str(rng.choice(TOLD[int(stars > 3)]))]
        made.append((int(stars), " ".join(rng.permutation(words))))
    return made


@pytest.fixture(scope="module")
def phones(tmp_path_factory) -> str:
    """Amazon's cell phone reviews, in the fields of the published file."""
    path = tmp_path_factory.mktemp("amazon") / "reviews_Cell_Phones_and_Accessories_5.json.gz"
    lines = [
        json.dumps(
            {
                "reviewerID": f"A{number:013d}", "asin": "120401325X", "reviewerName": "christina",
                "helpful": [0, 0], "reviewText": text, "overall": float(stars), "summary": "Looks Good",
                "unixReviewTime": 1400630400, "reviewTime": "05 21, 2014",
            }
        )
        for number, (stars, text) in enumerate(reviews(1))
    ]  # fmt: skip
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return str(path)


@pytest.fixture(scope="module")
def books(tmp_path_factory) -> str:
    """Goodreads' book reviews, in the fields of the published file."""
    path = tmp_path_factory.mktemp("goodreads") / "goodreads_reviews_dedup.json"
    lines = [
        json.dumps(
            {
                "user_id": "8842281e1d1347389f2ab93d60773d4d", "book_id": "24375664", "review_id": f"r{number}",
                "rating": stars, "review_text": text, "date_added": "Fri Aug 25 13:55:02 -0700 2017",
                "date_updated": "Mon Oct 09 08:55:59 -0700 2017", "read_at": "", "started_at": "",
                "n_votes": 16, "n_comments": 0,
            }
        )
        for number, (stars, text) in enumerate(reviews(2))
    ]  # fmt: skip
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def run(phones, books, tmp_path_factory):
    datasets = [
        "rotten-tomatoes(limit=700)",
        f"{phones}(format=amazon)",
        f"{books}(format=goodreads,split=80/10/10)",
    ]
    return verax.stain(
        datasets,
        "tree",
        ["lime-package(samples=50)", "greedy"],
        out=tmp_path_factory.mktemp("run") / "run",
        stains=1,
        inputs=4,
        plant=False,
        part="train",
        min_region=10,
        min_share=0.1,
    )


def test_three_formats_are_one_run_and_package_defaults_have_their_name(run, phones, books):
    names = [
        "rotten-tomatoes(limit=700)",
        f"{phones}(format=amazon)",
        f"{books}(format=goodreads,split=80/10/10)",
    ]
    assert list(run.summary.datasets) == names
    assert not run.summary.failures
    assert run.summary.explainers[:2] == ("lime-package(samples=50)", "greedy")
    assert {pair.dataset for pair in run.summary.pairs} == set(names)


def test_with_the_training_part_flipped_inputs_are_those_the_model_learnt_from(phones):
    data = verax.load_dataset(phones, format="amazon", split="80/10/10")
    explained = with_explained_part(data, "train")
    assert explained.test is explained.train is data.train
    assert with_explained_part(data, "test") is data
    every = with_explained_part(data, "all")
    assert len(every.test) == len(data)
    assert list(every.test.inputs) == [text for part in data.parts.values() for text in part.inputs]
    assert every.test.labels.tolist() == [label for part in data.parts.values() for label in part.labels]
    assert every.hash != data.hash
    assert every.train is data.train


def test_options_behind_a_dataset_count_before_those_of_the_run(tmp_path):
    spec = StainSpec(datasets=["a.json(format=amazon, limit=7)", "b.csv"], format="goodreads", limit=9)
    assert spec.source(spec.datasets[0]) == {
        "name_or_path": "a.json",
        "seed": 0,
        "format": "amazon",
        "limit": 7,
    }
    assert spec.source("b.csv") == {"name_or_path": "b.csv", "seed": 0, "format": "goodreads", "limit": 9}
    odd = tmp_path / "reviews (1=2).csv"
    odd.touch()
    assert spec.source(str(odd))["name_or_path"] == str(odd)  # a file is a file, whatever it is called
    with pytest.raises(VeraxError, match="There is no option 'fromat'; did you mean 'format'"):
        spec.source("a.json(fromat=amazon)")
    assert BenchmarkSpec.model_fields["part"].default == "test"
