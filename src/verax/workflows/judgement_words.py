"""What a verdict on explainers says: which case it is, and the slots of its phrases (`verax.phrases`, judge.ftl)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import ceil, isnan, log

from verax.benchmarks.named_features import TOP
from verax.phrases import say as say_phrase
from verax.results.verdict import Sign
from verax.stats.thresholds import ALPHA
from verax.workflows.judge_findings import REDUNDANT, Findings, Trial

# From this share on, features that do nothing are worth a sentence.
SOME_IDLE = 0.1
# Reasons that planting tries.
STAINS = 6
GREEDY = ("greedy", "greedy-path", "omission")

say = partial(say_phrase, "judge")


def sentence(found: Findings) -> str:
    """The answer: whom to believe for this model, and what is said of the others."""
    if found.features < 2:
        return say("one-feature")
    judged = [trial for trial in found.trials if trial.silent < found.inputs]
    if not judged:
        return say("nothing-named", names=_names(found.trials), inputs=found.inputs)
    if all(trial.reached is None for trial in judged):
        return say("nothing-matters", inputs=found.inputs)
    if not any(trial.possible for trial in judged):
        return _too_few_inputs(found, judged)
    by_sign: dict[Sign, list[Trial]] = {"yes": [], "part": [], "open": [], "no": []}
    for trial in sorted(found.trials, key=lambda trial: -(trial.reached or 0.0)):
        by_sign[trial.sign].append(trial)
    speaking = [trial for trial in by_sign["open"] if trial.silent < found.inputs]
    cases = {
        "believe": by_sign["yes"],
        "a-part": by_sign["part"],
        "no-better": by_sign["no"],
        "not-shown": [trial for trial in speaking if trial.possible],
        "cannot-be-told": [trial for trial in speaking if not trial.possible],
    }
    told = {case: trials for case, trials in cases.items() if trials}
    clauses = [
        say(
            case,
            names=_names(trials),
            range=_range(trials),
            inputs=found.inputs,
            place="later" if number else "first",
        )
        for number, (case, trials) in enumerate(told.items())
    ]
    if not by_sign["yes"]:
        clauses.insert(0, say("believe-none", inputs=found.inputs))
    if silent := [trial for trial in found.trials if trial.silent == found.inputs]:
        clauses.append(say("names-nothing", names=_names(silent)))
    return f"{'; '.join(clauses)}.{_between(found, by_sign['yes'])}"


def _too_few_inputs(found: Findings, judged: Sequence[Trial]) -> str:
    """Why nothing can be shown, and how many inputs it would take."""
    smallest = min(trial.smallest for trial in judged)
    # With as many more inputs like these, the smallest p is its power; it has to hold after correction.
    alone = smallest ** (1 / found.inputs)
    needed = ceil(log(ALPHA / len(judged)) / log(alone)) if alone < 1 else 0
    return say(
        "too-few-inputs",
        inputs=found.inputs,
        features=round(found.features),
        kind=found.kind,
        chance=round(100 * smallest),
        needed=max(needed, found.inputs + 1) if needed else 0,
    )


def _names(trials: Sequence[Trial]) -> list[str]:
    return [trial.name for trial in trials]


def _range(trials: Sequence[Trial]) -> str:
    numbers = [round(100 * max(trial.reached or 0.0, 0.0)) for trial in trials]
    low, high = min(numbers), max(numbers)
    return f"{low}%" if low == high else f"{low} to {high}%"


def _between(found: Findings, good: Sequence[Trial]) -> str:
    """Differences between the good ones that survive correction."""
    names = _names(good)
    if len(names) < 2:
        return ""
    leads = [lead for lead in found.leads if lead.ahead in names and lead.behind in names]
    if not leads:
        return f" {say('no-difference', names=names)}"
    ahead = dict.fromkeys(lead.ahead for lead in leads)
    said = [
        say("ahead", name=name, names=[lead.behind for lead in leads if lead.ahead == name]) for name in ahead
    ]
    return f" {'; '.join(said)}."


def rests_on(found: Findings) -> list[str]:
    """What the verdict rests on and what it does not say, in a few sentences."""
    said = []
    if found.planted is not None:
        said.append(_of_planted(found))
    if found.redundant:
        said.append(say("several-reasons"))
    partial_ones = [
        trial.name
        for trial in found.trials
        if trial.sign == "part" and trial.enough > 0 and trial.needed <= REDUNDANT * trial.enough
    ]
    if partial_ones:
        said.append(say("enough-not-needed", names=partial_ones))
    idle = [
        f"{trial.name} {trial.idle:.0%}"
        for trial in found.trials
        if trial.idle > SOME_IDLE and not trial.control
    ]
    if idle:
        said.append(say("idle", shares=idle))
    seeds = [f"{trial.name} {trial.seeds:.0%}" for trial in found.trials if trial.seeds is not None]
    if seeds:
        said.append(say("seeds", shares=seeds))
    greedy = [trial.name for trial in found.trials if trial.name.split("(")[0] in GREEDY]
    if greedy:
        said.append(say("removal", names=greedy))
    return [*said, *found.notes, say("method", most=TOP, kind=found.kind)]


def area(found: Findings, name: str) -> float | None:
    """The mean area under the recall curve of planted reasons, in per cent; None if none was measured."""
    own = (
        []
        if found.planted is None
        else [value for value in found.planted.areas.get(name, ()) if not isnan(value)]
    )
    return 100 * sum(own) / len(own) if own else None


def _of_planted(found: Findings) -> str:
    """What was found of planted reasons, the best first."""
    planted = found.planted
    assert planted is not None
    areas = {trial.name: value for trial in found.trials if (value := area(found, trial.name)) is not None}
    order = sorted(areas, key=lambda name: -areas[name])
    return say(
        "planted",
        stains=len(planted.stains),
        all="yes" if len(planted.stains) >= STAINS else "no",
        tried=STAINS,
        most=round(100 * planted.ceiling),
        found=[say("planted-found", name=name, area=round(areas[name])) for name in order],
        chance=round(100 * sum(planted.floor) / len(planted.floor)),
    )
