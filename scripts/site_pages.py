"""Pages of the documentation site that lie outside of docs/: the README and its neighbours, and the reference."""

from __future__ import annotations

import importlib
import posixpath
import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
# From where a page lies in the repository to where it is on the site.
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "perf/RESULTS.md": "speed.md",
    "perf/OTHERS.md": "speed-others.md",
}
# What people look for comes first among what the search finds: a page of the first of these that it lies in.
SEARCH_BOOST = {
    "how-to/questions": 20.0,
    "how-to/": 6.0,
    "tutorials/": 3.0,
    "papers": 0.2,
    "results/": 0.5,
    "reference/": 0.5,
    "": 1.5,
}
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)]*)?\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=mended(text, source)))
    for page, text in reference_pages().items():
        files.append(File.generated(config, page, content=text))
    return files


def reference_pages() -> dict[str, str]:
    """The pages that scripts/reference_pages.py makes of docstrings and commands."""
    if str(ROOT / "scripts") not in sys.path:
        sys.path.insert(0, str(ROOT / "scripts"))
    pages: dict[str, str] = importlib.import_module("reference_pages").pages()
    return pages


def on_page_markdown(markdown: str, page: object, **_: object) -> str:
    """Links to pages outside of docs/ lead to where these are on the site; the search ranks by what a page is."""
    place: str = page.file.src_uri  # type: ignore[attr-defined]
    boost = next(value for start, value in SEARCH_BOOST.items() if place.startswith(start))
    page.meta["search"] = {"boost": boost}  # type: ignore[attr-defined]
    source = posixpath.join("docs", page.file.src_uri)  # type: ignore[attr-defined]
    return markdown if page.file.src_uri in PAGES.values() else mended(markdown, source)  # type: ignore[attr-defined]


def mended(text: str, source: str) -> str:
    """A page's text with its links as the site has them.

    Args:
        text: Markdown.
        source: where the page lies in the repository.
    """
    on_site = PAGES.get(source, source.removeprefix("docs/"))

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        if target in PAGES:
            there = PAGES[target]
        elif target.startswith("docs/"):
            there = target.removeprefix("docs/")
        else:
            return match[0]
        return f"{match[1]}{posixpath.relpath(there, posixpath.dirname(on_site) or '.')}{match[3]}"

    return LINK.sub(link, text)
