"""Default words."""

from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.spec_tables import Timing
from verax.studies.display import wording
from verax.studies.protocols.checks import sample_material


def spec_with(**options):
    return make_study_spec(
        {
            "title": "T",
            "dataset": "d",
            "protocol": {"name": "forward"},
            "conditions": [{"name": "none"}],
            **options,
        }
    )


def test_paragraphs_are_parted_by_empty_lines_and_points():
    assert wording.paragraphs("one\ntwo\n\n\nthree\n- a\n- b\nc\n") == ("one two", "three", "- a", "- b c")
    assert wording.paragraphs(" \n") == ()


def test_the_task_names_all_classes_unless_the_spec_says_it():
    material = sample_material({"name": "forward"}, {"test": 6}, classes=3)
    assert wording.task(material) == (
        "A computer program, the model, reads a text and answers: ⟦0⟧, ⟦1⟧ or ⟦2⟧.",
    )
    own = sample_material({"name": "forward"}, {"test": 6}, options={"texts": {"task": "It knows.\n\nYes."}})
    assert wording.task(own) == ("It knows.", "Yes.")


def test_limits_say_what_happens_after_them():
    assert wording.limits(Timing()) == ()
    (flagged,) = wording.limits(Timing(session_minutes=12.5))
    assert "12.5 minutes" in flagged
    assert "late" in flagged
    (closed,) = wording.limits(Timing(session_minutes=5, item_seconds=30, late="close"))
    assert "5 minutes, and 30 seconds for each page" in closed
    assert "closed" in closed


def test_consent_says_how_long_answers_are_kept_and_whom_to_ask():
    plain = " ".join(wording.consent(spec_with()))
    assert "deleted after" not in plain
    full = " ".join(wording.consent(spec_with(retention_days=90, texts={"contact": "me@example.org"})))
    assert "deleted after 90 days" in full
    assert "me@example.org" in full
    assert wording.consent(spec_with(texts={"consent": "Yes?"})) == ("Yes?",)
    assert wording.welcome(spec_with(texts={"welcome": "Hello."})) == ("Hello.",)
