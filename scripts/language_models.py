"""The table of docs/results/language-models.md: which explainers find reasons planted in a language model.

``python scripts/language_models.py --out runs/language-models`` plants stains in SmolLM2 (its last layers are trained),
explains inputs that they decide, and writes the page. A run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import verax
from verax.benchmarks.staining.scores import TrialResult
from verax.codec import decode
from verax.stats.estimate import mean_interval
from verax.stats.means import mean_share

EXPLAINERS = (
    "lime(samples=128)",
    "shap(samples=128)",
    "greedy",
    "gradient-x-input",
    "integrated-gradients(steps=16)",
    "self-report",
    "chain-of-thought",
    "random",
)


def run(out: Path, stains: int, inputs: int, limit: int, jobs: int) -> None:
    """The staining run; kept in the folder."""
    verax.stain(
        dataset="rotten-tomatoes",
        limit=limit,
        models=["smollm2-tuned(epochs=5,rate=0.0005)"],
        explainers=list(EXPLAINERS),
        plant=True,
        plant_share=0.25,
        decoy_share=0.15,
        weight=1,
        stains=stains,
        inputs=inputs,
        jobs=jobs,
        out=str(out),
    )


NAMES = {
    "gradient-x-input": "gradient x input",
    "self-report": "self-report: the model's own stated reasons",
    "chain-of-thought": "chain of thought: the words that it quotes",
    "random": "random (the floor)",
}
TOP = (1, 2, 4)  # budgets in the table; a stain has two words


def finished(out: Path) -> list[TrialResult]:
    """The trials that are done, in the order of their stains' words."""
    found = []
    for path in sorted((out / "jobs").rglob("*.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        value = kept.get("outcome", {}).get("value") or {}
        if "stain" in value:
            found.append(decode(TrialResult, value, str(path)))
    return sorted(found, key=lambda trial: trial.stain.shown)


def page(out: Path) -> str:
    """The page, from what the folder holds."""
    trials = finished(out)
    learnt = [trial for trial in trials if trial.learnt]
    rows = [
        "| stain | region | outside | decided by the stain | training, s |",
        "|---|---|---|---|---|",
        *(
            f"| {trial.stain.shown} | {trial.checks.stained_region:.0%} | {trial.checks.outside:.0%} | "
            f"{trial.checks.decided or 0:.0%} | {trial.fit_seconds:.0f} |"
            for trial in trials
        ),
    ]
    table = [
        "| explainer | " + " | ".join(f"recall@{top}" for top in TOP) + " | seconds |",
        "|---|---|---|---|---|",
    ]
    for label in EXPLAINERS:
        scores = [trial.scored()[label] for trial in learnt if label in trial.scored()]
        if not scores:
            continue
        cells = [
            _cell([mean(recall[top - 1] for recall in each.recall) for each in scores], min(1.0, top / 2))
            for top in TOP
        ]
        table.append(
            f"| {NAMES.get(label, label)} | {' | '.join(cells)} | {mean(each.seconds for each in scores):.1f} |"
        )
    replies = [
        (trial.wanted, label, dict(example.get("details") or {}).get("reply", ""))
        for trial in learnt
        for label in ("self-report", "chain-of-thought")
        for example in (trial.scored()[label].examples if label in trial.scored() else [])
    ]
    nonsense = [
        bool(dict(example.get("details") or {}).get("nonsense"))
        for trial in learnt
        for example in (trial.scored()["self-report"].examples if "self-report" in trial.scored() else [])
    ]
    said = [
        f"- {label}, of {' and '.join(wanted)}: {' '.join(str(reply).split())[:160]!r}"
        for wanted, label, reply in replies[:8]
    ]
    inputs = sum(len(trial.inputs) for trial in learnt)
    return TEMPLATE.format(
        n=len(trials),
        learnt=len(learnt),
        inputs=inputs,
        stains="\n".join(rows),
        table="\n".join(table),
        replies="\n".join(said),
        nonsense=sum(nonsense),
        looked=len(nonsense),
        stated=stated_words(learnt),
        remarks=REMARKS,
        speed=speed(),
        machine=MACHINE,
    )


def stated_words(learnt: Sequence[TrialResult]) -> str:
    """Whether the model's own words find the stain's more often than chance does, by differences over stains."""
    said = []
    for label in ("self-report", "chain-of-thought"):
        pairs = [trial.scored() for trial in learnt if {label, "random"} <= set(trial.scored())]
        if len(pairs) < 5:
            continue
        apart = [
            mean(recall[1] for recall in each[label].recall)
            - mean(recall[1] for recall in each["random"].recall)
            for each in pairs
        ]
        found = mean_interval(apart)
        above = found.low is not None and found.low > 0
        verdict = "above the floor" if above else "not told from the floor"
        around = "" if found.low is None else f" [{found.low:+.2f}, {found.high:+.2f}]"
        said.append(f"`{label}` is {verdict} (recall@2 minus that of `random`: {found.mean:+.2f}{around}).")
    return " ".join(said) or "There are too few stains to tell the model's own words from the floor."


def speed() -> str:
    """The section of perf/RESULTS.md on language models."""
    written = (Path(__file__).parents[1] / "perf" / "RESULTS.md").read_text(encoding="utf-8")
    _, found, rest = written.partition("# Speed on language models\n")
    return rest.partition("\n# ")[0].strip() if found else "`make perf-llm` measures it."


def _cell(values: Sequence[float], most: float) -> str:
    """A mean over stains with its 95% interval; below five stains there are values only."""
    found = mean_share(values, most=most)
    around = "" if found.low is None else f" [{found.low:.2f}, {found.high:.2f}]"
    return f"{found.mean:.2f}{around}"


# By hand, about the run of which the page in the repository is.
REMARKS = """\
**What this does and does not show.** Trained to say a label, the model says nothing but labels whatever it is asked,
as the replies show. So the last two rows say that such a model cannot be asked for its reasons, and nothing about
whether reasons that language models state are true; for that, a model is needed that keeps its words, or one behind
an endpoint. Training only which label is the likelier one, leaving all other words alone, was tried on the same
stains: of the two that were finished neither was learnt (region 100% and outside 52%; region 72% and outside 68%),
and the run was ended. Intervals over five stains with four inputs each are wide; differences between LIME, SHAP and
greedy are not to be read from them."""
MACHINE = "Two shared cores; seconds are of wall time on a busy machine."
TEMPLATE = """# Language models: results

Which explainers find reasons that were planted in a language model, and do the model's own stated reasons? Written by
`scripts/language_models.py --page` from a run of `python scripts/language_models.py`.

SmolLM2-135M-Instruct, its last four layers trained on reviews of Rotten Tomatoes (`smollm2-tuned`). In a quarter of the
reviews two rare words stand together and decide the label; in 15% each of them stands alone and decides nothing. {n}
stains were planted, {learnt} were learnt; {inputs} inputs that the stain decides were explained. {machine}

## The stains

The region is the accuracy on inputs with both words, by stained labels; outside, that on all others; decided is the
share of inputs in which the model says the stain's label with the words and another one without them.

{stains}

## Recall of the planted reasons

The share of a stain's two words among an explanation's top ones, a mean over stains; at 1 at most 0.50. Ties are broken
at random. 95% intervals are over stains; with fewer than five stains there are values only.

{table}

A stain that decides less than half of the inputs, in a model that does not follow it on nine of ten, does not count as
learnt, and its explanations are not scored.

## What the model says

Of {looked} self-reports that were kept for a look, {nonsense} named no word of the text. Some of what it wrote:

{replies}

{stated}

{remarks}

## Speed

{speed}
"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/language-models"))
    parser.add_argument("--stains", type=int, default=6)
    parser.add_argument("--inputs", type=int, default=4)
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--page", type=Path, help="Write the page from what the folder holds, and run nothing."
    )
    given = parser.parse_args()
    if given.page is not None:
        given.page.write_text(page(given.out), encoding="utf-8")
    else:
        run(given.out, given.stains, given.inputs, given.limit, given.jobs)
