"""Which explanation of these predictions to trust: what happens to the model's answer when the named features go.

For every input and explainer the three features that speak most for the explained class are taken away. The fall of its
probability stands beside that of three random features and beside the largest that any three features cause. Two more
things are asked: whether other seeds name the same three, and whether other explainers do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import combinations
from math import comb

import numpy as np

from verax.arrays import FloatArray
from verax.errors import VeraxError
from verax.explain import Explainer, explainer
from verax.explain.entry import explanations_of, model_inputs
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
    single = _falls(path, prepared, [[{place} for place in range(len(own))] for own in features], wanted)
    random = [_random_sets(len(own), stream(seed, "judge", *own)) for own in features]
    likely = [_likely_sets(alone) for alone in single]
    chance = [float(np.mean(found)) for found in _falls(path, prepared, random, wanted)]
    best = [float(np.max(found)) for found in _falls(path, prepared, likely, wanted)]
    reached = {
        name: [float(found[0]) for found in _falls(path, prepared, [[top] for top in own], wanted)]
        for name, own in tops.items()
    }
    best = [max(most, *(own[number] for own in reached.values())) for number, most in enumerate(best)]
    shown = _beaten(reached, chance)
    trials = [
        Trial(
            name,
            100 * float(np.mean(own)),
            100 * float(np.mean(chance)),
            100 * float(np.mean(best)),
            _common(tops[name], again[name]),
            _common(tops[name], [other for label, other in tops.items() if label != name]),
            tuple(100 * fall for fall in own),
            shown.get(name),
            sum(len(top) < min(TOP, len(own)) for top, own in zip(tops[name], features, strict=True)),
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
        # N-grams are more words than one, so that three of them against three words would be no comparison.
        scores = None if isinstance(explanation, Fragments) else explanation.as_attribution()
        if scores is None:
            raise VeraxError(
                f"{name} gives no scores of single features, so that it cannot be judged by taking them away."
            )
        # What scores 0 or less does not speak for the class: a rule of one word names one feature, not three.
        order = [place for place in np.argsort(-scores.scores, kind="stable") if scores.scores[place] > 0]
        places = [own.index(scores.features[place]) for place in order if scores.features[place] in own]
        found.append(set(list(dict.fromkeys(places))[:TOP]))
    return found


def _reseeded(one: Explainer) -> list[Explainer]:
    """The same explainer with other seeds; none if it has no seed."""
    if not is_dataclass(one) or "seed" not in {attribute.name for attribute in fields(one)}:
        return []
    return [replace(one, seed=seed) for seed in OTHER_SEEDS]


def _random_sets(n_features: int, rng: np.random.Generator) -> list[set[int]]:
    size = min(TOP, n_features)
    if comb(n_features, size) <= MOST_SETS:
        return [set(places) for places in combinations(range(n_features), size)]
    return [set(rng.choice(n_features, size, replace=False).tolist()) for _ in range(DRAWS)]


def _likely_sets(alone: FloatArray) -> list[set[int]]:
    """All sets of three, or those of the features that matter most alone where there are too many."""
    size = min(TOP, len(alone))
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


def _beaten(reached: Mapping[str, Sequence[float]], chance: Sequence[float]) -> dict[str, bool]:
    """Which explainers are shown to beat random features over the inputs; none with less than five of them."""
    if len(chance) < FEWEST_UNITS:
        return {}
    rows = {name: dict(enumerate(own)) for name, own in reached.items()} | {"": dict(enumerate(chance))}
    family = [(name, "") for name in reached]
    return {found.first: found.verdict == "first" for found in paired_differences(rows, family)}
