"""Networks in a staining run: a weight on an input reaches the loss, and options are part of what is asked."""

import numpy as np
import pytest

from verax.benchmarks.staining import training
from verax.benchmarks.staining.plan import make_plan
from verax.benchmarks.staining.spec import make_spec
from verax.benchmarks.staining.stainable import make_stainable
from verax.errors import VeraxError

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
        training.fit(
            "cnn(vectors=trained)", data, labels, np.where(labels[0] == 1, weight, 1), seed=0
        ).predict_proba(["film plot stain"])[0, 1]
        for weight in (1, 30)
    )
    assert unweighted == pytest.approx(1 / 2, abs=0.15)
    assert weighted > 0.9


def test_the_content_of_files_that_options_name_is_in_a_jobs_key(tmp_path):
    texts = [f"{'good' if number % 2 else 'bad'} film plot {number}" for number in range(240)]
    rows = [f"{text},{number % 2}" for number, text in enumerate(texts)]
    (tmp_path / "reviews.csv").write_text("\n".join(["text,label", *rows]))
    vectors = tmp_path / "vectors.txt"
    spec = make_spec(
        {
            "datasets": [str(tmp_path / "reviews.csv")],
            "models": [f"cnn(vectors={vectors})", "cnn"],
            "explainers": ["greedy"],
            "stains": 1,
            "size": 1,
        }
    )
    keys = []
    for content in ("film 1 2", "film 1 3"):
        vectors.write_text(content)
        keys.append([job.key for job in make_plan(spec, [("greedy", "greedy", {})]).jobs])
    with_file = [place % 2 == 0 for place in range(4)]
    assert [before != after for before, after in zip(*keys, strict=True)] == with_file
    wrong = make_spec({**spec.model_dump(), "models": ["cnn(epoch=1)"]})
    with pytest.raises(VeraxError, match="The model 'cnn' has no option 'epoch'; it has epochs="):
        make_plan(wrong, [])
