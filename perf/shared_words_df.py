"""Degrees of freedom of a difference between explainers over stains that share words: words less one, or Satterthwaite's?

    python perf/shared_words_df.py            # half a minute; prints docs/results/calibration/shared-words.csv as a table

Runs without any difference, from the generator of perf/defaults.py: scores are shares of 50 inputs, whose log-odds come
from the stain's words and from itself. Variance and Satterthwaite's degrees of freedom are `verax.stats.spread_of_mean`'s.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np
from scipy import stats

from defaults import stain_scores
from verax.stats import sharing, spread_of_mean

WORDS = ((9, 35), (9, 25), (9, 16), (9, 10), (20, 20), (60, 20))
CARRIED = (0.3, 0.6, 0.9)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=800)
    runs = parser.parse_args().runs
    print("| stains, part that words carry | words less one | false claims | Satterthwaite | false claims |")
    print("|---|---|---|---|---|")
    for n_words, stains in WORDS:
        pairs = np.array(list(combinations(range(n_words), 2)))
        for carried in CARRIED:
            rng = np.random.default_rng([11, n_words, stains, int(10 * carried)])
            found = np.array([one_run(rng, pairs, n_words, stains, carried) for _ in range(runs)])
            distance, by_words, by_form = found.T
            claims = [100 * np.mean(distance > stats.t.ppf(0.975, df)) for df in (by_words, by_form)]
            print(
                f"| {stains} of {n_words} words, {carried:g} | {np.median(by_words):.0f} | {claims[0]:.1f} | "
                f"{np.median(by_form):.1f} | {claims[1]:.1f} |"
            )


def one_run(rng, pairs, n_words, stains, carried) -> tuple[float, float, float]:
    """How far the mean lies from 0 in standard errors, and both degrees of freedom."""
    chosen = pairs[rng.choice(len(pairs), stains, replace=False)]
    shared = sharing(chosen.tolist())
    values = stain_scores(rng, chosen, n_words, carried) - stain_scores(rng, chosen, n_words, carried)
    spread = spread_of_mean(values, shared)
    far = abs(values.mean()) / spread.variance**0.5 if spread.variance else np.inf
    return far, max(min(stains, shared.parts) - 1, 1), spread.df


if __name__ == "__main__":
    main()
