"""The tables of a staining report, and its sentences below the first one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from verax.benchmarks.staining.estimates import most_recall
from verax.benchmarks.staining.findings import Pair, StainSummary
from verax.benchmarks.staining.run import Timing
from verax.benchmarks.staining.scores import ceiling, highest_reciprocal_rank
from verax.phrases import say as say_phrase
from verax.reporting.page import short_names
from verax.reporting.staining.answers import (
    apart,
    methods,
    not_learnt,
    turned,
    versus,
    wanted_features,
    weights,
)
from verax.reporting.staining.figures import CHECKS, FLOOR, checked
from verax.results.tables import CLEAR, Cell, Table, words_table
from verax.stats import Estimate
from verax.stats.thresholds import FEWEST_FLIPPED, FEWEST_UNITS
from verax.text import MINUS, NOTHING, duration, estimate, interval, p_text, points

say = partial(say_phrase, "staining")
# The measures of differences, with the phrase that says what each is.
MEASURES = {"auc": "area", "mrr": "reciprocal-rank"}


def shown_estimate(given: Estimate | None) -> str:
    """An estimate of a share, in per cent with its interval."""
    return estimate(None if given is None else {"mean": given.mean, "low": given.low, "high": given.high})


@dataclass(frozen=True)
class DatasetTables:
    """The tables of one dataset; one without rows has nothing to show.

    Attributes:
        learnt: accuracies of the stained models and their twins, and how many stains took.
        recall: recall at a few budgets, the area and the reciprocal rank of every explainer with every model.
        differences: by measure, explainers against each other, a column a model.
        cost: time and rows of an explanation.
    """

    learnt: Table
    recall: Table
    differences: Mapping[str, Table]
    cost: Table

    @property
    def all(self) -> tuple[Table, ...]:
        """In the order of the report, without the empty ones."""
        tables = (self.recall, *self.differences.values(), self.learnt, self.cost)
        return tuple(table for table in tables if table.rows)


def dataset_tables(dataset: str, summary: StainSummary, timings: Sequence[Timing]) -> DatasetTables:
    """All tables of one dataset; their keys have its number where there are several."""
    names = short_names(summary.explainers)
    pairs = [pair for pair in summary.pairs if pair.dataset == dataset]
    spec = summary.spec
    ending = f"-{spec.datasets.index(dataset) + 1}" if len(spec.datasets) > 1 else ""
    intervals = spec.stains >= FEWEST_UNITS

    def of_dataset(table: Table) -> Table:
        return replace(table, key=table.key + ending, sentence=say("table-of", dataset=dataset))

    return DatasetTables(
        of_dataset(learnt_table(pairs, spec.stains, intervals)),
        of_dataset(recall_table(pairs, names, wanted_features(summary), intervals)),
        {name: of_dataset(difference_table(pairs, names, name, intervals)) for name in MEASURES},
        of_dataset(cost_table(dataset, spec.models, timings, names)),
    )


def learnt_table(pairs: Sequence[Pair], stains: int, intervals: bool = True) -> Table:
    """Per model the accuracies of the stained model and its twin, and how many stains took."""
    rows = []
    for pair in pairs:
        (stained, _), (original, twin), (outside, twin_outside) = (checked(pair, check) for check in CHECKS)
        accuracies = map(shown_estimate, (stained, original, twin, outside, twin_outside))
        rows.append((pair.model, say("learnt-of", learnt=pair.stains_learnt, stains=stains), *accuracies))
    headings = ("column-model", "column-learnt", "column-stained", "column-original", "column-twin",
                "column-outside", "column-twin")  # fmt: skip
    return words_table("accuracy", say("accuracy-table", intervals=intervals), list(map(say, headings)), rows)


def recall_table(
    pairs: Sequence[Pair], names: Mapping[str, str], wanted: int, intervals: bool = True
) -> Table:
    """Per model and explainer the recall at a few budgets, the area, and the mean reciprocal rank."""
    budgets = sorted({1, wanted, 5, 10})
    rows = []
    for pair in pairs:
        for label, shown in names.items():
            scored = pair.explainers.get(label)
            if scored is None:
                continue
            estimates = [*(scored.recall[budget - 1] for budget in budgets), scored.auc, scored.mrr]
            words = NOTHING if scored.words is None else str(scored.words)
            rows.append((shown, pair.model, str(scored.stains), words, *map(shown_estimate, estimates)))
    titles = [f"b = {budget} = |F|" if budget == wanted else f"b = {budget}" for budget in budgets]
    most = [
        *(min(1.0, budget / wanted) for budget in budgets),
        ceiling(wanted),
        highest_reciprocal_rank(wanted),
    ]
    titles = [*titles, say("column-area"), say("column-reciprocal-rank")]
    headings = [
        *map(say, ("column-explainer", "column-model", "column-stains", "column-words")),
        *(f"{title}, {at_most(share)}" for title, share in zip(titles, most, strict=True)),
    ]
    return words_table("recall", say("recall-table", intervals=intervals), headings, rows, texts=2)


def at_most(share: float) -> str:
    """The largest possible value of a column, in per cent."""
    return say("at-most", most=f"{100 * share:.0f}")


def difference_table(
    pairs: Sequence[Pair], names: Mapping[str, str], measure: str, intervals: bool = True
) -> Table:
    """Two explainers a row, models across; those with random come last."""
    scored = {label for pair in pairs for label in methods(pair)}
    ordered = [label for label in names if label in scored]
    rivals = [(label, other) for place, label in enumerate(ordered) for other in ordered[place + 1 :]]
    if any(FLOOR in pair.explainers for pair in pairs):
        rivals += [(label, FLOOR) for label in ordered]
    rows = [
        (
            f"{names[label]} {MINUS} {names[other]}",
            *(compared(pair, label, other, names, measure) for pair in pairs),
        )
        for label, other in rivals
    ]
    title = say("difference-table", measure=say(MEASURES[measure]), intervals=intervals)
    headings = [say("column-pair"), *(pair.model for pair in pairs)]
    return words_table(f"differences-{measure}", title, headings, rows)


def compared(pair: Pair, label: str, other: str, names: Mapping[str, str], measure: str) -> Cell:
    """Two explainers with one model; the winner is named only if the difference survives correction."""
    difference = versus(pair, label, other, measure)
    if difference is None or difference.mean is None:
        return Cell(NOTHING)
    winner = {"first": names[label], "second": names[other]}.get(difference.verdict, "")
    most = max(pair.explainers[rival].stains for rival in (label, other))
    few = "" if difference.n == most else f"({say('some-stains', compared=difference.n, scored=most)})"
    shown = f"{points(difference.mean)} {interval(difference.low, difference.high)}".strip()
    tested = " ".join(
        part for part in (", ".join(filter(None, (p_text(difference.p_holm), winner))), few) if part
    )
    return Cell(f"{shown}\n{tested}".strip(), CLEAR if winner else "")


def cost_table(
    dataset: str, models: Sequence[str], timings: Sequence[Timing], names: Mapping[str, str]
) -> Table:
    """Time and rows of an explanation, explainers down and models across; the time to fit a model at the end."""
    own = [timing for timing in timings if timing.dataset == dataset]
    by_place = {(timing.model, timing.explainer): timing for timing in own}
    used = [label for label in names if any((model, label) in by_place for model in models)]
    rows = [(names[label], *(_cost(by_place.get((model, label))) for model in models)) for label in used]
    if own:
        fits = {timing.model: duration(timing.fit_seconds) for timing in own}
        rows.append((say("cost-training"), *(fits.get(model, NOTHING) for model in models)))
    return words_table("cost", say("cost-table"), [say("column-explainer"), *models], rows)


def _cost(timing: Timing | None) -> str:
    return (
        NOTHING if timing is None else f"{duration(timing.seconds)}, {say('rows', rows=round(timing.rows))}"
    )


def rank_table(summary: StainSummary) -> Table:
    """Explainers by their average rank."""
    names = short_names(summary.explainers)
    ranks = summary.ranks.ranks if summary.ranks else {}
    known = sorted((rank, names[label]) for label, rank in ranks.items() if rank is not None)
    headings = [say("column-explainer"), say("column-rank")]
    return words_table(
        "ranks", say("rank-table"), headings, [(label, f"{rank:.2f}") for rank, label in known]
    )


# The budgets whose recall the terminal shows; the report has all of them.
SHOWN_BUDGETS = (2, 5, 10)


def short_recall(summary: StainSummary, dataset: str) -> Table:
    """The area, and recall at a few budgets, for a terminal and a notebook."""
    explainers, models = short_names(summary.explainers), short_names(summary.spec.models)
    rows: list[tuple[str, ...]] = []
    for pair in summary.pairs:
        if pair.dataset != dataset:
            continue
        name = models.get(pair.model, pair.model)
        for label in summary.explainers:
            if (scored := pair.explainers.get(label)) is not None:
                estimates = [scored.auc, *(scored.recall[budget - 1] for budget in SHOWN_BUDGETS)]
                rows.append((name, explainers[label], str(scored.stains), *map(shown_estimate, estimates)))
        if not pair.explainers:
            rows.append((name, _nothing_scored(pair), "0", *([NOTHING] * (1 + len(SHOWN_BUDGETS)))))
    most = most_recall(summary.spec)
    shares = {"area": summary.spec.ceiling} | {f"b = {budget}": most[budget - 1] for budget in SHOWN_BUDGETS}
    headings = [
        *map(say, ("column-model", "column-explainer", "column-stains")),
        *(f"{name}, {at_most(share)}" for name, share in shares.items()),
    ]
    title = say("terminal-table", dataset=dataset, size=summary.spec.size)
    return words_table("recall", title, headings, rows, texts=2)


def _nothing_scored(pair: Pair) -> str:
    """Why a model has no line for any explainer."""
    if pair.errors:
        return say("nothing-errors")
    if pair.stains_apart:
        return say("nothing-apart")
    if pair.stains_failed and not pair.stains_left_out:
        return say("nothing-trials")
    return say("nothing-learnt")


def failed_explainers(summary: StainSummary) -> list[str]:
    """One sentence for each explainer that failed, with its first error."""
    return [
        say(
            "explainer-failed-first",
            dataset=pair.dataset,
            model=pair.model,
            failed=say("explainer-failed", name=label, stains=len(errors)),
            error=errors[0],
        )
        for pair in summary.pairs
        for label, errors in pair.errors.items()
    ]


def findings(summary: StainSummary) -> list[str]:
    """One sentence per pair of dataset and model on which differences survive correction, and on what was left out."""
    leads = []
    others = []
    for pair in summary.pairs:
        of_model = {"dataset": pair.dataset, "model": pair.model}
        sure = [
            turned(difference) if difference.verdict == "second" else difference
            for difference in pair.differences["auc"]
            if difference.verdict != "none" and FLOOR not in (difference.first, difference.second)
        ]
        if sure:
            above = [say("above", first=one.first, second=one.second) for one in sure]
            leads.append(say("leads-of-model", **of_model, leads="; ".join(above)))
        notes = [*not_learnt(pair, summary.spec.plant), apart(pair), weights(pair)]
        others += [say("of-model", **of_model, sentence=note) for note in notes if note]
    for name, facts in summary.datasets.items():
        others += [say("of-dataset", dataset=name, sentence=sentence) for sentence in facts.planted]
    leads = leads or [say("no-leads", needed=FEWEST_FLIPPED)]
    return [*leads, *others, *said_nonsense(summary), *failed_explainers(summary)]


def said_nonsense(summary: StainSummary) -> list[str]:
    """One sentence for each explainer that asks the model for words: how many replies name none of the input's."""
    return [
        say(
            "said-nonsense",
            dataset=pair.dataset,
            model=pair.model,
            explainer=short_names(summary.explainers)[label],
            nonsense=scored.nonsense,
            replies=scored.inputs,
        )
        for pair in summary.pairs
        for label, scored in pair.explainers.items()
        if scored.nonsense is not None
    ]
