"""Random n-grams: as many as there is room for, anywhere, without a look at the model."""

from collections import Counter
from itertools import pairwise

import pytest

import verax
from verax.errors import VeraxError
from verax.explain.checks import additive_text_model, check_explainer
from verax.explain.random import RandomFragments, drawn_runs
from verax.seeds import stream


@pytest.mark.parametrize("length", range(40))
def test_there_are_three_wherever_there_is_room(length):
    for seed in range(30):
        runs = drawn_runs(length, 3, (2, 3, 4), stream(seed, "test"))
        assert len(runs) == (1 if length == 1 else min(3, length // 2))
        ordered = sorted(runs)
        assert all(0 <= first < end <= length for first, end in ordered)
        assert all(one[1] <= other[0] for one, other in pairwise(ordered))
        assert all(end - first in (2, 3, 4) for first, end in runs) or length == 1


def test_every_place_and_size_is_as_likely_as_another():
    seen = Counter()
    sizes = Counter()
    for seed in range(4000):
        (run,) = drawn_runs(6, 1, (2, 3), stream(seed, "uniform"))
        sizes[run[1] - run[0]] += 1
        seen[run] += 1
    assert abs(sizes[2] / 4000 - 0.5) < 0.04
    assert all(abs(seen[start, start + 2] / sizes[2] - 1 / 5) < 0.05 for start in range(5))
    assert all(abs(seen[start, start + 3] / sizes[3] - 1 / 4) < 0.05 for start in range(4))


def test_fragments_stand_where_they_say_and_follow_the_text():
    model = additive_text_model()
    texts = ["One two, three four. Five six seven!", "Just", ""]
    several, one, none = RandomFragments().explain(model, texts, [1, 0, 1])
    assert all(several.input[slice(*part.span)] == part.text for part in several.evidence)
    assert [part.score for part in several.evidence] == [1, 1 / 2, 1 / 3]
    assert [part.score for part in several.counter_evidence] == [-1, -1 / 2, -1 / 3]
    assert [part.text for part in one.evidence] == ["Just"]
    assert none.evidence == none.counter_evidence == ()
    assert RandomFragments(seed=1).explain(model, texts[:1], [1])[0].evidence != several.evidence


def test_the_contract():
    check_explainer(RandomFragments(), kinds=["text"])
    assert RandomFragments(sizes=[4, 2, 3]) == RandomFragments()
    assert verax.explainer("random-fragments", sizes=(1,)).sizes == (1,)


@pytest.mark.parametrize(("options", "sentence"), [({"count": 0}, "count=0"), ({"sizes": ()}, "must be one or more"),
                                                   ({"sizes": (0,)}, "must be one or more")])  # fmt: skip
def test_bad_parameters_are_sentences(options, sentence):
    with pytest.raises(VeraxError, match=sentence):
        RandomFragments(**options)
