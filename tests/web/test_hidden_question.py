"""A question that people neither see nor hear: on the page, out of the way, and told of when it is answered."""

from dataclasses import replace

from small_study import small_study
from verax.studies.answers.flat_records import participant_records
from verax.studies.answers.response_record import HIDDEN_FIELD
from verax.studies.bots.language import page_text
from web.test_what_bends_answers import DESK, new_page  # noqa: F401
from web.walk import Form, filled


def test_who_answers_it_is_flagged_and_nobody_else_meets_it(serve, new_page):  # noqa: F811
    study = small_study()
    served = serve(
        replace(study, spec=study.spec.model_copy(update={"hidden_question": True}), hash="f" * 64)
    )
    url = served.client.post("/enter").headers["location"]
    served.client.post(url, data={"consent": "yes"})
    while f'name="{HIDDEN_FIELD}"' not in (html := served.client.get(url).text):
        assert not Form(html).questions
        served.client.post(url, data=filled(Form(html)))
    assert "another program" not in page_text(html)
    page = new_page(**DESK)
    page.goto(f"{served.address}{url}")
    hidden = page.locator(f"[name={HIDDEN_FIELD}]")
    assert hidden.evaluate("one => one.closest('.vh').getBoundingClientRect().width") <= 1
    assert page.get_by_role("textbox", name="another program").count() == 0  # nor is it read out
    for _ in range(30):  # no key leads there
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.name") != HIDDEN_FIELD
    [before] = participant_records(served.store)
    served.client.post(url, data=filled(Form(html)) | {HIDDEN_FIELD: "GPT"})
    [after] = participant_records(served.store)
    assert (before["signs"], after["signs"]) == ([], ["hidden-question"])


def test_without_the_option_no_page_has_it(serve):
    served = serve(small_study())
    url = served.client.post("/enter").headers["location"]
    served.client.post(url, data={"consent": "yes"})
    for _ in range(4):
        html = served.client.get(url).text
        assert f'name="{HIDDEN_FIELD}"' not in html
        served.client.post(url, data=filled(Form(html)))
