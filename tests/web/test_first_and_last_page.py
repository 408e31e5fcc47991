"""What people read before they decide, and when they are done."""

from __future__ import annotations

from dataclasses import replace

from small_study import small_study
from verax.studies.build.build import unsaid
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.spec_tables import About, Texts
from web.walk import http_enter, http_walk

ABOUT = About(
    purpose="How people read reviews.",
    minutes=25,
    pay="5 euros",
    run_by="Anna Example, Nowhere",
    ethics="No. 117",
)


def with_about(about: About, contact: str = "anna@example.org"):
    study = small_study(target=5)
    return replace(
        study, spec=study.spec.model_copy(update={"about": about, "texts": Texts(contact=contact)})
    )


def test_the_first_page_says_what_people_should_know_before_they_decide(serve):
    html = serve(with_about(ABOUT)).client.get("/").text
    for said in (
        "How people read reviews.",
        "About 25 minutes",
        "5 euros",
        "Anna Example",
        "No. 117",
        "anna@",
    ):
        assert said in html


def test_what_a_spec_does_not_say_is_not_asked_on_the_page(serve):
    html = serve(with_about(About(), contact="")).client.get("/").text
    assert "Who runs it?" not in html
    assert '<dl class="about">' not in html


def test_a_build_names_what_the_first_page_lacks():
    spec = with_about(ABOUT).spec
    assert unsaid(spec) == []
    lacking = spec.model_copy(
        update={"about": About(minutes=5), "texts": Texts(contact="the person who invited you")}
    )
    assert unsaid(lacking) == ["about.purpose", "about.pay", "about.run_by", "about.ethics", "texts.contact"]
    for contact in ("https://example.org/study", "+49 30 123 456"):
        assert unsaid(spec.model_copy(update={"texts": Texts(contact=contact)})) == []


def test_pages_say_how_much_time_is_left(serve, answer):
    served = serve(with_about(ABOUT))
    left = []

    def look(_form, html):
        if "data-minutes" in html:
            left.append(html.partition('data-minutes="25')[2].partition(">")[2].partition("<")[0])

    http_walk(served.client, http_enter(served.client), answer, look=look)
    assert left[0] == "about 25 minutes left"
    assert left[-1].startswith(("about 3 minutes", "about 4 minutes", "about 2 minutes"))


def test_the_last_page_has_the_score_unless_the_spec_keeps_it(serve, answer):
    for about, shown in ((ABOUT, True), (About(score=False), False)):
        served = serve(with_about(about))
        pages = []
        http_walk(
            served.client,
            http_enter(served.client),
            answer,
            look=lambda _form, html, to=pages: to.append(html),
        )
        assert ('class="score"' in pages[-1]) == shown
        assert not any('class="score"' in html for html in pages[:-1])


def test_an_empty_spec_says_nothing_and_is_named_in_full():
    spec = make_study_spec(
        {"title": "x", "dataset": "y", "protocol": {"name": "z"}, "conditions": [{"name": "none"}]}
    )
    assert len(unsaid(spec)) == 6
