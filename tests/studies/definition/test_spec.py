"""What a spec may say, and the one sentence on what it may not."""

from __future__ import annotations

import pytest

from verax.errors import VeraxError
from verax.studies.definition.spec import make_study_spec, parse_study_spec, read_study_spec
from verax.studies.definition.spec_tables import WorseModel
from verax.studies.protocol.contract import turns_phones_away

SMALLEST = """
title = "A study"
dataset = "rotten-tomatoes"
protocol = { name = "forward" }
[[conditions]]
name = "lime"
explainer = "lime"
"""


def options(**changes):
    return {
        "title": "A study",
        "dataset": "imdb",
        "protocol": {"name": "forward"},
        "conditions": [{"name": "none"}, {"name": "lime", "explainer": "lime"}],
        **changes,
    }


def complaint(**changes):
    with pytest.raises(VeraxError) as raised:
        make_study_spec(options(**changes), "my.toml")
    return str(raised.value)


@pytest.mark.parametrize(
    ("protocol", "turned_away"),
    [("forward", False), ("reverse-turing", False), ("counterfactual", True), ("user-test", True)],
)
def test_where_two_things_are_compared_phones_are_turned_away_unless_the_spec_takes_them(
    protocol, turned_away
):
    named = options(protocol={"name": protocol})
    assert turns_phones_away(make_study_spec(named)) is turned_away
    assert not turns_phones_away(make_study_spec(named | {"devices": "any"}))
    assert turns_phones_away(make_study_spec(named | {"devices": "desktop"}))
    together = named | {"conditions": [{"name": "all", "explainer": "composite"}]}
    assert turns_phones_away(make_study_spec(together))
    assert not turns_phones_away(make_study_spec(together | {"devices": "any"}))


