import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verax.errors import VeraxError
from verax.models.base import ask, check_class_names, check_probabilities, check_weights


def test_good_probabilities_come_back_as_float64():
    answer = check_probabilities([[0.25, 0.75], [1, 0]], 2, 2)
    assert answer.dtype == np.float64
    assert answer.tolist() == [[0.25, 0.75], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([0.5, 0.5], r"returned shape \(2,\) for 2 inputs; it must return \(2, classes\)"),
        ([[1.0], [1.0]], r"returned shape \(2, 1\) for 2 inputs"),
        ([[0.5, 0.5]], r"returned shape \(1, 2\) for 2 inputs"),
        ([[0.2, 0.3, 0.5]] * 2, "returned 3 probabilities per input but has 2 classes"),
        ([[0.5, 0.5], [np.nan, 1.0]], "returned nan as a probability for input 8;"),
        ([[0.5, 0.5], [np.inf, 0.0]], "returned inf as a probability for input 8;"),
        ([[1.5, -0.5], [0.5, 0.5]], "negative probability -0.5 for input 7;"),
        ([[0.5, 0.5], [2.0, 3.0]], "probabilities for input 8 sum to 5 instead of 1;"),
        (["a", "b"], "returned a list that is not an array of numbers"),
        ([[0.5, 0.5], [1.0]], "returned a list that is not an array of numbers"),
        (None, r"returned shape \(\)"),
    ],
)
def test_a_bad_answer_is_told_in_a_sentence_that_names_the_input(values, sentence):
    with pytest.raises(VeraxError, match=sentence):
        check_probabilities(values, 2, 2, first=7)


@given(st.lists(st.lists(st.floats(-20, 20), min_size=3, max_size=3), min_size=1, max_size=5))
def test_every_softmax_in_single_precision_is_accepted(scores):
    powers = np.exp(np.array(scores, dtype=np.float32))
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    assert np.array_equal(check_probabilities(probabilities, len(scores), 3), probabilities.astype(float))


def test_what_a_model_raises_becomes_a_sentence_with_the_batch_and_the_first_error_behind_it():
    def breaks(batch):
        return {}["no such word"], batch

    with pytest.raises(VeraxError) as caught:
        ask(breaks, ["the first text", "another"], 2)
    assert str(caught.value) == (
        "The model raised KeyError ('no such word') on a batch of 2 inputs, the first of them 'the first text'; "
        "call it on these inputs alone to find the cause."
    )
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_sentence_raised_inside_a_model_is_left_as_it_is():
    def breaks(batch):
        raise VeraxError(f"Say it {len(batch)} time.")

    with pytest.raises(VeraxError, match=r"^Say it 1 time\.$"):
        ask(breaks, ["a"], 1)


def test_class_names_are_the_labels_unless_given():
    assert check_class_names(None, [0, 1]) == ("0", "1")
    assert check_class_names(["no", "yes"], [0, 1]) == ("no", "yes")


@pytest.mark.parametrize("names", [["one"], ["a", "b", "c"], "ab"])
def test_class_names_must_be_as_many_as_classes(names):
    with pytest.raises(
        VeraxError, match=r"does not fit a model with 2 classes \(0, 1\); give one name per class"
    ):
        check_class_names(names, [0, 1])


def test_weights_default_to_one_each():
    assert check_weights(None, 3).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([1.0], r"There are 2 rows but weights of shape \(1,\)"),
        ([1.0, -2.0], "Row 1 has the weight -2;"),
        ([np.nan, 1.0], "Row 0 has the weight nan;"),
    ],
)
def test_bad_weights_are_told(weights, sentence):
    with pytest.raises(VeraxError, match=sentence):
        check_weights(weights, 2)
