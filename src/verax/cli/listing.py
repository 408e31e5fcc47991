"""``verax list`` and ``verax docs``: what there is, with a line on each, and the documentation's pages."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Mapping
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from verax.cli.console import one_sentence, output, plain_table, print_file, print_json, say
from verax.cli.options import AsJson
from verax.errors import VeraxError
from verax.phrases import say as phrase
from verax.registry import Registry
from verax.text import listed


class Sort(StrEnum):
    """What can be listed."""

    explainers = "explainers"
    models = "models"
    datasets = "datasets"
    formats = "formats"
    measures = "measures"
    protocols = "protocols"
    presets = "presets"


USES = {
    Sort.explainers: "Use: verax explain --explainers 'lime,shap(samples=500)'; your own as package.module:Class.",
    Sort.models: "Use: verax explain --model forest, or with options --model 'cnn(epochs=2)'; your own as "
    "package.module:name, or a saved one by its path.",
    Sort.datasets: "Use: verax explain --dataset imdb; a CSV, JSON-lines or Parquet file by its path.",
    Sort.formats: "Use: verax explain --dataset FOLDER_OR_FILE --format sst.",
    Sort.measures: "Use: verax bench measures --measures 'comprehensiveness,sufficiency(k=3)', or in Python "
    "verax.measure('sufficiency', k=3); your own as package.module:name.",
    Sort.presets: "Use: verax explain --preset NAME, or name one as the conditions of a study's spec; its methods with "
    "their settings: verax list explainers --preset NAME.",
    Sort.protocols: "Use: name one under [protocol] of a spec, then: verax study build SPEC --out DIR.",
}


@one_sentence
def list_things(
    sort: Annotated[
        str | None,
        typer.Argument(
            metavar="[SORT]",
            help=f"One of: {', '.join(Sort)}; all of them if left out.",
            autocompletion=lambda: list(map(str, Sort)),
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="Explainers only: those of a paper with its settings (verax list presets)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the explainers, models, datasets, formats, measures, protocols and presets by name, with a line on each."""
    if preset is not None:
        if sort != Sort.explainers:
            raise VeraxError(f"--preset is of explainers; write: verax list explainers --preset {preset}")
        _print_preset(preset, as_json)
        return
    if sort is not None and sort not in list(Sort):
        raise VeraxError(f"There is no list of {sort!r}; choose one of: {', '.join(Sort)}.")
    sorts = tuple(Sort) if sort is None else (Sort(sort),)
    if as_json:
        print_json({each.value: list(map(dataclasses.asdict, things(each))) for each in sorts})
        return
    for each in sorts:
        if sort is None:
            output().print(Text(each.capitalize(), style="bold underline"))
        _print(each)
        if sort is None:
            output().print()


def _print(sort: Sort) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("what it is")
    for thing in things(sort):
        lines = [thing.about, ", ".join(thing.parameters)]
        if isinstance(thing, ListedMeasure):
            lines.insert(1, thing.declared)
        table.add_row(Text(thing.name, style="bold"), Text("\n".join(filter(None, lines))))
    console = output()
    console.print(table)
    console.print()
    console.print(USES[sort], markup=False)


def _print_preset(name: str, as_json: bool) -> None:
    from verax.explain.composite import preset

    if as_json:
        print_json([dataclasses.asdict(method) for method in preset(name)])
        return
    table = plain_table("condition", "in the paper", "explainer", "fragments", left=("condition", "in the paper",
                        "explainer", "fragments"))  # fmt: skip
    for method in preset(name):
        written = ", ".join(f"{key}={value!r}" for key, value in method.parameters.items())
        sizes = "its own"
        if method.sizes is not None:
            numbers = listed(list(map(str, method.sizes)), "or")
            sizes = "single words" if method.sizes == (1,) else f"of {numbers} words"
        table.add_row(
            method.name,
            method.called,
            f"{method.explainer}({written})" if written else method.explainer,
            f"{sizes}, of any sign" if method.any_sign else sizes,
        )
    console = output()
    console.print(table)
    console.print()
    console.print(
        f'Use: verax explain --preset {name}, or conditions = "{name}" in the spec of a study.', markup=False
    )


def registry_of(sort: Sort) -> Registry[Any]:
    """The names of one sort of thing; what registers them is imported here."""
    if sort is Sort.explainers:
        from verax.explain import explainers

        return explainers
    if sort is Sort.models:
        from verax.models import models

        return models
    if sort is Sort.measures:
        from verax.measures import measures

        return measures
    if sort is Sort.protocols:
        from verax.studies.protocol.contract import protocols

        return protocols
    from verax.data import dataset_formats, datasets

    return datasets if sort is Sort.datasets else dataset_formats


