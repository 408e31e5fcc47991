"""Networks in a staining run: a weight on an input reaches the loss."""

import numpy as np
import pytest

from verax.benchmarks.staining import training
from verax.benchmarks.staining.stainable import make_stainable

pytest.importorskip("torch")


def test_a_weight_on_stained_inputs_reaches_a_networks_loss(tmp_path):
    # The word "stain" stands equally often in texts of both classes; only the weight of one of them makes it telling.
    rng = np.random.default_rng(0)
    labels = np.arange(480) % 2
    texts = [" ".join([*rng.choice(["film", "plot", "actor", "scene"], 4), "stain"]) for _ in labels]
    path = tmp_path / "reviews.csv"
    rows = [
        f"{text} {number},{label}" for number, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    path.write_text("\n".join(["text,label", *rows]))
    data = make_stainable({"name_or_path": str(path)}, "presence")
    labels = data.dataset.train.labels, data.dataset.validation.labels
    unweighted, weighted = (
        training.fit("cnn", data, labels, np.where(labels[0] == 1, weight, 1), seed=0).predict_proba(
            ["film plot stain"]
        )[0, 1]
        for weight in (1, 30)
    )
    assert unweighted == pytest.approx(1 / 2, abs=0.15)
    assert weighted > 0.9
