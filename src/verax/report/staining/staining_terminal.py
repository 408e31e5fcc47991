"""A staining run in the terminal: recall per model and explainer, and who is ahead."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from verax.benchmarks.staining.summarise import most_recall
from verax.benchmarks.staining.summary import Pair, Scored, Summary
from verax.report.common.run_facts import short_names
from verax.report.staining.answers import turned
from verax.report.staining.reasons import apart, not_learnt, weights
from verax.report.staining.staining_tables import shown_estimate
from verax.report.staining.staining_verdict import staining_verdict
from verax.results.render import verdict_lines
from verax.stats.thresholds import FEWEST_FLIPPED
from verax.text import counted

# The budgets whose recall the terminal shows; the report has all of them.
SHOWN_BUDGETS = (2, 5, 10)


def terminal_summary(summary: Summary) -> RenderableType:
    """Tables of recall in percent with 95% intervals, one per dataset, and sentences on what stands out."""
    parts: list[RenderableType] = [*map(Text, verdict_lines(staining_verdict(summary))), Text()]
    for dataset in summary.spec.datasets:
        parts += [_recall_table(summary, dataset), Text()]
    parts += [Text(sentence) for sentence in findings(summary)]
    return Group(*parts)


def _recall_table(summary: Summary, dataset: str) -> Table:
    size = summary.spec.size
    table = Table(
        title=f"{dataset}: recall of the stain's {size} features among the top b, in percent",
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    explainers = short_names(summary.explainers)
    models = short_names(summary.spec.models)
    table.add_column("model", overflow="fold")
    table.add_column("explainer", min_width=12, overflow="fold")
    table.add_column("stains", justify="right")
    for heading in _headings(summary, "\n"):
        table.add_column(heading, justify="right", no_wrap=True)
    for pair in summary.pairs:
        if pair.dataset != dataset:
            continue
        name = models.get(pair.model, pair.model)
        for label in summary.explainers:
            scored = pair.explainers.get(label)
            if scored is not None:
                table.add_row(name, explainers[label], str(scored.stains), *_shown_recall(scored))
                name = ""
        if not pair.explainers:
            table.add_row(name, _nothing_scored(pair), "0", *([""] * (1 + len(SHOWN_BUDGETS))))
        table.add_section()
    return table


def _nothing_scored(pair: Pair) -> str:
    """Why a model has no line for any explainer."""
    if pair.errors:
        return "every explainer failed"
    if pair.stains_apart:
        return "no stain is its reason"
    return "every trial failed" if pair.stains_failed and not pair.stains_left_out else "no stain was learnt"


def failed_explainers(summary: Summary) -> list[str]:
    """One sentence for each explainer that failed, with its first error."""
    return [
        f"{pair.dataset}, {pair.model}: {label} failed on {counted(len(errors), 'stain')} ({errors[0]})."
        for pair in summary.pairs
        for label, errors in pair.errors.items()
    ]


def recall_rows(summary: Summary) -> list[tuple[str, ...]]:
    """The same tables as one, for places that draw their own: a row of headings, then one per explainer."""
    explainers = short_names(summary.explainers)
    rows = [("dataset", "model", "explainer", "stains", *_headings(summary, ", "))]
    for pair in summary.pairs:
        for label, scored in pair.explainers.items():
            shown = _shown_recall(scored)
            rows.append((pair.dataset, pair.model, explainers[label], str(scored.stains), *shown))
    return rows


def _headings(summary: Summary, between: str) -> list[str]:
    """What the columns of numbers are, with the most that can be had beside each."""
    most = most_recall(summary.spec)
    shown = [f"b = {budget}{between}at most {100 * most[budget - 1]:.0f}" for budget in SHOWN_BUDGETS]
    return [*shown, f"area{between}at most {100 * summary.spec.ceiling:.0f}"]


def _shown_recall(scored: Scored) -> list[str]:
    estimates = [scored.recall[budget - 1] for budget in SHOWN_BUDGETS]
    return [shown_estimate(given) for given in (*estimates, scored.auc)]


def findings(summary: Summary) -> list[str]:
    """One sentence per pair of dataset and model on which differences survive correction, and on what was left out."""
    sentences = []
    for pair in summary.pairs:
        where = f"{pair.dataset}, {pair.model}"
        sure = [
            difference
            for difference in pair.differences["auc"]
            if difference.verdict != "none" and "random" not in (difference.first, difference.second)
        ]
        ahead = [
            f"{difference.first} above {difference.second}"
            for difference in (turned(other) if other.verdict == "second" else other for other in sure)
        ]
        if ahead:
            sentences.append(
                f"{where}: {'; '.join(ahead)} (area under the recall curve, corrected p <= 0.05)."
            )
        others = [*not_learnt(pair, summary.spec.plant), apart(pair), weights(pair)]
        sentences += [f"{where}: {sentence}" for sentence in others if sentence]
    for name, facts in summary.datasets.items():
        sentences += [f"{name}: {sentence}" for sentence in facts.planted]
    sentences += failed_explainers(summary)
    if not any("above" in sentence for sentence in sentences):
        sentences.insert(
            0,
            "No difference between explainers (other than to random) survives correction with "
            f"{FEWEST_FLIPPED} stains or more.",
        )
    return sentences
