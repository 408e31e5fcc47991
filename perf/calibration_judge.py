"""How often the verdict on somebody's own model errs: random explainers that are believed, good ones that are not.

Models are drawn: texts with a few words that matter (as a sum, as an OR of words that each do, as an AND), and trees on a
table of which one or two columns matter. Explainers are drawn as well: random scores under other names, the model's true
reasons, and true reasons in a share of inputs only. What is counted is what the verdict says.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import verax
from calibration_rows import Row
from verax.explain import Attribution, Explainer
from verax.text import counted

WORDS = [f"w{number:02d}" for number in range(60)]
SIZES = (1, 2, 4, 5, 8, 20)


@dataclass(frozen=True)
class Noise(Explainer):
    """Scores without any knowledge of the model."""

    seed: int = 0
    salt: int = 0

    def explain(self, model, inputs, targets=None):
        return [
            _told(model, given, target, self._scores(given, len(_features(model, given))))
            for given, target in zip(inputs, targets, strict=True)
        ]

    def _scores(self, given, count):
        content = given if isinstance(given, str) else given.tobytes().hex()
        return np.random.default_rng([self.salt, *map(ord, content)]).normal(size=count)


@dataclass(frozen=True)
class Knowing(Explainer):
    """The model's true reasons in a share of inputs, random scores in the others."""

    reasons: tuple[str, ...]
    share: float = 1.0
    salt: int = 0

    def explain(self, model, inputs, targets=None):
        told = []
        for given, target in zip(inputs, targets, strict=True):
            features = _features(model, given)
            scores = np.array([float(feature in self.reasons) for feature in features])
            content = given if isinstance(given, str) else given.tobytes().hex()
            rng = np.random.default_rng([self.salt, 7, *map(ord, content)])
            if rng.random() >= self.share:
                scores = rng.normal(size=len(features))
            told.append(_told(model, given, target, scores))
        return told


def _features(model, given):
    return tuple(dict.fromkeys(given.split())) if isinstance(given, str) else model.schema.names


def _told(model, given, target, scores):
    shown = given if isinstance(given, str) else ""
    return Attribution(_features(model, given), scores, target, model.class_names[target], shown)


@dataclass(frozen=True)
class Case:
    """A model, inputs and the features that its answers rest on."""

    model: object
    inputs: object
    reasons: tuple[str, ...]


def text_case(rng: np.random.Generator, n: int) -> Case:
    """Texts of 6 to 25 words in which three words matter, as a sum, an OR or an AND."""
    reasons = tuple(rng.choice(WORDS, 3, replace=False).tolist())
    sort = ("sum", "or", "and")[rng.integers(3)]

    def says(texts):
        hits = np.array([[word in text.split() for word in reasons] for text in texts], dtype=float)
        score = {"sum": hits @ [2.0, 1.5, 1.0], "or": 3.0 * hits.max(axis=1), "and": 3.5 * hits.min(axis=1)}[
            sort
        ]
        positive = 1 / (1 + np.exp(1.5 - score))
        return np.stack([1 - positive, positive], axis=1)

    others = [word for word in WORDS if word not in reasons]
    texts = []
    for _ in range(n):
        words = [*rng.choice(others, rng.integers(4, 23), replace=False).tolist(), *reasons]
        texts.append(" ".join(rng.permutation(words).tolist()))
    return Case(verax.as_model(says, class_names=("no", "yes"), kind="text"), texts, reasons)


def table_case(rng: np.random.Generator, n: int) -> Case:
    """Rows of 5 to 12 columns of which one or two decide, by thresholds."""
    width, deciding = int(rng.integers(5, 13)), int(rng.integers(1, 3))
    columns = rng.choice(width, deciding, replace=False)

    def says(rows):
        positive = np.where((np.asarray(rows, dtype=float)[:, columns] > 0).all(axis=1), 0.95, 0.05)
        return np.stack([1 - positive, positive], axis=1)

    rows = rng.normal(size=(120, width))
    chosen = rng.normal(size=(n, width))
    chosen[:, columns] = np.abs(chosen[:, columns])
    names = tuple(f"x{column}" for column in range(width))
    model = verax.as_model(says, class_names=("no", "yes"), kind="table", reference=rows)
    return Case(model, chosen, tuple(names[column] for column in columns))


def rate(
    case: Callable[[np.random.Generator, int], Case],
    n: int,
    runs: int,
    explainers: Callable[[Case, int], dict[str, Explainer]],
    event: Callable[[verax.workflows.judgement.Judgement], bool],
) -> float:
    """In how many of the runs something was said, in per cent."""
    hits = 0
    for run in range(runs):
        drawn = case(np.random.default_rng([n, run, len(case.__name__)]), n)
        found = verax.judge(
            drawn.model, drawn.inputs, explainers(drawn, run), seconds=None, seed=run, progress=False
        )
        hits += event(found)
    return 100 * hits / runs


def upper(promised: float, runs: int) -> float:
    """The highest rate that chance makes likely where the promised one is true: three standard errors above."""
    return promised + 300 * float(np.sqrt(promised / 100 * (1 - promised / 100) / runs))


def noise(_: Case, run: int) -> dict[str, Explainer]:
    """Three random explainers under other names."""
    return {name: Noise(salt=3 * run + number) for number, name in enumerate(("first", "second", "third"))}


def knowing(case: Case, run: int) -> dict[str, Explainer]:
    """One that knows, beside two random ones."""
    return {"knows": Knowing(case.reasons), **dict(list(noise(case, run).items())[:2])}


def equals(case: Case, run: int) -> dict[str, Explainer]:
    """Three that know the reasons in 70% of the inputs, each in its own."""
    return {f"knows {number}": Knowing(case.reasons, 0.7, 3 * run + number) for number in range(3)}


def rows(quick: bool) -> list[Row]:
    """The rows of the suite."""
    runs = 60 if quick else 400
    found = []
    for case, kind in ((text_case, "texts"), (table_case, "table rows")):
        for n in SIZES:
            measured = rate(case, n, runs, noise, lambda j: any(t.shown for t in j.trials) or bool(j.leads))
            claim = f"judge: three random explainers, {counted(n, 'input')}, some is believed or said to be ahead ({kind})"
            found.append(Row(claim, "at most 5%", measured, runs, 0.0, upper(5.0, runs)))
        for n in SIZES:
            measured = rate(case, n, runs // 2, knowing, lambda j: j.trials[0].sign == "yes")
            claim = f"judge: perfect explainers get ✓ beside two random ones, {counted(n, 'input')} ({kind})"
            low = 0.0 if n < 4 else 95.0 - (upper(5.0, runs // 2) - 5.0)
            found.append(Row(claim, "95% or more from four inputs on", measured, runs // 2, low, 100.0))
        for n in (8, 20):
            measured = rate(case, n, runs // 2, equals, lambda j: bool(j.leads))
            claim = f"judge: three equally good explainers, {n} inputs, one is said to be ahead ({kind})"
            found.append(Row(claim, "at most 5%", measured, runs // 2, 0.0, upper(5.0, runs // 2)))
            measured = rate(case, n, runs // 2, equals, lambda j: any(t.sign == "no" for t in j.trials))
            claim = f"judge: explainers that are right in 70% of {n} inputs, one gets ✗ ({kind})"
            found.append(Row(claim, "at most 5%", measured, runs // 2, 0.0, upper(5.0, runs // 2)))
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for row in rows("--quick" in sys.argv):
        print(f"| {row.claim} | {row.promised} | {row.measured:.1f} | {row.runs} |", flush=True)
