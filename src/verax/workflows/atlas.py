"""The atlas from end to end: every explainer on every sort of model through every benchmark, as one folder and page."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verax.benchmarks.atlas.findings import AtlasSummary, PublishedTable, Value, summarise
from verax.benchmarks.atlas.plan import PlannedRun, plan_atlas
from verax.benchmarks.atlas.spec import AtlasOptions, AtlasSpec
from verax.benchmarks.contract import Failure
from verax.benchmarks.planning import own_code
from verax.benchmarks.sanity import REPEATS
from verax.codec import decode, encode
from verax.errors import VeraxError
from verax.installed import VERSION, require
from verax.notebook import paragraph_html
from verax.options import RunOptions, RunSpec, checked_spec, split_options, takes_options
from verax.phrases import say
from verax.results.findings import FLOOR, Finding, is_compared, to_frame
from verax.run import Job, write_json
from verax.run.execute import in_processes
from verax.run.manifest import MANIFEST, Manifest, file_hash, finish_manifest, note_results, start_manifest
from verax.run.progress import During, quietly
from verax.workflows.given_objects import parse_explainers

if TYPE_CHECKING:
    from typing import Unpack

    import pandas as pd

logger = logging.getLogger(__name__)

# Told a sentence.
Tell = Callable[[str], object]
OUT = Path("atlas")
# What a finished run gave the atlas, beside the run's own files.
GIVEN = "atlas.json"
FILES = ("summary.json", "results.parquet", "findings.csv", "timings.json")
# What the students' benchmark calls a lesson without any explanation.
WITHOUT = "no explanation"
# In place of an explainer where a whole run has no values.
ALL_FAILED = "all"


@dataclass(frozen=True)
class Timed:
    """What an explanation costs in one situation: seconds and rows, as the benchmark measured them."""

    dataset: str
    model: str
    method: str
    seconds: float
    rows: float


@dataclass(frozen=True, eq=False, repr=False)
class Atlas:
    """A finished atlas.

    Attributes:
        folder: where it lies.
        summary: all that it found.
        timings: what explanations cost on this machine.
        manifest: what was asked, with what, on which machine and when.
    """

    folder: Path
    summary: AtlasSummary
    timings: tuple[Timed, ...]
    manifest: Manifest

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One row for each method, benchmark and situation."""
        return self.summary.findings

    def to_frame(self) -> pd.DataFrame:
        """The findings as a DataFrame."""
        return to_frame(self.findings)

    def report(self) -> Path:
        """Writes index.html into the folder; where the page is."""
        from verax.reporting.atlas import write_atlas_page

        return write_atlas_page(self.folder, self.summary, self.timings, self.manifest)

    def __repr__(self) -> str:
        return f"Atlas({str(self.folder)!r}, {len(self.findings):,} findings)"

    def _repr_html_(self) -> str:
        page = say("common", "report-is", path=str(self.folder / "index.html"))
        return paragraph_html(*self.summary.sentences[1:], page, bold=self.summary.sentences[0])


@takes_options(AtlasSpec, RunSpec)
def atlas(
    *,
    out: str | Path = OUT,
    during: During = quietly,
    tell: Tell = logger.info,
    **options: Unpack[AtlasOptions],
) -> Atlas:
    """Which explainer for which sort of model: all that apply, through every benchmark without people.

    An atlas that was stopped goes on where it stopped when it is asked for again with the same folder; a finished one
    computes nothing. Explainers that were added to it stay.

    Args:
        out: its folder.
        during: told what is being done while it is done.
        tell: told of each run before it is done.
        options: of the spec, and how the runs are done; docs/atlas.md has all of them.
    """
    how, own = split_options(RunSpec, options)
    spec = checked_spec(AtlasSpec, own)
    folder = Path(out)
    return _made(spec, _added(folder), folder, how, during, tell)


@takes_options(RunSpec)
def add_to_atlas(
    explainer: str,
    *,
    out: str | Path = OUT,
    during: During = quietly,
    tell: Tell = logger.info,
    **options: Unpack[RunOptions],
) -> Atlas:
    """Puts another explainer into an atlas: runs what is missing, and writes the page again.

    Args:
        explainer: a name, or ``package.module:Class``, with parameters.
        out: the folder of the atlas.
        during: told what is being done while it is done.
        tell: told of each run before it is done.
        options: how the runs are done.
    """
    how, _ = split_options(RunSpec, options)
    folder = Path(out)
    spec = _spec_of(folder)
    parse_explainers(explainer, spec.of_size("samples"), spec.seed)  # a misspelt one is told before any work
    return _made(spec, list(dict.fromkeys([*_added(folder), explainer])), folder, how, during, tell)


