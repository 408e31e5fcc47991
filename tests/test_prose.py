"""The check of the docs' prose finds what it is there to find, and the pages pass it."""

from __future__ import annotations

import prose


def test_words_that_stay_out_are_named_with_their_line_and_code_is_left_alone():
    page = "# Title\n\nExplainers on trial.\n\n```sh\nverax on trial\n```\n\nOf the the first `on trial`.\n"
    assert list(prose.problems("docs/page.md", page)) == [
        "docs/page.md:3: 'on trial': write 'evaluated' or 'compared'.",
        "docs/page.md:9: 'the the': write the word once.",
    ]


def test_a_page_of_results_has_a_limit_that_tables_and_folded_parts_do_not_count_for():
    words = "word " * (prose.MOST_WORDS - 1)
    table = "| a | b |\n|---|---|\n" + "| many words | here |\n" * 500
    folded = '<details markdown="1">\n<summary>more</summary>\n\n' + "word\n" * 2000 + "\n</details>\n"
    assert list(prose.problems("docs/results/page.md", words + "\n\n" + table + "\n" + folded)) == []
    assert len(list(prose.problems("docs/results/page.md", words + "word word word\n"))) == 1
    assert list(prose.problems("docs/page.md", words * 2)) == []


def test_the_pages_pass():
    assert prose.main() == 0
