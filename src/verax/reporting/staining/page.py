"""The report of a staining run: one self-contained page with worked examples, and its figures as files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import cast

from verax.benchmarks.contract import Found
from verax.benchmarks.staining.estimates import most_recall
from verax.benchmarks.staining.findings import StainSummary
from verax.benchmarks.staining.run import KeptExample, Timing
from verax.benchmarks.staining.scores import ceiling, places
from verax.data.words import split_words
from verax.explain.explanation import Attribution, Explanation
from verax.notebook import paragraph_html
from verax.phrases import say as say_phrase
from verax.reporting.comparison import Mark, segments
from verax.reporting.explanations import page_environment
from verax.reporting.page import (
    View,
    failed_jobs,
    is_kept,
    manifest_words,
    marked,
    page_key,
    page_script,
    page_style,
    short_names,
    spec_toml,
    write_report,
)
from verax.reporting.staining.answers import (
    answers,
    apart,
    rank_notes,
    routes,
    weights,
    what_to_try,
)
from verax.reporting.staining.figures import FLOOR, learnt_figure, learnt_panels, recall_figure, recall_panels
from verax.reporting.staining.tables import (
    MEASURES,
    dataset_tables,
    failed_explainers,
    findings,
    rank_table,
    short_recall,
    terminal_summary,
)
from verax.reporting.staining.verdict import staining_verdict
from verax.results.tables import table_html
from verax.run.manifest import PAGE, Manifest
from verax.stats.thresholds import FEWEST_FLIPPED, FEWEST_UNITS

say = partial(say_phrase, "staining")
# Dataset, model and number of the stain.
Place = tuple[str, str, int]
EXAMPLES = 3


@dataclass(frozen=True)
class MarkedPiece:
    """A piece of an input, the mark it bears, and whether it belongs to the stain."""

    text: str
    mark: Mark | None
    stained: bool


@dataclass(frozen=True)
class ExplainerAnswer:
    """One explainer's answer: the input in pieces, and at which rank it has each feature of the stain."""

    name: str
    attribution: Attribution
    pieces: tuple[MarkedPiece, ...]
    ranks: str
    control: bool


@dataclass(frozen=True)
class WorkedExample:
    """One flipped input with the answers of all explainers."""

    dataset: str
    model: str
    stain: str
    answers: tuple[ExplainerAnswer, ...]


def worked_examples(
    kept: Sequence[KeptExample], names: Mapping[str, str], most: int = EXAMPLES
) -> list[WorkedExample]:
    """Examples that differ in model, dataset and stain as far as they can.

    Args:
        kept: explanations with their dataset, model and stain, as a run keeps them.
        names: explainers in order, with the label each is shown by.
        most: how many inputs.
    """
    groups: dict[Place, list[KeptExample]] = {}
    for example in kept:
        groups.setdefault((example.dataset, example.model, example.stain), []).append(example)
    left = dict(groups)
    chosen: list[WorkedExample] = []
    seen: set[tuple[int, str | int]] = set()
    while left and len(chosen) < most:
        place = min(
            left, key=lambda each: (_repeated(each, seen), _length(left[each]), list(groups).index(each))
        )
        seen |= set(enumerate(place))
        chosen.append(_example(left.pop(place), names))
    return chosen


def _repeated(place: Place, seen: Collection[tuple[int, str | int]]) -> tuple[bool, ...]:
    """What was shown before: the model weighs most, then the dataset, then the stain."""
    dataset, model, stain = enumerate(place)
    return tuple(part in seen for part in (model, dataset, stain))


def _length(group: Sequence[KeptExample]) -> int:
    shown = group[0].explanation["input"]
    return len(shown) if isinstance(shown, str) else sum(map(len, cast("Sequence[str]", shown)))


def _example(group: Sequence[KeptExample], names: Mapping[str, str]) -> WorkedExample:
    order = list(names)
    known = sorted(
        group,
        key=lambda example: order.index(example.explainer) if example.explainer in order else len(order),
    )
    first = group[0]
    return WorkedExample(
        first.dataset, first.model, first.shown, tuple(_answer(example, names) for example in known)
    )


def _answer(example: KeptExample, names: Mapping[str, str]) -> ExplainerAnswer:
    attribution = Explanation.from_dict(example.explanation)
    assert isinstance(attribution, Attribution)
    label = example.explainer
    pieces = boxed(attribution, example.wanted)
    ranks = stain_ranks(attribution, example.wanted)
    return ExplainerAnswer(names.get(label, label), attribution, pieces, ranks, label == FLOOR)