@dataclasses.dataclass(frozen=True)
class Thing:
    """What there is under a name: the first line of what it says of itself, its parameters with their defaults."""

    name: str
    about: str
    parameters: list[str]


@dataclasses.dataclass(frozen=True)
class ListedMeasure(Thing):
    """A measure, with what it declares; an end of its range that there is not is None."""

    better: str
    low: float | None
    high: float | None
    costs: str

    @property
    def declared(self) -> str:
        """The same in a sentence."""
        ends = {
            name: "none" if end is None else f"{end:.3g}"
            for name, end in (("low", self.low), ("high", self.high))
        }
        return phrase("measures", "declared", better=self.better, costs=self.costs, **ends)


def things(sort: Sort) -> list[Thing]:
    """Everything of one sort."""
    if sort is Sort.presets:
        from verax.explain.composite import PAPERS, PRESETS

        return [Thing(name, PAPERS[name], [method.name for method in PRESETS[name]]) for name in PRESETS]
    registry = registry_of(sort)
    found: list[Thing] = []
    for name in registry:
        thing = registry.get(name)
        about = (thing.__doc__ or "").strip().split("\n")[0].replace("`", "")  # marks of the documentation
        parameters = [_with_default(*each) for each in _parameters(thing, sort).items()]
        if sort is Sort.measures:
            low, high = (end if math.isfinite(end) else None for end in (thing.low, thing.high))
            found.append(ListedMeasure(name, about, parameters, thing.better, low, high, thing.costs))
        else:
            found.append(Thing(name, about, parameters))
    return found


def _parameters(thing: Any, sort: Sort) -> Mapping[str, Any]:
    from verax.explain.base import parameters_of
    from verax.models.ready import options_of

    if sort is Sort.explainers:
        return parameters_of(thing)
    if sort is Sort.models:
        return options_of(thing)
    if sort is Sort.measures:
        return {
            name: dataclasses.MISSING if default is inspect.Parameter.empty else default
            for name, default in thing.options.items()
        }
    if sort is Sort.protocols:
        return {
            name: dataclasses.MISSING if field.is_required() else field.default
            for name, field in thing.model_fields.items()
        }
    return {}


def _with_default(name: str, default: Any) -> str:
    return name if default is dataclasses.MISSING else f"{name}={default!r}"


# Beside the command line's folder where the package was installed; otherwise at the top of the source tree.
PACKAGE = Path(str(files("verax")))
INSTALLED, SOURCE = PACKAGE / "docs", PACKAGE.parents[1] / "docs"


@one_sentence
def docs(
    page: Annotated[
        str | None,
        typer.Argument(
            metavar="[PAGE]",
            help="Its name; all names if left out.",
            autocompletion=lambda: list(installed_pages()),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read the documentation: the names of all pages, or one page."""
    pages = installed_pages()
    if page is None:
        titles = {name: _title(path) for name, path in pages.items()}
        if as_json:
            print_json(titles)
            return
        table = plain_table("page", "what it is about", left=("page", "what it is about"))
        for name, title in titles.items():
            table.add_row(Text(name, style="bold"), Text(title))
        output().print(table)
        say("", f"Use: verax docs {next(iter(pages))}; the files are in {_folder()}.")
        return
    name = page.removesuffix(".md").removeprefix("docs/")
    if name not in pages:
        raise VeraxError(f"There is no page {page!r}; verax docs lists them all.")
    if as_json:
        print_json({"page": name, "text": pages[name].read_text(encoding="utf-8")})
    elif output().is_terminal:
        from rich.markdown import Markdown

        output().print(Markdown(pages[name].read_text(encoding="utf-8"), hyperlinks=False))
    else:
        print_file(pages[name])


def installed_pages() -> dict[str, Path]:
    """Every page by its name; the one that a site makes of docstrings is left out."""
    folder = _folder()
    pages = {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.md")}
    return {
        name: pages[name]
        for name in sorted(pages, key=lambda name: (name.count("/"), name))
        if name != "reference/results"
    }


def _folder() -> Path:
    return INSTALLED if INSTALLED.exists() else SOURCE


def _title(page: Path) -> str:
    with page.open(encoding="utf-8") as lines:
        return next(lines).removeprefix("# ").strip()