def _spec_of(folder: Path) -> AtlasSpec:
    """What the atlas in a folder was asked."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        return checked_spec(AtlasSpec, manifest["spec"]["atlas"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VeraxError(
            f"There is no atlas in {str(folder)!r}; make one first: verax atlas --size small --out {folder}."
        ) from error


def _added(folder: Path) -> list[str]:
    try:
        found = json.loads((folder / "added.json").read_bytes())
    except FileNotFoundError:
        return []
    return [str(one) for one in found]


def _made(
    spec: AtlasSpec, added: Sequence[str], folder: Path, how: RunSpec, during: During, tell: Tell
) -> Atlas:
    require("An atlas", "matplotlib", "pyarrow", extra="bench")
    runs = plan_atlas(spec, added)
    if not runs and not spec.papers:
        raise VeraxError("No model of the atlas reads any of its datasets; name others.")
    start_manifest(folder, {"benchmark": "atlas", "atlas": spec.model_dump(mode="json")}, None, spec.seed)
    write_json(folder / "added.json", list(added))
    values: dict[tuple[str, ...], Value] = {}
    timings: dict[tuple[str, str, str], Timed] = {}
    failures: list[Failure] = []
    lacking = [run for run in runs if _stored(run, folder / "runs" / run.folder, how) is None]
    broken = _do_all(lacking, folder / "runs", how, during, tell)
    for run in runs:
        given = _stored(run, folder / "runs" / run.folder, RunSpec())
        if given is None:
            failures.append(Failure(run.folder, broken.get(run.folder, "")))
            continue
        for one in given["values"]:
            value = decode(Value, one, run.folder)
            values.setdefault((value.test, value.dataset, value.model, value.method, value.unit), value)
        for each in given["timings"]:
            timed = decode(Timed, each, run.folder)
            timings.setdefault((timed.dataset, timed.model, timed.method), timed)
        failures += [Failure(f"{run.folder}, {method}", error) for method, error in given["failed"].items()]
    published = _published(spec.size, folder, how, during, failures) if spec.papers else []
    with during("writing the page"):
        return _written(
            spec, added, list(values.values()), list(timings.values()), runs, failures, published, folder
        )


def _published(
    size: str, folder: Path, how: RunSpec, during: During, failures: list[Failure]
) -> list[PublishedTable]:
    """The tables of all papers that need no people, with our numbers; what cannot be had is among the failures."""
    from verax.workflows.paper import pairs_of, run_paper, table_title
    from verax.workflows.paper_files import known_papers, read_paper

    made = []
    full = size == "full"
    for name in known_papers():
        paper = read_paper(name)
        # In the small size only what is no study: those train and explain for many minutes each.
        small = paper.about.small.model_copy(update={"studies": None, "alone": None})
        if not full and not small.runs:
            continue
        about = paper.about.model_copy(update={"small": small})
        try:
            run = run_paper(
                replace(paper, about=about),
                folder / "papers" / name,
                full=full,
                bots=False,
                jobs=how.jobs,
                during=during,
            )
        except VeraxError as error:
            failures.append(Failure(f"papers/{name}", str(error)))
            continue
        for table in paper.published:
            rows = pairs_of(run, table)
            if not any(ours for _, cells in rows for _, ours in cells):
                continue
            made.append(
                PublishedTable(
                    paper=paper.about.citation,
                    title=table_title(table),
                    columns=tuple(title for title, _ in table.columns),
                    rows=tuple(rows),
                    notes=run.notes,
                    run=f"papers/{name}",
                    command=f"verax paper {name}" + (" --full" if full else ""),
                )
            )
    return made


def _written(
    spec: AtlasSpec,
    added: Sequence[str],
    values: list[Value],
    timings: list[Timed],
    runs: Sequence[PlannedRun],
    failures: Sequence[Failure],
    published: Sequence[PublishedTable],
    folder: Path,
) -> Atlas:
    import pandas as pd

    if not values and not published:
        raise VeraxError(
            f"All runs of the atlas failed: {failures[0].error if failures else 'nothing was done'}"
        )
    summary = summarise(spec, added, values, runs, failures, published)
    write_json(folder / "summary.json", summary.to_dict())
    write_json(folder / "timings.json", encode(timings))
    frame = pd.DataFrame([asdict(one) | {"parts": " | ".join(one.parts)} for one in values])
    frame.to_parquet(folder / "results.parquet", index=False)
    to_frame(summary.findings).to_csv(folder / "findings.csv", index=False)
    finish_manifest(folder)
    manifest = note_results(folder, FILES)
    made = Atlas(folder, summary, tuple(timings), manifest)
    made.report()
    return made


def _key(run: PlannedRun) -> str:
    """Of everything that the values of a run depend on, code and files of somebody's own among it."""
    named = parse_explainers(",".join(run.explainers))
    code = own_code([(one.name, one.registered, one.parameters) for one in named])
    path = Path(run.dataset.partition("(")[0])
    files = {str(path): file_hash(path)} if path.is_file() else {}
    return run.key([VERSION, code, files])


