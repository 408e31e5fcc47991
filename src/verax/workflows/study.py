"""A study from its spec to what people's answers say: built, looked at, walked by bots, analysed."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from html import escape
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Unpack

from verax.errors import VeraxError
from verax.notebook import paragraph_html
from verax.options import checked_spec, default_of, takes_options
from verax.run.progress import During, quietly, terminal_progress
from verax.studies.definition.options import (
    AnalyzeOptions,
    AnalyzeSpec,
    BotsOptions,
    BotsSpec,
    BuildOptions,
    BuildSpec,
    ExportOptions,
    ExportSpec,
    PreviewSpec,
    ServeOptions,
    ServeSpec,
)
from verax.studies.definition.spec import StudySpec, make_study_spec, parse_study_spec, read_spec_text
from verax.studies.definition.study import Study
from verax.studies.definition.study_files import load_study
from verax.toml_text import to_toml
from verax.workflows.analysis import Analysis, analyze_study, check_installed

if TYPE_CHECKING:
    from verax.studies.answers.export import Exported
    from verax.studies.bots.web import Progress


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

    def preview(self, port: int = 0, host: str = default_of(PreviewSpec, "host")) -> Preview:
        """Serves the pages to look at, in a process of their own, until `Preview.stop`; nothing is recorded."""
        return Preview(self.folder, port, host)

    @takes_options(ServeSpec)
    def serve(self, **options: Unpack[ServeOptions]) -> None:
        """Serves the study to participants until Ctrl-C, and stores their answers; not from a notebook.

        Args:
            options: see docs/deployment.md.
        """
        check_installed()
        from verax.web.serve import serve

        serve(self.folder, **options)

    @takes_options(BotsSpec)
    def bots(
        self,
        n: int = default_of(BotsSpec, "n"),
        profile: str = default_of(BotsSpec, "profile"),
        **options: Unpack[BotsOptions],
    ) -> dict[str, Any]:
        """Sends simulated people through the real pages, on a server on this machine; what became of them.

        Args:
            n: how many.
            profile: who they are: one profile, or several with their shares.
            options: see docs/bots.md.
        """
        return send_bots(self.folder, n, profile, **options)

    @takes_options(ExportSpec)
    def export(self, out: str | Path, **options: Unpack[ExportOptions]) -> Exported:
        """Writes all answers to a folder, with a codebook; anonymous unless more is asked for.

        Args:
            out: the folder.
            options: see docs/data.md.
        """
        from verax.workflows.analysis import export_answers

        return export_answers(self.folder, Path(out), **options)

    @takes_options(AnalyzeSpec)
    def analyze(self, **options: Unpack[AnalyzeOptions]) -> Analysis:
        """Says what the answers show: flow of participants, estimates, tables, figures, one page.

        Args:
            options: see docs/analysis.md.
        """
        return analyze_study(self.folder, **options)

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


@takes_options(BuildSpec)
def build_study(
    spec: str | Path | Mapping[str, object] | StudySpec,
    out: str | Path,
    *,
    during: During = quietly,
    **options: Unpack[BuildOptions],
) -> BuiltStudy:
    """Builds a study from a spec: models, items, explanations and every screen, in one folder.

    A build that was stopped goes on; a study that is there from the same spec is not built again.

    Args:
        spec: a TOML file, its text, its content as a dict, or a `StudySpec`.
        out: the study's folder.
        during: told what is being done while it is done.
        options: see docs/studies.md.
    """
    from verax.studies.build.build import build_study as build
    from verax.studies.build.build_folder import built_study

    how = checked_spec(BuildSpec, options)
    asked, text = read_spec(spec)
    folder = Path(out)
    ready = None if how.force else built_study(folder, text)
    if ready is not None:
        return BuiltStudy(folder, ready)
    progress = terminal_progress("explanations")
    is_file = isinstance(spec, Path) or (isinstance(spec, str) and not ("\n" in spec or "=" in spec))
    made = build(
        asked,
        text,
        folder,
        jobs=how.jobs,
        progress=progress,
        force=how.force,
        during=during,
        beside=Path(spec).parent if is_file else None,  # type: ignore[arg-type]
    )
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


@takes_options(BotsSpec)
def send_bots(
    folder: str | Path | Sequence[str | Path],
    n: int = default_of(BotsSpec, "n"),
    profile: str = default_of(BotsSpec, "profile"),
    *,
    progress: Callable[[Progress], None] | None = None,
    stop: Event | None = None,
    **options: Unpack[BotsOptions],
) -> dict[str, Any]:
    """Sends simulated people through a study's real pages; they are marked as bots and take nobody's place.

    Args:
        folder: of the study, or the folders of several that are served together.
        n: how many.
        profile: who they are: one profile, or several with their shares.
        progress: called after every page.
        stop: when it is set, everybody leaves.
        options: see docs/bots.md.
    """
    check_installed()
    from verax.studies.bots.profiles import parse_profiles
    from verax.studies.bots.web import run_bots, summarise
    from verax.web.serve import serving_aside
    from verax.workflows.analysis import opened

    asked = checked_spec(BotsSpec, {"n": n, "profile": profile, **options})
    people = parse_profiles(asked.profile)
    folders = [folder] if isinstance(folder, str | Path) else list(folder)
    if len(folders) > 1 and asked.database is None:
        raise VeraxError("Name the database of the studies that are served together with --database.")
    study, *others = [load_study(one) for one in folders]
    reader = None
    if asked.language_model is not None:
        from verax.studies.bots.language import make_reader

        kept = Path(folders[0]) / "transcripts" if asked.transcripts is None else Path(asked.transcripts)
        reader = make_reader(
            asked.language_model,
            kept,
            asked.base_url,
            asked.persona,
            asked.temperature,
            asked.reading,
            asked.pass_screening,
        )
    with opened(study, folders[0], asked.database) as store:
        bot_pass = store.bot_pass()
    with serving_aside(folders, asked.database) if asked.url is None else nullcontext(asked.url) as address:
        runs = run_bots(
            study,
            address,
            bot_pass,
            people,
            asked.n,
            seed=asked.seed,
            concurrent=asked.concurrent,
            pace=asked.pace,
            progress=progress,
            patience=asked.patience,
            stop=stop,
            others=others,
            reader=reader,
        )
    return summarise(runs)