def stain_ranks(attribution: Attribution, wanted: Collection[str]) -> str:
    """At which rank the explanation has each feature of the stain, "“the” 1st, “not” 4th of 23 features"."""
    above, ties = places(attribution.scores)
    ranked = sorted(
        (int(above[number]), int(ties[number]), name)
        for number, name in enumerate(attribution.features)
        if name in wanted
    )
    # A word that the text does not have belongs to another rule of the stain.
    here = split_words(attribution.input).distinct if isinstance(attribution.input, str) else wanted
    missing = (set(wanted) & set(here)) - set(attribution.features)
    clauses = []
    if ranked:
        shown = ", ".join(_rank(name, before, tied) for before, tied, name in ranked)
        clauses.append(say("stain-ranks", ranks=shown, features=len(attribution.features)))
    if missing:
        clauses.append(say("stain-not-named", words=", ".join(f"“{name}”" for name in sorted(missing))))
    return "; ".join(clauses)


def _rank(word: str, above: int, ties: int) -> str:
    """The rank after so many that are more important; those that tie share theirs, as they do in the scores."""
    if ties == 1:
        return say("stain-rank", word=word, rank=ordinal(above + 1))
    return say("stain-tied", word=word, rank=ordinal(above + 1), last=ordinal(above + ties))


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{ending}"


def boxed(attribution: Attribution, wanted: Collection[str]) -> tuple[MarkedPiece, ...]:
    """The highlighted input, cut once more where a word of the stain begins or ends; joined it is as written."""
    if not isinstance(attribution.input, str):
        columns = attribution.features if len(attribution.features) == len(attribution.input) else ()
        stained = [name in wanted for name in columns] or [False] * len(attribution.input)
        return tuple(
            MarkedPiece(segment.text, segment.mark, its)
            for segment, its in zip(segments(attribution), stained, strict=True)
        )
    spans = split_words(attribution.input).spans()
    inside = bytearray(len(attribution.input))
    edges = set()
    for word in wanted:
        for start, end in spans.get(word, ()):
            inside[start:end] = b"\1" * (end - start)
            edges |= {start, end}
    pieces: list[MarkedPiece] = []
    first = 0
    for segment in segments(attribution):
        last = first + len(segment.text)
        cuts = [first, *sorted(edge for edge in edges if first < edge < last), last]
        for start, end in pairwise(cuts):
            if start < end:
                pieces.append(MarkedPiece(attribution.input[start:end], segment.mark, bool(inside[start])))
        first = last
    return tuple(pieces)


# Stains that it takes to compare explainers.
TO_COMPARE = 20
# So many stains, failures and correlated conditions stand open; the rest can be unfolded.
OPEN = 20


def write_staining_report(
    folder: Path,
    summary: StainSummary,
    results: Sized,
    examples: Sequence[KeptExample],
    timings: Sequence[Timing],
    manifest: Manifest,
) -> None:
    """Writes ``report.html``, ``figures/`` and ``tables/`` into the folder of a run; what is there already is kept.

    Args:
        folder: the run's.
        summary: what ``summarise`` returned.
        results: the measurements, one row per explanation; a frame or a list.
        examples: explanations to look at, of which three inputs are shown.
        timings: seconds and rows per explanation.
        manifest: versions and machine, as far as they are known.
    """
    known = {name: value for name, value in manifest.items() if name not in ("finished", PAGE)}
    shown = [list(map(asdict, examples)), list(map(asdict, timings))]
    key = page_key(summary.to_dict(), len(results), shown, known)
    if is_kept(folder / "report.html", key) and all(
        (folder / part).is_dir() for part in ("figures", "tables")
    ):
        return
    page = render_staining_report(summary, len(results), examples, timings, manifest)
    tables = [one for name in summary.spec.datasets for one in dataset_tables(name, summary, timings).all]
    if (ranks := rank_table(summary)).rows:
        tables.append(ranks)
    write_report(folder, marked(page, key), staining_figures(summary), tables)


def staining_figures(summary: StainSummary) -> dict[str, str]:
    """The figures as SVG files, by name."""
    names = short_names(summary.explainers)
    return {
        "took": learnt_figure(summary.pairs, summary.spec.learnt),
        "recall": recall_figure(summary.pairs, names, most_recall(summary.spec).tolist()),
    }


