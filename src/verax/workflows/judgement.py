"""What explainers reached when the features that they name were taken away, and the verdict on that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verax.report.common.verdict import Judged, Reference, Sign, Verdict, verdict_lines
from verax.stats import mean_interval
from verax.stats.thresholds import FEWEST_UNITS
from verax.text import counted, listed, minus

# Features that are taken away.
TOP = 3
# An explanation that reaches so much of the way from chance to the best is close to it.
CLOSE, FAR = 0.8, 0.2
UNSHOWN = "not shown to beat random features"
SILENT = "names no feature"


@dataclass(frozen=True)
class Trial:
    """What one explainer reached, mean over inputs; falls of the probability in points.

    Attributes:
        name: the explainer's.
        fall: when its three features go, or those that it names if they are fewer.
        chance: when as many random ones go.
        best: when those go, as many, that lower it most, found by search.
        seeds: share of its features that other seeds name too; None if it draws nothing.
        others: share of its features that the other explainers name too; None if it is alone.
        falls: of each input.
        beats_chance: whether it is shown to, after correction; None with less than five inputs.
        fewer: inputs of which it names fewer than three features; only these were taken away.
        silent: whether it names no feature of any input.
    """

    name: str
    fall: float
    chance: float
    best: float
    seeds: float | None
    others: float | None
    falls: tuple[float, ...]
    beats_chance: bool | None = None
    fewer: int = 0
    silent: bool = False

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
        # Where some name fewer than three features, the line is drawn for those that name most.
        most = max(self.trials, key=lambda trial: trial.best)
        return Verdict(
            sentence=_sentence(self),
            judged=tuple(judged),
            measure=f"fall of the explained class's probability without the {TOP} features named first, in points",
            rests_on=(*_beside(self), _limits(self.inputs)),
            reference=Reference(f"{TOP} random features", most.chance),
            ends=(
                min(0.0, *(row.estimate or 0.0 for row in judged), *(row.low or 0.0 for row in judged)),
                max(most.best, 1.0, *(row.high or 0.0 for row in judged)),
            ),
        )

    def __str__(self) -> str:
        """The verdict for a terminal."""
        return "\n".join(verdict_lines(self.verdict))


def _judged(trial: Trial) -> Judged:
    reached = trial.reached
    sign: Sign = "open"
    if trial.silent:
        words = SILENT
    elif reached is None:
        words = "no feature matters"
    elif trial.beats_chance is False:
        words = UNSHOWN
    elif reached >= CLOSE:
        sign, words = "yes", f"{reached:.0%} of the way from random to the best"
    elif reached <= FAR:
        sign, words = "no", f"{max(reached, 0.0):.0%} of the way from random to the best"
    else:
        words = f"{reached:.0%} of the way from random to the best"
    low, high = _interval(trial.falls)
    return Judged(trial.name, sign, words, trial.fall, low, high)


def _interval(falls: Sequence[float]) -> tuple[float | None, float | None]:
    """Over inputs, which are the units; none below five of them, or where all fall alike and it would have no width."""
    found = mean_interval(falls)
    if len(falls) < FEWEST_UNITS or not found.spread or found.low is None or found.high is None:
        return None, None
    return max(found.low, -100.0), min(found.high, 100.0)


def _sentence(judgement: Judgement) -> str:
    """One sentence of verdict."""
    rows = {trial.name: _judged(trial) for trial in judgement.trials}
    if all(trial.reached is None for trial in judgement.trials if not trial.silent):
        return "No three features change the model's answer more than others: no explanation can be told from chance."
    parts = []
    good = [name for name, row in rows.items() if row.sign == "yes"]
    bad = [name for name, row in rows.items() if row.sign == "no"]
    unshown = [name for name, row in rows.items() if row.words == UNSHOWN]
    silent = [name for name, row in rows.items() if row.words == SILENT]
    rest = [name for name in rows if name not in (*good, *bad, *unshown, *silent)]
    if good:
        verb = "names" if len(good) == 1 else "name"
        parts.append(
            f"{listed(good)} {verb} what the model uses: without the first {TOP} features its probability falls nearly "
            f"as far as it can ({_span(judgement, good)} points)"
        )
    if rest:
        verb = "names" if len(rest) == 1 else "name"
        # Without the sentence before there is nothing that "it" could be.
        what, unit = ("it", "") if good else ("what the model uses", " points of its probability")
        parts.append(f"{listed(rest)} {verb} a part of {what} ({_span(judgement, rest)}{unit})")
    if bad:
        verb = "does" if len(bad) == 1 else "do"
        above = any(trial.fall > trial.chance for trial in judgement.trials if trial.name in bad)
        better = "hardly better" if above else "no better"
        parts.append(f"{listed(bad)} {verb} {better} than random features ({_span(judgement, bad)})")
    if unshown:
        verb = "is" if len(unshown) == 1 else "are"
        parts.append(f"{listed(unshown)} {verb} {UNSHOWN} ({_span(judgement, unshown)})")
    if silent:
        parts.append(f"{listed(silent)} {'names' if len(silent) == 1 else 'name'} no feature")
    return f"{'; '.join(parts)}."


def _span(judgement: Judgement, names: Sequence[str]) -> str:
    """How far the probability falls, of how far it can: that differs where fewer features were named."""
    by_best: dict[int, list[int]] = {}
    for trial in judgement.trials:
        if trial.name in names:
            by_best.setdefault(round(trial.best), []).append(round(trial.fall))
    parts = [
        f"{falls[0]} of {best}" if min(falls) == max(falls) else f"{min(falls)} to {max(falls)} of {best}"
        for best, falls in by_best.items()
    ]
    return minus(listed(parts))


def _beside(judgement: Judgement) -> list[str]:
    """Agreement over seeds, and with other methods."""
    said = []
    seeds = [f"{trial.name} {trial.seeds:.0%}" for trial in judgement.trials if trial.seeds is not None]
    if seeds:
        said.append(f"The same features under other seeds: {listed(seeds)}.")
    others = [f"{trial.name} {trial.others:.0%}" for trial in judgement.trials if trial.others is not None]
    if others:
        said.append(f"The same features as the other methods: {listed(others)}.")
    for trial in judgement.trials:
        if trial.fewer:
            where = "" if judgement.inputs == 1 else f", for {trial.fewer} of {judgement.inputs} inputs"
            said.append(
                f"{trial.name} names fewer than {TOP} features that speak for the class{where}: only those were taken "
                "away, and compared with as many."
            )
    return said


def _limits(inputs: int) -> str:
    about = "this input" if inputs == 1 else f"these {counted(inputs, 'input')}"
    if inputs < FEWEST_UNITS:
        about += f" (fewer than {FEWEST_UNITS}, so there is no interval)"
    return (
        f"It rests on {about} and on taking features away, which may leave inputs unlike any that the model has seen. "
        "Whether people understand an explanation is another question."
    )
