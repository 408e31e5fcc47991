"""A study from its spec to what people's answers say: built, looked at, walked by bots, analysed."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from html import escape
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Literal

from verax.errors import VeraxError
from verax.notebook import paragraph_html
from verax.run.progress import During, quietly, terminal_progress
from verax.studies.definition.spec import StudySpec, make_study_spec, parse_study_spec, read_spec_text
from verax.studies.definition.study import Study
from verax.studies.definition.study_files import load_study
from verax.toml_text import to_toml
from verax.workflows.analysis import Analysis, analyze_study, check_installed

if TYPE_CHECKING:
    from verax.studies.answers.export import Exported
    from verax.studies.bots.web import Progress
    from verax.studies.results.study_summary import Estimator


@dataclass(frozen=True, eq=False, repr=False)
class BuiltStudy:
    """A study in its folder, and what can be done with it.

    Attributes:
        folder: where it lies.
        study: its items, screens and design.
        is_new: whether it was built just now; False if it was there.
    """

    folder: Path
    study: Study
    is_new: bool = False

    def preview(self, port: int = 0, host: str = "127.0.0.1") -> Preview:
        """Serves the pages to look at, in a process of their own, until `Preview.stop`; nothing is recorded."""
        return Preview(self.folder, port, host)

    def serve(
        self, database: str | None = None, port: int = 8000, host: str = "127.0.0.1", workers: int = 1
    ) -> None:
        """Serves the study to participants until Ctrl-C, and stores their answers; not from a notebook."""
        check_installed()
        from verax.web.serve import serve

        serve(self.folder, database=database, port=port, host=host, workers=workers)

    def bots(
        self, n: int = 40, profile: str = "helped", *, seed: int = 0, database: str | None = None
    ) -> dict[str, Any]:
        """Sends simulated people through the real pages, on a server on this machine; what became of them."""
        return send_bots(self.folder, n, profile, seed=seed, database=database)

    def export(
        self,
        out: str | Path,
        formats: Sequence[str] = ("csv",),
        *,
        identifying: bool = False,
        free_text: bool = False,
        database: str | None = None,
    ) -> Exported:
        """Writes all answers to a folder, with a codebook; anonymous unless more is asked for."""
        from verax.workflows.analysis import export_answers

        return export_answers(
            self.folder, Path(out), formats, identifying=identifying, free_text=free_text, database=database
        )

    def analyze(
        self,
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
    ) -> Analysis:
        """Says what the answers show; see `verax.workflows.analysis.analyze_study`."""
        return analyze_study(
            self.folder,
            database=database,
            export=export,
            together=together,
            bots=bots,
            out=out,
            replicates=replicates,
            estimator=estimator,
            mend=mend,
            seed=seed,
            strategies=strategies,
        )

    def __repr__(self) -> str:
        return f"BuiltStudy({str(self.folder)!r}, {self.study.spec.title!r})"

    def _repr_html_(self) -> str:
        spec = self.study.spec
        conditions = ", ".join(condition.name for condition in spec.conditions)
        return paragraph_html(
            f"protocol {spec.protocol['name']} on {spec.dataset}; conditions: {conditions}",
            f"{len(self.study.rows)} rows of the design, {len(self.study.items)} items; in {self.folder}",
            bold=spec.title,
        )


def build_study(
    spec: str | Path | Mapping[str, object] | StudySpec,
    out: str | Path,
    *,
    jobs: int = 1,
    force: bool = False,
    during: During = quietly,
) -> BuiltStudy:
    """Builds a study from a spec: models, items, explanations and every screen, in one folder.

    A build that was stopped goes on; a study that is there from the same spec is not built again.

    Args:
        spec: a TOML file, its text, its content as a dict, or a `StudySpec`.
        out: the study's folder.
        jobs: processes on this machine.
        force: build again, or in place of another study that nobody answered.
        during: told what is being done while it is done.
    """
    from verax.studies.build.build import build_study as build
    from verax.studies.build.build_folder import built_study

    asked, text = read_spec(spec)
    folder = Path(out)
    ready = None if force else built_study(folder, text)
    if ready is not None:
        return BuiltStudy(folder, ready)
    progress = terminal_progress("explanations")
    made = build(asked, text, folder, jobs=jobs, progress=progress, force=force, during=during)
    return BuiltStudy(folder, made, is_new=True)


def open_study(folder: str | Path) -> BuiltStudy:
    """The study in a folder, after a check that nothing was changed since it was built."""
    return BuiltStudy(Path(folder), load_study(folder))


def read_spec(spec: str | Path | Mapping[str, object] | StudySpec) -> tuple[StudySpec, str]:
    """A study's spec, and its text as a TOML file; what is wrong with it is one sentence."""
    if isinstance(spec, StudySpec):
        return spec, to_toml(spec.model_dump(mode="json", exclude_defaults=True))
    if isinstance(spec, Mapping):
        return make_study_spec(dict(spec)), to_toml(spec)
    if isinstance(spec, str) and ("\n" in spec or "=" in spec):
        return parse_study_spec(spec), spec
    text = read_spec_text(spec)
    return parse_study_spec(text, Path(spec).name), text


