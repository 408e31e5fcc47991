"""Whole verifications on small data: known answers, every kind of trouble, nothing lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from hand_made import GREAT, HandMade, everything, unless
from scipy.stats import binomtest

import verax
from verax.benchmarks.rationale.findings import RationaleSummary
from verax.benchmarks.rationale.plan import make_plan, words_to_choose
from verax.benchmarks.rationale.rankings import Partition
from verax.benchmarks.rationale.spec import RationaleSpec
from verax.benchmarks.rationale.target import TargetResult, draw
from verax.cli.main import app
from verax.data.dataset import Dataset, Part
from verax.data.words import split_words
from verax.errors import VeraxError

from .conftest import MODEL, QUICK

FEW = {"target_models": 1, "difficulty": ["easy"], "models": [MODEL], **QUICK}


def test_the_oracle_makes_no_error_and_random_most(run):
    for target in run.summary.targets:
        found = target.sets["published"].explainers
        for measure, best in (("first", 0), ("misranked", 0), ("above", 0), ("auc", 1)):
            assert getattr(found["oracle"].scored, measure).mean == best
        worst = max(found, key=lambda label: found[label].scored.misranked.mean)
        assert worst == "random"
        assert {point.misranked for point in found["oracle"].curve} == {0.0}


def test_intervals_are_over_inputs_for_one_target_and_over_targets_for_several(run):
    table = run.results.query("not added")
    target = run.summary.targets[0]
    mine = table.query("target == @target.label and explainer == 'random'")
    scored = target.sets["published"].explainers["random"].scored
    assert scored.misranked.mean == pytest.approx(mine.misranked.mean())
    wilson = binomtest(int(mine.misranked.sum()), len(mine)).proportion_ci(method="wilson")
    assert (scored.misranked.low, scored.misranked.high) == pytest.approx((wilson.low, wilson.high))
    assert scored.above.spread == pytest.approx(mine.above.std())
    (group,) = run.summary.groups
    means = table.query("explainer == 'random'").groupby("target").misranked.mean()
    over = group.sets["published"].explainers["random"].misranked
    assert (over.n, over.mean) == (3, pytest.approx(means.mean()))
    # Three targets are three values: so few tell nothing of others.
    for scored in group.sets["published"].explainers.values():
        for each in (scored.first, scored.misranked, scored.above, scored.auc):
            assert (each.low, each.high) == (None, None)


def test_a_text_counts_once_and_as_wrong_if_any_target_has_it_misranked(run):
    table = run.results.query("strict and explainer == 'random'")
    wrong = table.groupby("input").misranked.max()
    found = run.summary.texts["strict"]["random"]
    assert (found.texts, found.erred) == (len(wrong), int(wrong.sum()))


def test_strict_inputs_are_a_set_of_their_own(run):
    for target in run.summary.targets:
        table = run.results.query("target == @target.label and explainer == 'greedy'")
        assert target.sets["strict"].inputs == table.strict.sum()
        assert target.sets["published"].inputs == (~table.added).sum() <= QUICK["inputs"]
        assert table.query("added").strict.all()


def test_the_files_of_a_run(run):
    folder = run.folder
    stored = json.loads((folder / "summary.json").read_text())
    assert RationaleSummary.from_dict(stored).to_dict() == run.summary.to_dict()
    assert stored["benchmark"] == "rationale"
    assert stored["claims"] == {
        "lime": "additive", "shap": "additive", "greedy": "selective", "random": "none", "oracle": "selective",
    }  # fmt: skip
    table = pd.read_parquet(folder / "results.parquet")
    assert set(table.explainer) == {"lime", "shap", "greedy", "random", "oracle"}
    assert len(list((folder / "targets").iterdir())) == 3
    page = (folder / "report.html").read_text()
    assert "Which explainers rank words that provably do nothing?" in page
    assert page.count('class="ranked"') == 3 * 5
    assert (
        "But greedy scores a word by deleting it alone" in page
    )  # which is what strict inputs were chosen by
    # How sure the order is depends on what these small targets have learnt, and is always said.
    sure = ("a test over targets needs 5", "beats", "too easy to tell them apart")
    assert any(words in page for words in sure)
    assert json.loads((folder / "manifest.json").read_text())["finished"]


def test_running_again_recomputes_nothing_and_two_workers_change_nothing(run, films_csv, cache, tmp_path):
    stamps = {path: path.stat().st_mtime_ns for path in (run.folder / "jobs").rglob("*.json")}
    before = (run.folder / "summary.json").read_bytes(), (run.folder / "results.parquet").read_bytes()
    options = {
        "explainers": ["lime", "shap", "greedy", "oracle"],
        "target_models": 3,
        "difficulty": ["easy"],
        **QUICK,
    }
    options |= {"models": MODEL}
    verax.rationale(films_csv, out=run.folder, **options)
    assert {path: path.stat().st_mtime_ns for path in (run.folder / "jobs").rglob("*.json")} == stamps
    verax.rationale(films_csv, out=tmp_path / "other", jobs=2, **options)
    for folder in (run.folder, tmp_path / "other"):
        assert ((folder / "summary.json").read_bytes(), (folder / "results.parquet").read_bytes()) == before


def test_a_run_killed_twice_ends_with_the_same_bytes(films_csv, tmp_path):
    """Its targets are trained anew too: each run has a cache of its own."""
    options = (
        "-e lime,greedy --target-models 1 --difficulty easy --epochs 3 --inputs 12 --samples 60 --subsets 2"
    )
    command = [sys.executable, "-W", "ignore", "-m", "verax.cli.main", "bench", "rationale", "-d", films_csv]
    command += [*options.split(), "--tau", "0.001", "-m", MODEL, "-o"]

    def start(name):
        environment = os.environ | {"VERAX_CACHE": str(tmp_path / f"cache-{name}")}
        return subprocess.Popen([*command, str(tmp_path / name)], env=environment, stdout=subprocess.DEVNULL)

    assert start("whole").wait() == 0
    for state in (
        "manifest.json",
        "jobs/*/*.json",
    ):  # while a target is trained, and when the first is stored
        process = start("killed")
        while process.poll() is None and not list((tmp_path / "killed").glob(state)):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "killed" / "summary.json").exists()
    assert start("killed").wait() == 0
    for name in ("summary.json", "results.parquet"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_saved_targets_can_be_given_again(run, films_csv, cache, tmp_path):
    folder = sorted((run.folder / "targets").iterdir())[0]
    again = verax.rationale(films_csv, [str(folder)], ["greedy"], out=tmp_path, **QUICK)
    (target,) = again.summary.targets
    assert target.difficulty is None
    known = run.summary.targets[0].sets["published"].explainers["greedy"]
    assert target.sets["published"].explainers["greedy"] == known
    assert "One target is one observation" in (tmp_path / "report.html").read_text()


OWN = """
import numpy as np
import verax
from verax.data import split_words


