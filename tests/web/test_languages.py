"""A study in two languages, and one in a language with phrases of its own, from the spec to the export."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import httpx
import pytest

from helpers import make_texts
from real_parts import LONG, axe_violations, new_context
from verax.errors import VeraxError
from verax.phrases import PARTICIPANT_AREAS, say, speaking
from verax.phrases.translations import translation_problems
from verax.studies.answers.flat_records import participant_records, response_records
from verax.studies.build.build import build_study
from verax.studies.definition.languages import in_language
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.spec_tables import Bonus
from verax.studies.definition.study_files import load_study
from verax.studies.protocol.common_steps import participant_steps
from verax.web.preview import preview_app
from web.serving import running
from web.walk import Form, http_walk

GERMAN = {"good": "gut", "great": "toll", "bad": "schlecht", "awful": "übel"}
SPEC = {
    "title": "Reviews and a model",
    "model": "logistic",
    "protocol": {"name": "forward", "learning": 4, "test": 4},
    "conditions": [{"name": "none"}, {"name": "lime", "explainer": "lime(samples=50)"}],
    "class_names": ["bad", "good"],
    "background": ["age", "words"],
    "questions": [
        {"name": "hours", "kind": "number", "question": "How many hours?", "lowest": 0, "place": "first"},
        {
            "name": "years",
            "kind": "number",
            "question": "For how many years?",
            "shown_if": {"question": "hours", "at_least": 10},
            "place": "before",
        },
        {"block": "trust-short", "attention": True, "place": "each"},
        {"name": "sure", "question": "How sure were you?", "answers": ["Not at all", "Very"]},
    ],
    "participants": 4,
    "about": {"purpose": "To see what helps.", "score": False},
}


def write_reviews(path: Path, seed: int, ending: str = "") -> str:
    texts, labels = make_texts(240, seed=seed)
    flipped = [int(label) ^ (place % 4 == 0) for place, label in enumerate(labels)]
    lines = [
        f'"{text}{ending}",{"good" if label else "bad"}' for text, label in zip(texts, flipped, strict=True)
    ]
    path.write_text("text,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """English and German, the latter with items of its own."""
    folder = tmp_path_factory.mktemp("two")
    spec = make_study_spec(
        SPEC
        | {
            "dataset": write_reviews(folder / "en.csv", 1),
            "languages": ["en", "de"],
            "translations": {
                "de": {
                    "title": "Rezensionen und ein Modell",
                    "dataset": write_reviews(folder / "de.csv", 2, " auf Deutsch"),
                    "class_names": ["schlecht", "gut"],
                    "about": {"purpose": "Um zu sehen, was hilft."},
                    "questions": [
                        {"name": "hours", "question": "Wie viele Stunden?"},
                        {"name": "years", "question": "Seit wie vielen Jahren?"},
                        {
                            "name": "sure",
                            "question": "Wie sicher waren Sie?",
                            "answers": ["Gar nicht", "Sehr"],
                        },
                    ],
                }
            },
        }
    )
    build_study(spec, "", folder / "study", beside=folder)
    return load_study(folder / "study")


def test_german_lacks_nothing_and_has_the_same_slots():
    folder = files("verax.phrases") / "de"
    texts = {area: (folder / f"{area}.ftl").read_text(encoding="utf-8") for area in PARTICIPANT_AREAS}
    assert translation_problems(texts) == []


def test_german_has_all_that_experimenters_read():
    english, german = (
        {
            area: (files("verax.phrases") / language / f"{area}.ftl").read_text(encoding="utf-8")
            for area in ("common", "experimenter")
        }
        for language in ("en", "de")
    )
    assert translation_problems(german, english, ("experimenter",)) == []


def test_what_a_translation_lacks_is_listed():
    original = dict.fromkeys(PARTICIPANT_AREAS, "") | {"common": "a = { $x } and { $y }\nb = { a }\nc = C\n"}
    translated = original | {"common": "a = { $x } und { $z }\nb = { nothing }\n"}
    assert translation_problems(translated, original) == [
        "common.ftl, a: the slot { $y } is missing.",
        "common.ftl, a: there is no slot { $z } in the original.",
        "common.ftl, b: the slot { $x } is missing.",
        "common.ftl, b: the slot { $y } is missing.",
        "common.ftl, b: it refers to a phrase 'nothing' that there is not.",
        "common.ftl lacks the phrase 'c'.",
    ]


def doubled(times):
    """A phrase that is 2 to the power of so many times as long as another one."""
    return "b0 = ten letters\n" + "".join(
        f"b{n} = {{ b{n - 1} }}{{ b{n - 1} }}\n" for n in range(1, times + 1)
    )


def chain(links, *, backwards=False):
    """Phrases of which each is said by the next one."""
    lines = ["b0 = x", *(f"b{n} = {{ b{n - 1} }}" for n in range(1, links)), f"a = {{ b{links - 1} }}"]
    return "\n".join(reversed(lines) if backwards else lines)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (doubled(60) + "a = { b60 }", "it is too long with all that it refers to."),
        ("a = " + "x" * 2001, "it is too long with all that it refers to."),
        ("a = { b }\nb = { a }", "it refers to itself by 'a'."),
        ("a = { -brand }", "it refers to a phrase '-brand' that there is not."),
        ("a = { EXEC(1) }", "it has a function 'EXEC' that there is not."),
        ("a = { b.title }\nb = B\n    .title = T", "it refers to a part of 'b', and phrases have none."),
        ("a =\n    .title = T", "it says nothing."),
        ("a = " + "{ " * 3000 + '"x"' + " }" * 3000, None),
        (chain(3000), "it is too long with all that it refers to."),
        (chain(3000, backwards=True), None),
        ("a = " + "x" * 1_000_001, None),
    ],
    ids=[
        "doubling",
        "long",
        "circle",
        "term",
        "function",
        "part",
        "nothing",
        "nested",
        "chain",
        "chain backwards",
        "file",
    ],
)
def test_a_translation_that_cannot_be_said_is_refused_before_anybody_reads_it(said, problem):
    original = dict.fromkeys(PARTICIPANT_AREAS, "") | {"script": "a = A\n"}
    found = translation_problems(original | {"script": f"{said}\n"}, original)
    if problem is None:
        assert len(found) == 1
        assert found[0].startswith("script.ftl ")
    else:
        assert found == [f"script.ftl, a: {problem}"]


def test_each_language_has_its_own_screens_and_items_in_the_same_design(two):
    row = two.rows[0]
    english, german = participant_steps(two, row, 1), participant_steps(two, row, 1, "de")
    assert [step.phase for step in english] == [step.phase for step in german]
    assert all(step.screen.startswith("de/") for step in german)
    assert {step.item for step in english}.isdisjoint({step.item for step in german} - {None})
    assert all("auf Deutsch" in two.items[step.item].input for step in german if step.item)
    assert in_language(two, "de").phases["pre"].title == "Erste Vorhersagen"
    assert in_language(two, None).phases["pre"].title == "First predictions"


def test_the_browser_chooses_and_the_language_is_exported(serve, two):
    served = serve(two)
    first = served.client.get("/", headers={"Accept-Language": "fr, de-AT;q=0.9, en;q=0.5"}).text
    assert '<html lang="de" dir="ltr">' in first
    assert "Vielen Dank für Ihr Interesse" in first
    assert "Rezensionen und ein Modell" in first
    assert "Um zu sehen, was hilft." in first
    other = re.search(r'hreflang="en" href="([^"]*)"', first)[1]
    assert "Thank you for your interest" in served.client.get(f"/{other}").text
    assert '<html lang="en"' in served.client.get("/", headers={"Accept-Language": "fr"}).text
    for language in ("de", "en"):
        entered = served.client.post(f"/enter?lang={language}")
        address = entered.headers["location"]
        served.client.post(address, data={"consent": "yes"})
        seen = []
        http_walk(served.client, address, right_answer, look=lambda _form, html, seen=seen: seen.append(html))
        assert all(f'<html lang="{language}"' in html for html in seen)
        english = [
            word for word in ("Continue", "model's answer", "Predict") if any(word in one for one in seen)
        ]
        assert bool(english) == (language == "en")
    people = {record["participant"]: record["language"] for record in participant_records(served.store)}
    assert sorted(people.values()) == ["de", "en"]
    answers = [record for record in response_records(served.store) if record["item"]]
    assert all(
        record["item"].startswith("de/") == (people[record["participant"]] == "de") for record in answers
    )
    ages = {
        record["answer"]
        for record in response_records(served.store)
        if record["question"] == "background-age"
    }
    assert ages == {"18 to 24"}  # in the same words, whatever was read
    sure = [record["answer"] for record in response_records(served.store) if record["question"] == "sure"]
    assert sure == ["Not at all", "Not at all"]
    assert any("Gar nicht" in str(screen.questions) for screen in two.screens.values())


def test_a_study_with_people_from_a_platform_and_a_bonus_is_previewed_in_each_language(two, tmp_path):
    bonus = Bonus(column="right", amount=0.05, for_each=True)
    recruiting = two.spec.recruiting.model_copy(update={"bonus": (bonus,), "signed": True})
    spec = two.spec.model_copy(update={"entry": "prolific", "recruiting": recruiting})
    with running(preview_app(replace(two, spec=spec), tmp_path)) as address:
        for language in ("de", "en"):
            client = httpx.Client(base_url=address, timeout=LONG)
            entered = client.post(f"/row/0/enter?lang={language}").headers["location"]
            assert client.post(entered, data={"consent": "yes"}).status_code == 303
            assert f'<html lang="{language}"' in client.get(entered).text
            jumped = client.get("/jump/0/2", headers={"Accept-Language": language}, follow_redirects=True)
            assert f'<html lang="{language}"' in jumped.text
            chosen = client.get("/pages/0", headers={"Accept-Language": language}).text
            assert {"de": "Wählen Sie eine Seite", "en": "Choose a page"}[language] in chosen
            client.close()


def test_ready_made_scales_and_what_is_wrong_with_an_answer_are_in_german(serve, two):
    served = serve(two)
    address = served.client.post("/enter?lang=de").headers["location"]
    served.client.post(address, data={"consent": "yes"})
    form = Form(served.client.get(address).text)
    refused = served.client.post(address, data=form.hidden | {"q-hours": "viele"}).text
    assert "Bitte schreiben Sie eine ganze Zahl, die mindestens 0 ist." in refused
    seen = []
    walked = http_walk(served.client, address, right_answer, look=lambda _form, html: seen.append(html))
    assert "years" not in [asked.name for asked in walked.asked]  # who works for five hours is not asked
    trust = [html for html in seen if "zuverlässig" in html]
    assert len(trust) == 2  # after each part with scored answers
    assert all("wählen Sie hier bitte „2“" in html for html in trust)
    assert not any("the model" in html for html in seen)


def right_answer(asked):
    """The first answer, but for those of the test of the instructions that are right elsewhere."""
    right = {"screening-1": 1, "screening-2": 2, "screening-3": 3, "screening-4": 2}
    if asked.name == "hours":
        return "5"
    return str(right.get(asked.name, 1)) if asked.options else "."


def test_what_is_not_translated_is_told_at_build(tmp_path):
    given = SPEC | {"dataset": "x.csv", "texts": {"welcome": "Hello"}, "languages": ["en", "de"]}
    with pytest.raises(
        VeraxError,
        match=r"lacks title, class_names, questions\.hours\.question, questions\.years\.question, "
        r"questions\.sure\.question, questions\.sure\.answers, texts\.welcome",
    ):
        build_study(make_study_spec(given), "", tmp_path / "study")
    unknown = {"de": {"questions": [{"name": "hour", "question": "Wie viele?"}]}}
    with pytest.raises(VeraxError, match="has 'hour' under questions, which the spec has not"):
        make_study_spec(given | {"translations": unknown})
    with pytest.raises(VeraxError, match="there are no phrases in 'fr'; there are: de, en"):
        make_study_spec(given | {"languages": ["fr"]})
    with pytest.raises(VeraxError, match="which is not among the languages"):
        make_study_spec(given | {"translations": {"fr": {}}})
    with pytest.raises(VeraxError, match="a translation has no 'seed'"):
        make_study_spec(given | {"translations": {"de": {"seed": 1}}})


def mirrored(folder: Path) -> None:
    """A language that is written from right to left: English words under Arabic ones."""
    folder.mkdir()
    for area in PARTICIPANT_AREAS:
        text = (files("verax.phrases") / "en" / f"{area}.ftl").read_text(encoding="utf-8")
        text = re.sub(r"^([a-z-]+) = (?=[A-Z])", r"\1 = عربي ", text, flags=re.M)
        (folder / f"{area}.ftl").write_text(text, encoding="utf-8")


def test_a_language_of_ones_own_is_written_from_right_to_left(tmp_path, serve, chromium, caplog):
    mirrored(tmp_path / "ar")
    given = SPEC | {
        "dataset": write_reviews(tmp_path / "en.csv", 1),
        "languages": ["ar"],
        "translations": {"ar": {"phrases": "ar"}},
        "questions": SPEC["questions"][2:],
    }
    study = build_study(make_study_spec(given), "", tmp_path / "study", beside=tmp_path)
    served = serve(load_study(tmp_path / "study"))
    assert study.phrases.keys() == {"ar"}
    assert [record for record in caplog.records if "in English" in record.getMessage()] == []
    ratings = {
        one.prompt for screen in study.screens.values() for one in screen.questions if one.name == "rating"
    }
    assert ratings == {"عربي Does this explanation show me why the system thought what it did?"}
    context = new_context(chromium)
    page = context.new_page()
    for width, height in ((1280, 800), (390, 664)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(served.address)
        assert page.locator("html").get_attribute("dir") == "rtl"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert axe_violations(page) == []
    page.locator(".actions button").first.click()
    page.locator(".actions button").first.click()
    page.wait_for_selector("form[data-step]")
    heading = page.locator("h1").bounding_box()
    assert "عربي" in page.locator("h1").inner_text()
    assert heading["x"] >= 0
    assert axe_violations(page) == []
    context.close()
    (tmp_path / "ar" / "script.ftl").write_text("copied = Copied.\n")
    with pytest.raises(VeraxError, match=r"phrases of 'ar' are not complete. script.ftl lacks the phrase"):
        build_study(make_study_spec(given), "", tmp_path / "again", beside=tmp_path)


@pytest.mark.parametrize(
    ("scheme", "width", "height"), [("light", 1280, 800), ("dark", 390, 664), ("light", 640, 400)]
)
def test_axe_finds_nothing_on_german_pages(two, serve, chromium, scheme, width, height):
    served = serve(two)
    context = new_context(chromium, locale="de-DE", color_scheme=scheme)
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.goto(served.address)
    token = served.store.enter(language="de")
    where = served.store.consent(token, agreed=True)
    assert axe_violations(page) == []
    kinds = set()
    while where.status == "active":
        kind = (where.phase.key, where.screen.heading)
        if kind not in kinds:
            kinds.add(kind)
            page.goto(f"{served.address}/p/{token}")
            assert page.locator("html").get_attribute("lang") == "de"
            assert axe_violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        where = _on(served.store, token)
    page.goto(f"{served.address}/p/{token}")
    assert axe_violations(page) == []
    context.close()


def _on(store, token):
    from verax.web.preview import fill_in

    return fill_in(store, token)


def test_the_script_speaks_the_language_of_the_page():
    from verax.web.pages import script_words

    with speaking("de"):
        assert "noch etwa {n} Minuten" in script_words()
        assert say("script", "read-on") == "Weiterlesen"
    assert "about {n} minutes left" in script_words()


def test_forms_are_read_as_before(serve, two):
    served = serve(two)
    assert Form(served.client.get("/").text).is_step is False
