"""Rationale models: how often the interval over targets holds the truth, and how often 'hardly ever errs' is said.

Targets are not drawn as any estimator supposes: most are nearly free of errors, and some, each with its own share, are
bad; or errors come in a few kinds of texts that some targets get wrong altogether. Texts are shared by targets.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from calibration_rows import Row
from verax.benchmarks.rationale.estimates import _over_targets
from verax.benchmarks.rationale.findings import (
    SETS,
    ExplainerErrors,
    Group,
    GroupSet,
    OnInputs,
    RationaleSummary,
    TargetSet,
    TargetSummary,
)
from verax.benchmarks.rationale.rankings import TestSet
from verax.benchmarks.rationale.spec import RationaleSpec
from verax.reporting.rationale.verdict import rationale_verdict
from verax.stats import binomial_share, paired_differences

SEED = 7302
INPUTS = 100
RARE = 0.03


def target_rates(rng: np.random.Generator, bad: float, worst: float, targets: int) -> np.ndarray:
    """True shares of misranked inputs: near 0 for most targets, up to ``worst`` for a bad one."""
    near = 0.01 * rng.random(targets) ** 2
    return np.where(rng.random(targets) < bad, worst * rng.uniform(0.5, 1.0, targets), near)


def true_mean(bad: float, worst: float) -> float:
    """The mean over all such targets."""
    return (1 - bad) * 0.01 / 3 + bad * worst * 0.75


def coverage(targets: int, bad: float, worst: float, runs: int) -> tuple[float, float]:
    """Of so many runs, in per cent: in how many an interval is shown, and in how many one is shown and misses."""
    rng = np.random.default_rng([SEED, targets, round(100 * worst)])
    shown = missed = 0
    for _ in range(runs):
        shares = rng.binomial(INPUTS, target_rates(rng, bad, worst, targets)) / INPUTS
        found = _over_targets("misranked", shares.tolist())
        if found.low is not None and found.high is not None:
            shown += 1
            missed += not found.low <= true_mean(bad, worst) <= found.high
    return 100 * shown / runs, 100 * missed / runs


def summary_of(wrong: dict[str, np.ndarray]) -> RationaleSummary:
    """The summary of a run from errors by explainer, (targets, texts); all targets have the same texts."""
    targets, texts = next(iter(wrong.values())).shape
    made = []
    for target in range(targets):
        own = {label: errors[target].astype(float) for label, errors in wrong.items()}
        right = {label: dict(enumerate((1 - each).tolist())) for label, each in own.items()}
        found = {
            label: OnInputs(ExplainerErrors(*[binomial_share(each)] * 4), 0, ())
            for label, each in own.items()
        }
        given = TargetSet(texts, found, tuple(paired_differences(right)))
        sizes = TestSet(texts, 0, 0, texts, None, None, None, None, 0.0, 0.0, 0.0)
        made.append(
            TargetSummary(
                "films", str(target), "easy", target, 0.8, None, 0.3, sizes, binomial_share([1] * texts),
                dict.fromkeys(SETS, given), {}, {}, (),
            )
        )  # fmt: skip
    means = {
        label: ExplainerErrors(*[_over_targets("misranked", each.mean(axis=1).tolist())] * 4)
        for label, each in wrong.items()
    }
    group = Group("films", "easy", targets, dict.fromkeys(SETS, GroupSet(targets, means, (), ())))
    summary = RationaleSummary(RationaleSpec(), tuple(wrong), {}, {}, tuple(made), (group,), ())
    try:
        from verax.benchmarks.rationale.findings import Texts
    except ImportError:  # sources of before, which are measured too
        return summary
    counted = {label: Texts(texts, int(each.any(axis=0).sum())) for label, each in wrong.items()}
    return RationaleSummary(**{**vars(summary), "texts": dict.fromkeys(SETS, counted)})


def hardly_ever(rate: float, explainers: int, spread: str, runs: int, inputs: int = INPUTS) -> float:
    """In how many of so many runs, in per cent, some explainer whose true share is ``rate`` 'hardly ever errs'."""
    rng = np.random.default_rng([SEED, round(1000 * rate), explainers, len(spread)])
    said = 0
    for _ in range(runs):
        wrong, true = {}, {}
        for number in range(explainers):
            rates = np.full(3, rate)
            if (
                spread == "targets" and rng.random() < 0.5
            ):  # one target is bad, and the others are better than that
                rates = rng.permutation([rate / 4, rate / 4, 2.5 * rate])
            # A text may be hard for all targets or for none.
            draws = (
                np.repeat(rng.random((1, inputs)), 3, axis=0)
                if spread == "texts"
                else rng.random((3, inputs))
            )
            wrong[f"method{number}"], true[f"method{number}"] = draws < rates[:, None], rates.mean()
        verdict = rationale_verdict(summary_of(wrong | {"random": rng.random((3, inputs)) < 0.9}))
        # A claim about these targets is false where their own mean is at the threshold or above it.
        said += any(row.sign == "yes" and true[row.name] >= RARE - 1e-9 for row in verdict.judged)
    return 100 * said / runs


def error_of(rate: float, runs: int) -> float:
    """Three standard errors of a rate, both in per cent."""
    return 3 * sqrt(rate * (100 - rate) / runs)


def rows(quick: bool) -> list[Row]:
    """Each claim of a verification, in simulated runs."""
    runs = 400 if quick else 2000
    made = []
    for targets, bad, worst in ((3, 0.1, 0.3), (5, 0.2, 0.3), (5, 0.2, 1.0), (10, 0.1, 1.0)):
        _, missed = coverage(targets, bad, worst, runs)
        made.append(
            Row(
                f"rationale: interval over {targets} targets near 0 misses the truth, one in {round(1 / bad)} bad (up to "
                f"{worst:.0%} of inputs)",
                "none shown" if targets < 5 else "at most 5%",
                missed,
                runs,
                0.0,
                0.0 if targets < 5 else 5 + error_of(5, runs),
            )
        )
    settings = [
        (1, "inputs", 20),
        (4, "inputs", 20),
        (4, "inputs", 100),
        (1, "texts", 100),
        (4, "texts", 150),
        (1, "targets", 100),
    ]
    for explainers, spread, inputs in settings:
        several = runs // 4
        what = {"inputs": "errors by input", "texts": "hard texts", "targets": "some targets bad"}[spread]
        made.append(
            Row(
                f"rationale: 'hardly ever errs' said at a true 3%, {explainers} explainer{'s' * (explainers > 1)}, three "
                f"targets of {inputs} inputs, {what}",
                "at most 5% in all",
                hardly_ever(0.03, explainers, spread, several, inputs),
                several,
                0.0,
                5 + error_of(5, several),
            )
        )
    several = runs // 4
    made.append(
        Row(
            "rationale: 'hardly ever errs' said at a true 0.3%, one explainer, three targets of 100 inputs (power)",
            "at least 80%",
            _power(several),
            several,
            80 - error_of(80, several),
            100.0,
        )
    )
    return made


def _power(runs: int) -> float:
    rng = np.random.default_rng(SEED)
    said = 0
    for _ in range(runs):
        # Targets have texts of their own: each text is one of three hundred.
        wrong = {"method0": rng.random((1, 3 * INPUTS)) < 0.003, "random": rng.random((1, 3 * INPUTS)) < 0.9}
        said += rationale_verdict(summary_of(wrong)).judged[0].sign == "yes"
    return 100 * said / runs
