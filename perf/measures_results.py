"""Writes docs/results/measures.md, and the evidence that `verax judge` goes by, from stored runs of `verax bench measures`.

    make results-measures    # makes the three runs, and those of the page on students, and writes both
    python perf/measures_results.py runs/measures/texts runs/measures/tables runs/measures/networks

Every estimate of a run is kept in docs/results/measures/ under the name of its folder, in the place of all that was kept there:
a page is of one state; with --beside runs of other names stay, and the page says when each was made. Without folders it is
written again from these files. Nothing is computed here.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verax.benchmarks.measures.findings import (
    ABOVE,
    EVERY,
    FALSE,
    FOOLED,
    ORDER,
    PREFERS,
    REPLACED,
    ROWS,
    SIZES,
    MeasuresSummary,
    verdict_of,
    with_interval,
)
from verax.benchmarks.measures.spec import MEASURES
from verax.benchmarks.planted_cells import ALL
from verax.benchmarks.students.spec import StudentsSpec
from verax.measures import measure
from verax.measures.evidence import Evidence
from verax.phrases import say
from verax.text import counted, listed
from verax.workflows.measure_explainers import ASKED, counted_by

DOCS = Path(__file__).parents[1] / "docs" / "results"
EVIDENCE = Path(__file__).parents[1] / "src" / "verax" / "measures" / "evidence.json"
COLUMNS = ("method", "measure", "model", "estimate", "low", "high", "n", "p", "verdict")
# In this order, whatever their folders are called otherwise.
FIRST = ("texts", "long-texts", "tables", "networks")
LABELS = [measure(name).label for name in MEASURES]
# How many examples students learn from, unless told otherwise.
SIZES_USUAL = StudentsSpec.model_fields["sizes"].default
# Orders with another replacement that are less alike are named.
SAME_ORDER = 0.75
JUDGED = tuple(ASKED.values())


@dataclass(frozen=True)
class Kept:
    """A stored run: what it was, and its estimates."""

    name: str
    about: dict[str, Any]
    rows: dict[tuple[str, str, str], dict[str, str]] = field(repr=False)

    def number(self, method: str, measure: str, model: str = ALL, column: str = "estimate") -> float | None:
        """An estimate, or another of its numbers."""
        value = self.rows.get((method, measure, model), {}).get(column, "")
        return float(value) if value else None

    def verdict(self, measure: str, model: str = ALL) -> str:
        """What may be said of a measure."""
        return self.rows.get((measure, ORDER, model), {}).get("verdict", "")

    @property
    def measures(self) -> list[str]:
        """The measures, the best order first."""
        return sorted(self.about["measures"], key=lambda one: -(self.number(one, ORDER) or -2))

    def those(self, *verdicts: str, model: str = ALL) -> list[str]:
        """The measures of which this may be said."""
        return [one for one in self.measures if self.verdict(one, model) in verdicts]

    def parts(self, measure: str) -> list[str]:
        """The parts of the data, or the replacements, that a number was estimated for."""
        start = f"{measure}, "
        named = [name for _, name, model in self.rows if model == ALL and name.startswith(start)]
        return list(dict.fromkeys(name.removeprefix(start) for name in named))


def about_run(folder: Path, found: Any) -> dict[str, Any]:
    """What a run was: its command, when, and how much it rests on."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    spec = manifest["spec"]
    usual = {"datasets": ["rotten-tomatoes"], "models": ["logistic", "tree", "forest", "xgboost", "mlp"]}
    given = "".join(f" --{name} {','.join(spec[name])}" for name in usual if spec[name] != usual[name])
    given += f" --limit {spec['limit']}" if spec.get("limit") else ""
    given += "".join(
        f" --{name} {spec[name]}" for name in ("stains", "inputs", "draws", "samples") if name in spec
    )
    if spec.get("sizes", SIZES_USUAL) != SIZES_USUAL:
        given += f" --sizes {','.join(map(str, spec['sizes']))}"
    return {
        "command": f"verax bench {spec['benchmark']}{given}",
        "finished": str(manifest.get("finished", ""))[:10],
        "verax": manifest.get("versions", {}).get("verax", ""),
        "datasets": spec["datasets"],
        "models": list(found.models),
        "stains": found.stains,
        "cells": found.cells,
        "left_out": len(found.left_out),
    }