def test_the_smallest_spec_takes_the_defaults(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(SMALLEST, encoding="utf-8")
    spec = read_study_spec(path)
    assert spec.model == "logistic"
    assert spec.display.features == 6
    assert spec.rating.points == 7
    assert spec.screening is not None
    assert [condition.kind for condition in spec.conditions] == ["method"]


def test_kinds_of_conditions():
    spec = make_study_spec(
        options(
            conditions=[
                {"name": "nothing"},
                {"name": "shap", "explainer": "shap", "parameters": {"samples": 50}},
                {"name": "noise", "explainer": "random"},
                {"name": "control", "like": "shap"},
            ]
        )
    )
    assert [condition.kind for condition in spec.conditions] == ["none", "method", "control", "control"]
    assert spec.condition("control").like == "shap"


def test_a_spec_survives_its_way_through_json():
    spec = make_study_spec(options(screening=False, worse={"share": 0.1}, class_names=["good", "bad"]))
    assert make_study_spec(spec.model_dump(mode="json")) == spec


def test_screening_can_be_left_out_in_toml():
    assert parse_study_spec("screening = false\n" + SMALLEST).screening is None


def test_the_share_of_the_worse_model_is_small_unless_its_part_is_narrower():
    assert WorseModel().kept == 0.05
    assert WorseModel(most_words=10).kept == 1.0
    assert WorseModel(most_words=10, share=0.5).kept == 0.5
    assert WorseModel(share=0.2).kept == 0.2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"titel": "x"}, "my.toml, titel: there is no such option; did you mean 'title'?"),
        (
            {"display": {"colour": 1}},
            "my.toml, display.colour: there is no such option; there are: features, direction, most_words, "
            "fewest_words, wording.",
        ),
        (
            {"conditions": [{"name": "a"}, {"name": "b", "explaner": "lime"}]},
            "my.toml, conditions.1.explaner: there is no such option; did you mean 'explainer'?",
        ),
        ({"worse": {"shares": 1}}, "my.toml, worse.shares: there is no such option; did you mean 'share'?"),
        (
            {"screening": {"questions": [{"question": "?", "answers": ["a", "b"], "right": 1}]}},
            "my.toml, screening.questions.0.correct: this is missing; add it (1 more to mend).",
        ),
        ({"protocol": {"learning": 16}}, "[protocol] needs a name; `verax list protocols` shows them."),
        ({"conditions": [{"name": "a"}, {"name": "a"}]}, "two conditions are called 'a'."),
        (
            {"display": {"fewest_words": 10, "most_words": 3}},
            "my.toml, display: no text has at least 10 and at most 3 words; raise most_words.",
        ),
        ({"class_names": ["good", "good"]}, "two classes are called 'good'; give each its own name."),
        ({"class_names": ["good", " "]}, "a name is empty; give every class one."),
        (
            {"source": {"path": "x"}},
            "my.toml, source: there is no 'path'; [source] may have format, text, label, split, seed, limit, "
            "punctuation, bands.",
        ),
        (
            {"screening": {"questions": [{"question": "?", "answers": ["a", "b"], "correct": 3}]}},
            "the correct answer is number 3 of 2.",
        ),
        ({"participants": 0}, "my.toml, participants must be at least 1."),
    ],
)
def test_what_is_wrong_is_one_sentence(changes, sentence):
    assert complaint(**changes).endswith(sentence)


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        (
            [{"name": "none"}, {"name": "control", "like": "none"}, {"name": "m", "explainer": "lime"}],
            "the condition 'control' is like 'none', which has no method's explanations; make it like one of: m.",
        ),
        (
            [{"name": "none"}, {"name": "control", "like": "none"}],
            "the condition 'control' is like 'none', which has no method's explanations; add a condition with an "
            "explainer.",
        ),
        (
            [{"name": "m", "explainer": "lime"}, {"name": "control", "like": "lime"}],
            "the condition 'control' is like 'lime', which does not exist; make it like one of: m.",
        ),
        (
            [{"name": "m", "explainer": "lime"}, {"name": "c", "like": "m"}, {"name": "d", "like": "c"}],
            "the condition 'd' is like 'c', which has no method's explanations; make it like one of: m.",
        ),
        (
            [{"name": "m", "explainer": "lime"}, {"name": "c", "explainer": "random", "like": "m"}],
            "the condition 'c' has an explainer and is also like 'm'; leave one of them out.",
        ),
        (
            [{"name": "m", "parameters": {"samples": 5}}],
            "the condition 'm' has parameters but no explainer; name one.",
        ),
    ],
)
def test_a_control_is_like_a_method(conditions, sentence):
    assert complaint(conditions=conditions).endswith(sentence)


def test_parameters_may_stand_behind_the_name_of_an_explainer():
    behind = [{"name": "m", "explainer": "lime(samples=500)", "parameters": {"seed": 3}}, {"name": "none"}]
    apart = [{"name": "m", "explainer": "lime", "parameters": {"samples": 500, "seed": 3}}, {"name": "none"}]
    assert make_study_spec(options(conditions=behind)) == make_study_spec(options(conditions=apart))
    twice = [{"name": "m", "explainer": "lime(samples=500)", "parameters": {"samples": 3}}, {"name": "none"}]
    assert "the parameter 'samples' of 'lime' is given twice" in complaint(conditions=twice)


def test_files_that_are_no_specs(tmp_path):
    path = tmp_path / "spec.toml"
    with pytest.raises(VeraxError, match="There is no spec file"):
        read_study_spec(path)
    path.write_text("title = ", encoding="utf-8")
    with pytest.raises(VeraxError, match=r"^spec.toml is not TOML \(Invalid value"):
        read_study_spec(path)
    path.write_text(f"title = {'[' * 5000}{']' * 5000}", encoding="utf-8")
    with pytest.raises(VeraxError, match="too deep to be a spec"):
        read_study_spec(path)
    path.write_bytes(b"title = '\xff'")
    with pytest.raises(VeraxError, match="is not UTF-8 text"):
        read_study_spec(path)
    with pytest.raises(VeraxError, match="cannot be read"):
        read_study_spec(tmp_path)
