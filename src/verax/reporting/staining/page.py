"""The report of a staining run: one self-contained page with worked examples, and its figures as files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import cast

from verax.benchmarks.contract import Found
from verax.benchmarks.staining.estimates import most_recall
from verax.benchmarks.staining.findings import Pair, StainSummary
from verax.benchmarks.staining.run import KeptExample, Timing
from verax.benchmarks.staining.scores import ceiling, places
from verax.data.words import split_words
from verax.explain.explanation import Attribution, Explanation
from verax.phrases import say as say_phrase
from verax.reporting.comparison import Mark, segments
from verax.reporting.page import failed_jobs, short_names
from verax.reporting.run_page import (
    Block,
    Brief,
    Drawn,
    Failures,
    Folded,
    Heading,
    Numbers,
    Panels,
    Paragraph,
    Part,
    Questions,
    RunPage,
    View,
    own_html,
)
from verax.reporting.staining.answers import answers, apart, rank_notes, routes, weights, what_to_try
from verax.reporting.staining.figures import FLOOR, learnt_figure, learnt_panels, recall_figure, recall_panels
from verax.reporting.staining.tables import (
    MEASURES,
    DatasetTables,
    dataset_tables,
    failed_explainers,
    findings,
    rank_table,
    short_recall,
)
from verax.reporting.staining.verdict import staining_verdict
from verax.results.tables import Table
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
OWN = "staining_parts.html"


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


def _page(found: Found[StainSummary]) -> RunPage:
    """The report of a run."""
    summary, timings, examples = found.summary, found.timings, found.examples
    names, spec = short_names(summary.explainers), summary.spec
    tables = {name: dataset_tables(name, summary, timings) for name in spec.datasets}
    ranks = rank_table(summary)
    shown = worked_examples(examples, names)
    parts = [
        _rests_on(summary, timings),
        _recall(summary, tables, routes(examples)),
        _differences(summary, tables, ranks),
        *([_examples(shown)] if shown else []),
        _accuracy(summary, tables),
        _cost(tables),
        _left_out(summary, names),
    ]
    explanations = 0 if found.results is None else len(found.results)
    return RunPage(
        title=say("page-title"),
        window=say("page-window"),
        asked=say("page-asked", asked=asked(summary, explanations)),
        verdict=staining_verdict(summary),
        notices=notes(summary),
        parts=parts,
        again=[own_html(OWN, "hashes", {name: summary.datasets[name].hash for name in spec.datasets})],
        results="results.parquet",
        source=say("page-source"),
        tables=[table for own in tables.values() for table in own.all] + ([ranks] if ranks.rows else []),
        figures={
            "took": learnt_figure(summary.pairs, spec.learnt),
            "recall": recall_figure(summary.pairs, names, most_recall(spec).tolist()),
        },
    )


def _rests_on(summary: StainSummary, timings: Sequence[Timing]) -> Part:
    blocks = [
        Paragraph(say("stain-is")),
        Questions(answers(summary, timings)),
        Paragraph(say("intervals-how"), "small how"),
    ]
    return Part("rests-on", say("part-rests-on"), blocks, opened=True)


def _pairs(summary: StainSummary, dataset: str) -> list[Pair]:
    return [pair for pair in summary.pairs if pair.dataset == dataset]


def _recall(summary: StainSummary, tables: Mapping[str, DatasetTables], taken: Sequence[str]) -> Part:
    names, spec = short_names(summary.explainers), summary.spec
    most = f"{100 * ceiling(spec.size - spec.negated):.0f}"
    caption = say("recall-figure", intervals=spec.stains >= FEWEST_UNITS, most=most)
    blocks: list[Block] = []
    for name, own in tables.items():
        panels = recall_panels(_pairs(summary, name), names, most_recall(spec).tolist())
        blocks += [Heading(name), Panels(panels, caption), Numbers(own.recall)]
    parameters = [label for label in summary.explainers if names[label] != label]
    how = own_html(OWN, "recall_how", say("recall-how", inputs=spec.inputs or 0), parameters, taken)
    blocks.append(Paragraph(how, "small how"))
    return Part("recall", say("part-recall"), blocks, say("part-recall-short"))


def _differences(summary: StainSummary, tables: Mapping[str, DatasetTables], ranks: Table) -> Part:
    blocks: list[Block] = []
    for name, own in tables.items():
        blocks.append(Heading(name))
        for place, (measure, meaning) in enumerate(MEASURES.items()):
            table = own.differences[measure]
            if table.rows:
                numbers = Numbers(table)
                folded = Folded(say("differences-by", measure=say(meaning)), [numbers])
                blocks.append(folded if place else numbers)
            elif not place:
                blocks.append(Paragraph(say("differences-none")))
    if ranks.rows:
        blocks += [Heading(say("ranks-heading")), Numbers(ranks), Paragraph(rank_notes(summary), "small how")]
    blocks.append(Paragraph(say("differences-how"), "small how"))
    return Part("differences", say("part-differences"), blocks)


def _examples(shown: Sequence[WorkedExample]) -> Part:
    blocks = [Drawn(own_html(OWN, "worked_examples", shown)), Paragraph(say("examples-how"), "small how")]
    heading = say("examples-heading", examples=len(shown))
    return Part("examples", heading, blocks, say("part-examples-short"))


def _accuracy(summary: StainSummary, tables: Mapping[str, DatasetTables]) -> Part:
    spec = summary.spec
    said = say("accuracy-figure", intervals=spec.stains >= FEWEST_UNITS, threshold=f"{spec.learnt:.0%}")
    caption = own_html(OWN, "accuracy_caption", said)
    blocks: list[Block] = []
    for name, own in tables.items():
        panels = learnt_panels(_pairs(summary, name), spec.learnt)
        blocks += [Heading(name), Panels(panels, caption), Numbers(own.learnt)]
    blocks.append(Paragraph(say("accuracy-how", weight=spec.weight), "small how"))
    return Part("took", say("part-accuracy"), blocks, say("part-accuracy-short"))


def _cost(tables: Mapping[str, DatasetTables]) -> Part:
    blocks: list[Block] = []
    for name, own in tables.items():
        blocks.append(Heading(name))
        blocks.append(Numbers(own.cost) if own.cost.rows else Paragraph(say("cost-none")))
    blocks.append(Paragraph(say("cost-how"), "small how"))
    return Part("cost", say("part-cost"), blocks, say("part-cost-short"))


def _left_out(summary: StainSummary, names: Mapping[str, str]) -> Part:
    blocks: list[Block] = []
    if summary.failures:
        blocks.append(Paragraph(say("jobs-failed", jobs=len(summary.failures))))
        blocks.append(Failures(summary.failures, OPEN))
    else:
        blocks.append(Paragraph(say("no-job-failed")))
    for name in summary.spec.datasets:
        facts, pairs = summary.datasets[name], _pairs(summary, name)
        dataset = {
            "pairs": pairs,
            "stains": list(zip(facts.stains, facts.region, strict=True)),
            "redrawn": facts.redrawn,
            "correlated": facts.correlated,
            "facts": facts.facts,
            "what_to_try": {pair.model: what_to_try(pair, summary.spec.plant) for pair in pairs},
            "apart": {pair.model: apart(pair) for pair in pairs if pair.stains_apart},
            "weights": {pair.model: weights(pair) for pair in pairs if weights(pair)},
            "shown_names": names,
        }
        left = own_html(OWN, "left_out", dataset, learnt=f"{summary.spec.learnt:.0%}", open=OPEN)
        blocks += [Heading(name), Drawn(left)]
    return Part("left-out", say("part-dropped"), blocks, say("part-dropped-short"))


def _brief(summary: StainSummary) -> Brief:
    tables = [short_recall(summary, dataset) for dataset in summary.spec.datasets]
    return Brief(staining_verdict(summary), tables, findings(summary))


STAINING = View(_page, _brief, lambda summary: failed_jobs(summary.failures, "trial"), failed_explainers)
