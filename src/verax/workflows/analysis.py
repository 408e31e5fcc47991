"""A study's answers: its open store, an export of them, and a folder with what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from verax.errors import VeraxError
from verax.installed import require
from verax.notebook import paragraph_html
from verax.phrases import say
from verax.run.progress import During, quietly

if TYPE_CHECKING:
    import pandas as pd

    from verax.results.findings import Finding
    from verax.studies.answers.export import Exported
    from verax.studies.answers.schema import Collected
    from verax.studies.definition.study import Study
    from verax.studies.results.study_summary import Estimator, Summary
    from verax.studies.store import Store


def check_installed() -> None:
    """Studies are built with the core; what serves them is an extra."""
    packages = ("alembic", "matplotlib", "pyarrow", "sqlalchemy", "starlette", "uvicorn")
    require("Serving a study", *packages, extra="study")


@contextmanager
def opened(
    study: Study, folder: str | Path, database: str | None = None, *, key: bytes | None = None
) -> Iterator[Store]:
    """The store of a study, made if it is not there, and closed afterwards.

    Args:
        study: whose answers.
        folder: of the study.
        database: its URL; a SQLite file in the study's folder if None.
        key: of the hashes of people's ids; see `open_store`.
    """
    check_installed()
    from verax.studies.store import open_store
    from verax.web.serve import default_database

    store = open_store(study, database or default_database(folder), key=key)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def answers(folder: str | Path, database: str | None, *, key: bytes | None = None) -> Iterator[Store]:
    """The store of the study in a folder; a database that is not there is a sentence, and is not made.

    Args:
        folder: of the study.
        database: its URL; a SQLite file in the study's folder if None.
        key: of the hashes of people's ids; see `open_store`.
    """
    check_installed()
    from sqlalchemy.exc import DBAPIError

    from verax.studies.definition.study_files import load_study
    from verax.studies.store.database.location import sqlite_file
    from verax.web.serve import default_database

    study = load_study(folder)
    url = database or default_database(folder)
    file = sqlite_file(url) if url.startswith("sqlite:") else None
    if file is not None and not file.exists():
        raise VeraxError(
            f"There are no answers yet: {str(file)!r} does not exist. Serve the study with "
            f"`verax study serve {folder}`, or say where they are with --database."
        )
    with opened(study, folder, url, key=key) as store:
        try:
            yield store
        except DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            raise VeraxError(
                f"The database {store.database.name!r} did not answer ({reason}); check that it is running, and try "
                "again."
            ) from error


def export_answers(
    folder: str | Path,
    out: Path,
    formats: Sequence[str] = ("csv",),
    *,
    identifying: bool = False,
    free_text: bool = False,
    database: str | None = None,
) -> Exported:
    """Writes all answers to a folder, with a codebook of every column; the study notes that it was done.

    Args:
        folder: of the study.
        out: where the export goes; an older one is replaced.
        formats: "csv", "jsonl", "parquet".
        identifying: with times of day, completion codes and hashes of persons.
        free_text: with what people wrote in their own words.
        database: its URL; a SQLite file in the study's folder if None.
    """
    check_installed()
    from verax.studies.answers.export import export_study
    from verax.studies.store.people import act

    with answers(folder, database) as store:
        exported = export_study(store, out, list(formats), identifying, free_text)
        data = {
            "rows": dict(exported.rows),
            "identifying": exported.identifying,
            "free_text": exported.free_text,
            "files": [file["name"] for file in exported.files],
        }
        store.write(act, "command line", "export", data)
    return exported


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """What the answers of a study show.

    Attributes:
        folder: where it lies.
        summary: flow, estimates, tables, figures and problems; its ``to_dict()`` is what stands in summary.json.
    """

    folder: Path
    summary: Summary

    @cached_property
    def results(self) -> pd.DataFrame:
        """The answers that were analysed, one a row."""
        import pandas as pd

        from verax.studies.analysis.analyse import RESULTS

        return pd.read_parquet(self.folder / RESULTS)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found of each method, as rows that benchmarks have too."""
        return self.summary.findings

    def to_frame(self) -> pd.DataFrame:
        """The findings as a DataFrame."""
        from verax.results.findings import to_frame

        return to_frame(self.findings)

    def report(self) -> Path:
        """Writes the page and the tables to paste; where the page is."""
        from verax.reporting.study import write_study_report
        from verax.results.tables import to_latex, to_markdown

        write_study_report(self.folder, self.summary)
        tables = self.folder / "tables"
        tables.mkdir(exist_ok=True)
        for table in self.summary.all_tables:
            (tables / f"{table.key}.md").write_text(to_markdown(table), encoding="utf-8")
            (tables / f"{table.key}.tex").write_text(to_latex(table), encoding="utf-8")
        return self.folder / "report.html"

    def __repr__(self) -> str:
        return f"Analysis({str(self.folder)!r}, {self.summary.title!r})"

    def _repr_html_(self) -> str:
        primary = self.summary.primary
        said = [self.summary.flow.sentence, *([] if primary is None else [primary.sentence])]
        return paragraph_html(
            *said, say("common", "report-is", path=str(self.folder)), bold=self.summary.title
        )


