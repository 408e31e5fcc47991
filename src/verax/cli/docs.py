"""``verax docs``: the documentation's pages, which come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from verax.cli.console import one_sentence, output, plain_table, print_file, print_json, say
from verax.cli.options import AsJson
from verax.errors import VeraxError

# Beside the command line's folder where the package was installed; otherwise at the top of the source tree.
INSTALLED, SOURCE = Path(__file__).parents[1] / "docs", Path(__file__).parents[3] / "docs"


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
    """Every page by its name; the reference is left out, which a site makes of docstrings."""
    folder = _folder()
    pages = {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.md")}
    return {
        name: pages[name]
        for name in sorted(pages, key=lambda name: (name.count("/"), name))
        if not name.startswith("reference/")
    }


def _folder() -> Path:
    return INSTALLED if INSTALLED.exists() else SOURCE


def _title(page: Path) -> str:
    with page.open(encoding="utf-8") as lines:
        return next(lines).removeprefix("# ").strip()
