"""The report of a staining run: one self-contained page with worked examples, and its figures as files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import cast

from verax.benchmarks.staining.estimates import most_recall
from verax.benchmarks.staining.findings import StainSummary
from verax.benchmarks.staining.run import KeptExample, Timing
from verax.benchmarks.staining.scores import places
from verax.data.words import split_words
from verax.errors import VeraxError
from verax.explain.explanation import Attribution, Explanation
from verax.reporting.comparison import Mark, segments
from verax.reporting.explanations import page_environment
from verax.reporting.page import (
    is_kept,
    manifest_words,
    marked,
    page_key,
    page_script,
    page_style,
    short_names,
    spec_toml,
)
from verax.reporting.staining.answers import (
    answers,
    apart,
    rank_notes,
    routes,
    wanted_features,
    weights,
    what_to_try,
)
from verax.reporting.staining.figures import FLOOR, learnt_figure, learnt_panels, recall_figure, recall_panels
from verax.reporting.staining.tables import cost_table, difference_table, learnt_table, recall_table
from verax.reporting.staining.verdict import staining_verdict
from verax.run.manifest import Manifest
from verax.stats.thresholds import FEWEST_FLIPPED, FEWEST_UNITS
from verax.text import counted, listed

# Dataset, model and number of the stain.
Place = tuple[str, str, int]
EXAMPLES = 3
EXPLAINED = (
    "Of the inputs that were kept, each example takes one with a model, a dataset and a stain that were not shown yet, "
    "as far as there are any, and among those the shortest: none was chosen for what the explainers say of it."
)


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
    places_of_words = ", ".join(f"“{name}” {_rank(before, tied)}" for before, tied, name in ranked)
    # A word that the text does not have belongs to another rule of the stain.
    here = split_words(attribution.input).distinct if isinstance(attribution.input, str) else wanted
    missing = (set(wanted) & set(here)) - set(attribution.features)
    absent = ", ".join(f"“{name}”" for name in sorted(missing))
    named = f"{places_of_words} of {len(attribution.features)} features" if places_of_words else ""
    return "; ".join(part for part in (named, f"{absent} not named" if absent else "") if part)


def _rank(above: int, ties: int) -> str:
    """The rank after so many that are more important; those that tie share theirs, as they do in the scores."""
    return ordinal(above + 1) if ties == 1 else f"tied {ordinal(above + 1)} to {ordinal(above + ties)}"


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


MEASURES = {"auc": "area under the recall curve", "mrr": "mean reciprocal rank"}
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
    """Writes ``report.html`` and ``figures/*.svg`` into the folder of a run; what is there already is kept.

    Args:
        folder: the run's.
        summary: what ``summarise`` returned.
        results: the measurements, one row per explanation; a frame or a list.
        examples: explanations to look at, of which three inputs are shown.
        timings: seconds and rows per explanation.
        manifest: versions and machine, as far as they are known.
    """
    known = {name: value for name, value in manifest.items() if name != "finished"}
    shown = [list(map(asdict, examples)), list(map(asdict, timings))]
    key = page_key(summary.to_dict(), len(results), shown, known)
    if is_kept(folder / "report.html", key) and (folder / "figures").is_dir():
        return
    figures = staining_figures(summary)
    page = render_staining_report(summary, len(results), examples, timings, manifest)
    try:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        for name, svg in figures.items():
            (folder / "figures" / f"{name}.svg").write_bytes(svg.encode("utf-8", "replace"))
        # A lone surrogate has no UTF-8; it becomes a question mark rather than an error.
        (folder / "report.html").write_bytes(marked(page, key).encode("utf-8", "replace"))
    except OSError as error:
        raise VeraxError(
            f"The report cannot be written to {str(folder)!r} ({error.strerror}); choose another folder."
        ) from error


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
            measures=MEASURES,
            ranks=_ranked(summary, names),
            rank_notes=rank_notes(summary),
            examples=worked_examples(examples, names),
            explained=EXPLAINED,
            failures=summary.failures,
            routes=routes(examples),
            parameters=[label for label in summary.explainers if names[label] != label],
            spec=spec_toml(summary.spec.model_dump(), "stain"),
            manifest=manifest_words(manifest),
            wanted=wanted_features(summary),
            learnt=f"{summary.spec.learnt:.0%}",
            weight=summary.spec.weight,
            inputs=summary.spec.inputs,
            open=OPEN,
            intervals=summary.spec.stains >= FEWEST_UNITS,
        )
    )


def asked(summary: StainSummary, explanations: int) -> str:
    """What the run did, in a sentence."""
    spec, names = summary.spec, list(short_names(summary.explainers).values())
    rules = "" if spec.rules == 1 else f" and {spec.rules} rules"
    return (
        f"{counted(spec.stains, 'stain')} of |F| = {spec.size} {'feature' if spec.size == 1 else 'features'}"
        f"{rules} on {listed(spec.datasets)}, "
        f"{counted(len(spec.models), 'model')} ({listed(spec.models)}), the explainers "
        f"{listed(names)}; {counted(explanations, 'explanation')} scored."
    )


def notes(summary: StainSummary) -> list[str]:
    """What a reader must know before reading any interval."""
    sentences = []
    if summary.spec.stains < FEWEST_UNITS:
        many = "One stain" if summary.spec.stains == 1 else f"{summary.spec.stains} stains"
        sentences.append(
            f"{many} only: there are no intervals and no tests, and another stain may turn every order round. "
            f"Use {FEWEST_FLIPPED} stains or more, 20 to compare explainers."
        )
    repeated = [
        f"{name} ({facts.distinct_stains} of {len(facts.stains)} differ)"
        for name, facts in summary.datasets.items()
        if facts.distinct_stains < len(facts.stains)
    ]
    for name, facts in summary.datasets.items():
        sentences += [f"{name}: {sentence}" for sentence in facts.planted]
    if repeated:
        sentences.append(f"A stain that was drawn twice counts once: {listed(repeated)}.")
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
        "took": learnt_table(pairs, summary.spec.stains),
        "recall_panels": recall_panels(pairs, names, most_recall(summary.spec).tolist()),
        "recall": recall_table(pairs, names, wanted_features(summary)),
        "differences": {measure: difference_table(pairs, names, measure) for measure in MEASURES},
        "cost": cost_table(name, summary.spec.models, timings, names),
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


def _ranked(summary: StainSummary, names: Mapping[str, str]) -> list[tuple[str, str]]:
    ranks = summary.ranks.ranks if summary.ranks else {}
    known = sorted((rank, names[label]) for label, rank in ranks.items() if rank is not None)
    return [(label, f"{rank:.2f}") for rank, label in known]
