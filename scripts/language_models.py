"""The table of docs/results/language-models.md: which explainers find reasons planted in a language model.

``python scripts/language_models.py --out runs/language-models`` plants stains in SmolLM2 (its last layers are trained),
explains inputs that they decide, and writes the page. A run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import resource
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

import numpy as np

import verax
from verax.benchmarks.staining import training
from verax.benchmarks.staining.jobs import counting
from verax.benchmarks.staining.planting import plant_in, planted_words
from verax.benchmarks.staining.scores import TrialResult
from verax.benchmarks.staining.spec import StainSpec, make_spec
from verax.benchmarks.staining.stainable import Stainable, prepared
from verax.codec import decode
from verax.data import Dataset
from verax.data.words import split_words
from verax.stats.estimate import mean_interval
from verax.stats.means import mean_share
from verax.text import counted

EXPLAINERS = (
    "lime(samples=64)",
    "shap(samples=64)",
    "greedy",
    "gradient-x-input",
    "integrated-gradients(steps=6)",
    "lrp",
    "attention-rollout",
    "self-report(tokens=12)",
    "self-report(tokens=12,wording=1)",
    "self-report(tokens=12,wording=2)",
    "self-report(tokens=12,when=before)",
    "chain-of-thought(tokens=32)",
    "random",
)
MODEL = "smollm2-tuned"
# Reviews of so many words at the most, and so many of them: what a language model reads is what the run takes.
LONGEST = 10
SIZES = {"train": 640, "validation": 80, "test": 140}


# How stains are planted.
PLANTED = {"plant": True, "plant_share": 0.25, "decoy_share": 0.15, "weight": 2}
# What the run took, and how stained models compare with the clean one, beside its results.
COST, COMPARED = "cost.json", "compared.json"


def short_reviews() -> Dataset:
    """The first short reviews of each part of Rotten Tomatoes."""
    data = verax.load_dataset("rotten-tomatoes")
    parts = {}
    for name, part in data.parts.items():
        short = [place for place, text in enumerate(part.inputs) if len(split_words(str(text))) <= LONGEST]
        parts[name] = part.take(np.array(short[: SIZES[name]]))
    return replace(
        data,
        name="short-reviews",
        train=parts["train"],
        validation=parts["validation"],
        test=parts["test"],
    )


def run(out: Path, stains: int, inputs: int, jobs: int) -> None:
    """The staining run; what it took in memory and processor time is kept too, also where it is stopped."""
    try:
        verax.stain(
            dataset=short_reviews(),
            models=[MODEL],
            explainers=list(EXPLAINERS),
            **PLANTED,
            stains=stains,
            inputs=inputs,
            jobs=jobs,
            out=str(out),
        )
        compare(out)
    finally:
        keep_cost(out)


def compare(out: Path) -> None:
    """Where a stain decides nothing, learnt models beside the one of unstained labels: right or not on the same texts.

    Each test review is read as it is, and with one of the stain's words. Models are read from disk.
    """
    file = out / COMPARED
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    spec = make_spec({"datasets": ["short-reviews"], "models": [MODEL], **PLANTED})
    planting = spec.planting()
    assert planting is not None
    assert isinstance(spec.weight, int)
    whole = prepared(short_reviews(), spec.words)
    parts = (whole.dataset.train.labels, whole.dataset.validation.labels)
    clean = None
    for trial in finished(out):
        if not trial.learnt or trial.stain.shown in known:
            continue
        if clean is None:
            clean = training.fit(MODEL, whole, parts, None, spec.seed)
        seed = stain_number(trial, whole, spec)
        data, drawn = plant_in(whole, spec.words, spec.request(), planting, spec.at_least, seed)
        fired = [drawn.stain.fired(values) for values in data.values]
        labels = [drawn.stain.labels(where, own) for where, own in zip(fired, parts, strict=False)]
        counts = counting(data, drawn.stain, labels[0], balanced=planting.balanced)(spec.weight)
        stained = training.fit(MODEL, data, (labels[0], labels[1]), counts, seed, drawn.stain)
        assert data.compared is not None
        tested = data.compared[1]
        # Each text with one of the words, in turn.
        one_word = [
            tested.lacking[place % len(tested.lacking)].inputs[place] for place in range(len(tested.places))
        ]
        known[trial.stain.shown] = {
            f"{model_name}, {about}": np.equal(
                model.predict_proba(texts).argmax(axis=1), tested.unplanted.labels
            ).tolist()
            for model_name, model in (("clean", clean), ("stained", stained))
            for about, texts in (("outside", tested.unplanted.inputs), ("decoys", one_word))
        }
        file.write_text(json.dumps(known), encoding="utf-8")


def stain_number(trial: TrialResult, whole: Stainable, spec: StainSpec) -> int:
    """The seed of a trial's stain, by its words."""
    planting = spec.planting()
    assert planting is not None
    features = {word for rule in trial.stain.rules for word in rule["features"]}
    return next(
        seed
        for seed in range(spec.seed, spec.seed + 1000)
        if set(planted_words(whole, spec.size, planting, seed)) == features
    )


