"""How often a staining run claims what is not so, holds the truth, and finds what is there, by simulation.

    python perf/calibration_staining.py            # some ten minutes; a Markdown table
    python perf/calibration_staining.py --quick    # a minute or two, with fewer runs

Areas of every stain, model and explainer are drawn; from there on everything is the real thing: results of trials, the
summary, the verdict, whose sentence is read. The generator is not the estimators' own: areas are cut at the ceiling (0.95
with two words), so that explainers tie there, as they do in real runs, and their spread is that of such runs (planted stains in
film reviews: differences between two explainers have a standard deviation of 0.04 to 0.09 over stains with a tree).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np

from calibration_rows import Row
from verax.benchmarks.staining.estimates import summarise
from verax.benchmarks.staining.findings import StainSummary
from verax.benchmarks.staining.plan import Plan, make_plan
from verax.benchmarks.staining.scores import BUDGETS, Checks, Scores, StainFacts, TrialResult
from verax.benchmarks.staining.spec import StainSpec
from verax.reporting.staining.verdict import staining_verdict
from verax.results.verdict import Verdict
from verax.run.jobs import Outcome

FIVE = ("logistic", "tree", "forest", "xgboost", "mlp")
EQUAL = ("first", "second", "third")
FLOOR = "random"
CEILING = 0.95
POSSIBLE = np.minimum(1.0, np.array(BUDGETS) / 2)

Areas = Callable[[np.random.Generator, list[tuple[str, ...]], int], dict[str, np.ndarray]]


@dataclass(frozen=True)
class Setting:
    """What is simulated: which stains, how many models, and how areas come about.

    Attributes:
        areas: from stains and a number of models to the areas of each explainer, (stains, models).
        stains: how many are drawn.
        words: from how many words pairs are drawn; None plants stains that share none.
        models: that share the stains.
    """

    areas: Areas
    stains: int = 20
    words: int | None = None
    models: int = 5


@dataclass(frozen=True)
class Spreads:
    """Equal explainers but for a shift: standard deviations of what an area is made of.

    Attributes:
        word: of a word's effect on one explainer; a stain has two.
        stain: of a stain's own effect on one explainer.
        alike: the part of these two that is the same with all models; in real runs differences between explainers hardly go
            together over models.
        noise: of one explainer, stain and model.
        common: of a stain's effect on all explainers.
        levels: of the models, before the cut at the ceiling.
        shift: added to the first explainer.
    """

    word: float = 0.03
    stain: float = 0.03
    alike: float = 0.3
    noise: float = 0.03
    common: float = 0.03
    levels: tuple[float, ...] = (0.93, 0.80, 0.90, 0.94, 0.86)
    shift: float = 0.0

    def __call__(
        self, rng: np.random.Generator, stains: list[tuple[str, ...]], models: int
    ) -> dict[str, np.ndarray]:
        words = sorted({word for stain in stains for word in stain})
        member = np.array([[word in stain for word in words] for stain in stains], dtype=float)
        level = np.array(self.levels[:models]) + rng.normal(0, self.common, (len(stains), 1))
        found = {}
        for label in EQUAL:
            own = member @ self._effects(rng, self.word, len(words), models)
            own += self._effects(rng, self.stain, len(stains), models)
            noise = rng.normal(0, self.noise, (len(stains), models))
            found[label] = np.clip(level + own + noise + self.shift * (label == EQUAL[0]), 0, CEILING)
        return found | {FLOOR: floor(rng, len(stains), models)}

    def _effects(self, rng: np.random.Generator, size: float, things: int, models: int) -> np.ndarray:
        """(things, models): a part of each effect is the same with all models."""
        same, other = rng.normal(0, size, (things, 1)), rng.normal(0, size, (things, models))
        return self.alike**0.5 * same + (1 - self.alike) ** 0.5 * other


def floor(rng: np.random.Generator, stains: int, models: int) -> np.ndarray:
    """The areas of random orders, which are the same with all models: they get the same inputs and seeds."""
    return np.repeat(np.clip(rng.normal(0.33, 0.07, (stains, 1)), 0.05, 0.9), models, axis=1)


def at_chance(rng: np.random.Generator, stains: list[tuple[str, ...]], models: int) -> dict[str, np.ndarray]:
    """Explainers that do as random does, each with its own luck, much of it the same with all models."""
    found = {}
    for label in EQUAL:
        shared = rng.normal(0, 0.05, (len(stains), 1)) + rng.normal(0, 0.05, (len(stains), models))
        found[label] = np.clip(0.33 + shared, 0.02, 0.9)
    return found | {FLOOR: floor(rng, len(stains), models)}


@dataclass(frozen=True)
class Failing:
    """Explainers that are right but for a few words, on which they fail with all models.

    Attributes:
        share: of words on which an explainer fails.
        only_first: the others never fail and are lower everywhere, so that the means are equal.
    """

    share: float = 0.12
    only_first: bool = False

    def __call__(
        self, rng: np.random.Generator, stains: list[tuple[str, ...]], models: int
    ) -> dict[str, np.ndarray]:
        words = sorted({word for stain in stains for word in stain})
        found = {}
        for label in EQUAL:
            noise = rng.normal(0, 0.03, (len(stains), models))
            if self.only_first and label != EQUAL[0]:
                level = np.full(len(stains), 0.9 - 0.3 * (1 - (1 - self.share) ** 2))
            else:
                fails = {word for word in words if rng.random() < self.share}
                level = np.array([0.6 if fails & set(stain) else 0.9 for stain in stains])
            found[label] = np.clip(level[:, None] + noise, 0, CEILING)
        return found | {FLOOR: floor(rng, len(stains), models)}


def drawn_stains(rng: np.random.Generator, setting: Setting) -> list[tuple[str, ...]]:
    """The words of each stain: pairs drawn with replacement, as runs draw them, or pairs of their own."""
    if setting.words is None:
        return [(f"w{2 * number}", f"w{2 * number + 1}") for number in range(setting.stains)]
    pairs = list(combinations([f"w{place}" for place in range(setting.words)], 2))
    return [pairs[place] for place in rng.integers(0, len(pairs), setting.stains)]


@cache
def texts() -> tempfile.TemporaryDirectory[str]:
    """A folder with a few texts, until the process ends: a run has a dataset, and nothing of it is used here."""
    folder = tempfile.TemporaryDirectory()
    rng = np.random.default_rng(0)
    lines = [
        " ".join(rng.choice(["aa", "bb", "cc", "dd", "ee", "ff"], 3)) + f",{line % 2}" for line in range(200)
    ]
    (Path(folder.name) / "texts.csv").write_text("\n".join(["text,label", *lines]), encoding="utf-8")
    return folder


@cache
def plan_of(stains: int, models: int) -> Plan:
    """The plan of such a run."""
    spec = StainSpec(
        datasets=[str(Path(texts().name) / "texts.csv")],
        models=list(FIVE[:models]),
        explainers=list(EQUAL),
        stains=stains,
        plant=False,
        min_region=1,
        min_flipped=1,
    )
    return make_plan(spec, [(label, FLOOR, {"seed": seed}) for seed, label in enumerate((*EQUAL, FLOOR))])


def simulate(rng: np.random.Generator, setting: Setting) -> StainSummary:
    """One run: what its trials would have given, summed up by the real code."""
    plan = plan_of(setting.stains, setting.models)
    stains = drawn_stains(rng, setting)
    distinct = list(dict.fromkeys(stains))
    areas = setting.areas(rng, distinct, setting.models)
    place_of = {stain: place for place, stain in enumerate(distinct)}
    results = []
    for trial in plan.trials:
        place, model = place_of[stains[trial.stain]], FIVE.index(trial.model)
        scores = {label: one_score(rng, values[place, model], label) for label, values in areas.items()}
        results.append((trial, trial_result(stains[trial.stain], scores)))
    none = {job.key: Outcome(job.key, job.name, None, "not run", 0.0, 0, "", "") for job in plan.jobs}
    return summarise(plan, none, results)


def trial_result(stain: tuple[str, ...], scores: dict[str, Scores]) -> TrialResult:
    """A trial whose model has learnt its stain."""
    rule = {"label": 1, "literals": [{"feature": word} for word in stain]}
    facts = StainFacts([rule], " and ".join(stain), {})
    return TrialResult(facts, [0], Checks(1.0, 0.5, 0.9, 1.0), 0.0, True, [0], list(stain), scores)


def one_score(rng: np.random.Generator, area: float, label: str) -> Scores:
    """A recall curve with this area, and a reciprocal rank that goes with it."""
    share = area / CEILING
    wobble = 0.02 * rng.normal() if label != FLOOR else 0.0
    return Scores(
        [(POSSIBLE * share).tolist()], [0.75 * float(np.clip(share**2 + wobble, 0, 1))], [10], [100], 0.0, []
    )


def compares(verdict: Verdict) -> bool:
    """Whether the sentence says that some explainer leads or is behind somewhere."""
    return " leads" in verdict.sentence or " behind" in verdict.sentence


def speaks_of_chance(verdict: Verdict) -> bool:
    """Whether some explainer is said to beat chance, or to be worse, with some model."""
    return any(
        row.words in ("finds them", "worse than chance") or row.words.startswith("beats")
        for row in verdict.judged
    )


def rate(setting: Setting, happens: Callable[[StainSummary], float], runs: int, seed: int) -> float:
    """In how many per cent of runs something happens, or the mean of what is counted in each."""
    return 100 * float(
        np.mean([happens(simulate(np.random.default_rng([seed, run]), setting)) for run in range(runs)])
    )


def said(what: Callable[[Verdict], bool]) -> Callable[[StainSummary], float]:
    """Of the verdict on a summary."""
    return lambda summary: float(what(staining_verdict(summary)))


def most(runs: int, promised: float = 5.0) -> float:
    """The highest rate that chance explains where so much is promised: two standard errors above it."""
    return round(promised + 2 * (promised * (100 - promised) / runs) ** 0.5, 1)


def least(runs: int, promised: float) -> float:
    """The lowest rate that chance explains where so much is promised."""
    return round(100 - most(runs, 100 - promised), 1)


def headline(setting: Setting, what: str, runs: int, seed: int) -> Row:
    """Equal explainers: the sentence says that one of them leads or is behind."""
    claim = f"staining, {what}: the headline says that some explainer leads or is behind"
    return Row(claim, "5% at the most", rate(setting, said(compares), runs, seed), runs, 0.0, most(runs))


def headlines(runs: int) -> list[Row]:
    """Three equal explainers over five models, and one model."""
    mixed, by_word = Spreads(), Spreads(word=0.05, stain=0.02)
    return [
        headline(Setting(mixed), "five models, three equal explainers, 20 planted stains", runs, 1),
        headline(Setting(mixed, 6), "the same, 6 planted stains", runs, 2),
        headline(
            Setting(by_word, words=9), "five models, three equal explainers, 20 stains of nine words", runs, 3
        ),
        headline(Setting(by_word, 10, 9), "the same, 10 stains of nine words", runs, 4),
        headline(Setting(by_word, 60, 9), "the same, 60 draws of nine words", runs, 5),
        headline(
            Setting(by_word, words=9, models=1),
            "one model, three equal explainers, 20 stains of nine words",
            runs,
            6,
        ),
        headline(
            Setting(Failing(), words=9),
            "five models, explainers that each fail on few of nine words, 20 stains",
            runs,
            7,
        ),
        headline(
            Setting(Failing()),
            "five models, explainers that each fail on few words, 20 planted stains",
            runs,
            8,
        ),
    ]


def against_chance(runs: int) -> list[Row]:
    """Explainers that are no better than random."""
    rows = []
    for setting, what, seed in (
        (Setting(at_chance), "20 planted stains", 11),
        (Setting(at_chance, 6), "6 planted stains", 12),
        (Setting(at_chance, words=9), "20 stains of nine words", 13),
    ):
        claim = f"staining, five models, explainers no better than random, {what}: some is said to beat chance or to be worse"
        rows.append(
            Row(
                claim,
                "5% at the most",
                rate(setting, said(speaks_of_chance), runs, seed),
                runs,
                0.0,
                most(runs),
            )
        )
    return rows


def two_explainers(runs: int) -> list[Row]:
    """The test of one difference alone, not corrected."""

    def claimed(summary: StainSummary) -> float:
        found = [
            each
            for each in summary.pairs[0].differences["auc"]
            if {each.first, each.second} == set(EQUAL[:2])
        ]
        return float(found[0].p is not None and found[0].p <= 0.05)

    rows = []
    for areas, how in (
        (Spreads(word=0.05, stain=0.02), "equal explainers"),
        (Failing(), "that each fail on few words"),
    ):
        for draws in (10, 20):
            claim = f"staining, one difference between two explainers ({how}), {draws} draws of nine words: p ≤ .05, not corrected"
            measured = rate(Setting(areas, draws, 9, 1), claimed, runs, 20 + draws)
            rows.append(Row(claim, "5% at the most", measured, runs, 0.0, most(runs)))
    return rows


def friedman(runs: int) -> list[Row]:
    """A p of all ranks at once, where the summary has one."""

    def claimed(summary: StainSummary) -> float:
        p = getattr(summary.ranks, "p", None)
        return float(p is not None and p <= 0.05)

    claim = "staining, five models, three equal explainers: a test of average ranks is significant"
    return [Row(claim, "no such test", rate(Setting(Spreads()), claimed, runs, 31), runs, 0.0, 0.0)]


def coverage(runs: int) -> list[Row]:
    """The verdict's interval of one explainer, mean over five models."""
    rows = []
    for setting, what, seed in (
        (Setting(Spreads()), "20 planted stains", 41),
        (Setting(Spreads(), 6), "6 planted stains", 42),
        (Setting(Spreads(word=0.05, stain=0.02), words=9), "20 stains of nine words", 43),
    ):
        rng, many = np.random.default_rng(seed), [(f"a{number}", f"b{number}") for number in range(200)]
        truth = 100 * float(np.mean([setting.areas(rng, many, setting.models)[EQUAL[0]] for _ in range(500)]))

        def holds(summary: StainSummary, truth: float = truth) -> float:
            (row,) = [row for row in staining_verdict(summary).judged if row.name == EQUAL[0]]
            return float(row.low is not None and row.high is not None and row.low <= truth <= row.high)

        claim = f"staining, the verdict's interval holds an explainer's mean over five models, {what}"
        rows.append(
            Row(claim, "95% or more", rate(setting, holds, runs, seed), runs, 95 - (most(runs) - 5), 100.0)
        )
    return rows


