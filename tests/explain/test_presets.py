"""The nine methods of one paper under one name."""

import pytest

import verax
from verax.errors import VeraxError
from verax.explain.composite import preset
from verax.studies.definition.spec import make_study_spec


def spec_with(conditions):
    return make_study_spec(
        {"title": "t", "dataset": "d", "protocol": {"name": "class-from-evidence"}, "conditions": conditions}
    )


def test_the_nine_methods_of_the_paper_are_there_and_can_be_made():
    methods = preset("human-grounded")
    assert [method.called for method in methods] == [
        "Random (W)", "Random (N)", "LIME (W)", "LRP (W)", "LRP (N)", "DeepLIFT (W)", "DeepLIFT (N)",
        "Grad-CAM-Text (N)", "DTs (N)",
    ]  # fmt: skip
    for method in methods:
        verax.explainer(method.explainer, **method.parameters)


def test_a_spec_names_them_in_one_word():
    conditions = spec_with("human-grounded").conditions
    assert [condition.name for condition in conditions] == [
        method.name for method in preset("human-grounded")
    ]
    by_name = {condition.name: condition for condition in conditions}
    assert by_name["lrp-n"].sizes == (2, 3, 4)
    assert by_name["lrp-w"].any_sign
    assert {name for name, condition in by_name.items() if condition.kind == "control"} == {
        "random-w",
        "random-n",
    }
    assert spec_with([condition.model_dump() for condition in conditions]).conditions == conditions


def test_an_unknown_preset_is_a_sentence():
    with pytest.raises(VeraxError, match="no preset called 'human'; there are: human-grounded"):
        preset("human")
    with pytest.raises(VeraxError, match="no preset called 'human'"):
        spec_with("human")