def write_kept(place: Path, name: str, about: dict[str, Any], rows: Iterable[Sequence[object]]) -> None:
    """Stores a run's estimates, and what it was beside those of the others."""
    place.mkdir(exist_ok=True)
    with (place / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    index = place / "runs.json"
    known = json.loads(index.read_text(encoding="utf-8")) if index.exists() else {}
    index.write_text(json.dumps(known | {name: about}, indent=1) + "\n", encoding="utf-8")


def forget(place: Path) -> None:
    """Removes what was kept before, so that a page never mixes runs of several states."""
    for path in (*place.glob("*.csv"), *place.glob("runs.json")):
        path.unlink()


def read_kept(place: Path) -> list[Kept]:
    """All stored runs, in a fixed order."""
    known = json.loads((place / "runs.json").read_text(encoding="utf-8"))
    known = {name: about for name, about in known.items() if (place / f"{name}.csv").exists()}
    order = sorted(known, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name))
    found = []
    for name in order:
        with (place / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = {(row["method"], row["measure"], row["model"]): row for row in csv.DictReader(file)}
        found.append(Kept(name, known[name], rows))
    return found


def rounded(value: float | None) -> str:
    """Four digits are more than any interval says."""
    return "" if value is None else f"{value:.4g}"


def keep(folder: Path) -> None:
    """Stores a finished run."""
    found = MeasuresSummary.read(folder)
    rows = [
        (row.method, row.measure, row.model, rounded(row.estimate), rounded(row.low), rounded(row.high), row.n,
         rounded(row.p_adjusted), verdict_of(found, row.method, row.model) if row.measure == ORDER else "")
        for row in found.findings
        if row.unit != "seconds"  # of a machine that may have been busy
    ]  # fmt: skip
    about = about_run(folder, found) | {
        "measures": found.measures,
        "explainers": found.explainers,
        "lime_on_trees": lime_on_trees(folder),
    }
    write_kept(DOCS / "measures", folder.name, about, rows)


def lime_on_trees(folder: Path) -> dict[str, dict[str, list[float]]]:
    """By measure and reason: how often LIME is preferred to itself with the reasons first on a tree, of how many inputs."""
    import pandas as pd

    rows = pd.read_parquet(folder / "results.parquet").query("model == 'tree' and absent == ''")
    place = ["dataset", "stain", "reason", "input"]
    said: dict[str, dict[str, list[float]]] = {}
    for label, sign in (("comprehensiveness", 1), ("sufficiency", -1)):
        own = rows[rows["measure"] == label]
        lime = own[own["explainer"] == "lime"].set_index(place)
        truer = own[own["explainer"] == "oracle, then lime"].set_index(place)
        some = (truer["truth"] - lime["truth"]) > 1e-9
        gap = sign * (lime["value"] - truer["value"])[some]
        by = ((gap > 1e-9) + 0.5 * (gap.abs() <= 1e-9)).groupby(level="reason").agg(["mean", "size"])
        said[label] = {str(name): [float(one["mean"]), int(one["size"])] for name, one in by.iterrows()}
    return said


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f}%"


def tau(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


def with_ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{tau(low)}, {tau(high)}]"


def named(measures: Sequence[str]) -> str:
    return listed([f"`{one}`" for one in measures])


def ranged(values: Iterable[float | None], shown: Any) -> str:
    known = [value for value in values if value is not None]
    ends = dict.fromkeys((shown(min(known)), shown(max(known))))
    return " to ".join(ends)


def exceptions(run: Kept, usual: Kept) -> list[str]:
    """What differs on one model, or in another run, from what is said of all models of texts."""
    lines = []
    for model in (ALL, *run.about["models"]):
        if run is usual and model == ALL:
            continue
        clauses = [
            f"{named(found)} {say('measures', 'verdict-' + verdict.replace(' ', '-'))}"
            for verdict in ("backwards", "says nothing", "weak", "believable")
            if (
                found := [
                    one
                    for one in run.those(verdict, model=model)
                    if usual.verdict(one) != verdict
                    and {usual.verdict(one), verdict} != {"backwards", "says nothing"}
                ]
            )
        ]
        if clauses:
            lines.append(f"- {'All models' if model == ALL else model}: {'; '.join(clauses)}.")
    return lines


# By which the pilot found LIME above the oracle on trees, in 3 or 4 of 4 stains, and by which in none.
PILOT_ABOVE = ("comprehensiveness", "decision-flip-fraction", "faithfulness-correlation")
PILOT_BELOW = ("sufficiency", "insertion", "infidelity")


