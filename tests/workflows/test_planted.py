"""Planted reasons for one model without a folder, and how a model is fitted anew."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import verax
from verax.errors import VeraxError
from verax.workflows import judge_findings
from verax.workflows.judge_findings import planted_trial

SMALL = {"stains": 2, "inputs": 3}


@dataclass(frozen=True)
class Raises(verax.Explainer):
    """An explainer that cannot explain."""

    def explain(self, model, inputs, targets=None):
        raise ValueError("not today")


def bag():
    return make_pipeline(CountVectorizer(binary=True), LogisticRegression())


def test_explainers_are_scored_between_floor_and_ceiling(frame):
    told = []
    model = bag().fit(frame.text, frame.label)
    found = planted_trial(
        verax.as_model(model),
        (frame.text, frame.label),
        {"greedy": verax.explainer("greedy"), "broken": Raises()},
        progress=lambda share, what: told.append((share, what)),
        **SMALL,
    )
    assert found.ceiling == pytest.approx(0.95)
    assert len(found.areas["greedy"]) == len(found.floor) == len(found.stains) == len(found.features) == 2
    assert all(
        low < area <= 0.95 + 1e-9 for low, area in zip(found.floor, found.areas["greedy"], strict=True)
    )
    assert np.isnan(found.areas["broken"]).all()
    assert found.errors == {
        "broken": "OwnCodeError: The explainer 'broken' raised ValueError (not today) on 3 inputs."
    }
    assert found.sentences[0].startswith("Reasons are planted in ")
    assert [share for share, _ in told] == sorted(share for share, _ in told)
    assert told[-1] == (1.0, "done")
    assert all(len(own) == 2 for own in found.features)
    again = planted_trial(model, (frame.text, frame.label), ["greedy"], **SMALL)
    assert again.areas["greedy"] == found.areas["greedy"]


def test_a_short_time_means_fewer_reasons_and_is_said(frame):
    found = planted_trial("tree", (frame.text, frame.label), ["greedy"], stains=50, inputs=3, seconds=0.2)
    assert len(found.stains) < 50
    assert "of 50 " in found.sentences[-1]
    assert "that were allowed" in found.sentences[-1]


def test_time_that_ends_before_a_reason_is_planted_is_not_called_a_failure_to_learn(frame, monkeypatch):
    monkeypatch.setattr(judge_findings, "FIRST_SECONDS", 0.1)
    monkeypatch.setattr(judge_findings, "FEWEST_FITS", 0)  # or the time is called too short at once

    def refit(texts, labels):
        time.sleep(0.15)
        return bag().fit(texts, labels)

    with pytest.raises(VeraxError, match=r"^After \d+ quick fits? .* no time was left to plant one") as told:
        planted_trial("tree", (frame.text, frame.label), ["greedy"], refit=refit, seconds=0.1)
    assert "learnt none" not in str(told.value)


def test_a_model_that_is_a_function_is_refused_at_once_and_fitted_by_refit(frame, tmp_path):
    fitted = bag().fit(list(frame.text), frame.label)

    def predict(texts):
        return fitted.predict_proba(list(texts))

    ask = {"explainers": "greedy", "out": tmp_path / "run", **SMALL}
    for plant in (True, False):
        with pytest.raises(
            VeraxError, match=r"predict cannot be fitted: .* give refit=, a function from \(inputs, la"
        ):
            verax.stain(frame, [predict], plant=plant, **ask)
    wrapped = verax.as_model(predict, kind="text")
    with pytest.raises(VeraxError, match="CallableModel cannot be fitted; give refit="):
        planted_trial(wrapped, (frame.text, frame.label), ["greedy"])

    def refit(texts, labels):
        made = bag().fit(texts, labels)
        return lambda more: made.predict_proba(list(more))

    run = verax.stain(frame, {"mine": predict}, refit=refit, **ask)
    assert run.summary.pairs[0].stains_used == 2
    found = planted_trial(wrapped, (frame.text, frame.label), ["greedy"], refit=refit, **SMALL)
    assert len(found.areas["greedy"]) == 2


def test_what_looks_like_a_hugging_face_pipeline_is_no_function_from_a_dataset(frame, tmp_path):
    class Pipeline:
        def __call__(self, texts):
            return [{"label": "1", "score": 1.0} for _ in texts]

    Pipeline.__module__ = "transformers.pipelines"
    with pytest.raises(VeraxError, match="a Pipeline cannot be fitted; give refit="):
        verax.stain(frame, [Pipeline()], "greedy", out=tmp_path / "run")


def test_refit_is_given_weights_where_it_takes_them_and_columns_as_they_were(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"age": rng.integers(18, 80, 300), "job": rng.choice(["cook", "judge", "clerk"], 300)}
    )
    table["label"] = np.where(table.age > 50, "old", "young")
    seen = []

    def refit(inputs, labels, sample_weight=None):
        seen.append((len(inputs), None if sample_weight is None else int(np.max(sample_weight))))
        assert list(inputs.columns) == ["age", "job"]
        assert set(inputs.job) <= {"cook", "judge", "clerk"}
        encoded = pd.get_dummies(inputs, dtype=float)
        model = LogisticRegression(max_iter=500).fit(encoded, labels, sample_weight)

        def predict(rows):
            asked = data.schema.decode(np.asarray(rows))
            return model.predict_proba(
                pd.get_dummies(asked, dtype=float).reindex(columns=encoded.columns, fill_value=0)
            )

        return predict

    data = verax.load_dataset(table)
    verax.stain(
        data,
        {"mine": object()},
        "greedy",
        refit={"mine": refit},
        out=tmp_path / "run",
        plant_share=0.3,
        weight=7,
        **SMALL,
    )
    assert {count for count, _ in seen} == {len(data.train)}  # no copies
    assert {weight for _, weight in seen} == {None, 7}


def test_refit_that_does_not_fit_together_is_a_sentence(frame, tmp_path):
    with pytest.raises(
        VeraxError, match="refit= is one function, and 2 models are objects; give dicts for both"
    ):
        verax.stain(frame, [bag(), bag()], refit=len, out=tmp_path)
    with pytest.raises(VeraxError, match="refit= has a function for 'his', and no model is called so"):
        verax.stain(frame, {"mine": bag()}, refit={"his": len}, out=tmp_path)
    with pytest.raises(VeraxError, match="refit= says how a model is fitted anew, and there is none"):
        verax.stain(frame, refit=len, out=tmp_path)


def test_models_are_fitted_again_in_one_thread_and_without_a_warning(frame, recwarn):
    from lightgbm import LGBMClassifier

    from verax.benchmarks.staining.training import unfitted

    assert unfitted("mine", LGBMClassifier(), 0).n_jobs == 1
    assert unfitted("mine", make_pipeline(CountVectorizer(), LGBMClassifier()), 0)[-1].n_jobs == 1
    assert unfitted("mine", LogisticRegression(), 0).n_jobs is None
    planted_trial(bag(), (frame.text, frame.label), ["greedy"], **SMALL)
    assert not [one for one in recwarn if "n_jobs" in str(one.message)]
