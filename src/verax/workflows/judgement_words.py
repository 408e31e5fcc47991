"""What a verdict on explainers says: the answer in a sentence, and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isnan, log

from verax.benchmarks.named_features import TOP
from verax.results.verdict import Sign
from verax.stats.thresholds import ALPHA
from verax.text import counted, listed
from verax.workflows.judge_findings import REDUNDANT, Findings, Trial

# From this share on, features that do nothing are worth a sentence.
SOME_IDLE = 0.1
# Reasons that planting tries.
STAINS = 6
GREEDY = ("greedy", "greedy-path", "omission")


def sentence(found: Findings) -> str:
    """The answer: whom to believe for this model, and what is said of the others."""
    about = "this input" if found.inputs == 1 else f"{found.inputs} inputs"
    if found.features < 2:
        return (
            "There is one feature only, so that an explainer has nothing to choose, and none can be judged."
        )
    judged = [trial for trial in found.trials if trial.silent < found.inputs]
    if not judged:
        silent = [trial.name for trial in found.trials]
        return f"{_verb(silent, 'names', 'name')} no feature that speaks for the model's answer on {about}."
    if all(trial.reached is None for trial in judged):
        return (
            f"No feature matters here: whatever is taken away or left alone on {about}, the model's answer stays the "
            "same, so that no explanation can be told from a random one."
        )
    if not any(trial.possible for trial in judged):
        return _too_little(found, judged)
    by_sign: dict[Sign, list[Trial]] = {"yes": [], "part": [], "open": [], "no": []}
    for trial in sorted(found.trials, key=lambda trial: -(trial.reached or 0.0)):
        by_sign[trial.sign].append(trial)
    parts = []
    unit = " of the way from random features to the best possible"
    if by_sign["yes"]:
        names = listed([trial.name for trial in by_sign["yes"]])
        they = "it names" if len(by_sign["yes"]) == 1 else "they name"
        parts.append(
            f"Believe {names} for this model: the features that {they} first are what its answers rest on "
            f"({_range(by_sign['yes'])}{unit}, on {about})"
        )
        unit = ""
    if by_sign["part"]:
        what = "it" if parts else "what the answers rest on"
        trials = by_sign["part"]
        parts.append(
            f"{_verb([trial.name for trial in trials], 'names', 'name')} only a part of {what} ({_range(trials)}{unit})"
        )
        unit = ""
    speaking = [trial for trial in by_sign["open"] if trial.silent < found.inputs]
    for trials, one, several in (
        (by_sign["no"], "is no better", "are no better"),
        (
            [trial for trial in speaking if trial.possible],
            "is not shown to be better",
            "are not shown to be better",
        ),
        ([trial for trial in speaking if not trial.possible], "cannot be told from", "cannot be told from"),
    ):
        if trials:
            than = "" if one.endswith("from") else " than"
            parts.append(
                f"{_verb([trial.name for trial in trials], one, several)}{than} random features "
                f"({_range(trials)}{unit})"
            )
            unit = ""
    silent = [trial.name for trial in found.trials if trial.silent == found.inputs]
    if silent:
        parts.append(f"{_verb(silent, 'names', 'name')} no feature")
    if not by_sign["yes"]:
        parts.insert(
            0, f"No explainer here is shown to name all that the model's answers rest on, on {about}"
        )
    return f"{'; '.join(parts)}.{_between(found, by_sign['yes'])}"


def _too_little(found: Findings, judged: Sequence[Trial]) -> str:
    """Why nothing can be shown, and how many inputs it would take."""
    features = f"{found.features:.0f} {'columns' if found.kind == 'table' else 'words'}"
    about = "One input" if found.inputs == 1 else counted(found.inputs, "input")
    smallest = min(trial.smallest for trial in judged)
    # With as many more inputs like these, the smallest p is its power; it has to hold after correction.
    alone = smallest ** (1 / found.inputs)
    needed = ceil(log(ALPHA / len(judged)) / log(alone)) if alone < 1 else None
    more = "" if needed is None else f" Give {max(needed, found.inputs + 1)} inputs or more."
    return (
        f"{about} with {features} cannot show which explainer to believe: a random choice of features would be as good "
        f"as the best in {100 * smallest:.0f}% of cases.{more}"
    )


def _range(trials: Sequence[Trial]) -> str:
    numbers = [round(100 * max(trial.reached or 0.0, 0.0)) for trial in trials]
    low, high = min(numbers), max(numbers)
    return f"{low}%" if low == high else f"{low} to {high}%"


def _verb(names: Sequence[str], one: str, several: str) -> str:
    return f"{listed(names)} {one if len(names) == 1 else several}"


def _between(found: Findings, good: Sequence[Trial]) -> str:
    """Differences between the good ones that survive correction."""
    names = [trial.name for trial in good]
    leads = [lead for lead in found.leads if lead.ahead in names and lead.behind in names]
    if len(names) < 2:
        return ""
    if not leads:
        return " No difference between them is shown."
    ahead = dict.fromkeys(lead.ahead for lead in leads)
    said = [
        f"{name} is ahead of {listed([lead.behind for lead in leads if lead.ahead == name])}"
        for name in ahead
    ]
    return f" {'; '.join(said)}."


def rests_on(found: Findings) -> list[str]:
    """What the verdict rests on and what it does not say, in a few sentences."""
    said = []
    if found.planted is not None:
        said.append(_of_planted(found))
    if found.redundant:
        said.append(
            "A few features are enough for the answer, yet taking a few away hardly changes it: the model has several "
            "reasons that each do, and methods that take one feature away at a time cannot see these."
        )
    partial = [
        trial.name
        for trial in found.trials
        if trial.sign == "part" and trial.enough > 0 and trial.needed <= REDUNDANT * trial.enough
    ]
    if partial:
        said.append(
            f"What {_verb(partial, 'names', 'name')} is enough for the answer but not needed: other features do the "
            "same."
        )
    idle = [
        f"{trial.name} {trial.idle:.0%}"
        for trial in found.trials
        if trial.idle > SOME_IDLE and not trial.control
    ]
    if idle:
        said.append(f"Of the features that are named, so many do nothing for the answer: {listed(idle)}.")
    seeds = [f"{trial.name} {trial.seeds:.0%}" for trial in found.trials if trial.seeds is not None]
    if seeds:
        said.append(f"The same features under other seeds: {listed(seeds)}.")
    greedy = [
        trial.name
        for trial in found.trials
        if trial.name.split("(")[0] in ("greedy", "greedy-path", "omission")
    ]
    if greedy:
        said.append(
            f"{_verb(greedy, 'looks', 'look')} for what changes the answer when it is taken away, which is half of "
            "what is measured here; expect it to do well."
        )
    said.extend(found.notes)
    absent = "columns take the values of reference rows" if found.kind == "table" else "words are left out"
    said.append(
        f"At most {TOP} features of an input, and no more than half of them, were taken away, and left alone "
        f"({absent}), beside as many random ones; such inputs may be unlike any that the model has seen. Whether "
        "people understand an explanation is another question."
    )
    return said


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
    chance = 100 * sum(planted.floor) / len(planted.floor)
    many = len(planted.stains)
    fewer = "" if many >= STAINS else f", of {STAINS} that were tried"
    return (
        f"In copies of the model with {counted(many, 'planted reason')}{fewer}, of at most "
        f"{100 * planted.ceiling:.0f} per cent {listed([f'{name} finds {areas[name]:.0f}' for name in order])}, random "
        f"features {chance:.0f} (area under the recall curve)."
    )