def render_staining_report(
    summary: StainSummary,
    explanations: int,
    examples: Sequence[KeptExample],
    timings: Sequence[Timing],
    manifest: Manifest,
) -> str:
    """The page as HTML.

    Args:
        summary: what ``summarise`` returned.
        explanations: how many were scored.
        examples: explanations to look at.
        timings: seconds and rows per explanation.
        manifest: versions and machine, as far as they are known.
    """
    names = short_names(summary.explainers)
    return str(
        page_environment()
        .get_template("staining.html")
        .render(
            style=page_style(),
            script=page_script(),
            verdict=staining_verdict(summary),
            asked=asked(summary, explanations),
            answers=answers(summary, timings),
            notes=notes(summary),
            datasets=[_dataset(name, summary, timings, names) for name in summary.spec.datasets],
            measures={measure: say(meaning) for measure, meaning in MEASURES.items()},
            ranks=rank_table(summary),
            rank_notes=rank_notes(summary),
            examples=worked_examples(examples, names),
            explained=say("examples-how"),
            failures=summary.failures,
            routes=routes(examples),
            parameters=[label for label in summary.explainers if names[label] != label],
            spec=spec_toml(summary.spec.model_dump(), "stain"),
            manifest=manifest_words(manifest),
            most=f"{100 * ceiling(summary.spec.size - summary.spec.negated):.0f}",
            learnt=f"{summary.spec.learnt:.0%}",
            weight=summary.spec.weight,
            inputs=summary.spec.inputs,
            open=OPEN,
            intervals=summary.spec.stains >= FEWEST_UNITS,
        )
    )


def asked(summary: StainSummary, explanations: int) -> str:
    """What the run did, in a sentence."""
    spec = summary.spec
    return say(
        "asked",
        stains=spec.stains,
        size=spec.size,
        rules=spec.rules,
        datasets=spec.datasets,
        models=spec.models,
        names=list(short_names(summary.explainers).values()),
        explanations=explanations,
    )


def notes(summary: StainSummary) -> list[str]:
    """What a reader must know before reading any interval."""
    sentences = []
    if summary.spec.stains < FEWEST_UNITS:
        sentences.append(
            say("only-few-stains", stains=summary.spec.stains, needed=FEWEST_FLIPPED, many=TO_COMPARE)
        )
    repeated = [
        say("drawn-different", dataset=name, different=facts.distinct_stains, stains=len(facts.stains))
        for name, facts in summary.datasets.items()
        if facts.distinct_stains < len(facts.stains)
    ]
    for name, facts in summary.datasets.items():
        sentences += [say("of-dataset", dataset=name, sentence=sentence) for sentence in facts.planted]
    if repeated:
        sentences.append(say("drawn-twice", datasets=repeated))
    return sentences


def _dataset(
    name: str, summary: StainSummary, timings: Sequence[Timing], names: Mapping[str, str]
) -> dict[str, object]:
    """Everything that the page says about one dataset."""
    pairs = [pair for pair in summary.pairs if pair.dataset == name]
    facts = summary.datasets[name]
    learnt = summary.spec.learnt
    return {
        "name": name,
        "pairs": pairs,
        "took_panels": learnt_panels(pairs, learnt),
        "recall_panels": recall_panels(pairs, names, most_recall(summary.spec).tolist()),
        "tables": dataset_tables(name, summary, timings),
        "stains": list(zip(facts.stains, facts.region, strict=True)),
        "redrawn": facts.redrawn,
        "correlated": facts.correlated,
        "hash": facts.hash,
        "facts": facts.facts,
        "what_to_try": {pair.model: what_to_try(pair, summary.spec.plant) for pair in pairs},
        "apart": {pair.model: apart(pair) for pair in pairs if pair.stains_apart},
        "weights": {pair.model: weights(pair) for pair in pairs if weights(pair)},
        "shown_names": names,
    }


def _write(folder: Path, found: Found[StainSummary], manifest: Manifest) -> None:
    results: Sized = () if found.results is None else found.results
    write_staining_report(folder, found.summary, results, found.examples, found.timings, manifest)


def _notebook(summary: StainSummary) -> str:
    tables = [short_recall(summary, dataset) for dataset in summary.spec.datasets]
    shown = [paragraph_html(table.title) + table_html(table) for table in tables]
    return paragraph_html(*findings(summary)) + "".join(shown)


STAINING = View(
    _write,
    terminal_summary,
    _notebook,
    lambda summary: failed_jobs(summary.failures, "trial"),
    failed_explainers,
)
