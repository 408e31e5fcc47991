"""Explainers measured on a model's own predictions: what they name, what that is worth, and the tests over inputs.

Every claim of the verdict is tested in one family: each explainer against random features, and each pair of explainers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, cast

import numpy as np

from verax.arrays import FloatArray
from verax.benchmarks.named_features import (
    ENOUGH,
    NEEDED,
    Places,
    worth_of,
)
from verax.data.dataset import contents
from verax.explain import Explainer
from verax.explain.explanation import Explanation
from verax.explain.perturbed import shown_input
from verax.explain.random import Random, RandomFragments
from verax.measures.evidence import Evidence, evidence_for
from verax.models import Model
from verax.models.base import Inputs
from verax.phrases import say
from verax.reporting.comparison import Comparison, Entry, Subject
from verax.run.progress import ProgressFunction, no_progress
from verax.stats.estimate import t_critical
from verax.stats.tests.permutation import (
    AgainstRandom,
    Permutation,
    against_random_sets,
    holm_of_possible,
    sign_flip,
)
from verax.stats.thresholds import ALPHA, FEWEST_UNITS
from verax.workflows.explainer_batches import Batches, Clock, cost_of, taken
from verax.workflows.judge_findings import NO_ROOM, REDUNDANT, Lead, Trial, seeks_removal
from verax.workflows.judgement import Judgement

# An interval narrower than this, as a share of the way, is none.
NO_WIDTH = 5e-4


def judge_inputs(
    model: Model,
    inputs: Inputs,
    named: Mapping[str, Explainer],
    targets: Sequence[int],
    *,
    titles: Sequence[str] = (),
    seed: int = 0,
    clock: Clock | None = None,
    told: ProgressFunction = no_progress,
    explained: Mapping[str, Sequence[Explanation]] | None = None,
) -> Judgement:
    """Judges explainers on a model's predictions of some inputs, in as much time as there is.

    Args:
        model: what is explained.
        inputs: as this model's explainers are given them.
        named: explainers by name.
        targets: the class to explain, for each input.
        titles: what to call each input.
        seed: of the random features.
        clock: how long it may take.
        told: is told what is being done.
        explained: explanations of these inputs that are known already, by explainer.
    """
    clock = clock or Clock()
    places, notes = _distinct(inputs)
    counted, chosen = measures_for(model)
    batches = Batches(model, inputs, dict(named), targets, seed, clock, told, explained or {}, counted)
    batches.run(places)
    notes += batches.notes()
    trials, leads, redundant = _trials(batches, seed)
    titles = titles or [f"input {number}" for number in range(len(inputs))]
    return Judgement(
        inputs=len(batches.done),
        features=float(np.mean([len(own) for own in batches.features])),
        kind=cast("Literal['text', 'table']", model.kind),
        trials=trials,
        leads=leads,
        redundant=redundant,
        chosen=chosen,
        notes=tuple(notes),
        explanations={name: batches.explanations[name] for name in batches.named},
        seconds=clock.spent,
        places=tuple(batches.done),
        comparison=_side_by_side(batches, trials, [titles[place] for place in batches.done]),
    )


# What is asked of named features, as the measures that were compared with known reasons.
ASKED = {NEEDED: "comprehensiveness(k=3)", ENOUGH: "sufficiency(k=3)"}


def measures_for(model: Model) -> tuple[tuple[int, ...], str]:
    """Which of the two are measured on this sort of model, and why, in a sentence; see `counted_by`."""
    return counted_by({asked: evidence_for(model, name) for asked, name in ASKED.items()}, model.output)


def counted_by(known: Mapping[int, Evidence | None], output: str) -> tuple[tuple[int, ...], str]:
    """Which of the two count by what is known of them, and why, in a sentence.

    Those that are shown to order explanations as the truth does on models of this sort with known reasons; both where
    nothing is known, and where neither is shown to.
    """
    believed = tuple(asked for asked, row in known.items() if row is not None and row.verdict == "believable")
    counted = believed or (NEEDED, ENOUGH)
    rows = [row for asked in counted if (row := known[asked]) is not None]
    if not rows:
        return counted, say("judge", "measures-unknown")
    case = (
        "measures-both" if len(counted) > 1 else "measures-needed" if NEEDED in counted else "measures-enough"
    )
    stains = min(row.stains for row in rows)
    models = say(
        "judge", "known-reasons", sort=rows[0].model, kind=rows[0].kind, stains=stains, output=output
    )
    taus = [f"{row.tau:.2f}" for row in rows]
    return counted, say("judge", case if believed else "measures-unsure", models=models, taus=taus)


def _distinct(inputs: Inputs) -> tuple[list[int], list[str]]:
    """The places of distinct inputs: an input that comes twice is one unit, not two."""
    texts = inputs if isinstance(inputs, np.ndarray) else list(inputs)
    first: dict[bytes, int] = {}
    for place, content in enumerate(contents(texts)):
        first.setdefault(content, place)
    again = len(inputs) - len(first)
    notes = [say("judge", "equal-inputs", again=again, inputs=len(inputs))] if again else []
    return list(first.values()), notes


def _trials(batches: Batches, seed: int) -> tuple[tuple[Trial, ...], tuple[Lead, ...], bool]:
    """What each explainer reached, with one correction over all claims: each against random ones, and each pair."""
    names = list(batches.named)
    worth = {name: np.array(batches.worths[name]).reshape(-1, 2) for name in names}
    both = {name: worth_of(worth[name], batches.counted) for name in names}
    speaking = [name for name in names if any(batches.tops[name])]
    tests = {
        name: against_random_sets(both[name], [own.pool for own in batches.beside[name]], seed=seed)
        for name in speaking
    }
    controls = {name for name in names if isinstance(batches.named[name], Random | RandomFragments)}
    rivals = [name for name in speaking if name not in controls]
    pairs = list(combinations(rivals, 2))
    flips = {pair: sign_flip(both[pair[0]] - both[pair[1]], seed=seed) for pair in pairs}
    enough = {name: np.maximum(worth[name][:, ENOUGH], 0.0) for name in names}
    seeking = {name for name in names if seeks_removal(name, batches.named[name])}
    p_values = {pair: _lead_p(pair, flip, enough, seeking, seed) for pair, flip in flips.items()}
    corrected, possible = _corrected(tests, p_values, both)
    leads = tuple(
        Lead(*(pair if flips[pair].statistic > 0 else pair[::-1]), corrected[pair])
        for pair in pairs
        if corrected[pair] <= ALPHA
    )
    best = np.array(batches.best)
    trials = [
        _trial(
            batches,
            name,
            worth[name],
            tests.get(name),
            corrected.get(name),
            possible.get(name, 1.0),
            name in controls,
        )
        for name in names
    ]
    redundant = bool(
        best[:, ENOUGH].mean() > NO_ROOM and best[:, NEEDED].mean() < REDUNDANT * best[:, ENOUGH].mean()
    )
    return tuple(trials), leads, redundant


def _lead_p(
    pair: tuple[str, str],
    flip: Permutation,
    enough: Mapping[str, FloatArray],
    seeking: Collection[str],
    seed: int,
) -> float:
    """The p of one explainer's lead over another.

    What looks for features whose removal changes the answer has optimised half of what is measured. It is ahead of what
    did not only if the other half, what its features do alone, says the same.
    """
    ahead, behind = pair if flip.statistic > 0 else pair[::-1]
    if ahead not in seeking or behind in seeking:
        return flip.p
    alone = sign_flip(enough[ahead] - enough[behind], seed=seed)
    return max(flip.p, alone.p) if alone.statistic > 0 else 1.0


def _corrected(
    tests: Mapping[str, AgainstRandom], flips: Mapping[tuple[str, str], float], both: Mapping[str, FloatArray]
) -> tuple[dict[Any, float], dict[str, float]]:
    """Corrected p of every claim; and for each explainer the smallest corrected one that was possible."""
    claims: list[Any] = [*tests, *flips]
    least = [test.smallest for test in tests.values()]
    # Signs of inputs on which two explainers are alike change nothing: 2 of 2^n arrangements are the most extreme.
    least += [min(1.0, 2.0 ** (1 - np.count_nonzero(both[one] - both[other]))) for one, other in flips]
    p_values = [*(test.p for test in tests.values()), *flips.values()]
    corrected = dict(zip(claims, holm_of_possible(p_values, least).tolist(), strict=True))
    # If all explainers had named the best features: what would have been possible for each of them.
    possible = holm_of_possible([*(test.smallest for test in tests.values()), *(1.0 for _ in flips)], least)
    return corrected, dict(zip(tests, possible.tolist(), strict=False))


def _trial(
    batches: Batches,
    name: str,
    worth: FloatArray,
    test: AgainstRandom | None,
    corrected: float | None,
    possible: float,
    control: bool,
) -> Trial:
    own, beside, tops = 100 * worth_of(worth, batches.counted), batches.beside[name], batches.tops[name]
    chance = 100 * np.array([float(each.pool.mean()) for each in beside])
    best = 100 * np.array([each.best for each in beside])
    reached, low, high = _reached(own - chance, best - chance)
    costs = [cost_of(explanation) for explanation in batches.explanations[name]]
    others = [batches.tops[other] for other in batches.named if other != name]
    again = batches.again[name]
    return Trial(
        name=name,
        worth=float(own.mean()),
        needed=100 * float(worth[:, NEEDED].mean()),
        enough=100 * float(worth[:, ENOUGH].mean()),
        chance=float(chance.mean()),
        best=float(best.mean()),
        reached=reached,
        low=low,
        high=high,
        p=None if test is None else test.p,
        corrected=corrected,
        smallest=1.0 if test is None else test.smallest,
        possible=possible <= ALPHA,
        seeds=_common(tops[: len(again)], list(zip(*again, strict=True))),
        others=_common(tops, others),
        rows=float(np.mean([cost.rows for cost in costs])),
        seconds=float(np.mean([cost.seconds for cost in costs])),
        idle=float(
            np.mean([idle for idle, top in zip(batches.idle[name], tops, strict=True) if top] or [0.0])
        ),
        silent=sum(not top for top in tops),
        control=control,
        removal=seeks_removal(name, batches.named[name]),
        worths=tuple(own.tolist()),
        falls=tuple((100 * worth[:, NEEDED]).tolist()),
        named=tuple(
            tuple(features[place] for place in top)
            for top, features in zip(tops, batches.features, strict=True)
        ),
    )


def _reached(gained: FloatArray, room: FloatArray) -> tuple[float | None, float | None, float | None]:
    """The share of the room that was gained over all inputs, with an interval over inputs from five of them on."""
    if room.mean() < 100 * NO_ROOM:
        return None, None, None
    share = float(gained.mean() / room.mean())
    rest = gained - share * room
    n = len(gained)
    if n < FEWEST_UNITS:
        return share, None, None
    margin = t_critical(0.95, n - 1) * float(np.std(rest, ddof=1)) / (np.sqrt(n) * float(room.mean()))
    # Where all inputs are alike, an interval would have no width, and claim too much.
    return (share, share - margin, min(share + margin, 1.0)) if margin > NO_WIDTH else (share, None, None)


def _common(own: Sequence[Places], others: Sequence[Sequence[Places]]) -> float | None:
    """The mean share of features that another list names too; None without another."""
    shares = [
        len({*top} & {*other}) / len(top)
        for given in others
        for top, other in zip(own, given, strict=True)
        if top
    ]
    return float(np.mean(shares)) if shares else None


def _side_by_side(batches: Batches, trials: Sequence[Trial], titles: Sequence[str]) -> Comparison:
    model, inputs = batches.model, taken(batches.inputs, np.asarray(batches.done))
    probabilities = model.predict_proba(inputs)
    subjects = [
        Subject(
            title=titles[number],
            input=shown_input(model, inputs[number]),
            class_names=tuple(model.class_names),
            probabilities=tuple(probabilities[number].tolist()),
            target=batches.targets[place],
            label=None,
            entries=tuple(
                Entry(
                    trial.name,
                    batches.explanations[trial.name][number],
                    trial.control,
                    fall=trial.falls[number],
                )
                for trial in trials
            ),
        )
        for number, place in enumerate(batches.done)
    ]
    return Comparison("your inputs", type(model).__name__, tuple(subjects))
