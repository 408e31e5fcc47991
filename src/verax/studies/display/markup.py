"""Markdown in the texts of a study: what researchers may write, as HTML in which no script has a place.

CommonMark is parsed by markdown-it, without raw HTML; what is drawn is written here, tag by tag, and everything else is
text. Links lead to pages and mail; pictures, sounds and films are files of the study's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from verax.errors import VeraxError

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# What a file may be, by its ending; SVG is none of them, since it may hold a script.
PICTURES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
}
SOUNDS = {
    "mp3": "audio/mpeg",
    "ogg": "audio/ogg",
    "wav": "audio/wav",
    "m4a": "audio/mp4",
    "flac": "audio/flac",
}
FILMS = {"mp4": "video/mp4", "webm": "video/webm"}
MEDIA_TYPES = PICTURES | SOUNDS | FILMS
MEDIA_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*")
# How a point of a list begins.
POINT = re.compile(r"- |\d{1,3}\. ")
# Where links may lead.
LINK = re.compile(r"(https?://|mailto:)[^\s<>\"'\\]+", re.IGNORECASE)
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()#+!|<>~&-])")
# Tags that are written as they are; all of what a page may have besides links and media.
_PLAIN = {
    "paragraph": "p",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "blockquote": "blockquote",
    "em": "em",
    "strong": "strong",
}

Address = Callable[[str], str]


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False})


def literal(text: str) -> str:
    """A text that is to be shown as it is, whatever Markdown would make of it."""
    return _PUNCTUATION.sub(r"\\\1", text)


def block_html(paragraphs: Sequence[str], address: Address) -> str:
    """Paragraphs as HTML; points of a list follow each other.

    Args:
        paragraphs: Markdown.
        address: where a file of the study is found on the page.
    """
    text = ""
    for before, paragraph in zip(("", *paragraphs), paragraphs, strict=False):
        is_list = POINT.match(paragraph) and POINT.match(before)
        text += ("\n" if is_list else "\n\n") + paragraph
    return "".join(_blocks(_parser().parse(text.strip("\n")), address))


def inline_html(text: str, address: Address) -> str:
    """A line as HTML, without paragraphs or lists."""
    return "".join(_pieces(_parser().parseInline(text)[0].children or (), address))


def media_in(text: str) -> list[tuple[str, str]]:
    """The files that a text shows: the name of each, and what is written for people who cannot see or hear it."""
    return [
        (str(token.attrs.get("src", "")), token.content)
        for block in _parser().parse(text)
        for token in block.children or ()
        if token.type == "image"
    ]


def _blocks(tokens: Sequence[Token], address: Address) -> Iterator[str]:
    for token in tokens:
        kind = token.type.removesuffix("_open").removesuffix("_close")
        if token.type == "inline":
            yield from _pieces(token.children or (), address)
        elif kind == "heading":
            # The page has its own heading above all of them.
            level = min(int(token.tag[1:]) + 1, 4)
            yield f"<h{level}>" if token.nesting > 0 else f"</h{level}>"
        elif kind in _PLAIN:
            # A point of a tight list has no paragraph of its own.
            if not token.hidden:
                yield f"<{'/' if token.nesting < 0 else ''}{_PLAIN[kind]}>"
        elif token.type == "hr":
            yield "<hr>"
        elif token.type in ("fence", "code_block"):
            yield f"<pre><code>{escape(token.content)}</code></pre>"
        else:
            yield escape(token.content)


def _pieces(tokens: Sequence[Token], address: Address) -> Iterator[str]:
    links: list[bool] = []
    for token in tokens:
        kind = token.type.removesuffix("_open").removesuffix("_close")
        if kind in _PLAIN:
            yield f"<{'/' if token.nesting < 0 else ''}{_PLAIN[kind]}>"
        elif token.type == "link_open":
            href = str(token.attrs.get("href", ""))
            links.append(LINK.fullmatch(href) is not None)
            if links[-1]:
                yield f'<a href="{escape(href)}" target="_blank" rel="noopener noreferrer">'
        elif token.type == "link_close":
            yield "</a>" if links.pop() else ""
        elif token.type == "image":
            yield _shown(str(token.attrs.get("src", "")), token.content, address)
        elif token.type == "code_inline":
            yield f"<code>{escape(token.content)}</code>"
        elif token.type == "softbreak":
            yield " "
        elif token.type == "hardbreak":
            yield "<br>"
        else:
            yield escape(token.content)


def _shown(name: str, alt: str, address: Address) -> str:
    """A picture, or what plays a sound or a film; the words in its place where there is no such file."""
    ending = media_ending(name)
    where = address(name) if ending in MEDIA_TYPES else ""
    if not where:
        return escape(alt)
    source, said = escape(where), escape(alt)
    if ending in PICTURES:
        return f'<img src="{source}" alt="{said}">'
    tag = "audio" if ending in SOUNDS else "video"
    return f'<{tag} src="{source}" aria-label="{said}" controls preload="metadata"></{tag}>'


def media_ending(name: str) -> str:
    """What a file is, by the end of its name."""
    return PurePosixPath(name).suffix.removeprefix(".").lower()


def check_media(texts: Mapping[str, str]) -> list[str]:
    """The names of all files that texts show.

    Args:
        texts: by the entry of the spec where each stands.

    Raises:
        VeraxError: one is no file of the study's own, of no sort that can be shown, or without words in its place.
    """
    found: dict[str, None] = {}
    for entry, text in texts.items():
        for name, alt in media_in(text):
            if not MEDIA_NAME.fullmatch(name) or ".." in name.split("/"):
                raise VeraxError(
                    f"{entry} shows {name!r}, which is no file beside the spec; copy it there and name it, as in "
                    "![a red square](pictures/square.png)."
                )
            if media_ending(name) not in MEDIA_TYPES:
                raise VeraxError(
                    f"{entry} shows {name!r}, and pages can show files that end with {', '.join(MEDIA_TYPES)}; save it "
                    "as one of these."
                )
            if not alt.strip():
                raise VeraxError(
                    f"{entry} shows {name!r} without a description for people who cannot see or hear it; write "
                    f"![what it shows]({name})."
                )
            found[name] = None
    return list(found)


def spec_texts(table: Any, entry: str = "") -> dict[str, str]:
    """All texts in a table of a spec, by their entries, such as "texts.welcome"."""
    if isinstance(table, str):
        return {entry: table}
    pairs: list[tuple[object, object]] = []
    if isinstance(table, Mapping):
        pairs = list(table.items())
    elif isinstance(table, list | tuple):
        pairs = list(enumerate(table, start=1))
    return {
        name: text
        for key, value in pairs
        for name, text in spec_texts(value, f"{entry}.{key}" if entry else str(key)).items()
    }
