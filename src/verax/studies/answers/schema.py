"""The columns of what is known of a study's people: one list for exports, their codebook, and analyses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from verax.studies.model.spec_tables import RuleName
from verax.studies.store.one_participant import BY_HAND

Type = Literal["integer", "number", "text", "boolean", "json"]

STATUSES = ("invited", "declined", "full", "active", "complete", "screened-out", "withdrawn")
PLATFORMS = ("link", "code", "prolific", "mturk")
KINDS = ("instructions", "screening", "learning", "training", "test", "questions", "debrief")
RULES: tuple[str, ...] = (*get_args(RuleName), BY_HAND)


@dataclass(frozen=True)
class Column:
    """A column of a table of records.

    Attributes:
        name: in every format.
        type: "json" is a list or a mapping; in CSV it is its JSON text.
        meaning: one sentence for the codebook.
        values: all that may stand there, if they can be listed for every study.
        identifying: could lead to the person; left out unless asked for.
        always: never missing.
        any_text: a text that cannot be listed by its levels, since each is different.
        later: not in exports of earlier versions, where it counts as missing.
    """

    name: str
    type: Type
    meaning: str
    values: tuple[str, ...] | None = None
    identifying: bool = False
    always: bool = False
    any_text: bool = False
    later: bool = False


_PARTICIPANT = Column(
    "participant",
    "text",
    "A pseudonym of the participant: the same in all tables and exports of the study.",
    always=True,
    any_text=True,
)
_BOT = Column("bot", "boolean", "Whether this is a simulated participant.", always=True)

PARTICIPANTS = (
    _PARTICIPANT,
    _BOT,
    Column(
        "status",
        "text",
        "What became of the participant: invited (saw the consent page), declined, full (agreed when no place was "
        "free), active (in the middle), complete, screened-out (failed the screening test), withdrawn (ended it; the "
        "answers are there only if the participant let them stay).",
        STATUSES,
        always=True,
    ),
    Column("platform", "text", "By which way the participant came.", PLATFORMS, always=True),
    Column(
        "design_row",
        "integer",
        "The row of the design; missing before one is given: after the consent, or after a screening test that is the "
        "same for all conditions.",
    ),
    Column("number", "integer", "The participant's number by consent, from 1."),
    Column(
        "answer_order",
        "integer",
        "Which order of answers the participant's pages have, from 0; missing where all see the same.",
        later=True,
    ),
    Column("condition", "text", "The condition, if the participant's row has only one."),
    Column("steps", "integer", "How many steps (pages) the participant has in all.", always=True),
    Column("done", "integer", "How many of them were answered.", always=True),
    Column("phase", "text", "The phase in which the participant is or stopped."),
    Column("minutes", "number", "Minutes from the consent to the end, or to the last sign of life."),
    Column("left", "boolean", "Active, but away for longer than a place is held.", always=True),
    Column("excluded", "boolean", "Whether any exclusion rule holds.", always=True),
    Column("rules", "json", "The exclusion rules that hold.", always=True),
    Column(
        "retake_of",
        "text",
        "A suspected retake: who took part in the same browser before, as far as the browser remembers; missing for "
        "all others. It may have been another person.",
        later=True,
    ),
    Column("version", "text", "The version of Verax when the participant came.", always=True),
    Column(
        "link",
        "text",
        "The same in other studies of the same research for the same person: a keyed hash of the platform's id, of "
        "people who agreed to be known again.",
        any_text=True,
        later=True,
    ),
    Column("created_at", "text", "When the participant came (ISO 8601, UTC).", identifying=True),
    Column(
        "finished_at", "text", "When the participant finished or ended (ISO 8601, UTC).", identifying=True
    ),
    Column("completion_code", "text", "The code given at the end.", identifying=True),
    Column(
        "person_hash",
        "text",
        "A keyed hash of the platform's id of the person, if there is one.",
        identifying=True,
    ),
)

# In the order of the numbers that browsers send for them, from 1.
DEVICES = ("phone", "tablet", "desktop")
POINTERS = ("mouse", "touch", "pen", "keyboard")

RESPONSES = (
    _PARTICIPANT,
    _BOT,
    Column(
        "design_row",
        "integer",
        "The participant's row of the design; missing where they were screened out before they were given one.",
    ),
    Column("phase", "text", "The phase of the step.", always=True),
    Column("phase_kind", "text", "What the phase is for; only test phases are scored.", KINDS, always=True),
    Column("step", "integer", "The place of the step among all of the participant's, from 1.", always=True),
    Column(
        "number_in_phase",
        "integer",
        "The item's place in its phase, from 1; the page's if it has none.",
        always=True,
    ),
    Column("item", "text", "The item (see items.jsonl of the study)."),
    Column("condition", "text", "The condition under which the item was shown."),
    Column(
        "question",
        "text",
        "Which question of the page; of a step that expired, the scored question, or else the first of the page.",
    ),
    Column(
        "answer",
        "text",
        "What the chosen option means, or the text that was written; missing if the step expired, or the text is "
        "withheld.",
        any_text=True,
    ),
    Column("position", "integer", "The place of the chosen option on the page, from 1."),
    Column(
        "offered",
        "json",
        "What the options mean, in the order in which they stood on the page: the answer is the one at position.",
        later=True,
    ),
    Column("score", "number", "What the answer to the scored question of a test phase is worth."),
    Column("label", "integer", "The item's true class."),
    Column("prediction", "integer", "The model's class for the item."),
    Column("model_correct", "boolean", "Whether the model is right on the item."),
    Column("variant_prediction", "integer", "The model's class for the perturbed item, if there is one."),
    Column("flips", "boolean", "Whether the perturbation changes the model's class, if there is one."),
    Column(
        "state",
        "text",
        "closed (answered), or expired (its time was over; one row without an answer).",
        ("closed", "expired"),
        always=True,
    ),
    Column("late", "boolean", "Whether the answer came after the limit; true if it never came.", always=True),
    Column("withheld", "boolean", "Whether a text was written that this table does not hold.", always=True),
    Column(
        "seconds", "number", "From the first display to the receipt of the answer, by the server's clock."
    ),
    Column(
        "doubtful",
        "boolean",
        "Whether these seconds cannot be right, as after a step of the server's clock: negative, more than a day, "
        "fewer than the browser counted, or ten minutes more although the page was displayed once.",
        later=True,
    ),
    Column(
        "client_ms",
        "number",
        "Milliseconds from the drawing of the page to its sending, by the browser's clock.",
    ),
    Column("visible_ms", "number", "Milliseconds of these during which the page was visible."),
    Column("blurs", "integer", "How often the browser's window lost the focus."),
    Column("views", "integer", "How often the page was displayed, reloads included.", always=True),
    Column("minute", "number", "Minutes from the consent to the receipt, or to the expiry."),
)

PAGES = (
    _PARTICIPANT,
    _BOT,
    Column("design_row", "integer", "The participant's row of the design, once one is given."),
    Column("step", "integer", "The place of the page among all of the participant's, from 1.", always=True),
    Column("phase", "text", "The phase of the page.", always=True),
    Column("phase_kind", "text", "What the phase is for.", KINDS, always=True),
    Column("item", "text", "The item that it showed, if any."),
    Column("condition", "text", "The condition under which the item was shown."),
    Column("state", "text", "What became of it: open, closed (sent) or expired.", always=True),
    Column(
        "seconds",
        "number",
        "From the first display to its end, by the server's clock; missing while it is open.",
    ),
    Column(
        "client_ms",
        "number",
        "Milliseconds from the drawing of the page to its sending, by the browser's clock.",
    ),
    Column("visible_ms", "number", "Milliseconds of these during which the page was visible."),
    Column("away_ms", "number", "Milliseconds during which the browser's window was not in focus."),
    Column("blurs", "integer", "How often the browser's window lost the focus."),
    Column("views", "integer", "How often the page was displayed, reloads included.", always=True),
    Column("width", "integer", "The width of the browser's window, in CSS pixels."),
    Column("height", "integer", "The height of the browser's window, in CSS pixels."),
    Column(
        "zoom",
        "number",
        "Device pixels for each CSS pixel: larger screens' density times the browser's zoom.",
    ),
    Column(
        "device", "text", "The class of device by its pointer and screen: phone, tablet or desktop.", DEVICES
    ),
    Column(
        "pointer", "text", "With what the page was answered last: mouse, touch, pen or keyboard.", POINTERS
    ),
    Column(
        "translated",
        "boolean",
        "Whether the browser had translated the page; stimuli are marked as not to be.",
    ),
)

EVENTS = (
    _PARTICIPANT,
    _BOT,
    Column(
        "step",
        "integer",
        "The step that was due; 0 before the consent. Of leaf, the step that was looked at.",
    ),
    Column(
        "type",
        "text",
        "What happened: reload, resume, duplicate, stale, refused, late, leaf (an earlier page of the phase was looked "
        "at again, where it may be leafed through), or what the browser reported.",
        always=True,
    ),
    Column("minute", "number", "Minutes from the participant's coming.", always=True),
    Column("at", "text", "When (ISO 8601, UTC).", identifying=True),
    Column(
        "data",
        "json",
        "What was sent in vain, or what the browser reported; it may hold what people wrote, and is withheld like it.",
    ),
    Column("withheld", "boolean", "Whether there is data that this table does not hold.", always=True),
)

EXCLUSIONS = (
    _PARTICIPANT,
    _BOT,
    Column(
        "rule",
        "text",
        "The rule, as declared in the spec; by-hand if somebody decided it and said why.",
        RULES,
        always=True,
    ),
    Column("limit", "number", "The rule's limit; empty for what somebody decided by hand."),
    Column("measured", "number", "What was measured."),
    Column("answers", "integer", "On how many answers, checks or steps."),
    Column("evidence", "json", "All that the decision rests on.", always=True),
    Column(
        "in_force", "boolean", "Whether the rule holds; false if it did once and no longer does.", always=True
    ),
)

TABLES = {
    "participants": PARTICIPANTS,
    "responses": RESPONSES,
    "pages": PAGES,
    "events": EVENTS,
    "exclusions": EXCLUSIONS,
}


def shown(columns: tuple[Column, ...], *, identifying: bool) -> tuple[Column, ...]:
    """The columns of an export."""
    return tuple(column for column in columns if identifying or not column.identifying)