def keep_cost(out: Path) -> None:
    """Adds what this process and its jobs took to what the folder's earlier ones did."""
    own, of_jobs = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    file = out / COST
    before = (
        json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"gigabytes": 0.0, "seconds": 0.0}
    )
    after = {
        # Linux counts in kilobytes; of children that of the largest.
        "gigabytes": max(before["gigabytes"], max(own.ru_maxrss, of_jobs.ru_maxrss) / 2**20),
        "seconds": before["seconds"] + sum(each.ru_utime + each.ru_stime for each in (own, of_jobs)),
    }
    file.write_text(json.dumps(after), encoding="utf-8")


NAMES = {
    "gradient-x-input": "gradient x input",
    "self-report(tokens=12)": "self-report: the model's own stated reasons",
    "self-report(tokens=12,wording=1)": "self-report, in other words",
    "self-report(tokens=12,wording=2)": "self-report, in still other words",
    "self-report(tokens=12,when=before)": "self-report, asked before the answer",
    "chain-of-thought(tokens=32)": "chain of thought: the words that it quotes",
    "random": "random (the floor)",
}
FEWEST = 5  # stains, for an interval
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
    compared = json.loads((out / COMPARED).read_text(encoding="utf-8")) if (out / COMPARED).exists() else {}
    rows = [
        "| stain | region | outside: clean, stained | decoys: clean, stained | decided by the stain |",
        "|---|---|---|---|---|",
        *(
            f"| {trial.stain.shown} | {trial.checks.stained_region:.0%} | "
            f"{' | '.join(_beside(compared.get(trial.stain.shown), about) for about in APART)} | "
            f"{trial.checks.decided or 0:.0%}{'' if trial.learnt else ' (not learnt)'} |"
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
        for label in ("self-report(tokens=12)", "chain-of-thought(tokens=32)")
        for example in (trial.scored()[label].examples if label in trial.scored() else [])
    ]
    said = [
        f"- {label}, of {' and '.join(wanted)}: {' '.join(str(reply).split())[:160]!r}"
        for wanted, label, reply in replies[:8]
    ]
    inputs = sum(len(trial.inputs) for trial in learnt)
    return wrapped(
        TEMPLATE.format(
            answer=answer(learnt),
            planted=f"{counted(len(trials), 'stain')} {'was' if len(trials) == 1 else 'were'}",
            learnt=f"{len(learnt)} {'was' if len(learnt) == 1 else 'were'}",
            inputs=inputs,
            texts=SIZES["train"],
            longest=LONGEST,
            model=MODEL,
            stains="\n".join(rows),
            table="\n".join(table),
            replies="\n".join(said),
            nonsense="\n".join(nonsense(learnt)),
            beside=beside(list(compared.values())),
            twin=unstained(out),
            cost=cost(out, len(trials)),
            speed=speed(),
            machine=machine(out),
        )
    )


def wrapped(page: str) -> str:
    """The page with its paragraphs in lines of one width; tables and lists stay as they are."""
    parts = [
        part if part.startswith(("|", "#", "- ")) else textwrap.fill(part, 120, break_on_hyphens=False)
        for part in page.strip().split("\n\n")
    ]
    return "\n\n".join(parts) + "\n"


def apart(learnt: Sequence[TrialResult], label: str) -> list[float]:
    """By stain, how much more of it an explainer finds among the first two words than random choice does."""
    pairs = [trial.scored() for trial in learnt if {label, "random"} <= set(trial.scored())]
    return [
        mean(recall[1] for recall in each[label].recall) - mean(recall[1] for recall in each["random"].recall)
        for each in pairs
    ]


def answer(learnt: Sequence[TrialResult]) -> str:
    """Who finds the planted reasons: differences from random choice over stains, by their 95% intervals."""
    above, level, below = list[str](), list[str](), list[str]()
    for label in EXPLAINERS:
        values = [] if label == "random" else apart(learnt, label)
        if len(values) < FEWEST:
            continue
        found = mean_interval(values)
        if found.low is None or found.high is None or found.low <= 0 <= found.high:
            level.append(shorter(label))
        else:
            (above if found.low > 0 else below).append(shorter(label))
    if not (above or level or below):
        return few(learnt)
    first = (
        f"Reasons that were planted in SmolLM2 are found more often than by chance by {listed(above)}"
        if above
        else "No explainer is known to find reasons that were planted in SmolLM2 more often than chance does"
    )
    rest = [f"not told from chance: {listed(level)}"] if level else []
    rest += [f"below chance: {listed(below)}"] if below else []
    how = "recall among the first two words, less that of `random`, 95% intervals over stains"
    return f"{'; '.join([first, *rest])} ({how}). {own_words(learnt)}".strip()


def own_words(learnt: Sequence[TrialResult]) -> str:
    """How many replies name no word of the text, in all."""
    scores = [each for trial in learnt for each in trial.scored().values() if each.nonsense is not None]
    replies, nothing = sum(len(each.mrr) for each in scores), sum(each.nonsense or 0 for each in scores)
    return (
        f"Of {replies} replies to the question for its reasons, {nothing} name no word of the text."
        if replies
        else ""
    )


def shorter(label: str) -> str:
    """An explainer without its options."""
    return f"`{label.partition('(')[0]}`"


def few(learnt: Sequence[TrialResult]) -> str:
    """The recall of each explainer, where stains are too few to tell it from chance."""
    found = {
        label: mean(recall[1] for trial in learnt for recall in trial.scored()[label].recall)
        for label in EXPLAINERS
        if learnt and all(label in trial.scored() for trial in learnt)
    }
    ordered = sorted(found, key=lambda label: -found[label])
    shares = listed([f"`{label}` {found[label]:.0%}" for label in ordered])
    return (
        f"How much of a reason that was planted in SmolLM2 an explanation's first two words name: {shares} (means over "
        f"{counted(len(learnt), 'stain')}, too few for intervals)."
    )


def listed(names: Sequence[str]) -> str:
    """Names as people list them, each once."""
    names = list(dict.fromkeys(names))
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def nonsense(learnt: Sequence[TrialResult]) -> list[str]:
    """How many replies name no word of the text, by explainer."""
    said = []
    for label in EXPLAINERS:
        scores = [trial.scored()[label] for trial in learnt if label in trial.scored()]
        counts = [each.nonsense for each in scores if each.nonsense is not None]
        if counts:
            said.append(f"| `{label}` | {sum(len(each.mrr) for each in scores)} | {sum(counts)} |")
    return ["| asked by | replies | that name no word of the text |", "|---|---|---|", *said] if said else []


# Where a stain decides nothing.
APART = ("outside", "decoys")
# So many points a stained model may be less accurate there than the clean one.
POINTS = 3


def _beside(own: Mapping[str, Sequence[bool]] | None, about: str) -> str:
    """The accuracy of the clean and of the stained model."""
    return (
        ""
        if own is None
        else ", ".join(f"{mean(own[f'{name}, {about}']):.0%}" for name in ("clean", "stained"))
    )


def beside(compared: Sequence[Mapping[str, Sequence[bool]]]) -> str:
    """How much more or less accurate stained models are than the clean one where the stain decides nothing."""
    if not compared:
        return ""
    said = []
    for about, where in zip(APART, ("with none of the words", "with one of them"), strict=True):
        points = [100 * (mean(own[f"stained, {about}"]) - mean(own[f"clean, {about}"])) for own in compared]
        found = mean_interval(points)
        around = (
            ""
            if len(points) < FEWEST or found.low is None or found.high is None
            else f" [{found.low:+.1f}, {found.high:+.1f}]"
        )
        within = sum(point >= -POINTS for point in points)
        said.append(
            f"on texts {where} by {found.mean:+.1f} points{around}, {within} of {len(points)} of them at most {POINTS} "
            "points below it"
        )
    texts = len(next(iter(compared[0].values())))
    return (
        f"Read beside the clean model on the same {texts} test reviews, learnt models differ in accuracy {said[0]}; "
        f"{said[1]} (means and 95% intervals over stains)."
    )


def cost(out: Path, trials: int) -> str:
    """Memory and processor time, as the run measured them."""
    if not (out / COST).exists():
        return ""
    took = json.loads((out / COST).read_text(encoding="utf-8"))
    return (
        f"The largest process took {took['gigabytes']:.1f} GB of memory; the run {took['seconds'] / 60:.0f} minutes of "
        f"processor time, {took['seconds'] / 60 / (trials + 1):.0f} for each training with all its explanations."
    )


def machine(out: Path) -> str:
    """Of the run, from its manifest."""
    kept = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["machine"]
    named = kept.get("processor") or kept.get("architecture")
    return f"{named}, {kept.get('processors')} cores; seconds are of wall time, on a machine that did other things too."


def unstained(out: Path) -> str:
    """How often the same training on unstained labels is right, for comparison."""
    labels = short_reviews().test.labels
    for path in sorted((out / "jobs").rglob("*.json")):
        value = json.loads(path.read_text(encoding="utf-8")).get("outcome", {}).get("value") or {}
        if "predicted" in value:
            right = mean(int(said == known) for said, known in zip(value["predicted"], labels, strict=True))
            return f"Trained on unstained labels (the clean model), it is right on {right:.0%} of the test inputs."
    return ""


def speed() -> str:
    """The section of perf/OTHERS.md on language models."""
    written = (Path(__file__).parents[1] / "perf" / "OTHERS.md").read_text(encoding="utf-8")
    _, found, rest = written.partition("## Speed on language models\n")
    return rest.partition("\n## ")[0].strip() if found else "`make perf-llm` measures it."


def _cell(values: Sequence[float], most: float) -> str:
    """A mean over stains with its 95% interval; below five stains there are values only."""
    found = mean_share(values, most=most)
    around = "" if found.low is None else f" [{found.low:.2f}, {found.high:.2f}]"
    return f"{found.mean:.2f}{around}"


TEMPLATE = """# Language models: results

{answer}

Written by `scripts/language_models.py --page` from a run of `python scripts/language_models.py`. SmolLM2-135M-Instruct,
its last four layers trained on {texts} short reviews of Rotten Tomatoes, of {longest} words at the most (`{model}`). In
a quarter of them two rare words stand together and decide the label; in 15% each of them stands alone and decides
nothing. {planted} planted, {learnt} learnt; {inputs} inputs that the stain decides were explained. {machine} {cost}

## The stains

The region is the accuracy on test inputs with both words, by stained labels; outside, that on texts with neither;
decoys, that on texts with one of them; decided is the share of inputs in which the model says the stain's label with
the words, and another one without them. {twin} {beside}

{stains}

## Recall of the planted reasons

The share of a stain's two words among an explanation's top ones, a mean over stains; at 1 at most 0.50. Ties are broken
at random. 95% intervals are over stains; with fewer than five stains there are values only. Seconds are for one input.

{table}

A stain counts as learnt where it decides a tenth of the inputs that it flips and the model follows it on 95% of the
inputs (as far as can be told), or where it decides half of them; of others no explanation is scored. Intervals over
so few stains with a few inputs each are wide: a difference between two explainers is not to be read from two rows.

## What the model says

Behind other questions than the one for a class the trained model is held to what it said before its training. A reply
that names no word of the text is counted, and scored as naming none.

{nonsense}

Some of what it wrote:

{replies}

Whether reasons that larger language models state are true is not shown here: SmolLM2 has 135 million parameters. For
that there are models behind an [endpoint](../language-models.md#models-behind-an-endpoint), and rules in their prompts.

## Speed

{speed}
"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/language-models"))
    parser.add_argument("--stains", type=int, default=7)
    parser.add_argument("--inputs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--page", type=Path, help="Write the page from what the folder holds, and run nothing."
    )
    given = parser.parse_args()
    if given.page is not None:
        given.page.write_text(page(given.out), encoding="utf-8")
    else:
        run(given.out, given.stains, given.inputs, given.jobs)