class Preview:
    """A study's pages to look at, in a process of their own; it ends with `stop`, or with Python.

    Attributes:
        address: to open in a browser.
    """

    def __init__(self, folder: Path, port: int, host: str) -> None:
        check_installed()
        from verax.web.serve import previewing_aside

        with ExitStack() as stack:
            self.address = stack.enter_context(previewing_aside(folder, port, host))
            self._end = weakref.finalize(self, stack.pop_all().close)

    def stop(self) -> None:
        """Ends the server."""
        self._end()

    def __enter__(self) -> Preview:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Preview at {self.address}"

    def _repr_html_(self) -> str:
        return f'<a href="{escape(self.address)}" target="_blank">{escape(self.address)}</a>'


def send_bots(
    folder: str | Path | Sequence[str | Path],
    n: int = 40,
    profile: str = "helped",
    *,
    url: str | None = None,
    database: str | None = None,
    concurrent: int = 10,
    seed: int = 0,
    pace: Literal["fast", "human", "simulated"] = "simulated",
    patience: float = 60.0,
    progress: Callable[[Progress], None] | None = None,
    stop: Event | None = None,
    participants: str | None = None,
    base_url: str | None = None,
    persona: str = "",
    temperature: float = 0.0,
    reading: int = 2_000,
    pass_screening: bool = False,
    transcripts: str | Path | None = None,
) -> dict[str, Any]:
    """Sends simulated people through a study's real pages; they are marked as bots and take nobody's place.

    Args:
        folder: of the study, or the folders of several that are served together.
        n: how many.
        profile: who they are: one profile, or several with their shares.
        url: where the study is served; if it is not given, it is served here on a free port.
        database: of the answers; the server at ``url`` must use the same one.
        concurrent: how many are at it at once.
        seed: of all that they decide.
        pace: "simulated" does not wait, but its clock runs as if people had looked at each page; "human" waits as
            long as they do; "fast" answers in no time.
        patience: for how many seconds they try again where no answer comes.
        progress: called after every page.
        stop: when it is set, everybody leaves.
        participants: a language model that takes part in their place: ``smollm2``, or ``openai:MODEL``.
        base_url: of the endpoint of such a model.
        persona: what it is told to be.
        temperature: of its answers; 0 gives the likeliest.
        reading: how many characters it has before it, the last pages first.
        pass_screening: it is told the right answers to the screening test.
        transcripts: the folder for what it read and said; ``transcripts`` in the study's folder by default.
    """
    check_installed()
    from verax.studies.bots.profiles import parse_profiles
    from verax.studies.bots.web import check_counts, run_bots, summarise
    from verax.web.serve import serving_aside
    from verax.workflows.analysis import opened

    people = parse_profiles(profile)
    check_counts(n, concurrent)
    if pace not in ("fast", "human", "simulated"):
        raise VeraxError(f"--pace is simulated, human or fast; {pace!r} is none of them.")
    folders = [folder] if isinstance(folder, str | Path) else list(folder)
    if len(folders) > 1 and database is None:
        raise VeraxError("Name the database of the studies that are served together with --database.")
    study, *others = [load_study(one) for one in folders]
    reader = None
    if participants is not None:
        from verax.studies.bots.language import make_reader

        kept = Path(transcripts) if transcripts is not None else Path(folders[0]) / "transcripts"
        reader = make_reader(participants, kept, base_url, persona, temperature, reading, pass_screening)
    with opened(study, folders[0], database) as store:
        bot_pass = store.bot_pass()
    with serving_aside(folders, database) if url is None else nullcontext(url) as address:
        runs = run_bots(
            study,
            address,
            bot_pass,
            people,
            n,
            seed=seed,
            concurrent=concurrent,
            pace=pace,
            progress=progress,
            patience=patience,
            stop=stop,
            others=others,
            reader=reader,
        )
    return summarise(runs)
