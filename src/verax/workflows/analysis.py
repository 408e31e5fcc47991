"""A study's answers: its open store, an export of them, and a folder with what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from verax.errors import VeraxError
from verax.installed import require
from verax.notebook import paragraph_html
from verax.options import checked_spec, takes_options
from verax.phrases import say
from verax.run.progress import During, quietly
from verax.studies.definition.options import AnalyzeOptions, AnalyzeSpec, ExportOptions, ExportSpec

if TYPE_CHECKING:
    import pandas as pd

    from verax.results.findings import Finding
    from verax.studies.answers.export import Exported
    from verax.studies.answers.schema import Collected
    from verax.studies.definition.study import Study
    from verax.studies.results.study_summary import Summary
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


@takes_options(ExportSpec)
def export_answers(folder: str | Path, out: Path, **options: Unpack[ExportOptions]) -> Exported:
    """Writes all answers to a folder, with a codebook of every column; the study notes that it was done.

    Args:
        folder: of the study.
        out: where the export goes; an older one is replaced.
        options: see docs/data.md.
    """
    asked = checked_spec(ExportSpec, options)
    check_installed()
    from verax.studies.answers.export import export_study
    from verax.studies.store.people import act

    with answers(folder, asked.database) as store:
        exported = export_study(store, out, asked.file_formats, asked.identifying, asked.free_text)
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
        from verax.run.manifest import note_page

        write_study_report(self.folder, self.summary)
        tables = self.folder / "tables"
        tables.mkdir(exist_ok=True)
        page, written = self.folder / "report.html", []
        for table in self.summary.all_tables:
            for ending, text in (("md", to_markdown(table)), ("tex", to_latex(table))):
                written.append(tables / f"{table.key}.{ending}")
                written[-1].write_text(text, encoding="utf-8")
        note_page(self.folder, [page, *sorted((self.folder / "figures").glob("*.svg")), *written])
        return page

    def __repr__(self) -> str:
        return f"Analysis({str(self.folder)!r}, {self.summary.title!r})"

    def _repr_html_(self) -> str:
        primary = self.summary.primary
        said = [self.summary.flow.sentence, *([] if primary is None else [primary.sentence])]
        return paragraph_html(
            *said, say("common", "report-is", path=str(self.folder)), bold=self.summary.title
        )


@takes_options(AnalyzeSpec)
def analyze_study(
    folder: str | Path, *, during: During = quietly, **options: Unpack[AnalyzeOptions]
) -> Analysis:
    """Says what the answers of a study show: flow of participants, estimates, tables, figures, one page.

    Further studies are looked for in the database too, and in their own folders if they are not there.

    Args:
        folder: of the study.
        during: told what is being done while it is done.
        options: see docs/analysis.md.
    """
    check_installed()
    from verax.studies.analysis.analyse import analyse, analysed, rehearsed, write_analysis
    from verax.studies.analysis.between.hase2020 import defects_of
    from verax.studies.definition.study_files import frozen
    from verax.studies.results.study_summary import Options

    asked = checked_spec(AnalyzeSpec, options)
    how = Options(
        asked.estimator,
        asked.replicates,
        asked.seed,
        mended=tuple(name.replace("-", "_") for name in asked.mend),
        bots=asked.bots,
        session_term=asked.session_term,
        refuse_unequal=asked.refuse_unequal,
        methods_only=asked.methods_only,
    )
    defects_of(how)  # says what is wrong with `mend`, also where nothing is resampled
    collected = _collected(folder, asked.database, asked.export)
    own = Path(folder) / ("analysis-bots" if asked.bots else "analysis")
    into = own if asked.out is None else Path(asked.out)
    with during("Analysing"):
        others = [_collected(other, _shared(other, asked.database), None) for other in asked.together]
        summary = analyse(collected, how, frozen=frozen(folder), others=others)
        if asked.strategies is not None:
            summary = _with_strategies(summary, Path(asked.strategies), [collected, *others], asked.bots)
        write_analysis(into, rehearsed(analysed(collected, bots=asked.bots)), summary, how)
        analysis = Analysis(into, summary)
        analysis.report()
    return analysis


def _with_strategies(summary: Summary, path: Path, studies: Sequence[Collected], bots: bool) -> Summary:
    """The summary with the codes of what people wrote, which goes into a file of its own."""
    from verax.studies.analysis.analyse import analysed, rehearsed
    from verax.studies.protocols.reverse_turing.analysis import coded_file, strategies_of, strategy_table

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
