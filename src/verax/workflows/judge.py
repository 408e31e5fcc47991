"""Which explanation of these predictions to trust: what happens to the model's answer when the named features go.

For every input and explainer the three features that speak most for the explained class are taken away. The fall of its
probability stands beside that of three random features and beside the largest that any three features cause; beside as
many as were named, where fewer were. Two more things are asked: whether other seeds name the same ones, and whether
other explainers do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import combinations
from math import comb

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain import Explainer, explainer
from verax.explain.entry import explanations_of, model_inputs
from verax.explain.exemplar import Exemplar
from verax.explain.explanation import Attribution, Explanation
from verax.explain.fragments import Fragments
from verax.models import Model, as_model
from verax.models.base import Inputs
from verax.perturb import Masks, Path, Prepared, path_for
from verax.seeds import stream
from verax.stats import paired_differences
from verax.stats.thresholds import FEWEST_UNITS
from verax.workflows.judgement import TOP, Judgement, Trial

# Sets that are drawn for chance; sets up to which the best is looked for among all.
DRAWS, MOST_SETS = 50, 3_000
# Above that, the best is looked for among the sets of so many features that matter most alone.
LIKELY = 12
OTHER_SEEDS = (101, 102)


def judge(
    model: object,
    inputs: Inputs,
    explainers: Sequence[str | Explainer] | Mapping[str, Explainer] = ("lime", "shap", "greedy"),
    *,
    targets: Sequence[int] | None = None,
    seed: int = 0,
) -> Judgement:
    """Judges explainers on a model's predictions of some inputs.

    Args:
        model: what is explained; anything that `verax.as_model` takes.
        inputs: texts, or rows of a table.
        explainers: names, objects, or a dict from what to call them to objects.
        targets: the class to explain for each input; the predicted one by default.
        seed: of the random features that stand for chance.
    """
    asked = model if isinstance(model, Model) else as_model(model)
    named = _named(explainers)
    plain = model_inputs(asked, inputs)
    if not len(plain):
        raise VeraxError("There is no input to explain; give at least one text or row.")
    wanted = np.argmax(asked.predict_proba(plain), axis=1).tolist() if targets is None else list(targets)
    path = path_for(asked)
    prepared = path.prepare(plain)
    features = [ready.features for ready in prepared]
    empty = next((number for number, own in enumerate(features, start=1) if not own), None)
    if empty is not None:
        raise VeraxError(f"Input {empty} has no feature that could be taken away; leave it out.")
    tops = {name: _tops(one, name, asked, plain, wanted, features) for name, one in named.items()}
    again = {
        name: [_tops(other, name, asked, plain, wanted, features) for other in _reseeded(one)]
        for name, one in named.items()
    }
    reached = {
        name: [float(found[0]) for found in _falls(path, prepared, [[top] for top in own], wanted)]
        for name, own in tops.items()
    }
    beside = _beside(_by_size(path, prepared, wanted, seed=seed), tops, reached)
    shown = _beaten(reached, {name: [each.chance for each in own] for name, own in beside.items()})
    trials = [
        Trial(
            name,
            100 * float(np.mean(own)),
            100 * float(np.mean([each.chance for each in beside[name]])),
            100 * float(np.mean([each.best for each in beside[name]])),
            _common(tops[name], again[name]),
            _common(tops[name], [other for label, other in tops.items() if label != name]),
            tuple(100 * fall for fall in own),
            shown.get(name),
            sum(len(top) < min(TOP, len(own)) for top, own in zip(tops[name], features, strict=True)),
            not any(tops[name]),
        )
        for name, own in reached.items()
    ]
    return Judgement(len(features), tuple(trials))


def _named(given: Sequence[str | Explainer] | Mapping[str, Explainer]) -> dict[str, Explainer]:
    if isinstance(given, Mapping):
        named = dict(given)
    else:
        named = {each if isinstance(each, str) else repr(each): _made(each) for each in given}
    if not named:
        raise VeraxError('There is no explainer to judge; name some, such as ["lime", "shap"].')
    return named


def _made(given: str | Explainer) -> Explainer:
    return explainer(given) if isinstance(given, str) else given


def _tops(
    one: Explainer,
    name: str,
    model: Model,
    inputs: Inputs,
    targets: Sequence[int],
    features: Sequence[tuple[str, ...]],
) -> list[set[int]]:
    """The places of the three features that speak most for the class, for each input; fewer where fewer do."""
    found = []
    for explanation, own in zip(explanations_of(one, name, model, inputs, targets), features, strict=True):
        scores = judged_scores(explanation)
        if scores is None:
            raise VeraxError(
                f"{name} gives no scores of single features that the prediction rests on, so that it cannot be judged "
                "by taking them away."
            )
        # What scores 0 or less does not speak for the class: a rule of one word names one feature, not three.
        order = [place for place in np.argsort(-scores.scores, kind="stable") if scores.scores[place] > 0]
        places = [own.index(scores.features[place]) for place in order if scores.features[place] in own]
        found.append(set(list(dict.fromkeys(places))[:TOP]))
    return found


def judged_scores(explanation: Explanation) -> Attribution | None:
    """The scores of single features by which an explanation can be judged; None if it has no such."""
    # N-grams are more words than one, so that three of them against three words would be no comparison; and what makes
    # an input similar to an example need not be what the prediction rests on.
    return None if isinstance(explanation, Fragments | Exemplar) else explanation.as_attribution()


def _reseeded(one: Explainer) -> list[Explainer]:
    """The same explainer with other seeds; none if it has no seed."""
    if not is_dataclass(one) or "seed" not in {attribute.name for attribute in fields(one)}:
        return []
    return [replace(one, seed=seed) for seed in OTHER_SEEDS]


@dataclass(frozen=True)
class Outcomes:
    """What taking away so many features of an input does: on the average of random ones, and at the most."""

    chance: float
    best: float


def _by_size(
    path: Path[Prepared], prepared: Sequence[Prepared], targets: Sequence[int], *, seed: int
) -> list[dict[int, Outcomes]]:
    """By input, the outcomes of none, one, two and three features."""
    counts = [len(ready.features) for ready in prepared]
    single = _falls(path, prepared, [[{place} for place in range(count)] for count in counts], targets)
    found = [{0: Outcomes(0.0, 0.0)} for _ in prepared]
    for size in range(1, TOP + 1):
        random = [
            _random_sets(len(ready.features), size, stream(seed, "judge", *ready.features))
            for ready in prepared
        ]
        chance = _falls(path, prepared, random, targets)
        best = _falls(path, prepared, [_likely_sets(alone, size) for alone in single], targets)
        for outcomes, mean, most in zip(found, chance, best, strict=True):
            outcomes[size] = Outcomes(float(np.mean(mean)), float(np.max(most)))
    return found


def _beside(
    by_size: Sequence[dict[int, Outcomes]],
    tops: Mapping[str, Sequence[set[int]]],
    reached: Mapping[str, Sequence[float]],
) -> dict[str, list[Outcomes]]:
    """By explainer and input, the outcomes of as many features as it names; the best is at least what any reaches."""
    for name, own in reached.items():
        for outcomes, top, fall in zip(by_size, tops[name], own, strict=True):
            outcomes[len(top)] = replace(outcomes[len(top)], best=max(fall, outcomes[len(top)].best))
    return {
        name: [outcomes[len(top)] for outcomes, top in zip(by_size, own, strict=True)]
        for name, own in tops.items()
    }


def _random_sets(n_features: int, size: int, rng: np.random.Generator) -> list[set[int]]:
    size = min(size, n_features)
    if comb(n_features, size) <= MOST_SETS:
        return [set(places) for places in combinations(range(n_features), size)]
    return [set(rng.choice(n_features, size, replace=False).tolist()) for _ in range(DRAWS)]


def _likely_sets(alone: FloatArray, size: int) -> list[set[int]]:
    """All sets of so many, or those of the features that matter most alone where there are too many."""
    size = min(size, len(alone))
    if comb(len(alone), size) <= MOST_SETS:
        return [set(places) for places in combinations(range(len(alone)), size)]
    first = np.argsort(-alone, kind="stable")[:LIKELY].tolist()
    return [set(places) for places in combinations(first, size)]


def _falls(
    path: Path[Prepared],
    prepared: Sequence[Prepared],
    sets: Sequence[Sequence[set[int]]],
    targets: Sequence[int],
) -> list[FloatArray]:
    """By input, how much the target's probability falls without each of the sets of features."""
    masks = []
    for ready, own in zip(prepared, sets, strict=True):
        present = np.ones((len(own) + 1, len(ready.features)), dtype=np.bool_)
        for row, gone in enumerate(own, start=1):
            present[row, list(gone)] = False
        masks.append(Masks.from_rows(present))
    answers = path.evaluate(prepared, masks)
    return [
        answer.probabilities[0, target] - answer.probabilities[1:, target] if len(own) else np.zeros(1)
        for answer, target, own in zip(answers, targets, sets, strict=True)
    ]


def _common(own: Sequence[set[int]], others: Sequence[Sequence[set[int]]]) -> float | None:
    """The mean share of features that another list names too; None without another."""
    shares = [
        len(top & other) / len(top) for given in others for top, other in zip(own, given, strict=True) if top
    ]
    return float(np.mean(shares)) if shares else None


def _beaten(reached: Mapping[str, Sequence[float]], chance: Mapping[str, Sequence[float]]) -> dict[str, bool]:
    """Which explainers are shown to beat as many random features over the inputs; none with less than five of them."""
    if len(next(iter(reached.values()))) < FEWEST_UNITS:
        return {}
    # What stands for chance has a name that no explainer can have.
    rows = {name: dict(enumerate(own)) for name, own in reached.items()}
    rows |= {f"{name}\n": dict(enumerate(own)) for name, own in chance.items()}
    family = [(name, f"{name}\n") for name in reached]
    return {found.first: found.verdict == "first" for found in paired_differences(rows, family)}