def pilot(run: Kept) -> list[str]:
    """Whether two findings of a pilot with four stains hold: monotonicity is backwards; LIME above the oracle."""
    by = [f"{model} {tau(run.number('monotonicity', ORDER, model))}" for model in run.about["models"]]
    backwards = [model for model in run.about["models"] if run.verdict("monotonicity", model) == "backwards"]
    held = {"logistic", "forest"} <= set(backwards)
    of_no_use = all(
        run.verdict("monotonicity", model) not in ("believable", "weak") for model in run.about["models"]
    )
    lines = [
        f"- *Monotonicity is backwards on logistic regression and forest*: {'confirmed' if held else 'not confirmed'}. Tau is "
        f"{', '.join(by)}: backwards on {listed(backwards) if backwards else 'none'}{', of no use on any' if of_no_use else ''}.",
    ]
    shares = {one: run.number(one, f"{ABOVE}: lime", "tree") for one in (*PILOT_ABOVE, *PILOT_BELOW)}
    if None in shares.values():
        return lines
    ends = {
        one: [run.number(one, f"{ABOVE}: lime", "tree", end) or 0.0 for end in ("low", "high")]
        for one in shares
    }
    shown = [one for one in shares if ends[one][0] > 0.5]
    wrong = [one for one in shown if one in PILOT_BELOW]
    rest = [one for one in shares if one not in shown]
    said = {one: f"`{one}` ({percent(shares[one])} {span(*ends[one])})" for one in shares}
    held = not wrong and set(shown) == set(PILOT_ABOVE)
    inputs = run.about["lime_on_trees"]
    counts = {measure: sum(int(n) for _, n in own.values()) for measure, own in inputs.items()}
    preferred = [
        f"`{measure}` on {percent(sum(mean * n for mean, n in own.values()) / max(1, counts[measure]))}"
        for measure, own in inputs.items()
        if counts[measure]
    ]
    lines.append(
        f"- *On trees LIME scores above the oracle by {named(PILOT_ABOVE)}, and not by {named(PILOT_BELOW)}*: "
        f"{'confirmed' if held else 'confirmed in part' if set(shown) & set(PILOT_ABOVE) else 'not confirmed'}."
        + (f" It does on most stains by {listed([said[one] for one in shown])}." if shown else "")
        + f" That is not shown of {listed([said[one] for one in rest])}. (Shares of the stains; a tie counts half.)"
        + (" What `infidelity` measures is nearly what LIME minimises." if "infidelity" in wrong else "")
        + " It says little of measures: the two differ in more than their truth, for LIME also orders the words that the tree does "
        "not look at, which tie in the oracle."
        + (
            f" Beside *itself* with the true reasons put first LIME is preferred by {listed(preferred)} of "
            f"{counted(max(counts.values()), 'input')} on which it does not name the reasons first (50% is no preference)."
            if preferred
            else ""
        )
    )
    return lines


def span(low: float, high: float) -> str:
    """An interval of shares."""
    return f"[{percent(low)}, {percent(high)}]"


def false_claims(run: Kept) -> str:
    """How often a test prefers one of two equals, over all measures."""
    share, low, high = (run.number(EVERY, FALSE, column=end) for end in ("estimate", "low", "high"))
    if share is None:
        known = [value for one in run.measures if (value := run.number(one, FALSE)) is not None]
        share = sum(known) / len(known) if known else None
    return "" if share is None else with_interval(share, low, high)


