"""What people read before they decide to take part."""

from __future__ import annotations

from verax.studies.definition.spec import StudySpec


def about_study(spec: StudySpec) -> tuple[tuple[str, str], ...]:
    """What the spec says of the study, as pairs of a question and its answer; nothing for what it does not say."""
    about = spec.about
    said = (
        ("What is it about?", about.purpose),
        ("How long does it take?", "" if about.minutes is None else f"About {about.minutes:g} minutes"),
        ("What do I get?", about.pay),
        ("Who runs it?", about.run_by),
        ("Ethics approval", about.ethics),
        ("Questions?", spec.texts.contact),
    )
    return tuple((question, answer) for question, answer in said if answer)
