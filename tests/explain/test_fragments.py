"""Fragments by hand, by a second implementation over all n-grams, and from real explainers."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import verax
from helpers import make_texts, shared_data
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain import Attribution, Cost, Explanation, Fragment, Fragments, Lime, Precomputed, Random, Shap
from verax.explain.checks import additive_table_model, additive_text_model
from verax.explain.fragments import fragments


def explained(text, scores, features=None, spans=None):
    features = split_words(text).distinct if features is None else features
    return Attribution(tuple(features), np.array(scores, dtype=float), 1, "good", text, spans)


def texts(found):
    return [fragment.text for fragment in found]


# "a" is neutral; the text's words stand at 0-1, 2-6, 8-12, 13-17, 19-22, 23-26.
REVIEW = explained("a good, good film! Not bad", [0.0, 0.5, 0.125, -0.5, -0.25])


def test_words_are_split_by_sign_the_strongest_first_and_repeated_words_once():
    found = fragments(REVIEW)
    assert found.evidence == (Fragment("good", 0.5, (2, 6)), Fragment("film", 0.125, (13, 17)))
    assert found.counter_evidence == (Fragment("Not", -0.5, (19, 22)), Fragment("bad", -0.25, (23, 26)))


def test_no_more_than_count_on_either_side():
    found = fragments(REVIEW, count=1)
    assert texts(found.evidence) == ["good"]
    assert texts(found.counter_evidence) == ["Not"]


def test_an_ngram_scores_the_sum_of_its_words_and_is_shown_as_written():
    # Pairs: a good 0.5, good good 1, good film 0.625, film Not -0.375, Not bad -0.75. "good film" overlaps the best,
    # and so does "a good"; "film Not" overlaps "Not bad".
    found = fragments(REVIEW, sizes=(2,))
    assert found.evidence == (Fragment("good, good", 1.0, (2, 12)),)
    assert found.counter_evidence == (Fragment("Not bad", -0.75, (19, 26)),)


def test_several_sizes_compete():
    # "a good, good film" scores 1.125 as well as "good, good film": the earlier is taken.
    found = fragments(REVIEW, sizes=(4, 3, 2))
    assert texts(found.evidence) == ["a good, good film"]
    assert found.details["sizes"] == [2, 3, 4]
    # Triples: 1 (a good good), 1.125 (good good film), 0.125 (good film Not), -0.625 (film Not bad).
    assert fragments(REVIEW, sizes=(3,)).evidence == (Fragment("good, good film", 1.125, (2, 17)),)


def test_ties_go_to_the_earlier_and_then_to_the_shorter():
    attribution = explained("x y z", [1.0, 0.0, 1.0])
    assert texts(fragments(attribution).evidence) == ["x", "z"]
    # x y, y z and x y z with 1, 1 and 2; then nothing is left that does not overlap.
    assert texts(fragments(attribution, sizes=(2, 3)).evidence) == ["x y z"]
    assert texts(fragments(explained("x y z", [1.0, 0.0, 0.0]), sizes=(2, 3)).evidence) == ["x y"]
    assert texts(fragments(attribution, count=1, sizes=(2,)).evidence) == ["x y"]


def test_rounding_errors_make_neither_evidence_nor_winners():
    noise = explained("one two three", [0.1, 0.2, -0.3])  # 0.1 + 0.2 - 0.3 is 5.6e-17 in floats
    assert fragments(noise, sizes=(3,)).evidence == ()
    assert fragments(noise, sizes=(3,)).counter_evidence == ()
    assert texts(fragments(explained("so good", [1e-17, 0.4])).evidence) == ["good"]
    # 0.1 + 0.2 is more than 0.3 in floats; it is a tie, and the earlier wins.
    tie = explained("a b. c d", [0.3, 0.0, 0.1, 0.2])
    assert texts(fragments(tie, count=1, sizes=(2,)).evidence) == ["a b"]


def test_small_scores_are_evidence_if_no_larger_ones_are_there():
    assert texts(fragments(explained("one two", [1e-15, -2e-15])).evidence) == ["one"]


def test_words_that_come_again_are_shown_once():
    # Pairs: so good 1.25 (twice), good Film 0, Film so -0.75.
    attribution = explained("So, so good. Film so good", [0.0, 0.25, 1.0, -1.0])
    assert fragments(attribution, sizes=(2,)).evidence == (Fragment("so good", 1.25, (4, 11)),)
    # The same words at two positions: the place with the larger score stands for both.
    spans = (((0, 4),), ((6, 10),))
    positions = explained("good, good", [0.25, 0.5], ["good", "good"], spans)
    assert fragments(positions).evidence == (Fragment("good", 0.5, (6, 10)),)


def test_evidence_and_counter_evidence_are_chosen_apart():
    found = fragments(explained("good but bad", [1.0, 0.0, -1.0]), sizes=(2,))
    assert texts(found.evidence) == ["good but"]
    assert texts(found.counter_evidence) == ["but bad"]


def test_a_text_shorter_than_the_smallest_size_is_one_fragment():
    assert fragments(explained("Just fine!", [0.25, 0.5]), sizes=(3, 4)).evidence == (
        Fragment("Just fine", 0.75, (0, 9)),
    )


@pytest.mark.parametrize("sizes", [(1,), (2, 3, 4)])
def test_without_words_or_without_scores_there_is_nothing(sizes):
    for attribution in (explained("", []), explained(" ... ", []), explained("x y z", [0.0, 0.0, 0.0])):
        found = fragments(attribution, sizes=sizes)
        assert found.evidence == found.counter_evidence == ()


def test_positions_with_spans_keep_their_own_scores():
    text = "not good, not bad"
    spans = (((0, 3),), ((4, 8),), ((10, 13),), ((14, 17),))
    attribution = explained(text, [-1.0, 2.0, 0.5, -2.0], ["not", "good", "not", "bad"], spans)
    found = fragments(attribution)
    assert found.evidence == (Fragment("good", 2.0, (4, 8)), Fragment("not", 0.5, (10, 13)))
    assert found.counter_evidence == (Fragment("bad", -2.0, (14, 17)), Fragment("not", -1.0, (0, 3)))
    pairs = fragments(attribution, sizes=(2,))  # 1, 2.5, -1.5
    assert pairs.evidence == (Fragment("good, not", 2.5, (4, 13)),)
    assert pairs.counter_evidence == (Fragment("not bad", -1.5, (10, 17)),)


def test_words_that_no_span_covers_count_as_zero_and_still_stand_between():
    text = "good, as I said, film"
    attribution = explained(text, [1.0, 0.5], ["good", "film"], (((0, 4),), ((17, 21),)))
    assert fragments(attribution, sizes=(2,)).evidence == (
        Fragment("good, as", 1.0, (0, 8)),
        Fragment("said, film", 0.5, (11, 21)),
    )


def test_marks_of_punctuation_count_if_the_attribution_scores_them():
    attribution = explained("good!", [0.5, 0.25], ["good", "!"], (((0, 4),), ((4, 5),)))
    assert fragments(attribution, sizes=(2,)).evidence == (Fragment("good!", 0.75, (0, 5)),)
    # What only touches does not overlap, in either order.
    assert texts(fragments(attribution).evidence) == ["good", "!"]
    other = explained("good!", [0.25, 0.5], ["good", "!"], attribution.spans)
    assert texts(fragments(other).evidence) == ["!", "good"]


def test_overlapping_features_are_chosen_without_overlap_and_never_summed():
    attribution = Random(ngram=2, seed=1).explain(additive_text_model(), ["one two three four five six"])[0]
    found = fragments(attribution)
    spans = sorted(fragment.span for fragment in found.evidence)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    assert found.evidence[0].score == attribution.scores.max()
    with pytest.raises(VeraxError, match=r"The features \'one two\' and \'two three\' overlap.*sizes=\(1,\)"):
        fragments(attribution, sizes=(2, 3))


def test_features_that_stand_nowhere_are_shown_alone_or_counted():
    # A tool that lowers the case, and has a feature that is no word; "[CLS]" has an empty span in such tools.
    attribution = explained("Good film", [0.5, 0.25, -0.75], ["good", "film", "[CLS]"])
    found = fragments(attribution)
    assert found.evidence == (Fragment("good", 0.5), Fragment("film", 0.25, (5, 9)))
    assert found.counter_evidence == (Fragment("[CLS]", -0.75),)
    assert found.details["left_out"] == 0
    pairs = fragments(attribution, sizes=(2,))
    assert pairs.evidence == (Fragment("Good film", 0.25, (0, 9)),)
    assert pairs.details["left_out"] == 2
    empty_span = explained("film", [0.25, -0.75], ["film", "[CLS]"], (((0, 4),), ((0, 0),)))
    assert fragments(empty_span).counter_evidence == (Fragment("[CLS]", -0.75),)


def test_columns_of_a_row_are_shown_with_their_values():
    row = ("Age = 37", "Hours is missing", "Sex = Female", "Idle = 0")
    features = ("Age", "Hours", "Sex", "Idle")
    attribution = Attribution(features, np.array([0.25, -0.5, 0.75, 0.0]), 1, "rich", row)
    found = fragments(attribution)
    assert found.evidence == (Fragment("Sex = Female", 0.75), Fragment("Age = 37", 0.25))
    assert found.counter_evidence == (Fragment("Hours is missing", -0.5),)
    assert found.input == row
    assert Explanation.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_rows_of_a_real_table_model():
    model = additive_table_model()
    rows = np.array([[0.9, 0.1, 0.4], [0.1, 0.9, 0.4]])
    for explanation in Shap().explain(model, rows, ["yes", "yes"]):
        found = fragments(explanation)
        shown = {*texts(found.evidence), *texts(found.counter_evidence)}
        assert shown == set(explanation.input[:2])  # "idle" says nothing


word_lists = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), min_size=1, max_size=12)
eighths = st.integers(-8, 8).map(lambda number: number / 8)  # sums of these are exact
size_sets = st.sets(st.integers(1, 5), min_size=1, max_size=3)


def second_opinion(words, scores, count, sizes, sign):
    """Places (first, size) of the fragments: again and again the best of all n-grams that are still allowed."""
    sizes = [size for size in sizes if size <= len(words)] or [len(words)]
    allowed = {(first, size) for size in sizes for first in range(len(words) - size + 1)}
    chosen = []
    while len(chosen) < count:
        scored = [
            (-sign * sum(scores[first : first + size]), first, size)
            for first, size in allowed
            if sign * sum(scores[first : first + size]) > 0
        ]
        if not scored:
            break
        _, first, size = min(scored)
        chosen.append((first, size))
        taken = set(range(first, first + size))
        allowed = {
            (other, length)
            for other, length in allowed
            if not taken & set(range(other, other + length))
            and words[other : other + length] != words[first : first + size]
        }
    return chosen


def as_fragments(text, words, scores, places):
    split = split_words(text)
    found = []
    for first, size in places:
        start, end = split.starts[first], split.ends[first + size - 1]
        found.append(Fragment(text[start:end], sum(scores[first : first + size]), (start, end)))
    return tuple(found)


@given(word_lists, st.data(), st.integers(1, 4), size_sets, st.booleans())
def test_equals_a_second_implementation_over_all_ngrams(words, data, count, sizes, positional):
    joints = data.draw(
        st.lists(st.sampled_from([" ", ", ", "... "]), min_size=len(words), max_size=len(words))
    )
    text = "".join(word + joint for word, joint in zip(words, joints, strict=True))
    split = split_words(text)
    if positional:
        scores = data.draw(st.lists(eighths, min_size=len(words), max_size=len(words)))
        spans = tuple(((start, end),) for start, end in zip(split.starts, split.ends, strict=True))
        attribution = explained(text, scores, words, spans)
    else:
        by_word = {word: data.draw(eighths) for word in split.distinct}
        scores = [by_word[word] for word in words]
        attribution = explained(text, list(by_word.values()))
    found = fragments(attribution, count, sorted(sizes))
    for chosen, sign in ((found.evidence, 1), (found.counter_evidence, -1)):
        assert chosen == as_fragments(text, words, scores, second_opinion(words, scores, count, sizes, sign))


@given(word_lists, st.data(), st.integers(1, 4), size_sets)
def test_laws_hold_for_any_scores(words, data, count, sizes):
    text = " ".join(words)
    by_word = {word: data.draw(st.floats(-1e6, 1e6)) for word in split_words(text).distinct}
    attribution = explained(text, list(by_word.values()))
    found = fragments(attribution, count, sorted(sizes))
    for chosen, sign in ((found.evidence, 1), (found.counter_evidence, -1)):
        assert len(chosen) <= count
        spans = sorted(fragment.span for fragment in chosen)
        assert all(left[1] <= right[0] for left, right in pairwise(spans))
        for fragment in chosen:
            assert sign * fragment.score > 0
            assert text[slice(*fragment.span)] == fragment.text
            assert fragment.score == pytest.approx(sum(map(by_word.get, fragment.text.split())), abs=1e-9)
    again = Explanation.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again == found
    assert hash(again) == hash(found)


@given(word_lists, st.data())
def test_the_opposite_scores_exchange_evidence_and_counter_evidence(words, data):
    text = " ".join(words)
    scores = [data.draw(eighths) for _ in split_words(text).distinct]
    found = fragments(explained(text, scores), sizes=(1, 2))
    opposite = fragments(explained(text, [-score for score in scores]), sizes=(1, 2))
    assert texts(found.evidence) == texts(opposite.counter_evidence)
    assert texts(found.counter_evidence) == texts(opposite.evidence)


def test_it_says_how_it_was_made_and_what_it_cost():
    attribution = Shap().explain(additive_text_model(), ["a fine, good and bad film"], ["positive"])[0]
    found = fragments(attribution, count=2, sizes=(2, 3))
    assert found.details == {
        "count": 2,
        "sizes": [2, 3],
        "left_out": 0,
        "attribution": attribution.details,
    }
    assert (found.target, found.target_name, found.input) == (1, "positive", "a fine, good and bad film")
    assert (found.explainer, found.cost) == (attribution.explainer, attribution.cost)
    # The model adds 0.1 for "fine", 0.2 for "good", and takes 0.25 for "bad".
    assert found.evidence[0].text == "a fine, good"
    assert found.evidence[0].score == pytest.approx(0.3)
    assert found.counter_evidence[0].text == "and bad"
    assert found.counter_evidence[0].score == pytest.approx(-0.25)


def test_cost_alone_makes_no_difference():
    cheap, dear = (
        Fragments((Fragment("good", 0.5),), (), 1, cost=cost) for cost in (Cost(), Cost(9, 1, 2.0))
    )
    assert cheap == dear
    assert cheap != Fragments((Fragment("good", 0.25),), (), 1)
    assert cheap != Fragments((), (), 1)


def test_the_kind_is_known_without_importing_its_module():
    written = json.dumps(fragments(REVIEW).to_dict())
    code = (
        "import json, sys, verax; found = verax.Explanation.from_dict(json.loads(sys.argv[1])); "
        "print(type(found).__name__, found == verax.Fragments.from_dict(found.to_dict()), len(found.evidence))"
    )
    done = subprocess.run([sys.executable, "-c", code, written], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Fragments", "True", "2"]


def test_fragments_made_elsewhere_are_read_from_a_file(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(
        '{"kind": "fragments", "input": "good film", "evidence": [{"text": "good", "score": 1}], '
        '"counter_evidence": [], "target": 1}'
    )
    found = Precomputed(str(path)).explain(additive_text_model(), ["good film"])
    assert found == [Fragments((Fragment("good", 1.0),), (), 1, input="good film")]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"evidence": None}, r"of the kind 'fragments' needs 'evidence', 'counter_evidence', 'target'"),
        ({"evidence": ["good"]}, r"of the kind 'fragments' needs 'evidence', 'counter_evidence', 'target'"),
        ({"evidence": [{"text": "good"}]}, r"it.evidence\[0\] lacks 'score'"),
        ({"target": "?"}, r"needs .*'target'; what was given could not be read"),
        (
            {"evidence": [{"text": "good", "score": -1.0}]},
            r"^The score -1.0 of 'good' in 'evidence' must be a positive",
        ),
        (
            {"counter_evidence": [{"text": "x", "score": 0}]},
            r"0 of 'x' in 'counter_evidence' must be a negative",
        ),
        ({"evidence": [{"text": "good", "score": float("nan")}]}, r"The score nan of 'good'"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(change, sentence):
    data = {**fragments(REVIEW).to_dict(), **change}
    with pytest.raises(VeraxError, match=sentence) as caught:
        Explanation.from_dict(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"count": 0}, "count=0 is too small; give 1 or more"),
        ({"sizes": (0, 1)}, "size=0 is too small; give 1 or more"),
        ({"sizes": ()}, r"sizes=\(\) must be one or more whole numbers"),
        ({"sizes": 2}, r"sizes=2 must be one or more whole numbers, e\.g\. \(1,\) or \(2, 3, 4\)"),
        ({"sizes": (1.5,)}, "must be one or more whole numbers"),
    ],
)
def test_a_wrong_parameter_is_a_sentence(parameters, sentence):
    with pytest.raises(VeraxError, match=sentence):
        fragments(REVIEW, **parameters)


def test_rows_have_no_ngrams():
    row = Attribution(("Age",), np.array([0.5]), 1, "rich", ("Age = 37",))
    with pytest.raises(VeraxError, match=r"sizes=\(2, 3\) is for texts.*single columns, sizes=\(1,\)"):
        fragments(row, sizes=(2, 3))


@pytest.mark.parametrize(
    ("attribution", "sentence"),
    [
        (fragments(REVIEW), "made from an attribution, not from Fragments"),
        (
            explained("x", [1.0, 2.0], ["a", "b"]),
            "None of the 2 features is a word of the text .'a', for example",
        ),
        (
            explained("x", [1.0], ["x"], (((0, 4),),)),
            r"span \(0, 4\) of 'x' is outside the text of 1 characters",
        ),
        (explained("x", [1.0], ["x"], ()), "1 features need as many spans, not 0"),
    ],
)
def test_an_attribution_without_ngrams_is_a_sentence(attribution, sentence):
    with pytest.raises(VeraxError, match=sentence):
        fragments(attribution, sizes=(2,))


def test_random_scores_give_random_fragments():
    inputs = make_texts(100, seed=2, length=30)[0]
    for sizes in ((1,), (2, 3, 4)):
        found = [fragments(e, 3, sizes) for e in Random().explain(additive_text_model(), inputs)]
        assert min(len(one.evidence) for one in found) >= 1
        assert min(len(one.counter_evidence) for one in found) >= 1
        place = [one.evidence[0].span[0] / len(one.input) for one in found]
        assert 0.3 < np.mean(place) < 0.6  # anywhere in the text
        other = [fragments(e, 3, sizes) for e in Random(seed=1).explain(additive_text_model(), inputs)]
        same = [one.evidence[0] == two.evidence[0] for one, two in zip(found, other, strict=True)]
        assert np.mean(same) < 0.3


def test_real_reviews_have_their_best_ngrams_first():
    data = verax.load_dataset(shared_data("rt-polarity"), format="rt-polarity")
    train = data.train
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(
        train.inputs[::8], train.labels[::8]
    )
    long = [text for text in data.test.inputs if len(split_words(text)) >= 20][:20]
    for explanation in Lime(samples=500).explain(verax.as_model(pipeline), long):
        found = fragments(explanation, 3, (2, 3, 4))
        score = dict(zip(explanation.features, explanation.scores, strict=True))
        assert len(found.evidence) == 3
        for fragment in found.evidence + found.counter_evidence:
            words = split_words(fragment.text).words
            assert 2 <= len(words) <= 4
            assert fragment.score == pytest.approx(sum(score[word] for word in words))
        # The best of all n-grams is the first.
        words = split_words(explanation.input).words
        sums = [
            sum(score[word] for word in words[i : i + n])
            for n in (2, 3, 4)
            for i in range(len(words) - n + 1)
        ]
        assert found.evidence[0].score == pytest.approx(max(sums))
        assert found.counter_evidence[0].score == pytest.approx(min(sums))


def test_of_any_sign_there_are_as_many_as_there_is_room_for():
    found = Attribution(("a", "b", "c", "d"), np.array([3.0, 1.0, 2.0, 4.0]), 1, input="a b c d")
    plain = fragments(found, 2)
    assert plain.counter_evidence == ()
    published = fragments(found, 2, any_sign=True)
    assert [part.text for part in published.evidence] == ["d", "a"]
    assert [(part.text, part.score) for part in published.counter_evidence] == [("b", 1.0), ("c", 2.0)]
    assert published.details["any_sign"] is True
    assert "any_sign" not in plain.details
    assert Fragments.from_dict(json.loads(json.dumps(published.to_dict()))) == published
    with pytest.raises(VeraxError, match="must be a negative number"):
        dataclasses.replace(published, details={})