def answer(runs: Sequence[Kept]) -> list[str]:
    """What a reader takes away."""
    texts = runs[0]
    good = texts.those("believable")
    if not good:
        return [f"- {say('measures', 'believable-none')}"]
    fooled = [one for one in texts.measures if (texts.number(one, FOOLED) or 0.0) > 0.5]
    sizes = [size for size, _, _ in SIZES]
    lines = [
        f"- **Use** {named(good)}: on texts and all five models together they order explanations as the truth does (tau "
        f"{ranged([texts.number(one, ORDER) for one in good], tau)}).",
        f"- **Do not use** {named(texts.those('backwards', 'says nothing'))}: the order is backwards, or has nothing to do with the "
        "truth.",
        f"- {named(texts.those('weak'))} go with the truth only weakly; {named(fooled)} prefer an adversary, which names no reason, "
        "to the true reasons in more than half of the cases.",
        f"- **For one input** they are less sure than for a method's mean: the truer of two explanations is preferred in "
        f"{ranged([texts.number(one, PREFERS) for one in good], percent)} of pairs; "
        + "; ".join(
            f"{ranged([texts.number(one, f'{PREFERS}, {size}') for one in good], percent)} where it is {size}"
            for size in sizes
        )
        + ".",
    ]
    if claims := [f"{said} ({run.name})" for run in runs if (said := false_claims(run))]:
        lines.append(
            "- Of two explanations that are equally true tests over inputs say that one is better, over all measures, in "
            f"{listed(claims)} of cases; 5% are allowed."
        )
    costly = [one for one in texts.measures if one.startswith("naopc")]
    rows = [texts.number(one, ROWS) for one in good if one not in costly]
    lines.append(
        f"- They ask the model {ranged(rows, lambda value: f'{value:.0f}')} rows for an explanation"
        + (
            f"; {named(costly)} {ranged([texts.number(one, ROWS) for one in costly], lambda value: f'{value:.0f}')}."
            if costly
            else "."
        )
    )
    for run in runs:
        for part in run.parts(REPLACED):
            by = {one: run.number(one, f"{REPLACED}, {part}") for one in good}
            lost = [f"`{one}`" for one, value in by.items() if value is not None and value < SAME_ORDER]
            few = f"; below {tau(SAME_ORDER)} for {listed(lost)}" if 0 < len(lost) <= 3 else ""
            all_of_them = "; so say what stood there" if len(lost) > 3 else ""
            lines.append(
                f"- With `absent={part}` ({run.name}) the usual order and the new one of the same explanations have a tau of "
                f"{ranged(by.values(), tau)}{few}{all_of_them}."
            )
    return lines


def judge(runs: Sequence[Kept]) -> list[str]:
    """What `verax judge` does with it."""
    both = [
        f"{model} ({run.name})"
        for run in runs
        for model in run.about["models"]
        if all(run.verdict(one, model) == "believable" for one in JUDGED)
    ]
    rest = {
        f"{model} ({run.name})": [run.verdict(one, model) for one in JUDGED]
        for run in runs
        for model in run.about["models"]
        if f"{model} ({run.name})" not in both
    }
    few = [name for name, verdicts in rest.items() if "not shown" in verdicts]
    other = [
        f"{name} ({listed([f'`{one}` {verdict}' for one, verdict in zip(JUDGED, verdicts, strict=True)])})"
        for name, verdicts in rest.items()
        if name not in few
    ]
    return [
        f"[`verax judge`](../judge.md) asks what `{JUDGED[0]}` and `{JUDGED[1]}` ask, and counts those that are believable on the sort "
        f"of model at hand. Both are on {listed(both) if rest else 'all sorts that were tried'}"
        + (f"; not so on {listed(other)}" if other else "")
        + (
            f"; on {listed(few)} there were too few stains, and what holds for all models counts."
            if few
            else "."
        )
        + " So it says three things:",
        "",
        *(f"- {title}: *{line}*" for title, line in judge_says(runs[0])),
    ]


def judge_says(run: Kept) -> list[tuple[str, str]]:
    """The lines of a verdict that rest on this result, as `verax judge` writes them."""
    rows = {(row["model"], row["measure"]): Evidence(**row) for row in evidence([run])}  # type: ignore[arg-type]
    said = [
        (title, counted_by({asked: rows.get((model, name)) for asked, name in ASKED.items()}, "classes")[1])
        for model, title in (("tree", "of a decision tree"), (ALL, "of a model of a sort that was not tried"))
    ]
    return [
        *said,
        (
            "where `greedy` is judged",
            say("judge", "removal", names=["greedy"]),
        ),
    ]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def folded(title: str, body: str) -> str:
    """What is behind its title until somebody opens it."""
    return f'<details markdown="1">\n<summary>{title}</summary>\n\n{body}\n\n</details>\n'


