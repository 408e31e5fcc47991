"""Pages of the documentation site that lie outside of docs/: the README and its neighbours, with their links mended."""

from __future__ import annotations

import posixpath
import re
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
}
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)]*)?\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=mended(text, source)))
    return files


def on_page_markdown(markdown: str, page: object, **_: object) -> str:
    """Links from docs/ to pages outside of it lead to where these are on the site."""
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