def _stored(run: PlannedRun, folder: Path, how: RunSpec) -> Mapping[str, Any] | None:
    """What a finished run gave the atlas; None where it has to be done, or goes on."""
    try:
        stored: Mapping[str, Any] = json.loads((folder / GIVEN).read_bytes())
        known = stored["key"] == _key(run) and not how.fresh and not (how.retry_failed and stored["failed"])
    except (OSError, ValueError, KeyError):
        return None
    return stored if known else None


def _do_all(
    runs: Sequence[PlannedRun], folder: Path, how: RunSpec, during: During, tell: Tell
) -> dict[str, str]:
    """Does runs one after the other, or several at once on this machine; what broke, by run.

    With several processes each does whole runs: starting processes for every small run would take longer than the run.
    """
    place = {run.folder: number for number, run in enumerate(runs, 1)}

    def told(name: str) -> None:
        tell(say("atlas", "run", place=place[name], runs=len(runs), name=name))

    if how.cluster is not None or how.jobs == 1 or len(runs) < 2:
        for run in runs:
            told(run.folder)
            _done(run, folder / run.folder, how, during)
        return {}
    jobs = [
        Job(
            run.folder,
            f"{__name__}:do_run",
            {
                "run": json.loads(json.dumps(asdict(run))),
                "folder": str(folder / run.folder),
                "fresh": how.fresh,
            },
        )
        for run in runs
    ]
    broken = {}
    for outcome in in_processes(jobs, how.jobs):
        told(outcome.name)
        if outcome.failed:
            broken[outcome.name] = outcome.error or ""
    return broken


def do_run(*, run: Mapping[str, Any], folder: str, fresh: bool) -> bool:
    """One run in a process of its own; all that it gives is in its folder."""
    given = {**run, "explainers": tuple(run["explainers"]), "options": tuple(map(tuple, run["options"]))}
    _done(PlannedRun(**given), Path(folder), RunSpec(fresh=fresh, retry_failed=True), quietly)
    return True


def _done(run: PlannedRun, folder: Path, how: RunSpec, during: During) -> None:
    """Does a run, or goes on with it; what it gives the atlas lies in its folder then."""
    try:
        values, timings, failed = _run(run, folder, how, during)
    except VeraxError as error:
        # One situation that cannot be had does not stop the others; the page says why.
        logger.info("%s: %s", run.folder, error)
        values, timings, failed = [], [], {ALL_FAILED: str(error)}
    given = {"key": _key(run), "values": encode(values), "timings": encode(timings), "failed": failed}
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / GIVEN, given)


