"""The specs of the human-grounded study on arXiv, tried on abstracts as long as abstracts are."""

import json
from pathlib import Path

import numpy as np
import pytest

from verax.workflows.paper import changed_spec
from verax.workflows.paper_numbers import network_numbers
from verax.workflows.study import build_study

EXAMPLES = Path(__file__).parents[2] / "examples" / "human-grounded"
FIELDS = {
    "cs.CL": ("parser", "algorithm"),
    "cs.LG": ("learning", "algorithm"),
    "math.DS": ("orbit", "theorem"),
    "math.CO": ("graph", "theorem"),
    "quant-ph": ("qubit", "particle"),
    "hep-ph": ("boson", "particle"),
}


@pytest.fixture(scope="module")
def abstracts(tmp_path_factory):
    """720 abstracts of 110 to 190 words in arXiv's format; a few words tell the field, some only the category."""
    rng = np.random.default_rng(5)
    filler = np.array([f"word{number}" for number in range(60)])
    file = tmp_path_factory.mktemp("arxiv") / "arxiv.json"
    with file.open("w", encoding="utf-8") as lines:
        for number in range(720):
            category = list(FIELDS)[number % len(FIELDS)]
            words = rng.choice(filler, int(rng.integers(105, 185)))
            own = rng.choice(FIELDS[category], 5, p=(0.9, 0.1))
            # Some speak of another field, so that the network errs.
            if number % 9 == 0:
                own = rng.choice(FIELDS[list(FIELDS)[(number + 2) % 6]], 5, p=(0.9, 0.1))
            text = " ".join(rng.permutation([*words, *own]))
            lines.write(json.dumps({"abstract": f"We study: {text}.", "categories": category}) + "\n")
    return file


def test_task_1_on_arxiv_takes_abstracts_and_a_worse_network_of_as_many_narrow_examples(abstracts, tmp_path):
    changes = {
        "dataset": str(abstracts),
        "model": "cnn(vectors=trained, dimensions=16, epochs=12, rate=0.005, train_vectors=True)",
        "source": {"split": "40/10/50", "limit": 360},
        "protocol": {"test": 6, "items_per_participant": 6},
        "conditions": [
            {"name": "trees", "explainer": "decision-trees"},
            {"name": "random-w", "explainer": "random", "sizes": [1]},
        ],
    }
    spec = changed_spec(EXAMPLES / "arxiv-task-1.toml", changes)
    study = build_study(spec, tmp_path / "study").study
    lengths = [len(item.input.split()) for item in study.items.values()]
    assert min(lengths) >= 110
    better, worse = study.models["model"], study.models["worse"]
    assert worse["training_inputs"] == better["training_inputs"]
    assert 0 < worse["macro_f1"] < better["macro_f1"] <= 1
    found = network_numbers("s3", study)
    assert found["networks"]["model"] == {"s3": f"{better['macro_f1']:.2f}"}
    assert {key.split("/")[1] for key in found["table-5"]} == {"model", "worse"}
    assert all(int(row["leaves"]) * 2 - 1 == int(row["nodes"]) for row in found["table-5"].values())
