"""The report of a staining run: one self-contained page, and its figures as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import asdict
from pathlib import Path

from verax.benchmarks.staining.results import KeptExample, Timing
from verax.benchmarks.staining.summarise import most_recall
from verax.benchmarks.staining.summary import Summary
from verax.errors import VeraxError
from verax.report.common.kept_page import is_kept, marked, page_key
from verax.report.common.page import page_script, page_style
from verax.report.common.run_facts import manifest_words, short_names, spec_toml
from verax.report.explanations.explanations_page import _environment
from verax.report.staining.answers import answers, rank_notes, wanted_features
from verax.report.staining.examples import EXPLAINED, worked_examples
from verax.report.staining.figures import recall_figure, recall_panels, took_figure, took_panels
from verax.report.staining.reasons import apart, routes, weights, what_to_try
from verax.report.staining.staining_tables import cost_table, difference_table, recall_table, took_table
from verax.report.staining.staining_verdict import staining_verdict
from verax.run.manifest import Manifest
from verax.stats.thresholds import FEWEST_FLIPPED, FEWEST_UNITS
from verax.text import counted, listed

MEASURES = {"auc": "area under the recall curve", "mrr": "mean reciprocal rank"}
# So many stains, failures and correlated conditions stand open; the rest can be unfolded.
OPEN = 20


def write_staining_report(
    folder: Path,
    summary: Summary,
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


def staining_figures(summary: Summary) -> dict[str, str]:
    """The figures as SVG files, by name."""
    names = short_names(summary.explainers)
    return {
        "took": took_figure(summary.pairs, summary.spec.learnt),
        "recall": recall_figure(summary.pairs, names, most_recall(summary.spec).tolist()),
    }


def render_staining_report(
    summary: Summary,
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
        _environment()
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


def asked(summary: Summary, explanations: int) -> str:
    """What the run did, in a sentence."""
    spec, names = summary.spec, list(short_names(summary.explainers).values())
    rules = "" if spec.rules == 1 else f" and {spec.rules} rules"
    return (
        f"{counted(spec.stains, 'stain')} of |F| = {spec.size} {'feature' if spec.size == 1 else 'features'}"
        f"{rules} on {listed(spec.datasets)}, "
        f"{counted(len(spec.models), 'model')} ({listed(spec.models)}), the explainers "
        f"{listed(names)}; {counted(explanations, 'explanation')} scored."
    )


def notes(summary: Summary) -> list[str]:
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
    name: str, summary: Summary, timings: Sequence[Timing], names: Mapping[str, str]
) -> dict[str, object]:
    """Everything that the page says about one dataset."""
    pairs = [pair for pair in summary.pairs if pair.dataset == name]
    facts = summary.datasets[name]
    learnt = summary.spec.learnt
    return {
        "name": name,
        "pairs": pairs,
        "took_panels": took_panels(pairs, learnt),
        "took": took_table(pairs, summary.spec.stains),
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


def _ranked(summary: Summary, names: Mapping[str, str]) -> list[tuple[str, str]]:
    ranks = summary.ranks.ranks if summary.ranks else {}
    known = sorted((rank, names[label]) for label, rank in ranks.items() if rank is not None)
    return [(label, f"{rank:.2f}") for rank, label in known]