def tables_of(run: Kept) -> list[str]:
    """The two tables of a run, behind their titles."""

    def cell(measure: str, model: str) -> str:
        verdict = run.verdict(measure, model)
        mark = f" {verdict}" if verdict in ("backwards", "says nothing", "weak") else ""
        return f"{tau(run.number(measure, ORDER, model))}{mark}"

    main = table(
        (
            "measure",
            "verdict",
            "tau [95% interval]",
            "prefers the truer",
            "claims between equals",
            "prefers the adversary",
        ),
        [
            (
                one,
                run.verdict(one),
                tau(run.number(one, ORDER))
                + with_ends(run.number(one, ORDER, column="low"), run.number(one, ORDER, column="high")),
                *(percent(run.number(one, name)) for name in (PREFERS, FALSE, FOOLED)),
            )
            for one in run.measures
        ],
    )
    reasons = run.parts(ORDER)
    by = table(
        ("measure", *run.about["models"], *(f"reason: {one}" for one in reasons)),
        [
            (
                one,
                *(cell(one, model) for model in run.about["models"]),
                *(tau(run.number(one, f"{ORDER}, {reason}")) for reason in reasons),
            )
            for one in run.measures
        ],
    )
    return [
        folded(f"{run.name}: every measure", main),
        folded(f"{run.name}: tau by model and by sort of reason", by),
    ]


def sizes_table(runs: Sequence[Kept], folder: str) -> str:
    """What the page rests on."""
    return table(
        ("run", "what", "when", "all estimates"),
        [
            (
                run.name,
                f"{counted(run.about['stains'], 'planted reason')}, {counted(run.about['cells'], 'model')} that learnt theirs"
                + (f", {run.about['left_out']} left out" if run.about["left_out"] else "")
                + f": `{run.about['command']}`",
                f"{run.about['finished']}, verax {run.about['verax']}"
                + (f"; {run.about['note']}" if run.about.get("note") else ""),
                f"[CSV]({folder}/{run.name}.csv)",
            )
            for run in runs
        ],
    )


def evidence(runs: Sequence[Kept]) -> list[dict[str, object]]:
    """What `verax judge` chooses its measures by: of every run, each measure on each sort of model."""
    rows: dict[tuple[str, str, str], dict[str, object]] = {}
    for run in runs:
        kind = "table" if "adult" in run.about["datasets"] else "text"
        for label in sorted(
            run.about["measures"], key=lambda one: LABELS.index(one) if one in LABELS else len(LABELS)
        ):
            for model in (ALL, *run.about["models"]):
                value = run.number(label, ORDER, model)
                if value is None or (kind, model, label) in rows:
                    continue  # what holds for all models is of the first run of its kind
                low, high = (run.number(label, ORDER, model, end) for end in ("low", "high"))
                rows[kind, model, label] = {
                    "kind": kind,
                    "model": model,
                    "measure": label,
                    "verdict": run.verdict(label, model),
                    "tau": round(value, 3),
                    "low": None if low is None else round(low, 3),
                    "high": None if high is None else round(high, 3),
                    "stains": int(run.number(label, ORDER, model, "n") or 0),
                }
    return list(rows.values())


def page(runs: Sequence[Kept]) -> str:
    """The whole page."""
    texts = runs[0]
    whole = [run for run in runs if run.number(run.measures[0], ORDER) is not None]
    different: list[str] = []
    for run in whole:
        if said := exceptions(run, texts):
            different += [f"On {run.name}:", "", *said, ""]
    lines = [
        "# Which measures can be believed",
        "",
        "Automatic measures of explanations beside the truth, on models with planted reasons: [how it is done](../measures.md). Written "
        "by `perf/measures_results.py` from the stored runs below.",
        "",
        *answer(runs),
        "",
        "## Where that differs",
        "",
        *different,
        "Numbers of every model and sort of reason are in the tables below.",
        "",
        "## Two findings of a pilot with four stains, tried again",
        "",
        *pilot(texts),
        "",
        "## What `verax judge` does with it",
        "",
        *judge(whole),
        "",
        "## The runs",
        "",
        sizes_table(runs, "measures"),
        "",
        *(made for run in whole for made in tables_of(run)),
        folded("How it was computed", say("measures", "how")),
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument(
        "--beside", action="store_true", help="leave the stored runs of other names as they are"
    )
    given = parser.parse_args()
    folders = given.folders
    if folders and not given.beside:
        forget(DOCS / "measures")
    for folder in folders:
        keep(folder)
    runs = read_kept(DOCS / "measures")
    (DOCS / "measures.md").write_text(page(runs), encoding="utf-8")
    written = ",\n".join(json.dumps(row) for row in evidence(runs))
    EVIDENCE.write_text(f"[\n{written}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
