"""The defaults where they could mislead: unequal variances, stains that share words, shares near 1, one person less.

    .venv/bin/python perf/defaults.py            # some minutes; writes four tables into docs/results/calibration/
    .venv/bin/python perf/defaults.py --studies 200

Scores are bounded and not normal: people answer right or wrong (`verax.stats.power`), and a stain's score is
the share of 50 inputs, whose log-odds come from the stain's words and from itself.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import stats

from csv_tables import tables_of, write_table
from verax.stats import mean_interval, mean_share, sharing, spread_of_mean
from verax.stats.crossed import claims
from verax.stats.crossed.claims import Stratum, components
from verax.stats.power import Design, Spreads, simulate

OUT = Path(__file__).resolve().parents[1] / "docs" / "results" / "calibration"
ITEMS, INPUTS = 32, 50
# People per condition, the last is the control; and in which of them people vary more in what they gain (.9 against .2).
GROUPS = (
    ((4,) * 5, 0),
    ((6,) * 5, 0),
    ((8,) * 5, 4),
    ((9,) * 5, 0),
    ((9, 30, 30, 30, 30), 0),
    ((6, 40), 0),
    ((4, 40), 0),
    ((40, 9), 0),
    ((40, 40), 0),
)
WORDS = ((9, 35), (9, 16), (60, 20))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    started = time.perf_counter()
    parts = {
        "variances.csv": variances(options.studies),
        "one-person-less.csv": jumps(options.studies),
        "stain-means.csv": words(options.studies),
        "shares.csv": shares(options.studies),
    }
    for name, text in parts.items():
        print(text, end="\n\n")
        write_table(options.out / name, tables_of(text)[0])
    print(f"{options.studies:,} runs a line, {(time.perf_counter() - started) / 60:.0f} minutes")
    print(options.out)


def drawn(counts, who, studies, seed):
    """Studies without any effect where the people of one condition vary more."""
    gains = tuple(0.9 if place == who else 0.2 for place in range(len(counts)))
    return simulate(Design(counts, ITEMS), 0.0, Spreads(person_change=gains), studies, seed)


def in_groups(counts, who, studies, seed):
    """The same, some at a time: it bounds memory."""
    for start in range(0, studies, 100):
        yield drawn(counts, who, min(100, studies - start), np.random.SeedSequence([seed, start]))


def parts_of(found):
    return components(
        [Stratum(np.arange(len(found.method)), found.change)], found.method, int(found.method.max()) + 1
    )


def variances(studies) -> str:
    rows = []
    for number, (counts, who) in enumerate(GROUPS):
        claimed = {"pooled": [], "own": []}
        missed = {"pooled": [], "own": []}
        for found in in_groups(counts, who, studies, number):
            parts = parts_of(found)
            first = who if who < len(counts) - 1 else 0
            for variance in ("pooled", "own"):
                claim = claims.contrast(parts, first, len(counts) - 1, variance=variance)
                claimed[variance].append(claim.p <= 0.05)
                alone = claims.change(parts, who, variance=variance)
                low, high = alone.interval()
                missed[variance].append(~((low <= 0) & (high >= 0)))
        few = min(counts[first], counts[-1]) < 6
        shown = [100 * np.concatenate(claimed[name]).mean() for name in ("pooled", "own")]
        cover = [100 - 100 * np.concatenate(missed[name]).mean() for name in ("pooled", "own")]
        who_varies = "the control" if who == len(counts) - 1 else "the first"
        size = (
            " x ".join((str(len(counts)), str(counts[0])))
            if len(set(counts)) == 1
            else ", ".join(map(str, counts))
        )
        rows.append(
            f"| {size}; {who_varies} | {shown[0]:.1f} | {shown[1]:.1f}{' (no claim is made)' if few else ''} | "
            f"{cover[0]:.1f} | {cover[1]:.1f} |"
        )
    return "\n".join(
        [
            "People of one condition vary more in what they gain; no effect; false claims of its contrast with the control "
            "(5 promised), and coverage of its Change (95 promised). Own variances are the default:",
            "",
            "| people per condition; who varies more | pooled, false claims | own, false claims | pooled, coverage | own, "
            "coverage |",
            "|---|---|---|---|---|",
            *rows,
        ]
    )


def jumps(studies) -> str:
    """One person of an uninvolved condition is left out: does the verdict on the first contrast turn?"""
    rows = []
    for number, (counts, who) in enumerate((((10, 10, 10), 0), ((10, 10, 10), None))):
        turned = {"switch at ten": 0, "own": 0}
        many = 0
        for found in in_groups(counts, -1 if who is None else who, studies, 50 + number):
            whole = parts_of(found)
            keep = np.arange(len(found.method)) != 10  # the first person of the second condition
            change = found.change[:, keep]
            fewer = components([Stratum(np.arange(keep.sum()), change)], found.method[keep], 3)
            for name, before, after in (("switch at ten", "own", "pooled"), ("own", "own", "own")):
                p = [
                    claims.contrast(part, 0, 2, variance=how).p
                    for part, how in ((whole, before), (fewer, after))
                ]
                turned[name] += int(((p[0] <= 0.05) != (p[1] <= 0.05)).sum())
            many += len(found.change)
        label = "variances equal" if who is None else "the first varies more"
        rows.append(
            f"| {label} | {100 * turned['switch at ten'] / many:.1f} | {100 * turned['own'] / many:.1f} |"
        )
    return "\n".join(
        [
            "Leaving out one of ten people of a condition that is not compared turns the verdict (p at most .05 or not) on the "
            "other two conditions:",
            "",
            "| 3 x 10 people | pooled below ten people | own, always |",
            "|---|---|---|",
            *rows,
        ]
    )


def stain_scores(rng, chosen, n_words, carried):
    """Shares of 50 inputs; words carry so much of the variance of the log-odds."""
    effect = rng.normal(0, np.sqrt(carried / 2), n_words)
    logit = 1.5 + effect[chosen].sum(axis=1) + rng.normal(0, np.sqrt(1 - carried), len(chosen))
    return rng.binomial(INPUTS, 1 / (1 + np.exp(-logit))) / INPUTS


def holds(estimate, truth) -> bool:
    """Whether an interval holds the truth; where there is none it does not."""
    return estimate.low is not None and estimate.low <= truth <= estimate.high


def words(studies) -> str:
    truth = float((1 / (1 + np.exp(-np.random.default_rng(0).normal(1.5, 1.0, 4_000_000)))).mean())
    rows, worst = [], 0.0
    for n_words, stains in WORDS:
        pairs = np.array(list(combinations(range(n_words), 2)))
        for carried in (0.0, 0.3, 0.6, 0.9):
            rng = np.random.default_rng([n_words, stains, int(10 * carried)])
            held = np.zeros(3)
            differs = np.zeros(2)
            for _ in range(studies):
                chosen = pairs[rng.choice(len(pairs), stains, replace=False)]
                shared = sharing(chosen.tolist())
                values = stain_scores(rng, chosen, n_words, carried)
                usual, share = mean_interval(values), mean_share(values, shared)
                spread = spread_of_mean(values, shared)
                margin = stats.t.ppf(0.975, spread.df) * np.sqrt(spread.variance or 0.0)
                held += (
                    holds(usual, truth),
                    abs(values.mean() - truth) <= margin,
                    holds(share, truth),
                )
                other = values - stain_scores(rng, chosen, n_words, carried)
                apart = spread_of_mean(other, shared)
                plain = other.std(ddof=1) / np.sqrt(stains)
                differs += (
                    abs(other.mean()) > stats.t.ppf(0.975, stains - 1) * plain,
                    abs(other.mean()) > stats.t.ppf(0.975, apart.df) * np.sqrt(apart.variance),
                )
            shown = [f"{100 * number / studies:.1f}" for number in (*held, *differs)]
            worst = max(worst, 100 * differs[1] / studies)
            rows.append(f"| {stains} stains of {n_words} words, {carried:g} | " + " | ".join(shown) + " |")
    return "\n".join(
        [
            "Stains of two words each; words carry a part of the variance between stains. Coverage of the mean (95 promised), "
            "and false claims of a difference of two methods whose words' effects are drawn apart (5 promised):",
            "",
            "| stains, part that words carry | t over stains, coverage | t, words known, coverage | **Korn-Graubard, words "
            "known** (the default), coverage | t over stains, false claims | **t, words known** (the default), false claims |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            f"The default is not exact: differences are claimed falsely in up to {worst:.1f}% where words carry most of the "
            "variance, since few words tell badly how much they vary.",
        ]
    )


def shares(studies) -> str:
    kinds = {
        "Beta(20, 1)": (lambda rng, k: rng.beta(20, 1, k), 20 / 21),
        "Beta(6, .6)": (lambda rng, k: rng.beta(6, 0.6, k), 6 / 6.6),
        "80% at .998, 20% Beta(8, 2)": (
            lambda rng, k: np.where(rng.random(k) < 0.8, 0.998, rng.beta(8, 2, k)),
            0.8 * 0.998 + 0.2 * 0.8,
        ),
        "Beta(3, 3)": (lambda rng, k: rng.beta(3, 3, k), 0.5),
    }
    rows = []
    for number, (name, (draw, truth)) in enumerate(kinds.items()):
        for units in (5, 16):
            rng = np.random.default_rng([number, units])
            held, outside = np.zeros(2), 0
            for _ in range(studies):
                values = rng.binomial(INPUTS, draw(rng, units)) / INPUTS
                usual, share = mean_interval(values), mean_share(values)
                held += (holds(usual, truth), holds(share, truth))
                outside += usual.low is not None and (usual.low < 0 or usual.high > 1)
            rows.append(
                f"| {units} stains, {name} | {100 * held[0] / studies:.1f} | {100 * outside / studies:.0f} | "
                f"{100 * held[1] / studies:.1f} |"
            )
    return "\n".join(
        [
            "Means of shares over stains without common words. Coverage (95 promised), and how often the t interval leaves 0 to "
            "100%, which the default never does:",
            "",
            "| stains, how they spread | t, coverage | t, outside | **Korn-Graubard, dispersion shrunk** (the default), coverage |",
            "|---|---|---|---|",
            *rows,
        ]
    )


if __name__ == "__main__":
    main()
