"""How items and explanations are shown: levels, marks, fragments, and controls that look like their methods."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain import Attribution, Fragment, Fragments, Written, fragments
from verax.studies.definition.screen import Bars, Cell, Evidence, Row, Token
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.study import Item, Material, Variant
from verax.studies.display import stimulus
from verax.studies.display.levels import scales, shuffled_scores, strongest
from verax.studies.display.readable import readable

TEXT = "Good film: a good, slow film."
ROW = (("Age", "37"), ("Job", "clerk"), ("Sex", "f"))


def text_item(text=TEXT, id="i1"):
    return Item(id, "test", text, label=1, prediction=1, probabilities=(0.2, 0.8))


def words_of(text, scores):
    return Attribution(split_words(text).distinct, np.array(scores, dtype=float), 1, input=text)


def columns_of(scores, features=("Age", "Job", "Sex")):
    shown = tuple(f"{name} = {value}" for name, value in ROW)
    return Attribution(tuple(features), np.array(scores, dtype=float), 1, input=shown)


def material(items, found, features=2, kind="text"):
    spec = make_study_spec(
        {
            "title": "t",
            "dataset": "d",
            "protocol": {"name": "forward"},
            "conditions": [
                {"name": "none"},
                {"name": "lime", "explainer": "lime"},
                {"name": "control", "like": "lime"},
            ],
            "display": {"features": features},
        }
    )
    return Material(spec, kind, ("bad", "good"), tuple(items), found, scales(found, features))


def marked(block):
    return [(token.text, token.level, token.sign) for token in block.tokens if token.level]


def test_scales_are_the_quartiles_of_what_a_condition_shows():
    found = {
        ("i1", "lime", "model"): words_of("a b c d", [0.1, -0.4, 0.2, 0.0]),
        ("i2", "lime", "model"): words_of("a b", [0.8, 0.05]),
        ("i1", "shap", "model"): words_of("a b c d", [0, 0, 0, 0]),
    }
    # The two strongest of each: 0.4, 0.2, 0.8, 0.05; by linear interpolation between neighbours:
    assert scales(found, 2)["lime"] == pytest.approx((0.1625, 0.3, 0.5))
    # All but the zero: 0.05, 0.1, 0.2, 0.4, 0.8.
    assert scales(found, 0)["lime"] == pytest.approx((0.1, 0.2, 0.4))
    assert scales(found, 2)["shap"] == ()


def test_levels_mean_the_same_in_every_item():
    items = [text_item("a b c d", "i1"), text_item("a b", "i2")]
    found = {
        ("i1", "lime", "model"): words_of("a b c d", [0.1, -0.4, 0.2, 0.0]),
        ("i2", "lime", "model"): words_of("a b", [0.8, 0.05]),
    }
    made = material(items, found)
    first = stimulus.explained_block(made, items[0], "lime", direction=True, title="A text")
    second = stimulus.explained_block(made, items[1], "lime", direction=True)
    assert marked(first) == [("b", 3, -1), ("c", 2, 1)]
    assert marked(second) == [("a", 4, 1), ("b", 1, 1)]
    assert first.title == "A text"
    hidden = stimulus.explained_block(made, items[0], "lime", direction=False)
    assert marked(hidden) == [("b", 3, 0), ("c", 2, 0)]


def test_every_condition_has_the_same_pieces():
    item = text_item()
    found = {
        ("i1", "lime", "model"): words_of(TEXT, [0.1, 0.5, 0.0, -0.3, 0.2]),
        ("i1", "control", "model"): words_of(TEXT, [0.5, 0.1, 0.2, 0.0, -0.3]),
    }
    made = material([item], found)
    blocks = [
        stimulus.explained_block(made, item, condition, direction=False)
        for condition in ("none", "lime", "control")
    ]
    pieces = [[(token.text, token.word) for token in block.tokens] for block in blocks]
    assert pieces[0] == pieces[1] == pieces[2]
    assert blocks[0] == stimulus.input_block(item)
    assert all(token == Token(token.text, token.word) for token in blocks[0].tokens)
    assert pieces[0] == [
        ("Good", True),
        (" ", False),
        ("film", True),
        (": ", False),
        ("a", True),
        (" ", False),
        ("good", True),
        (", ", False),
        ("slow", True),
        (" ", False),
        ("film", True),
        (".", False),
    ]


def test_a_repeated_word_is_marked_wherever_it_stands():
    item = text_item()
    made = material([item], {("i1", "lime", "model"): words_of(TEXT, [0, 0.5, 0, 0.1, 0])})
    assert marked(stimulus.explained_block(made, item, "lime", direction=False)) == [
        ("film", 4, 0),
        ("good", 1, 0),
        ("film", 4, 0),
    ]


def test_spans_mark_the_words_that_they_touch():
    text = "not good at all, unbearable"
    attribution = Attribution(
        ("not good", "good at", "un", "[END]"),
        np.array([0.5, -0.9, 0.2, 0.8]),
        1,
        input=text,
        spans=(((0, 8),), ((4, 11),), ((17, 19),), ()),
    )
    item = text_item(text)
    made = material([item], {("i1", "lime", "model"): attribution}, features=0)
    # Quartiles of 0.2, 0.5, 0.8, 0.9: 0.425, 0.65, 0.825. "good" is in two spans and bears the stronger mark.
    assert marked(stimulus.explained_block(made, item, "lime", direction=True)) == [
        ("not", 2, 1),
        ("good", 4, -1),
        ("at", 4, -1),
        ("unbearable", 1, 1),
    ]


@given(st.text(max_size=40))
def test_the_pieces_of_a_text_are_the_text(text):
    tokens = stimulus.input_block(text_item(text)).tokens
    assert "".join(token.text for token in tokens) == readable(text)
    assert [token.text for token in tokens if token.word] == split_words(text).words


def test_a_row_has_one_cell_per_column():
    item = Item("i1", "test", ROW, 0, 1)
    found = {("i1", "lime", "model"): columns_of([0.1, -0.6, 0.0])}
    made = material([item], found, features=0, kind="table")
    assert stimulus.explained_block(made, item, "lime", direction=True, title="A row") == Row(
        (Cell("Age", "37", 1, 1), Cell("Job", "clerk", 4, -1), Cell("Sex", "f")), "A row"
    )
    assert stimulus.input_block(item) == Row(tuple(Cell(*pair) for pair in ROW))
    assert stimulus.bars_block(made, item, "lime", "Scores") == Bars(
        (("Job: clerk", -0.6), ("Age: 37", 0.1)), "Scores"
    )


def test_columns_are_found_by_name_where_only_some_are_scored():
    item = Item("i1", "test", ROW, 0, 1)
    found = {("i1", "lime", "model"): columns_of([0.7], features=("Sex",))}
    made = material([item], found, kind="table")
    cells = stimulus.explained_block(made, item, "lime", direction=False).cells
    assert [cell.level for cell in cells] == [0, 0, 1]
    strange = material(
        [item], {("i1", "lime", "model"): columns_of([0.7], features=("Height",))}, kind="table"
    )
    with pytest.raises(VeraxError, match="speaks of 'Height', which is not among the columns: Age, Job, Sex"):
        stimulus.explained_block(strange, item, "lime", direction=False)


def test_what_was_changed_is_marked():
    text = Item("i1", "test", "a slow film", 0, 0, variant=Variant("a warm movie", ((2, 6), (7, 12)), 1))
    block = stimulus.variant_block(text, title="Changed")
    assert [(token.text, token.changed) for token in block.tokens if token.word] == [
        ("a", False),
        ("warm", True),
        ("movie", True),
    ]
    row = Item(
        "i2", "test", ROW, 0, 0, variant=Variant((("Age", "37"), ("Job", "judge"), ("Sex", "f")), (1,), 1)
    )
    cells = stimulus.variant_block(row, title="").cells
    assert [(cell.value, cell.changed) for cell in cells] == [("37", False), ("judge", True), ("f", False)]
    with pytest.raises(VeraxError, match="'i3' has no perturbed version"):
        stimulus.variant_block(text_item(id="i3"))


def test_bars_show_the_strongest_with_their_sign():
    item = text_item()
    made = material([item], {("i1", "lime", "model"): words_of(TEXT, [0.1, 0.5, 0.0, -0.9, 0.2])})
    assert stimulus.bars_block(made, item, "lime").pairs == (("good", -0.9), ("film", 0.5))
    assert stimulus.bars_block(made, item, "none") is None


def test_evidence_and_counter_evidence_without_the_text():
    item = text_item()
    attribution = words_of(TEXT, [0.1, 0.5, 0.0, -0.9, -0.2])
    made = material([item], {("i1", "lime", "model"): attribution})
    assert stimulus.evidence_blocks(made, item, "lime", 2, title="For", counter_title="Against") == (
        Evidence(("film", "Good"), "For"),
        Evidence(("good", "slow"), "Against"),
    )
    assert stimulus.evidence_blocks(made, item, "none", 2, title="For") == (Evidence((), "For"), Evidence(()))
    pairs = stimulus.evidence_blocks(made, item, "lime", 1, (2,))
    expected = fragments(attribution, 1, (2,))
    assert pairs[0].fragments == tuple(one.text for one in expected.evidence) == ("Good film",)


def test_fragments_are_marked_alike_for_each_model():
    item = text_item()
    found = {
        ("i1", "lime", "model"): words_of(TEXT, [0.1, 0.5, 0.0, -0.9, 0.2]),
        ("i1", "lime", "worse"): words_of(TEXT, [0.0, 0.0, 0.4, 0.3, -0.2]),
    }
    made = material([item], found)
    assert marked(stimulus.marked_evidence(made, item, "lime", "model", 2)) == [
        ("film", 3, 0),
        ("slow", 3, 0),
        ("film", 3, 0),
    ]
    assert [
        text for text, _, _ in marked(stimulus.marked_evidence(made, item, "lime", "worse", 1, (2,)))
    ] == [
        "a",
        "good",
    ]
    assert stimulus.marked_evidence(made, item, "none", "model", 2) == stimulus.input_block(item)
    row = Item("i1", "test", ROW, 0, 1)
    table = material([row], {("i1", "lime", "model"): columns_of([0.1, -0.6, 0.2])}, kind="table")
    cells = stimulus.marked_evidence(table, row, "lime", "model", 1).cells
    assert [cell.level for cell in cells] == [0, 0, 3]


def test_what_cannot_be_shown_is_a_sentence():
    item = text_item()
    made = material([item], {})
    with pytest.raises(VeraxError, match="'i1' has no explanation in the condition 'lime'"):
        stimulus.explained_block(made, item, "lime", direction=False)
    other = Written(("Because it is good.",), 1)
    with pytest.raises(VeraxError, match="the condition 'lime' gives a Written, which has no scores"):
        stimulus.explained_block(
            material([item], {("i1", "lime", "model"): other}), item, "lime", direction=False
        )
    assert scales({("i1", "lime", "model"): other}, 2) == {}  # it is told in words, elsewhere


some_words = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), min_size=1, max_size=14)
scores = st.sampled_from([0.0, 0.1, -0.1, 0.2, 0.3, -0.5, 0.5, 1.0])
inputs = some_words.map(" ".join).flatmap(
    lambda text: st.tuples(
        st.just(text),
        st.lists(scores, min_size=len(split_words(text).distinct), max_size=len(split_words(text).distinct)),
    )
)


@settings(max_examples=80, deadline=None)
@given(st.lists(inputs, min_size=1, max_size=4), st.integers(0, 5), st.integers(0, 9))
def test_a_control_has_as_many_words_at_each_level_as_its_method(drawn, features, seed):
    items, found = [], {}
    for number, (text, given_scores) in enumerate(drawn):
        items.append(text_item(text, f"i{number}"))
        method = words_of(text, given_scores)
        found[f"i{number}", "lime", "model"] = method
        found[f"i{number}", "control", "model"] = shuffled_scores(method, seed, text)
    made = material(items, found, features)
    assert made.scales["control"] == made.scales["lime"]
    for item in items:
        levels = [
            Counter(
                token.level
                for token in stimulus.explained_block(made, item, condition, direction=False).tokens
            )
            for condition in ("lime", "control")
        ]
        assert levels[0] == levels[1]
        method, control = (found[item.id, condition, "model"] for condition in ("lime", "control"))
        assert sorted(method.scores) == sorted(control.scores)
        assert len(strongest(method, features)) == len(strongest(control, features))


def test_a_control_is_random():
    text = "one two three four five six"
    method = words_of(text, [0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    first = Counter(shuffled_scores(method, seed, text).top(1)[0][0] for seed in range(600))
    # Each of six words is the strongest in a sixth of the controls: 100 of 600, give or take four deviations (9.1).
    assert set(first) == set(text.split())
    assert all(63 < times < 137 for times in first.values())
    again = shuffled_scores(method, 5, text)
    assert again == shuffled_scores(method, 5, text)
    assert again.details == {"kept": 0}
    assert shuffled_scores(words_of("no no more", [0.5, 0.1]), 1).details == {"kept": 2}


PLACES = "not good , but the story is good"


def of_places(scores):
    words = split_words(PLACES)
    spans = tuple(((start, end),) for start, end in zip(words.starts, words.ends, strict=True))
    return Attribution(tuple(words.words), np.array(scores, dtype=float), 1, input=PLACES, spans=spans)


def test_a_word_chosen_at_one_place_is_not_marked_at_another():
    """The first "good" is negated: it is the last one that speaks for the class."""
    scores = [-2, -1, 0, 0, 0, 0, 3]
    made = material([text_item(PLACES)], {("i1", "lime", "model"): of_places(scores)}, features=1)
    block = stimulus.marked_evidence(made, made.items[0], "lime", "model", 1)
    assert [token.level > 0 for token in block.tokens if token.word] == [False] * 6 + [True]
    explained = stimulus.explained_block(made, made.items[0], "lime", direction=True)
    assert [token.level > 0 for token in explained.tokens if token.word] == [False] * 6 + [True]
    # Scores of distinct words are of a word wherever it stands.
    found = {("i1", "lime", "model"): words_of(PLACES, [-2, 3, 0, 0, 0, 0])}
    made = material([text_item(PLACES)], found, features=1)
    block = stimulus.marked_evidence(made, made.items[0], "lime", "model", 1)
    assert [token.text for token in block.tokens if token.level] == ["good", "good"]


def test_a_method_that_gives_fragments_is_shown_as_it_is():
    """Overlapping and repeated ones too, as decision trees have them; sizes are not asked for."""
    given = Fragments(
        (
            Fragment("story is good", 1.0, (19, 32)),
            Fragment("is good", 0.5, (25, 32)),
            Fragment("but", 0.3, (11, 14)),
        ),
        (Fragment("not good", -1.0, (0, 8)),),
        1,
        input=PLACES,
    )
    made = material([text_item(PLACES)], {("i1", "lime", "model"): given}, features=0)
    evidence, counter = stimulus.evidence_blocks(made, made.items[0], "lime", 2, (1,))
    assert evidence.fragments == ("story is good", "is good")
    assert counter.fragments == ("not good",)
    block = stimulus.marked_evidence(made, made.items[0], "lime", "model", 3)
    assert [token.text for token in block.tokens if token.level] == ["but", "story", "is", "good"]
    levels = stimulus.explained_block(made, made.items[0], "lime", direction=True)
    assert [token.sign for token in levels.tokens if token.word] == [-1, -1, 1, 0, 1, 1, 1]


def test_words_and_n_grams_stand_side_by_side_in_one_study():
    spec = make_study_spec(
        {
            "title": "t",
            "dataset": "d",
            "protocol": {"name": "class-from-evidence"},
            "conditions": [
                {"name": "words", "explainer": "lrp", "sizes": [1], "any_sign": True},
                {"name": "ngrams", "explainer": "lrp", "sizes": [2, 3]},
                {"name": "plain", "explainer": "lrp"},
            ],
        }
    )
    found = of_places([-2, -1, 0, 0, 0, 2, 3])
    explanations = {("i1", name, "model"): found for name in ("words", "ngrams", "plain")}
    made = Material(spec, "text", ("bad", "good"), (text_item(PLACES),), explanations, {})

    def shown(name):
        evidence, counter = stimulus.evidence_blocks(made, made.items[0], name, 3, (4,))
        return evidence.fragments, counter.fragments

    assert shown("words") == (
        ("good", "is", "but"),
        ("not", "good", "but"),
    )  # of any sign: three wherever there are
    assert shown("ngrams") == (("story is good",), ("not good",))  # a tie goes to the earlier
    assert shown("plain")[0] == ("the story is good",)  # as the protocol says
    written = spec.model_dump()["conditions"]
    assert written[2] == {"name": "plain", "explainer": "lrp", "parameters": {}, "like": None}
    assert written[0]["any_sign"] is True
