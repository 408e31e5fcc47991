"""``verax study import``: a study whose items and explanations were made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from verax.cli.console import one_sentence, output
from verax.errors import VeraxError

if TYPE_CHECKING:
    from verax.studies.build.imports import Imported
    from verax.studies.build.imports.hase_bansal_spec import Domain, Test
    from verax.studies.model.spec import StudySpec

HASE_BANSAL = "hase-bansal"
IMPORT_EXAMPLES = """Examples:

verax study import spec.toml --items items.csv --out studies/mine

verax study import hase-bansal InterpretableNLP-ACL2020 --domain text --protocol forward --out studies/forward
"""


@one_sentence
def import_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            help=f"A TOML file, or {HASE_BANSAL} for the published forms of Hase and Bansal (2020).",
        ),
    ],
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="Their repository, if these forms are imported.")
    ] = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The study's folder.")],
    items: Annotated[
        Path | None, typer.Option(help="The items: CSV, JSON lines, Parquet or xlsx, one record for each.")
    ] = None,
    explanations: Annotated[
        Path | None, typer.Option(help="A file of explanations, if they are not in the items' file.")
    ] = None,
    domain: Annotated[str | None, typer.Option(help="Of the published forms: text or tabular.")] = None,
    protocol: Annotated[
        str | None, typer.Option(help="Of the published forms: forward or counterfactual.")
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help="Of the published forms, with commas between; the paper's five by default."),
    ] = None,
    spec: Annotated[
        Path | None,
        typer.Option(help="A spec for the published forms, in place of --protocol and --methods."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write in place of another study that nobody has answered.")
    ] = False,
) -> None:
    """Make a study of items, model outputs and explanations from files; nothing is computed.

    docs/importing.md says what the files hold.
    """
    published = {
        "FOLDER": folder,
        "--domain": domain,
        "--protocol": protocol,
        "--methods": methods,
        "--spec": spec,
    }
    own = {"--items": items, "--explanations": explanations}
    if source == HASE_BANSAL:
        _refuse(own, f"is for a spec of your own, not for {HASE_BANSAL}")
        asked, text, imported = _published(folder, domain, protocol, methods, spec)
    else:
        _refuse(published, f"is for {HASE_BANSAL}, not for a spec of your own")
        asked, text, imported = _from_files(Path(source), items, explanations)
    _save(asked, text, imported, out, force=force)


def _refuse(options: dict[str, Any], why: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise VeraxError(f"{name} {why}; leave it out.")


def _from_files(path: Path, items: Path | None, explanations: Path | None) -> tuple[StudySpec, str, Imported]:
    from verax.studies.build.imports import import_files
    from verax.studies.model.spec import parse_study_spec, read_spec_text

    if items is None:
        raise VeraxError("Name the file of the items with --items.")
    text = read_spec_text(path)
    asked = parse_study_spec(text, path.name)
    return asked, text, import_files(asked, items, explanations)


def _published(
    folder: Path | None, domain: str | None, protocol: str | None, methods: str | None, spec: Path | None
) -> tuple[StudySpec, str, Imported]:
    from verax.studies.build.imports import import_hase_bansal
    from verax.studies.build.imports.hase_bansal_spec import CLASS_NAMES, METHODS, hase_bansal_spec
    from verax.studies.model.spec import parse_study_spec, read_spec_text

    if folder is None:
        raise VeraxError(
            f"Name the folder of the published repository: verax study import {HASE_BANSAL} FOLDER."
        )
    if domain not in CLASS_NAMES:
        raise VeraxError(f"Choose one with --domain: {' or '.join(CLASS_NAMES)}.")
    chosen = cast("Domain", domain)
    if spec is None:
        if protocol not in ("forward", "counterfactual"):
            raise VeraxError("Choose one with --protocol: forward or counterfactual.")
        wanted = (
            METHODS if methods is None else tuple(name.strip() for name in methods.split(",") if name.strip())
        )
        text = hase_bansal_spec(chosen, cast("Test", protocol), wanted)
    else:
        _refuse({"--protocol": protocol, "--methods": methods}, "is in the spec that --spec names")
        text = read_spec_text(spec)
    asked = parse_study_spec(text, "the spec" if spec is None else spec.name)
    return asked, text, import_hase_bansal(asked, folder, chosen)


def _save(asked: StudySpec, text: str, imported: Imported, out: Path, *, force: bool) -> None:
    from verax.cli.study import print_study
    from verax.studies.build.imports import make_study

    made = make_study(asked, text, imported, out, force=force)
    for note in imported.notes:
        output().print(f"note: {note}", soft_wrap=True)
    print_study(made, out)