def power(runs: int) -> list[Row]:
    """True differences: said of how many of the models."""
    ten = Spreads(word=0.03, stain=0.04, noise=0.04, levels=(0.72, 0.66, 0.70, 0.74, 0.68), shift=0.1)

    def leads(summary: StainSummary) -> float:
        return sum(_leads(summary, model) for model in summary.spec.models) / len(summary.spec.models)

    def finds(summary: StainSummary) -> float:
        return float(all(row.words == "finds them" for row in staining_verdict(summary).judged))

    rows = []
    for setting, what, low in (
        (Setting(ten, models=1), "one model, 20 planted stains", 80.0),
        (Setting(ten), "each of five models, 20 planted stains", 80.0),
        (Setting(ten, words=9), "each of five models, 20 stains of nine words", 0.0),
    ):
        claim = f"staining, ten points ahead of two others: said to lead, {what}"
        promised = "80% or more" if low else "nothing"
        rows.append(Row(claim, promised, rate(setting, leads, runs, 51), runs, least(runs, low), 100.0))
    for stains, words, low in ((6, None, 75.0), (20, None, 95.0), (20, 9, 80.0)):
        what = f"{stains} planted stains" if words is None else f"{stains} draws of nine words"
        claim = f"staining, three explainers that find the reasons with five models: all said to, {what}"
        measured = rate(Setting(Spreads(), stains, words), finds, runs, 52)
        rows.append(Row(claim, f"{low:g}% or more", measured, runs, least(runs, low), 100.0))
    return rows


