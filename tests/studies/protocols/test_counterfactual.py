"""Counterfactual simulation: two rounds with the same changes, the second with the explanation of the original."""

from collections import Counter
from dataclasses import replace

import pytest

from study_source import review_source
from verax.errors import VeraxError
from verax.studies.definition.screen import class_mark
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.protocols.checks import check_protocol, sample_material

TABLE = {"name": "counterfactual"}


@pytest.fixture(scope="module")
def study():
    return check_protocol(sample_material(TABLE, {"test": 8}))


@pytest.mark.parametrize("kind", ["text", "table"])
@pytest.mark.parametrize("classes", [2, 3])
def test_it_keeps_the_contract_with_texts_and_tables_of_two_and_three_classes(kind, classes):
    check_protocol(sample_material(TABLE, {"test": 4 * classes}, kind=kind, classes=classes))


def test_both_rounds_and_all_conditions_have_the_same_items_in_independent_orders(study):
    everything = set(study.items)
    same = 0
    for row in study.rows:
        for number in range(1, 51):
            steps = participant_steps(study, row, number)
            pre, post = ([step.item for step in steps if step.phase == phase] for phase in ("pre", "post"))
            assert set(pre) == set(post) == everything
            assert len(pre) == len(post) == 8
            same += pre[0] == post[0]
    # The first of 8 items is the same by chance in an eighth of 150.
    assert 5 <= same <= 35


def test_pre_shows_input_label_output_and_the_changed_version(study):
    for item in study.items.values():
        screen = study.screens[f"pre:{item.id}"]
        assert [block.type for block in screen.blocks] == ["facts", "prose", "passage", "passage"]
        facts, _, original, changed = screen.blocks
        assert "".join(token.text for token in original.tokens) == item.input
        assert [value for _, value in facts.pairs] == [class_mark(item.label), class_mark(item.prediction)]
        assert "".join(token.text for token in changed.tokens) == item.variant.input
        assert [token.text for token in changed.tokens if token.changed] == ["snerk"]
        assert not any(token.level for token in original.tokens)
        # What is changed is marked in both, at the same place.
        words, others = ([token for token in one.tokens if token.word] for one in (original, changed))
        assert [token.changed for token in words] == [token.changed for token in others]
        assert [question.name for question in screen.questions] == ["prediction"]


def test_post_adds_the_explanation_of_the_original_and_a_rating(study):
    for item in study.items.values():
        screen = study.screens[f"post:{item.id}:method"]
        assert [question.name for question in screen.questions] == ["rating", "prediction"]
        assert [block.type for block in screen.blocks] == ["facts", "prose", "passage", "bars", "passage"]
        original, changed = screen.blocks[2], screen.blocks[4]
        assert any(token.level for token in original.tokens)
        assert not any(token.level for token in changed.tokens)
        assert screen.questions[1] == study.screens[f"pre:{item.id}"].questions[0]
        assert study.screens[f"post:{item.id}:plain"] == study.screens[f"pre:{item.id}"]


def test_no_page_tells_what_the_model_says_of_the_changed_version(study):
    # Pages of an item whose version flips differ from those of one that does not in nothing but what was asked for.
    for key, screen in study.screens.items():
        if key.startswith(("pre:", "post:")):
            item = study.items[key.split(":")[1]]
            marks = Counter(
                value for block in screen.blocks if block.type == "facts" for _, value in block.pairs
            )
            assert marks == Counter([class_mark(item.label), class_mark(item.prediction)])
            rest = [block for block in screen.blocks if block.type != "facts"]
            assert "⟦" not in " ".join(map(str, rest)) + screen.heading


def test_the_model_output_on_the_changed_version_is_the_right_answer(study):
    protocol = make_protocol(TABLE)
    flipped = [item for item in study.items.values() if item.flips]
    kept = [item for item in study.items.values() if not item.flips]
    assert len(flipped) == len(kept) == 4
    for item in flipped:
        assert protocol.score(item, item.prediction) == 0
        assert protocol.score(item, 1 - item.prediction) == 1
    for item in kept:
        assert protocol.score(item, item.prediction) == 1
    with pytest.raises(VeraxError, match="no changed version"):
        protocol.score(replace(kept[0], variant=None), 0)


def test_half_of_the_changes_flip_within_each_cell():
    source = review_source(TABLE, [{"name": "none"}], size=300)
    items = make_protocol(TABLE).items(source)
    cells = Counter((item.label, item.prediction, item.flips) for item in items)
    assert cells == {
        (label, said, flips): 4 for label in (0, 1) for said in (0, 1) for flips in (True, False)
    }
    assert all(item.variant.input != item.input for item in items)


@pytest.mark.parametrize(("kind", "many"), [("text", "texts"), ("table", "records")])
def test_people_without_explanations_are_asked_what_they_really_see(kind, many):
    material = sample_material(TABLE, {"test": 8}, kind=kind)
    study = check_protocol(material)
    first, again = (study.screens[key] for key in ("pre:i001", "post:i001:plain"))
    assert first == again
    told = make_protocol(material.spec.protocol).briefing(material, "plain")
    assert told.method.question == "What do you see in the second predictions?"
    assert told.method.answers[told.method.correct - 1] == f"The same {many} and changes as in the first"
    assert f"The second predictions show the same {many} and changes as the first." in told.introduction
    assert not any("expla" in said for said in (*told.paragraphs, *told.method.answers))
