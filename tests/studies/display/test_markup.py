"""Markdown in a study's texts: what is drawn, and that no script gets in."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from verax.errors import VeraxError
from verax.studies.build.build_folder import MOST_BYTES
from verax.studies.definition.spec import make_study_spec
from verax.studies.display.markup import block_html, check_media, inline_html, literal

HERE = {"a.png": "/media/1.png", "talk.mp3": "/media/2.mp3", "film.mp4": "/media/3.mp4"}
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox)",
    "![x](javascript:alert(1))",
    '![x" onerror="alert(1)](a.png)',
    '![x](a.png "t\\" onload=\\"alert(1)")',
    "![x](https://elsewhere.example/a.png)",
    "![x](../../etc/passwd.png)",
    '[x](https://a.example/"onmouseover="alert(1))',
    "<a href='javascript:alert(1)'>x</a>",
    "<svg/onload=alert(1)>",
    "`<script>alert(1)</script>`",
    "```\n</code></pre><script>alert(1)</script>\n```",
    "<https://a.example/><script>",
    "<javascript:alert(1)>",
    "[a]: javascript:alert(1)\n\n[a]",
    "# <b onclick=alert(1)>x</b>",
    "- <iframe src=//a.example></iframe>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\x00<script\x00>alert(1)</script>",
]
ALLOWED = {
    "p": set(),
    "ul": set(),
    "ol": set(),
    "li": set(),
    "em": set(),
    "strong": set(),
    "code": set(),
    "pre": set(),
    "h2": set(),
    "blockquote": set(),
    "br": set(),
    "hr": set(),
    "a": {"href", "target", "rel"},
    "img": {"src", "alt"},
    "audio": {"src", "aria-label", "controls", "preload"},
    "video": {"src", "aria-label", "controls", "preload"},
}


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("text", ATTACKS)
def test_no_script_gets_in(text):
    for html in (block_html((text,), HERE.get_or_none), inline_html(text, HERE.get_or_none)):
        for tag, attributes in Tags(html).found:
            assert attributes.keys() <= ALLOWED[tag], html
            assert attributes.get("href", "https://").startswith(("https://", "http://", "mailto:")), html
            assert attributes.get("src", "/media/").startswith("/media/"), html


class Known(dict):
    def get_or_none(self, name):
        return self.get(name, "")


HERE = Known(HERE)


def test_what_researchers_write_is_drawn():
    said = (
        "Read **this** and *that*.",
        "- one",
        "- two [here](https://a.example/?a=1&b=2)",
        "1. first",
        "2. second",
    )
    assert block_html(said, HERE.get_or_none) == (
        "<p>Read <strong>this</strong> and <em>that</em>.</p><ul><li>one</li><li>two "
        '<a href="https://a.example/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">here</a></li></ul>'
        "<ol><li>first</li><li>second</li></ol>"
    )
    assert (
        inline_html("![A red square](a.png)", HERE.get_or_none)
        == '<img src="/media/1.png" alt="A red square">'
    )
    assert inline_html("![A talk](talk.mp3)", HERE.get_or_none) == (
        '<audio src="/media/2.mp3" aria-label="A talk" controls preload="metadata"></audio>'
    )
    assert "<video" in inline_html("![A film](film.mp4)", HERE.get_or_none)


@pytest.mark.parametrize(
    "name", ["5*", "__label__1", "a_b_c", "[x](y)", "<b>", "`code`", "1. one", "# top", "a & b", "!"]
)
def test_the_name_of_a_class_is_shown_as_it_is(name):
    from html import unescape

    assert unescape(inline_html(f"It says: {literal(name)}.", HERE.get_or_none)) == f"It says: {name}."


def test_each_fault_of_a_file_is_a_sentence(tmp_path):
    with pytest.raises(VeraxError, match=r"texts.welcome shows 'a.png' without a description"):
        check_media({"texts.welcome": "![](a.png)"})
    with pytest.raises(VeraxError, match="which is no file beside the spec"):
        check_media({"texts.welcome": "![x](https://a.example/a.png)"})
    with pytest.raises(VeraxError, match="save it as one of these"):
        check_media({"texts.welcome": "![x](a.svg)"})
    assert check_media({"about.pay": "![x](b/a.png) ![y](b/a.png)"}) == ["b/a.png"]


def test_files_are_copied_with_their_hash_and_a_change_is_refused(tmp_path):
    from verax.studies.build.build_folder import copy_media

    spec = make_study_spec(
        {
            "title": "T",
            "dataset": "d",
            "protocol": {"name": "forward"},
            "conditions": [{"name": "none"}],
            "texts": {"welcome": "Look: ![a dot](dot.png)"},
        }
    )
    with pytest.raises(VeraxError, match=r"shows 'dot.png', which cannot be read \(No such file"):
        copy_media(spec, tmp_path, tmp_path / "out")
    (tmp_path / "dot.png").write_bytes(bytes(MOST_BYTES["picture"] + 1))
    with pytest.raises(VeraxError, match=r"has 5\.0 MB, and a picture may have 5; make it smaller"):
        copy_media(spec, tmp_path, tmp_path / "out")
    (tmp_path / "dot.png").write_bytes(b"\x89PNG dot")
    hashes = copy_media(spec, tmp_path, tmp_path / "out")
    assert (tmp_path / "out" / "media" / f"{hashes['dot.png']}.png").read_bytes() == b"\x89PNG dot"


def test_a_picture_that_is_a_link_to_a_file_elsewhere_is_refused(tmp_path):
    from verax.studies.build.build_folder import copy_media

    beside = tmp_path / "spec"
    beside.mkdir()
    (tmp_path / "key.png").write_bytes(b"secret")
    (beside / "dot.png").symlink_to(tmp_path / "key.png")
    given = {"title": "T", "dataset": "d", "protocol": {"name": "forward"}, "conditions": [{"name": "none"}]}
    spec = make_study_spec(given | {"texts": {"welcome": "![A dot](dot.png)"}})
    with pytest.raises(VeraxError, match=r"'dot\.png', which is a link to a file elsewhere"):
        copy_media(spec, beside, tmp_path / "out")
    assert not (tmp_path / "out").exists()
