"""What a spec may say of where people come from and where they go."""

from __future__ import annotations

import pytest

from small_study import small_study
from verax.errors import VeraxError
from verax.studies.definition.spec import make_study_spec, parse_study_spec
from verax.studies.definition.study_files import load_study, save_study

PROLIFIC = "https://app.prolific.com/submissions/complete?cc=C1ABCDEF"


def spec(**changes):
    return make_study_spec(
        {
            "title": "A study",
            "dataset": "imdb",
            "protocol": {"name": "forward"},
            "conditions": [{"name": "lime", "explainer": "lime"}],
            **changes,
        },
        "my.toml",
    )


def test_nothing_is_needed():
    assert spec().recruiting.urls == {}
    assert [spec(entry=entry).entry for entry in ("link", "code", "prolific", "mturk")] == [
        "link",
        "code",
        "prolific",
        "mturk",
    ]


def test_addresses_are_found_by_the_page_that_they_belong_to():
    given = {"completion_url": PROLIFIC, "full_url": "https://example.org"}
    made = spec(entry="prolific", recruiting=given)
    assert made.recruiting.urls == {"complete": PROLIFIC, "full": "https://example.org"}
    assert make_study_spec(made.model_dump(mode="json")) == made


def test_it_is_written_as_a_table():
    text = f"""
title = "A study"
dataset = "rotten-tomatoes"
entry = "prolific"
protocol = {{ name = "forward" }}
[[conditions]]
name = "lime"
explainer = "lime"
[recruiting]
completion_url = "{PROLIFIC}"
"""
    assert parse_study_spec(text).recruiting.completion_url == PROLIFIC


@pytest.mark.parametrize(
    "url",
    [
        "http://app.prolific.com/",
        "app.prolific.com/submissions",
        "javascript:alert(1)",
        "https://",
        "https://user@evil.example.org/",
        "https://example.org/a b",
        'https://example.org/"><script>',
        "https://example.org/\n",
        "",
    ],
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(VeraxError, match=r"my.toml, recruiting.full_url: .* begins with https://"):
        spec(recruiting={"full_url": url})


def test_mturk_has_a_form_of_its_own_and_the_sandbox_is_mturks():
    with pytest.raises(VeraxError, match="MTurk is told of the end by a form of its own"):
        spec(entry="mturk", recruiting={"completion_url": PROLIFIC})
    with pytest.raises(VeraxError, match="people enter by 'prolific'; write entry = \"mturk\""):
        spec(entry="prolific", recruiting={"sandbox": True})
    assert spec(entry="mturk", recruiting={"sandbox": True}).recruiting.sandbox
    with pytest.raises(VeraxError, match="did you mean 'completion_url'"):
        spec(recruiting={"completion": PROLIFIC})


def test_where_people_go_is_part_of_the_hash(tmp_path):
    hashes = [
        save_study(small_study(entry="prolific", recruiting=recruiting), tmp_path / name).hash
        for name, recruiting in (("a", {}), ("b", {"completion_url": PROLIFIC}))
    ]
    assert hashes[0] != hashes[1]
    assert load_study(tmp_path / "b").spec.recruiting.completion_url == PROLIFIC
