"""Which explanation of these predictions to trust: what happens to the model's answer when the named features go.

For every input and explainer the three features that speak most for the explained class are taken away. The fall of its
probability stands beside that of three random features and beside the largest that any three features cause. Two more
things are asked: whether other seeds name the same three, and whether other explainers do.
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
from verax.models import Model, as_model
from verax.models.base import Inputs
from verax.perturb import Masks, Path, Prepared, path_for
from verax.report.common.verdict import Judged, Reference, Sign, Verdict, verdict_lines
from verax.seeds import stream
from verax.stats import paired_differences
from verax.stats.thresholds import FEWEST_UNITS
from verax.text import counted, listed

# Features that are taken away; sets that are drawn for chance; sets up to which the best is looked for among all.
TOP, DRAWS, MOST_SETS = 3, 50, 3_000
# Above that, the best is looked for among the sets of so many features that matter most alone.
LIKELY = 12
OTHER_SEEDS = (101, 102)
# An explanation that reaches so much of the way from chance to the best is close to it.
CLOSE, FAR = 0.8, 0.2
UNSHOWN = "not shown to beat random features"


@dataclass(frozen=True)
class Trial:
    """What one explainer reached, mean over inputs; falls of the probability in points.

    Attributes:
        name: the explainer's.
        fall: when its three features go.
        chance: when three random ones go.
        best: when those three go that lower it most, found by search.
        seeds: share of its three features that other seeds name too; None if it draws nothing.
        others: share of its three features that the other explainers name too; None if it is alone.
        falls: of each input.
        beats_chance: whether it is shown to, after correction; None with less than five inputs.
    """

    name: str
    fall: float
    chance: float
    best: float
    seeds: float | None
    others: float | None
    falls: tuple[float, ...]
    beats_chance: bool | None = None

    @property
    def reached(self) -> float | None:
        """How far of the way from chance to the best; None where no feature matters more than chance."""
        room = self.best - self.chance
        return None if room < 1e-6 else (self.fall - self.chance) / room


@dataclass(frozen=True)
class Judgement:
    """What all explainers reached on the same inputs."""

    inputs: int
    trials: tuple[Trial, ...]

    @property
    def verdict(self) -> Verdict:
        """The same in the form that reports begin with."""
        judged = sorted(map(_judged, self.trials), key=lambda row: -(row.estimate or 0.0))
        chance, best = self.trials[0].chance, self.trials[0].best
        return Verdict(
            sentence=_sentence(self),
            judged=tuple(judged),
            measure=f"fall of the explained class's probability without the {TOP} features named first, in points",
            rests_on=(*_beside(self), _limits(self.inputs)),
            reference=Reference(f"{TOP} random features", chance),
            ends=(min(0.0, *(trial.fall for trial in self.trials)), max(best, 1.0)),
        )

    def __str__(self) -> str:
        """The verdict for a terminal."""
        return "\n".join(verdict_lines(self.verdict))


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
    """The places of the three features that speak most for the class, for each input."""
    found = []
    for explanation, own in zip(explanations_of(one, name, model, inputs, targets), features, strict=True):
        scores = explanation.as_attribution()
        if scores is None:
            raise VeraxError(
                f"{name} gives no scores of features, so that it cannot be judged by taking them away."
            )
        order = np.argsort(-scores.scores, kind="stable")
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


def _judged(trial: Trial) -> Judged:
    reached = trial.reached
    sign: Sign = "open"
    if reached is None:
        words = "no feature matters"
    elif trial.beats_chance is False:
        words = UNSHOWN
    elif reached >= CLOSE:
        sign, words = "yes", f"{reached:.0%} of the way from random to the best"
    elif reached <= FAR:
        sign, words = "no", f"{max(reached, 0.0):.0%} of the way from random to the best"
    else:
        words = f"{reached:.0%} of the way from random to the best"
    return Judged(trial.name, sign, words, trial.fall)


def _sentence(judgement: Judgement) -> str:
    """One sentence of verdict."""
    rows = {trial.name: _judged(trial) for trial in judgement.trials}
    best = judgement.trials[0].best
    if all(trial.reached is None for trial in judgement.trials):
        return "No three features change the model's answer more than others: no explanation can be told from chance."
    parts = []
    good = [name for name, row in rows.items() if row.sign == "yes"]
    bad = [name for name, row in rows.items() if row.sign == "no"]
    unshown = [name for name, row in rows.items() if row.words == UNSHOWN]
    rest = [name for name in rows if name not in (*good, *bad, *unshown)]
    if good:
        verb = "names" if len(good) == 1 else "name"
        parts.append(
            f"{listed(good)} {verb} what the model uses: without the first {TOP} features its probability falls nearly "
            f"as far as it can ({_span(judgement, good)} of {best:.0f} points)"
        )
    if rest:
        verb = "names" if len(rest) == 1 else "name"
        parts.append(f"{listed(rest)} {verb} a part of it ({_span(judgement, rest)} of {best:.0f})")
    if bad:
        verb = "does" if len(bad) == 1 else "do"
        parts.append(
            f"{listed(bad)} {verb} hardly better than random features ({_span(judgement, bad)} of {best:.0f})"
        )
    if unshown:
        verb = "is" if len(unshown) == 1 else "are"
        parts.append(f"{listed(unshown)} {verb} {UNSHOWN} ({_span(judgement, unshown)} of {best:.0f})")
    return f"{'; '.join(parts)}."


def _span(judgement: Judgement, names: Sequence[str]) -> str:
    falls = [round(trial.fall) for trial in judgement.trials if trial.name in names]
    return f"{falls[0]}" if min(falls) == max(falls) else f"{min(falls)} to {max(falls)}"


def _beside(judgement: Judgement) -> list[str]:
    """Agreement over seeds, and with other methods."""
    said = []
    seeds = [f"{trial.name} {trial.seeds:.0%}" for trial in judgement.trials if trial.seeds is not None]
    if seeds:
        said.append(f"The same {TOP} features under other seeds: {listed(seeds)}.")
    others = [f"{trial.name} {trial.others:.0%}" for trial in judgement.trials if trial.others is not None]
    if others:
        said.append(f"The same {TOP} features as the other methods: {listed(others)}.")
    return said


def _limits(inputs: int) -> str:
    about = "this input" if inputs == 1 else f"these {counted(inputs, 'input')}"
    return (
        f"It rests on {about} and on features that are taken away, which the model may never have seen so; whether "
        "people understand an explanation is another question."
    )