def _leads(summary: StainSummary, model: str) -> bool:
    """Whether the first explainer beats both others with this model, after correction."""
    (pair,) = [pair for pair in summary.pairs if pair.model == model]
    ahead = [each for each in pair.differences["auc"] if EQUAL[0] in (each.first, each.second)]
    ahead = [each for each in ahead if FLOOR not in (each.first, each.second)]
    return all(each.verdict == ("first" if each.first == EQUAL[0] else "second") for each in ahead)


def beyond(runs: int) -> list[Row]:
    """What no test can know: words that were not drawn."""
    claim = (
        "staining, five models, the first fails on few words, the others are lower everywhere, equal means over all words, "
        "20 stains of nine words: the headline says that some explainer leads or is behind"
    )
    measured = rate(Setting(Failing(only_first=True), words=9), said(compares), runs, 61)
    return [Row(claim, "nothing: true of the words drawn", measured, runs, 0.0, 100.0)]


def rows(quick: bool) -> list[Row]:
    """All rows; quick ones rest on fewer runs, and their bands are wider."""
    runs = 60 if quick else 400
    groups: Sequence[Callable[[int], list[Row]]] = (
        headlines, against_chance, two_explainers, friedman, coverage, power, beyond,
    )  # fmt: skip
    return [row for group in groups for row in group(runs)]


def markdown(found: Sequence[Row]) -> str:
    """The rows as a Markdown table; what leaves its band is bold."""
    lines = ["| claim | promised | measured | runs | band |", "|---|---|---|---|---|"]
    for row in found:
        mark = "" if row.low <= row.measured <= row.high else "**"
        measured = f"{mark}{row.measured:.1f}%{mark}"
        lines.append(
            f"| {row.claim} | {row.promised} | {measured} | {row.runs:,} | {row.low:g} to {row.high:g}% |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    print(markdown(rows(parser.parse_args().quick)))


if __name__ == "__main__":
    main()