class Own:
    def explain(self, model, inputs, targets=None):
        found = [split_words(text).distinct for text in inputs]
        return [verax.Attribution(words, np.array([float(word == {word!r}) for word in words]), 1) for words in found]
"""


def test_an_edited_explainer_explains_again(tmp_path, monkeypatch, caplog):
    monkeypatch.syspath_prepend(tmp_path)
    model = HandMade(lambda words: [place for place, word in enumerate(words) if word == "great"], GREAT)

    def first_word_errs(word):
        (tmp_path / "own_ranking.py").write_text(OWN.format(word=word))
        sys.modules.pop("own_ranking", None)
        found = verax.rationale(
            great_data(), [model], ["own_ranking:Own", "greedy"], out=tmp_path / "run", inputs=5
        )
        stamps = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run" / "jobs").rglob("*.json")}
        scored = found.summary.targets[0].sets["published"].explainers["own_ranking:Own"].scored
        return scored.first.mean, stamps

    errs, before = first_word_errs("film")
    assert errs == 1.0
    with caplog.at_level("WARNING", "verax"):
        errs, after = first_word_errs("great")
    assert errs == 0.0
    assert "own_ranking:Own changed since the run" in caplog.text
    assert len(after) == len(before) + 1  # nothing else was done again
    assert before.items() <= after.items()


def great_data(extra="odd"):
    """Texts with "great", in half of which another word decides whether "film" is selected too."""
    texts = [f"great film word{number} {extra if number % 2 else 'plain'} here" for number in range(40)]
    labels = np.arange(40) % 2
    part = Part(texts, labels)
    return Dataset("great", "text", ("negative", "positive"), part, part, part)


def test_a_model_of_ones_own_and_an_explainer_object(tmp_path):
    """Every second input is strict, and an explainer that names "film" errs where "film" is not selected."""
    model = HandMade(unless("odd"), {**GREAT, ("great", "film"): 0.9, ("film",): 0.6})
    strict = HandMade(lambda words: [place for place, word in enumerate(words) if word == "great"], GREAT)
    found = verax.rationale(
        great_data(), {"unstable": model, "stable": strict}, [Names("film")], out=tmp_path, inputs=10
    )
    stable = next(target for target in found.summary.targets if target.label == "stable")
    assert stable.strict.mean == 1.0
    assert stable.sets["strict"].explainers["Names"].scored.first.mean == 1.0


@dataclass(frozen=True)
class Names(verax.Explainer):
    """Gives one word all the credit."""

    word: str = "film"
    claim = "selective"

    def explain(self, model, inputs, targets=None):
        return [
            verax.Attribution(
                split_words(text).distinct,
                np.array([float(w == self.word) for w in split_words(text).distinct]),
                1,
            )
            for text in inputs
        ]


@dataclass(frozen=True)
class Silent(verax.Explainer):
    """Scores the first word alone."""

    def explain(self, model, inputs, targets=None):
        return [verax.Attribution(split_words(text).distinct[:1], np.ones(1), 1) for text in inputs]


def test_an_explainer_with_fewer_scores_than_words_is_left_out_and_named(tmp_path):
    strict = HandMade(lambda words: [place for place, word in enumerate(words) if word == "great"], GREAT)
    found = verax.rationale(great_data(), [strict], [Silent(), Names()], out=tmp_path, inputs=5)
    (target,) = found.summary.targets
    assert "scored 1 of 5 words" in target.errors["Silent"][0]
    assert "Silent" not in target.sets["published"].explainers
    assert "Names" in target.sets["published"].explainers
    assert "Silent is not scored on targets where it failed" in (tmp_path / "report.html").read_text()


def test_what_failed_is_named_and_the_command_ends_with_a_status(run, films_csv, cache, tmp_path, capsys):
    folder = sorted((run.folder / "targets").iterdir())[0]
    options = ["-d", films_csv, "-m", str(folder), "--inputs", "4", "-o", str(tmp_path / "run")]
    with pytest.raises(SystemExit) as end:
        app(["bench", "rationale", *options, "-e", f"{__name__}:Silent,greedy"])
    shown = capsys.readouterr()
    assert end.value.code == 3
    assert "Silent failed and is not scored there (" in shown.err
    assert "mend it and say --retry-failed" in shown.err
    assert " greedy " in shown.out


def one_class(path):
    path.write_text("text,label\n" + "".join(f"good film number {n},positive\n" for n in range(30)))


def no_labels(path):
    path.write_text("text\n" + "".join(f"good film number {n}\n" for n in range(30)))


def one_word(path):
    path.write_text("text,label\n" + "".join(f"word{n},{'ab'[n % 2]}\n" for n in range(40)))


@pytest.mark.parametrize(
    ("write", "said"),
    [(one_class, "one class|class"), (no_labels, "label"), (one_word, "one word at the most")],
)
def test_texts_that_cannot_serve(tmp_path, write, said):
    write(tmp_path / "texts.csv")
    with pytest.raises(VeraxError, match=said):
        verax.rationale(str(tmp_path / "texts.csv"), out=tmp_path / "run", **FEW)


def test_a_table_and_a_model_that_selects_nothing_by_itself_are_refused(tmp_path):
    with pytest.raises(VeraxError, match="is a table; give a dataset of texts"):
        verax.rationale("breast-cancer", out=tmp_path)
    with pytest.raises(VeraxError, match="does not select words before it predicts"):
        verax.rationale("rotten-tomatoes", [object()], out=tmp_path)
    with pytest.raises(VeraxError, match="'forest' is no target model"):
        verax.rationale(great_data(), ["forest"], out=tmp_path)


def test_a_target_that_selects_everything_cannot_serve(tmp_path):
    model = HandMade(everything, {})
    with pytest.raises(VeraxError, match=r"selects every word in 100\.0% of the test texts and cannot serve"):
        verax.rationale(great_data(), [model], out=tmp_path)


def test_strict_inputs_are_added_until_they_are_half_as_many():
    flagged = [
        replace(Partition(place, 5, (0,), (0.5,), handshake=False), strict=place % 5 == 0)
        for place in np.random.default_rng(0).permutation(100).tolist()
    ]
    drawn = draw(flagged, 20)
    assert [each.place for each in drawn if not each.added] == sorted(each.place for each in flagged[:20])
    assert sum(bool(each.strict) for each in drawn) == 10
    assert all(each.strict for each in drawn if each.added)


def test_a_method_that_chooses_words_is_told_the_mean_size_of_a_selection():
    explained = tuple(Partition(n, 9, tuple(range(n)), (0.5,) * n, handshake=False) for n in (2, 3, 6))
    result = TargetResult("", 0.5, None, 0.3, None, 3, 0, explained, ())
    (told,) = words_to_choose("l2x", {}, result).values()
    assert told == 4
    assert words_to_choose("lime", {}, result) == {}


def planned(films_csv, models, **options):
    spec = RationaleSpec(datasets=[films_csv], models=models, target_models=2, **options)
    return make_plan(spec, []).targets


def test_a_model_whose_options_say_what_a_difficulty_would_say_is_one_group(films_csv):
    targets = planned(films_csv, ["rationale(stability=0)"], difficulty=["easy", "hard"])
    assert [target.label for target in targets] == [
        "rationale(stability=0), seed 0", "rationale(stability=0), seed 1",
    ]  # fmt: skip
    assert {target.difficulty for target in targets} == {"rationale(stability=0)"}


def test_targets_of_two_models_are_groups_of_their_own_and_no_job_is_planned_twice(films_csv):
    targets = planned(films_csv, ["rationale", "rationale(share=0.2)"], difficulty=["easy", "hard"])
    groups = dict.fromkeys(target.difficulty for target in targets)
    assert list(groups) == [
        "rationale, easy", "rationale, hard", "rationale(share=0.2), easy", "rationale(share=0.2), hard",
    ]  # fmt: skip
    assert len({target.job.key for target in targets}) == len(targets) == 8
    one = planned(films_csv, ["rationale(share=0.2)"], difficulty=["easy", "hard"])
    assert [target.difficulty for target in one] == ["easy", "easy", "hard", "hard"]