def analyze_study(
    folder: str | Path,
    *,
    database: str | None = None,
    export: str | Path | None = None,
    together: Sequence[str | Path] = (),
    bots: bool = False,
    out: str | Path | None = None,
    replicates: int | None = None,
    estimator: Estimator = "both",
    mend: Sequence[str] = (),
    seed: int = 0,
    strategies: str | Path | None = None,
    session_term: bool = False,
    refuse_unequal: bool = False,
    during: During = quietly,
) -> Analysis:
    """Says what the answers of a study show: flow of participants, estimates, tables, figures, one page.

    Args:
        folder: of the study.
        database: the URL of its answers; a SQLite file in the study's folder by default. Further studies are looked for
            there too, and in their own folders if they are not there.
        export: an export of the study, to be analysed instead of its database.
        together: folders of further studies, for the tables over several; see docs/analysis.md.
        bots: analyse the bots; they are never mixed with people.
        out: where the report goes; "analysis" (of bots "analysis-bots") in the study's folder by default.
        replicates: of each bootstrap; by default 5,000, and of published procedures as many as were published.
        estimator: whose tables of Change are reported: "crossed", "hase2020" or "both".
        mend: defects of the published procedure to mend.
        seed: of the resampling.
        strategies: a CSV file for what people wrote of how they found their answers, with a column to code it; codes
            that stand there already are kept and counted. Of reverse-turing studies.
        session_term: where everybody meets every condition, account for the session in which it was met.
        refuse_unequal: refuse to analyse such a study where rows of its design are filled unequally.
        during: told what is being done while it is done.
    """
    check_installed()
    from verax.studies.analysis.analyse import analyse, analysed, rehearsed, write_analysis
    from verax.studies.analysis.between.hase2020 import defects_of
    from verax.studies.definition.study_files import frozen
    from verax.studies.results.study_summary import Estimator, Options

    if estimator not in get_args(Estimator):
        raise VeraxError(
            f"There is no estimator {estimator!r}; choose one of {', '.join(get_args(Estimator))}."
        )
    options = Options(
        estimator,
        replicates,
        seed,
        mended=tuple(mend),
        bots=bots,
        session_term=session_term,
        refuse_unequal=refuse_unequal,
    )
    defects_of(options)  # says what is wrong with `mend`, also where nothing is resampled
    collected = _collected(folder, database, export)
    into = Path(out) if out is not None else Path(folder) / ("analysis-bots" if bots else "analysis")
    with during("Analysing"):
        others = [_collected(other, _shared(other, database), None) for other in together]
        summary = analyse(collected, options, frozen=frozen(folder), others=others)
        if strategies is not None:
            summary = _with_strategies(summary, Path(strategies), [collected, *others], bots)
        write_analysis(into, rehearsed(analysed(collected, bots=bots)), summary, options)
        analysis = Analysis(into, summary)
        analysis.report()
    return analysis


def _with_strategies(summary: Summary, path: Path, studies: Sequence[Collected], bots: bool) -> Summary:
    """The summary with the codes of what people wrote, which goes into a file of its own."""
    from verax.studies.analysis.analyse import analysed, rehearsed
    from verax.studies.protocols.reverse_turing.strategies import coded_file, strategies_of, strategy_table

    asked = [one for study in studies for one in strategies_of(rehearsed(analysed(study, bots=bots)))]
    if not asked:
        raise VeraxError(
            "Nobody who is analysed was asked for a strategy; set strategy = true under [protocol] of a reverse-turing "
            "study before it is built."
        )
    table = strategy_table(coded_file(path, asked))
    kept = [one for one in summary.tables if one.key != "strategies"]
    return replace(summary, tables=(*kept, *([] if table is None else [table])))


def _shared(folder: str | Path, database: str | None) -> str | None:
    """The database of the first study, if a further one has its answers there too: both were served together."""
    from verax.studies.definition.study_files import load_study
    from verax.studies.store.status import holds_study

    return database if database is not None and holds_study(database, load_study(folder)) else None


def _collected(folder: str | Path, database: str | None, export: str | Path | None) -> Collected:
    """The answers in an export, or in a database."""
    from verax.studies.answers.collect import collect, collect_export
    from verax.studies.definition.study_files import load_study

    if export is None:
        with answers(folder, database) as store:
            return collect(store)
    if database is not None:
        raise VeraxError("Give --database or --export, not both.")
    return collect_export(load_study(folder), Path(export))
