"""The paper's design in one run: three aspects of Lei et al.'s files, ratings, the whole corpus, chosen inputs."""

from __future__ import annotations

import re

import numpy as np
import pytest

import published_files
import verax
from verax.benchmarks.spec_files import with_explained_part
from verax.data import load_dataset
from verax.errors import VeraxError
from verax.models.neural.saving import load_model
from verax.workflows.paper_numbers import rationale_numbers

ASPECTS = ("appearance", "aroma", "palate")
OPTIONS = {
    "models": "rationale(rate=0.02, dimensions=8)",
    "explainers": ["greedy"],
    "difficulty": ["published"],
    "target_models": 1,
    "part": "all",
    "share": 0.3,
    "epochs": 4,
    "inputs": 4,
    "subsets": 2,
}


@pytest.fixture(scope="module")
def beer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("beer")
    published_files.beer(folder, 120)
    return folder


@pytest.fixture(scope="module")
def files(beer):
    """Each aspect with its own folder and label."""
    return [
        f"{beer}/reviews.aspect{place}(format=lei-beer,label={aspect},ratings=True,punctuation=True)"
        for place, aspect in enumerate(ASPECTS)
    ]


@pytest.fixture(scope="module")
def run(files, cache, tmp_path_factory):
    return verax.rationale(files, out=tmp_path_factory.mktemp("beer-run") / "run", **OPTIONS)


def test_three_aspects_with_labels_of_their_own_stand_side_by_side(run, files):
    assert [target.dataset for target in run.summary.targets] == files
    found = rationale_numbers(run, [aspect.upper() for aspect in ASPECTS])
    assert set(found["table-1"]["greedy"]) == {
        f"{aspect.upper()}.{what}" for aspect in ASPECTS for what in ("first", "misranked", "above")
    }
    assert set(found["table-2"]) == {"APPEARANCE", "AROMA", "PALATE"}
    # A mean with its standard deviation, as the paper prints it.
    assert re.fullmatch(r"\d+\.\d\d \(\d+\.\d\d\)", found["table-1"]["greedy"]["AROMA.above"])


@pytest.fixture(scope="module")
def corpus(beer):
    """All texts of each aspect with their ratings, in the order in which a run counts them."""
    return [
        with_explained_part(
            load_dataset(
                str(beer / f"reviews.aspect{place}"),
                format="lei-beer",
                label=aspect,
                ratings=True,
                punctuation=True,
            ),
            "all",
        ).test
        for place, aspect in enumerate(ASPECTS)
    ]


def test_the_whole_corpus_is_pruned(run, corpus):
    for target, every in zip(run.summary.targets, corpus, strict=True):
        assert target.test_set.inputs == len(every) > 120


def test_the_squared_error_is_that_of_the_ratings(run, corpus):
    (folder,) = run.folder.glob("targets/*aroma*")
    rated = load_model(folder).predict_proba(list(corpus[1].inputs))[:, 1]
    expected = np.mean((rated - corpus[1].ratings) ** 2)
    assert run.summary.targets[1].squared_error == pytest.approx(expected, abs=1e-6)


def test_chosen_inputs_are_shown_and_others_are_refused(run, files, corpus):
    explained = {
        place: run.results.query("dataset == @name")["input"].unique().tolist()
        for place, name in enumerate(files)
    }
    chosen = explained[0][:2]
    again = verax.rationale(files, out=run.folder, show=chosen, **OPTIONS)
    page = seen((again.folder / "report.html").read_text(encoding="utf-8"))
    for place in chosen:
        assert seen(corpus[0].inputs[place]) in page
    for place in set(explained[0]) - set(chosen):
        assert seen(corpus[0].inputs[place]) not in page
    with pytest.raises(VeraxError, match="The input 10000 is not among those that were explained"):
        verax.rationale(files, out=run.folder, show=[10_000], **OPTIONS)


def seen(text: str) -> str:
    """Letters and marks alone."""
    return re.sub(r"[^a-z.]", "", re.sub(r"<[^>]+>", "", text))
