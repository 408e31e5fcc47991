"""What a verification found, in one sentence per question asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from scipy.special import bdtr

from verax.benchmarks.rationale.findings import (
    PUBLISHED,
    STRICT,
    Group,
    GroupSet,
    RationaleSummary,
    TargetSummary,
)
from verax.benchmarks.rationale.plan import CEILING, FLOOR
from verax.benchmarks.rationale.run import Timing
from verax.benchmarks.rationale.spec import ENOUGH
from verax.reporting.page import short_names
from verax.results.verdict import Judged, Reference, Sign, Verdict
from verax.stats import Difference, Estimate
from verax.stats.tests.multiplicity import holm
from verax.stats.thresholds import ALPHA, FEWEST_UNITS
from verax.text import counted, duration, estimate, listed, p_text, percent

SET_WORDS = {STRICT: "strict inputs", PUBLISHED: "all inputs that the paper keeps"}
# Everybody below this share of misranked inputs: the inputs are too easy to tell explainers apart.
SATURATED = 0.01
# Who errs on fewer texts than this share, by an exact test, is said to err hardly ever.
RARE = 0.03
# Explainers that score a word by deleting it and nothing else, two names of one method.
SINGLE_DELETIONS = ("greedy", "omission")
# What is said of an explainer that is right nearly always, of one that is so on few inputs, and of one that may guess.
HARDLY_EVER, UNSHOWN = "hardly ever errs", "not shown to err less than chance"
NONE_SEEN = "no error seen, on too few inputs to say hardly ever"
CLAIMS = {
    "additive": "contributions that sum to the output, on average around the input",
    "selective": "the words that the model used on this input",
    "none": "nothing",
    "undeclared": "what is not declared",
}


def verdict(summary: RationaleSummary) -> str:
    """The answer in a few sentences: who misranks least, on strict inputs if there are any, and how sure that is."""
    names = short_names(summary.explainers)
    return " ".join(_group_verdict(summary, group, names) for group in summary.groups)


def rationale_verdict(summary: RationaleSummary) -> Verdict:
    """The same with a line for every explainer: the mean over all groups of targets."""
    names = short_names(summary.explainers)
    kind = (
        STRICT
        if summary.groups and all(has_strict(summary, group) for group in summary.groups)
        else PUBLISHED
    )
    sets = [group.sets[kind] for group in summary.groups]
    labels = [label for label in names if sets and all(label in found.explainers for found in sets)]
    tried = compared_explainers(dict.fromkeys(labels))
    # Everything that is said of explainers in one sentence is one family: each has its part of the 5%.
    judged = sorted(
        (_judged(label, names, summary, sets, kind, ALPHA / len(tried)) for label in tried),
        key=lambda row: row.estimate or 0.0,
    )
    floor = [found.explainers[FLOOR].misranked.mean for found in sets if FLOOR in found.explainers]
    return Verdict(
        sentence=_answer(judged, floor, len(summary.targets)),
        judged=tuple(judged),
        measure=f"inputs with a word that does nothing above a clearly relevant one, in per cent of {SET_WORDS[kind]}",
        rests_on=(verdict(summary), *_of_whom(summary, judged), guarantee(summary))
        if summary.targets
        else (),
        reference=Reference("chance, the explainer random", 100 * sum(floor) / len(floor)) if floor else None,
        ends=(0.0, 100.0),
    )


def _of_whom(summary: RationaleSummary, judged: Sequence[Judged]) -> list[str]:
    """Of which models the verdict speaks, and how sure it is."""
    count = len(summary.targets)
    few = max((group.targets for group in summary.groups), default=0) < FEWEST_UNITS
    other = "others, trained on the same data with other seeds, may differ"
    said = f"What is said of each explainer holds for {_these(count)}, whose inputs are a sample: {other}"
    said += f", and fewer than {FEWEST_UNITS} of a kind tell nothing of how much." if few else "."
    rare = (
        f" “Hardly ever” is said where it errs on fewer than {100 * RARE:.0f}% of texts by an exact test; a text "
        "counts as wrong if it is misranked with any of the models."
        if any(row.words in (HARDLY_EVER, NONE_SEEN) for row in judged)
        else ""
    )
    return [f"{said}{rare} All claims on explainers together are false in at most 5% of runs."]


def _these(count: int) -> str:
    words = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    return "this one model" if count == 1 else f"these {words[count - 2] if count <= 12 else count} models"


def _answer(judged: Sequence[Judged], floor: Sequence[float], targets: int) -> str:
    """Who ranks words right that the model does not use, and who does not, in one sentence."""
    chance = f"; chance {100 * sum(floor) / len(floor):.0f}%" if floor else ""
    parts = []
    for words in dict.fromkeys(row.words for row in judged):
        rows = [row for row in judged if row.words == words]
        does, is_or_are = ("ranks", "is") if len(rows) == 1 else ("rank", "are")
        shares = [round(row.estimate or 0.0) for row in rows]
        span = f"{min(shares)}%" if min(shares) == max(shares) else f"{min(shares)}–{max(shares)}%"
        who = listed([row.name for row in rows])
        wrong = f"{does} a word that the model ignores above one that it needs"
        if words == HARDLY_EVER:
            parts.append(f"for {_these(targets)}, {who} hardly ever {wrong} ({span}{chance})")
        elif words == NONE_SEEN:
            ever = "it hardly ever does" if len(rows) == 1 else "they hardly ever do"
            parts.append(f"{who} made no such error, on too few inputs to say that {ever} ({span}{chance})")
        elif words == UNSHOWN:
            parts.append(f"{who} {is_or_are} {UNSHOWN} ({span}{chance})")
        else:
            err = wrong if not parts else "errs" if len(rows) == 1 else "err"
            how = words.removeprefix("errs").replace("less than", "less often than")
            parts.append(f"{who} {err}{how} ({span} of inputs{chance})")
        chance = ""
    if not parts:
        return "No explainer could be scored, so none is judged."
    said = "; ".join(parts)
    # Explainers keep their names as they are.
    return f"{said}." if said.startswith(judged[0].name) else f"{said[0].upper()}{said[1:]}."


def _judged(
    label: str,
    names: Mapping[str, str],
    summary: RationaleSummary,
    sets: Sequence[GroupSet],
    kind: str,
    part: float,
) -> Judged:
    """One explainer: its mean over groups; groups have their own targets, so their errors are independent.

    The interval of the mean has the distance of each end from its estimate, squared and summed (Zou and Donner 2008).
    """
    found = [given.explainers[label].misranked for given in sets]
    mean = sum(each.mean for each in found) / len(found)
    ends = [
        (each.mean - each.low, each.high - each.mean)
        for each in found
        if each.low is not None and each.high is not None
    ]
    below, above = (
        (math.hypot(*side) / len(found) for side in zip(*ends, strict=True))
        if len(ends) == len(found)
        else (None, None)
    )
    sign, words = _against_chance(label, summary, kind, part)
    return Judged(
        names[label],
        sign,
        words,
        100 * mean,
        None if below is None else 100 * max(0.0, mean - below),
        None if above is None else 100 * min(1.0, mean + above),
    )


def _against_chance(label: str, summary: RationaleSummary, kind: str, part: float) -> tuple[Sign, str]:
    """Whether it hardly ever errs, errs less than chance on every target, or not even that.

    One after the other, each only where the one before is shown, so that all have the same ``part`` of the 5%: that it
    errs less than chance on some targets (Holm over targets) or on all of them (each alone), then that it hardly ever
    does, for these very targets.
    """
    p = [
        _less_than_chance(difference, label)
        for target in summary.targets
        for difference in target.sets[kind].differences
        if {label, FLOOR} == {difference.first, difference.second}
    ]
    times = int((holm(p) <= part).sum()) if p else 0
    if p and max(p) <= part:
        texts = summary.texts.get(kind, {}).get(label)
        if texts is not None and bdtr(texts.erred, texts.texts, RARE) <= part:
            return "yes", HARDLY_EVER
        if texts is not None and not texts.erred:
            return "open", NONE_SEEN
        return "open", "errs, but less than chance on every target"
    if not times:
        return "no", UNSHOWN
    return "open", f"errs less than chance on {times} of {counted(len(p), 'target')}"


def _less_than_chance(difference: Difference, label: str) -> float:
    """The exact p of "no less often than random": inputs on which one of the two errs are thrown like a coin."""
    better = difference.wins if difference.first == label else difference.losses
    worse = difference.losses if difference.first == label else difference.wins
    return float(bdtr(worse, better + worse, 0.5)) if better + worse else 1.0


def has_strict(summary: RationaleSummary, group: Group) -> bool:
    """Whether every target of a group has enough strict inputs for a verdict on them."""
    return all(target.sets[STRICT].inputs >= ENOUGH for target in targets_of(summary, group))


def _group_verdict(summary: RationaleSummary, group: Group, names: Mapping[str, str]) -> str:
    kind = STRICT if has_strict(summary, group) else PUBLISHED
    found = group.sets[kind]
    rivals = compared_explainers(found.explainers)
    where = place(group)
    if not rivals:
        return f"On {where}, no explainer could be scored."
    order = sorted(rivals, key=lambda label: found.explainers[label].misranked.mean)
    shares = {label: found.explainers[label].misranked for label in order}
    inputs = "strict inputs" if kind == STRICT else "all inputs that the paper keeps (too few are strict)"
    if shares[order[-1]].mean <= SATURATED:
        said = (
            f"On {where}, all of {listed([names[label] for label in order])} misrank at the most "
            f"{percent(shares[order[-1]].mean)} of {inputs}: these are too easy to tell them apart."
        )
        return said if kind == PUBLISHED else f"{said} {_on_all_inputs(group, names)}"
    best = [label for label in order if shares[label].mean == shares[order[0]].mean]
    others = [f"{names[label]} {percent(shares[label].mean)}" for label in order if label not in best]
    rest = f"; {listed(others)}" if others else ""
    verb = "ranks" if len(best) == 1 else "rank"
    return (
        f"On {where}, {listed([names[label] for label in best])} {verb} a word that does nothing above a clearly "
        f"relevant one least often, in {_in_words(shares[best[0]])}{_values(summary, group, kind, best[0])} of "
        f"{inputs}{rest}. {how_sure(found, best, names, len(summary.groups))}"
    )


def targets_of(summary: RationaleSummary, group: Group) -> list[TargetSummary]:
    """The targets of a group."""
    return [
        target
        for target in summary.targets
        if (target.dataset, target.difficulty) == (group.dataset, group.difficulty)
    ]


def _values(summary: RationaleSummary, group: Group, kind: str, label: str) -> str:
    """The value of each target in parentheses, where they are several and too few for an interval."""
    shares = [
        target.sets[kind].explainers[label].scored.misranked.mean
        for target in targets_of(summary, group)
        if label in target.sets[kind].explainers
    ]
    if not 1 < len(shares) < FEWEST_UNITS:
        return ""
    return f" ({listed([percent(share) for share in shares])} on its {len(shares)} targets)"


def how_sure(found: GroupSet, best: Sequence[str], names: Mapping[str, str], groups: int = 1) -> str:
    """Whether the order is that of one model, of some, or shown; all groups are one family of claims."""
    if found.targets == 1:
        return "One trained model is one observation: another may turn the order round."
    beaten = [
        difference.second if difference.first == best[0] else difference.first
        for difference in found.differences
        if best[0] in (difference.first, difference.second)
        and difference.verdict == ("first" if difference.first == best[0] else "second")
        and groups * (difference.p_holm or 0.0) <= ALPHA
    ]
    if beaten and len(best) == 1:
        return f"Over targets it beats {listed([names[label] for label in beaten])} after Holm's correction."
    times = sum(best[0] in least for least in found.least)
    said = f"It is so in {times} of {found.targets} targets"
    if found.targets < FEWEST_UNITS:
        return f"{said}; a test over targets needs {FEWEST_UNITS} of them, so no order is proven."
    return f"{said}, and no difference survives Holm's correction."


def answers(summary: RationaleSummary, timings: Sequence[Timing]) -> list[tuple[str, str]]:
    """Questions with their answers, in the order of the report."""
    names = short_names(summary.explainers)
    answered = [
        ("Under which claim is a ranking judged?", claim_answer(summary, names)),
        ("Are the targets good models?", target_answer(summary.targets)),
        ("What does an explanation cost?", cost_answer(timings, names)),
        ("Was anything left out?", left_out(summary, names)),
    ]
    return [(question, answer) for question, answer in answered if answer]


def guarantee(summary: RationaleSummary) -> str:
    """How many inputs are strict, and what the others leave open."""
    shares = [target.strict.mean for target in summary.targets]
    if not shares:
        return ""
    low, high = min(shares), max(shares)
    spread = percent(low) if low == high else f"{percent(low)} to {percent(high)}"
    return (
        "On every input that is used, deleting all words that are not selected leaves the output as it is (the paper's "
        f"condition). Of these inputs {spread}, by target, are strict: there no single deletion of such words and "
        "no sampled subset of them changes the output either. On the others an explainer that deletes some words may "
        f"see them matter, and be right; so the strict inputs come first.{_by_definition(summary)}"
    )


def _by_definition(summary: RationaleSummary) -> str:
    """A caution where an explainer asks just what strict inputs were chosen by."""
    names = [label for label in summary.explainers if label.split("(")[0] in SINGLE_DELETIONS]
    if not names:
        return ""
    return (
        f" But {listed(names)} scores a word by deleting it alone, and strict inputs are those where that shows "
        "nothing for words that are not selected: there it can hardly err, whatever its worth. Judge it by all inputs."
    )


def claim_answer(summary: RationaleSummary, names: Mapping[str, str]) -> str:
    """What the scores of each explainer claim, and what they are held to."""
    groups: dict[str, list[str]] = {}
    for label, claim in summary.claims.items():
        if label != CEILING:
            groups.setdefault(claim, []).append(names[label])
    said = [
        f"{listed(labels)} {'claims' if len(labels) == 1 else 'claim'} {CLAIMS[claim]} ({claim})"
        for claim, labels in groups.items()
    ]
    return (
        "As selective: words that the model did not use on this input must rank below those it clearly did. "
        f"{'; '.join(said)}. An additive score may give weight to a word for what it does in other variants of the "
        "input; here that counts as an error, though it breaks no claim of such a method."
    )


def target_answer(targets: Sequence[TargetSummary]) -> str:
    """Accuracy and share of words, from the lowest to the highest."""
    if not targets:
        return ""
    accuracies, shares = [each.accuracy for each in targets], [each.share for each in targets]
    return (
        f"{counted(len(targets), 'target')}: right on {_span(accuracies)} of the test texts, from {_span(shares)} of "
        "their words. The test needs no correct predictions, only known reasons."
    )


def _span(shares: Sequence[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low} to {high}"


def cost_answer(timings: Sequence[Timing], names: Mapping[str, str]) -> str:
    """Median seconds of each explainer over targets."""
    seconds: dict[str, list[float]] = {}
    for timing in timings:
        seconds.setdefault(timing.explainer, []).append(timing.seconds)
    typical = {
        label: sorted(several)[len(several) // 2] for label, several in seconds.items() if label != FLOOR
    }
    shown_costs = [
        f"{names[label]} {duration(each)}" for label, each in sorted(typical.items(), key=lambda one: one[1])
    ]
    return f"In the middle: {listed(shown_costs)}." if shown_costs else ""


def left_out(summary: RationaleSummary, names: Mapping[str, str]) -> str:
    """Targets that could not serve, and explainers that failed."""
    said = [f"{failure.job}: {failure.error.removeprefix('VeraxError: ')}" for failure in summary.failures]
    failed = {names[label] for target in summary.targets for label in target.errors}
    parts = [f"{counted(len(said), 'job')} failed, listed below."] if said else []
    if failed:
        verb, they = ("is", "it") if len(failed) == 1 else ("are", "they")
        parts.append(f"{listed(sorted(failed))} {verb} not scored on targets where {they} failed.")
    return " ".join(parts) or "No."


def _on_all_inputs(group: Group, names: Mapping[str, str]) -> str:
    """How often each errs where a target may change its mind, which strict inputs leave out."""
    found = group.sets[PUBLISHED].explainers
    order = sorted(compared_explainers(found), key=lambda label: found[label].misranked.mean)
    shares = [f"{names[label]} {percent(found[label].misranked.mean)}" for label in order]
    return f"Of {SET_WORDS[PUBLISHED]} the shares are: {listed(shares)}."


def compared_explainers(explainers: Mapping[str, object]) -> list[str]:
    """Everybody but the floor and the ceiling."""
    return [label for label in explainers if label not in (FLOOR, CEILING)]


def place(group: Group) -> str:
    """A group in words."""
    if group.difficulty is None:
        return f"{group.dataset} (given targets)"
    return f"{group.dataset} ({group.difficulty} targets)"


def _in_words(given: Estimate) -> str:
    ends = (
        ""
        if given.low is None or given.high is None
        else f" (95% interval {100 * given.low:.1f} to {100 * given.high:.1f}%)"
    )
    return (percent(given.mean) + ends).replace("-", "−")


def shown(given: Estimate) -> str:
    """A share in per cent, with its interval."""
    return estimate({"mean": given.mean, "low": given.low, "high": given.high})


def compared(difference: Difference, names: Mapping[str, str]) -> tuple[str, str, str, str]:
    """Two explainers, by how much the first is right more often, how sure, and who is ahead."""
    ahead = {"first": difference.first, "second": difference.second}.get(difference.verdict)
    mean = "" if difference.mean is None else f"{100 * difference.mean:+.1f}".replace("-", "−")
    ends = ""
    if difference.low is not None and difference.high is not None:
        ends = f" [{100 * difference.low:.1f}, {100 * difference.high:.1f}]".replace("-", "−")
    return (
        f"{names[difference.first]} and {names[difference.second]}",
        mean + ends,
        p_text(difference.p_holm),
        names[ahead] if ahead else "",
    )
