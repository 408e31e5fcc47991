"""Decision boundaries: the fewest edits that flip, the way to them, and inputs that nothing flips."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import verax
from helpers import fitted, make_texts
from verax.benchmarks.rationale.rankings import ranks
from verax.benchmarks.staining.scores import places
from verax.data.table import Column, Schema
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain import DecisionBoundary, Edit, Explanation, Path
from verax.explain.decision_boundary import (
    BLOCK,
    boundary_distribution,
    class_scores,
    evidence_margins,
    text_samples,
)
from verax.explain.description import describe
from verax.perturb.counterfactual.thesaurus import thesaurus_for

# What each of three categories adds to the log-odds, in four columns.
WEIGHTS = np.array([[0.0, 1.5, -2.5], [0.0, 0.4, 3.0], [0.2, -0.9, 0.0], [0.0, 0.7, -0.6]])
SCHEMA = Schema(tuple(Column(name, ("a", "b", "c")) for name in ("one", "two", "three", "four")))


def linear(rows):
    """A linear model of four columns of three categories."""
    odds = WEIGHTS[np.arange(4), rows.astype(int)].sum(axis=1) - 0.53
    positive = 1 / (1 + np.exp(-odds))
    return np.stack([1 - positive, positive], axis=1)


EVERY_ROW = np.array(list(product(range(3), repeat=4)), dtype=float)


@pytest.fixture(scope="module")
def table():
    return verax.as_model(linear, class_names=("no", "yes"), schema=SCHEMA, reference=EVERY_ROW)


@pytest.fixture(scope="module")
def reviews_model():
    texts, _ = make_texts(400, seed=2)
    return verax.as_model(fitted(LogisticRegression()), reference=texts)


def test_no_row_with_fewer_edits_flips(table):
    paths = DecisionBoundary(samples=3_000).explain(table, EVERY_ROW)
    classes = linear(EVERY_ROW).argmax(axis=1)
    for row, own, path in zip(EVERY_ROW, classes, paths, strict=True):
        differing = (row != EVERY_ROW).sum(axis=1)
        fewest = differing[(classes != own) & (differing <= 3)].min()
        assert len(path.edits) == fewest
        assert path.margins[0] * path.margins[-1] < 0
        assert path.flipped_to == ("no", "yes")[1 - own]


def test_ties_go_to_the_nearest_scores_and_the_way_is_greedy(table):
    for row in EVERY_ROW[::7]:
        path = DecisionBoundary(samples=3_000).explain(table, row[None])[0]
        columns = [edit.feature for edit in path.edits]
        end = row.copy()
        for edit in path.edits:
            end[edit.feature] = "abc".index(edit.after[-1])
        # Of all rows with as few edits that flip, none has nearer scores.
        own, scores = class_scores(table, row[None])[0], class_scores(table, EVERY_ROW)
        flips = (scores.argmax(axis=1) != own.argmax()) & ((row != EVERY_ROW).sum(axis=1) == len(columns))
        nearest = ((scores[flips] - own) ** 2).sum(axis=1).min()
        assert ((class_scores(table, end[None])[0] - own) ** 2).sum() == pytest.approx(nearest)
        # At each step, of the edits that are left, the one that changes the margin least.
        now, margin = row.copy(), path.margins[0]
        for step, column in enumerate(columns, start=1):
            changes = {}
            for other in columns[step - 1 :]:
                tried = now.copy()
                tried[other] = end[other]
                changes[other] = abs(evidence_margins(class_scores(table, tried[None]), 0)[0] - margin)
            assert changes[column] == pytest.approx(min(changes.values()))
            now[column] = end[column]
            margin = evidence_margins(class_scores(table, now[None]), 0)[0]
            assert path.margins[step] == pytest.approx(margin)


def test_of_the_sampled_texts_none_flips_with_fewer_edits(reviews_model):
    texts = make_texts(20, seed=5)[0]
    explainer = DecisionBoundary(samples=1_000)
    thesaurus = thesaurus_for(reviews_model, "trained", "test")
    found = 0
    for text, path in zip(texts, explainer.explain(reviews_model, texts), strict=True):
        samples = text_samples(reviews_model, text, thesaurus, 1_000, 0, 0)
        flipped = np.concatenate(list(samples.scores())).argmax(axis=1) != path.target
        if not flipped.any():
            assert path.edits == ()
            assert "none of 1,000 samples" in path.details["reason"]
            continue
        found += 1
        assert len(path.edits) == samples.counts[flipped].min()
        assert path.margins[0] * path.margins[-1] < 0
        # The text that is shown last is the one that the model gives the last margin.
        last = "".join(piece for piece, _ in describe(path)[-1].pieces)
        scores = class_scores(reviews_model, [last])
        assert evidence_margins(scores, path.target)[0] == pytest.approx(path.margins[-1])
        assert [text for text, changed in describe(path)[-1].pieces if changed] == [
            edit.after for edit in sorted(path.edits, key=lambda edit: edit.place)
        ]
    assert 5 <= found < 20  # both cases were met


def test_words_are_drawn_as_widely_as_in_the_authors_code():
    # Chance of a change, neighbours, temperature: at first, and after each attempt without a flip.
    for attempt, published in enumerate([(0.15, 100, 0.8), (0.2, 110, 1.2), (0.25, 120, 1.6)]):
        wanted = boundary_distribution(20, attempt)
        assert (wanted.change, wanted.top, wanted.temperature) == pytest.approx(published)


def test_batches_orders_and_json_change_nothing(reviews_model):
    texts = make_texts(5, seed=6)[0]
    explainer = DecisionBoundary(samples=500)
    together = explainer.explain(reviews_model, texts)
    assert together == [explainer.explain(reviews_model, [text])[0] for text in texts]
    assert together == explainer.explain(reviews_model, texts[::-1])[::-1]
    for path in together:
        assert Explanation.from_dict(json.loads(json.dumps(path.to_dict()))) == path


def test_margins_of_sure_models_and_of_three_classes():
    sure = np.log(np.clip([[0.0, 1.0]], 1e-6, 1 - 1e-6))
    model = verax.as_model(lambda texts: np.tile([0.0, 1.0], (len(texts), 1)), class_names=("no", "yes"))
    assert np.allclose(class_scores(model, ["x"]), sure)
    assert evidence_margins(class_scores(model, ["x"]), 1)[0] == pytest.approx(13.8155, abs=1e-3)
    three = np.log([[0.4, 0.35, 0.25], [0.3, 0.6, 0.1]])
    assert evidence_margins(three, 0) == pytest.approx([np.log(0.4 / 0.35), np.log(0.3 / 0.6)])


def test_what_cannot_be_flipped_says_why(reviews_model, table):
    unknown = DecisionBoundary().explain(reviews_model, ["zzz qqq"])[0]
    assert unknown.edits == ()
    assert len(unknown.margins) == 1
    assert "nothing can be changed" in unknown.details["reason"]
    one = verax.as_model(
        lambda rows: np.tile([0.3, 0.7], (len(rows), 1)),
        class_names=("no", "yes"),
        schema=Schema((Column("same"),)),
        reference=np.ones((5, 1)),
    )
    assert "nothing can be changed" in DecisionBoundary().explain(one, np.ones((1, 1)))[0].details["reason"]
    # A single sample of a text may be the text itself.
    text = make_texts(1, seed=5)[0]
    few = [DecisionBoundary(samples=1, seed=seed).explain(reviews_model, text)[0] for seed in range(40)]
    assert any(path.cost.rows == 1 and "none of 1 samples" in path.details["reason"] for path in few)


def test_a_class_that_is_not_predicted_has_no_path_and_is_not_called_the_prediction(table):
    other = DecisionBoundary().explain(table, EVERY_ROW[:1], ["yes"])[0]
    assert other.edits == ()
    assert "predicts no here" in other.details["reason"]
    for plain in (True, False):
        lines = [part.text for part in describe(other, plain=plain)]
        assert (
            lines[1]
            == "The model does not predict 'yes' here: only what it predicts can be changed by edits."
        )
        assert not any("the prediction 'yes'" in line for line in lines)
    assert "does not predict" in other._repr_html_()
    assert Explanation.from_dict(json.loads(json.dumps(other.to_dict()))) == other
    # Where it is the prediction, and nothing flips it, it is called that.
    sure = Path(("a",), (), (2.0,), "", 1, "yes", input="a")
    assert describe(sure)[1].text == "No edits were found that change the prediction 'yes'."


def by_value(chances, columns=1):
    """A model of columns of as many categories as there are rows of chances of "yes", and no other input."""
    names = tuple(f"c{number}" for number in range(columns))
    chances = np.array(chances, dtype=float)
    categories = tuple(str(number) for number in range(len(chances)))

    def predict(rows):
        positive = chances[tuple(rows.astype(int).T)]
        return np.stack([1 - positive, positive], axis=1)

    return verax.as_model(
        predict,
        class_names=("no", "yes"),
        schema=Schema(tuple(Column(name, categories) for name in names)),
        reference=np.array(list(product(range(len(chances)), repeat=columns)), dtype=float),
    )


def test_what_lies_across_the_boundary_is_preferred_to_what_lies_on_it():
    # From 0.8 the value 1 leads to a tie, which the model calls "no"; the value 2 leads across.
    path = DecisionBoundary(samples=100).explain(by_value([0.8, 0.5, 0.1]), np.zeros((1, 1)))[0]
    assert [edit.after for edit in path.edits] == ["c0 = 2"]
    assert path.margins == pytest.approx((np.log(4), np.log(1 / 9)))
    # Even if it takes an edit more.
    two = by_value([[0.8, 0.5], [0.7, 0.2]], columns=2)
    path = DecisionBoundary(samples=100).explain(two, np.zeros((1, 2)))[0]
    assert len(path.edits) == 2
    assert path.margins[-1] == pytest.approx(np.log(0.25))
    # What differs from a tie by the last digit only is one.
    path = DecisionBoundary(samples=100).explain(by_value([0.8, 0.5 - 1e-16, 0.1]), np.zeros((1, 1)))[0]
    assert [edit.after for edit in path.edits] == ["c0 = 2"]


def test_where_nothing_lies_across_a_tie_is_a_path_whose_last_margin_is_0():
    path = DecisionBoundary(samples=100).explain(by_value([0.8, 0.5, 0.7]), np.zeros((1, 1)))[0]
    assert [edit.after for edit in path.edits] == ["c0 = 1"]
    assert path.flipped_to == "no"
    assert path.margins == pytest.approx((np.log(4), 0.0))
    assert path.as_attribution().scores == pytest.approx([np.log(4)])


def test_from_a_tie_every_edit_leads_away_from_the_class_that_is_predicted():
    path = DecisionBoundary(samples=100).explain(by_value([0.5, 0.8]), np.zeros((1, 1)))[0]
    assert (path.target_name, path.flipped_to) == ("no", "yes")
    assert path.margins == pytest.approx((0.0, np.log(4)))
    assert path.as_attribution().scores == pytest.approx([np.log(4)])


def test_of_thousands_of_ties_all_compete_and_no_row_is_asked_twice():
    values = np.random.default_rng(0).normal(size=30_000)
    asked = []

    def predict(rows):
        asked.append(rows.copy())
        positive = 1 / (1 + np.exp(-np.where(rows[:, 0] == 9.0, -0.1, 0.1 + np.abs(rows[:, 0]))))
        return np.stack([1 - positive, positive], axis=1)

    model = verax.as_model(
        predict, class_names=("no", "yes"), schema=Schema((Column("a"),)), reference=values[:, None]
    )
    asked.clear()
    path = DecisionBoundary(samples=25_000).explain(model, np.array([[9.0]]))[0]
    rows = np.concatenate(asked)
    sampled = rows[rows[:, 0] != 9.0, 0]
    assert len(sampled) > BLOCK
    nearest = sampled[np.abs(sampled).argmin()]
    assert path.margins == pytest.approx((-0.1, 0.1 + abs(nearest)))
    assert len(np.unique(rows)) == len(rows) == path.cost.rows
    assert max(map(len, asked)) <= BLOCK
    assert len(asked) == path.cost.calls


def test_a_path_ranks_what_it_edits_first():
    path = Path(
        features=("a", "b", "c"),
        edits=(Edit(2, 3, "c", "d"), Edit(0, 0, "a", "z")),
        margins=(-3.0, -2.5, 0.5),
        flipped_to="yes",
        target=0,
        input="a b b c",
    )
    assert path.ranking() == [0, 2, 1]
    assert path.as_attribution().scores.tolist() == [3.0, 0.0, 0.5]
    assert path.shown == [1, 2]
    assert split_words(path.input).distinct == path.features


def test_an_edit_that_moves_nothing_by_itself_ranks_before_what_is_not_edited():
    # Flips only if both are edited.
    path = Path(
        features=("z", "a", "b"),
        edits=(Edit(1, 1, "a", "x"), Edit(2, 2, "b", "y")),
        margins=(-2.2, -2.2, 2.2),
        flipped_to="yes",
        target=0,
    )
    assert path.ranking() == [2, 1, 0]
    scores = path.as_attribution().scores
    assert scores == pytest.approx([0.0, 4.4e-6, 4.4])
    # Neither benchmark takes it for a word that is not edited: not in either order, and not as a tie.
    above, ties = places(scores)
    assert (above.tolist(), ties.tolist()) == ([2, 1, 0], [1, 1, 1])
    for order in ("absolute", "signed"):
        assert ranks(scores, order, 0, "z a b")[0].tolist() == [2, 1, 0]


def test_an_edit_that_goes_back_first_counts_by_how_far_it_goes():
    edits = (Edit(0, 0, "a", "x"), Edit(1, 1, "b", "y"), Edit(0, 2, "a", "z"))
    path = Path(("a", "b", "c"), edits, (1.0, 1.5, -0.5, -0.25), "no", 1, input="a b a c")
    assert path.as_attribution().scores == pytest.approx([0.75, 2.0, 0.0])
    assert path.ranking() == [1, 0, 2]
    nothing = Path(("a", "b"), (), (1.0,), "", 1)
    assert nothing.as_attribution().scores.tolist() == [0.0, 0.0]


def test_long_paths_show_their_last_four_steps():
    edits = tuple(Edit(number, number, "x", "y") for number in range(6))
    path = Path(tuple("abcdef"), edits, tuple(range(7)), "yes", 0, input="a b c d e f")
    assert path.shown == [3, 4, 5, 6]
    lines = [part.text for part in describe(path) if hasattr(part, "text")]
    assert "Of 6 steps, the last 4 are shown." in lines
    assert "Step 3. Evidence margin: +3.00" in lines


def test_a_path_that_makes_no_sense_is_a_sentence():
    with pytest.raises(VeraxError, match="2 margins"):
        Path(("a",), (Edit(0, 0, "a", "b"),), (1.0,), "yes", 0)
    with pytest.raises(VeraxError, match="'margins'"):
        Explanation.from_dict({"kind": "path", "target": 0, "features": [], "edits": []})
    with pytest.raises(VeraxError, match="samples=0"):
        DecisionBoundary(samples=0)


def test_omission_is_another_name_of_greedy():
    assert verax.explainer("omission") == verax.explainer("greedy")