def _run(
    run: PlannedRun, folder: Path, how: RunSpec, during: During
) -> tuple[list[Value], list[Timed], dict[str, str]]:
    """Does a run through the workflow that everybody calls."""
    asked: dict[str, Any] = {**dict(run.options), **how.model_dump(), "out": folder, "during": during}
    explainers = list(run.explainers)
    match run.test:
        case "planted" | "drawn":
            from verax.workflows.stain import stain

            found: Any = stain(run.dataset, run.model, explainers, **asked)
            errors = {
                label: sentences[0]
                for pair in found.summary.pairs
                for label, sentences in pair.errors.items()
            }
            values = list(_stained(run, found.results))
        case "rationale":
            from verax.workflows.rationale import rationale

            found = rationale(run.dataset, None, explainers, **asked)
            errors = {
                label: sentences[0]
                for target in found.summary.targets
                for label, sentences in target.errors.items()
            }
            values = list(_means(run, found.results, "target", "explainer", "misranked"))
        case "measures":
            from verax.workflows.measures import bench_measures

            found = bench_measures(run.dataset, run.model, explainers, **asked)
            errors = _failed(found.summary.failures)
            frame = found.results[found.results["absent"] == ""]
            values = list(
                _means(run, frame, "stain", "explainer", "value", _first(dict(run.options)["measures"]))
            )
        case "students":
            from verax.workflows.measures import bench_students

            found = bench_students(run.dataset, run.model, explainers, **asked)
            errors = _failed(found.summary.failures)
            values = list(_gains(run, found.results))
        case "sanity":
            from verax.workflows.bench import bench

            found = bench(
                "sanity", datasets=[run.dataset], models=[run.model], explainers=explainers, **asked
            )
            errors = _failed(found.summary.failures)
            table = next(one for one in found.summary.tables if one.key == REPEATS)
            dataset, model = run.situation
            values = [
                Value(
                    run.test,
                    dataset,
                    model,
                    str(row["method"]),
                    f"repeat {row['repeat']}",
                    (),
                    float(row["value"]),
                )
                for row in table.rows
            ]
    there = {one.method for one in values}
    if not there and not errors:
        return values, list(_timed(run, folder)), {ALL_FAILED: say("atlas", "nothing-learnt")}
    for label in explainers:
        if label not in there and label not in errors:
            errors[label] = say("atlas", "no-value")
    return values, list(_timed(run, folder)), errors


def _first(names: object) -> str:
    return str(names[0]) if isinstance(names, list) else str(names)


def _failed(failures: Sequence[Failure]) -> dict[str, str]:
    return {failure.job: failure.error for failure in failures}


def _stained(run: PlannedRun, frame: pd.DataFrame) -> Iterator[Value]:
    """One value for each stain: the area under the recall curve, mean over its inputs."""
    dataset, model = run.situation
    if frame.empty:
        return
    for (rule, label), own in frame.groupby(["stain_rule", "explainer"], sort=True)["auc"]:
        if is_compared(str(label)):
            yield Value(
                run.test, dataset, model, str(label), str(rule), features_of(str(rule)), float(own.mean())
            )


def features_of(rule: str) -> tuple[str, ...]:
    """The words or columns of a stain as reports write it: "a and b: positive", "size <= 2.0 and age > 30: no"."""
    literals = [re.split(r" (?:<=|>=|<|>|=) ", one) for one in rule.rpartition(": ")[0].split(" and ")]
    # "0.1 < size <= 0.2" has its column in the middle.
    return tuple(sorted({parts[1] if len(parts) == 3 else parts[0] for parts in literals}))


def _means(
    run: PlannedRun, frame: pd.DataFrame, unit: str, method: str, column: str, measure: str = ""
) -> Iterator[Value]:
    """One value for each unit, mean over its inputs, of the explainers that were asked for and of random."""
    dataset, model = run.situation
    wanted = (*run.explainers, FLOOR)
    if frame.empty:
        return
    for (place, label), own in frame.groupby([unit, method], sort=True)[column]:
        if label in wanted:
            yield Value(run.test, dataset, model, str(label), str(place), (), float(own.mean()), measure)


def _gains(run: PlannedRun, frame: pd.DataFrame) -> Iterator[Value]:
    """One value for each stain: the accuracy on new inputs less that without explanations, over students and sizes."""
    dataset, model = run.situation
    if frame.empty:
        return
    wide = frame[frame["test"] == "forward"].pivot_table(
        index=["stain", "student", "size"], columns="method", values="accuracy"
    )
    for label in (*run.explainers, FLOOR):
        if label in wide.columns:
            gains = (wide[label] - wide[WITHOUT]).dropna().groupby(level="stain").mean()
            for stain, gain in gains.items():
                yield Value(run.test, dataset, model, label, str(stain), (), float(gain))


def _timed(run: PlannedRun, folder: Path) -> Iterator[Timed]:
    """Seconds of an explanation, from the runs that time each of them alone."""
    if run.test not in ("planted", "rationale"):
        return
    dataset, model = run.situation
    for row in json.loads((folder / "timings.json").read_bytes()):
        if row["explainer"] in (*run.explainers, FLOOR):
            yield Timed(dataset, model, row["explainer"], row["seconds"], row["rows"])
