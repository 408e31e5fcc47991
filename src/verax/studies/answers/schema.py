"""The columns of what is known of a study's people, for exports and analyses; and answers as data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal, get_args

from verax.studies.definition.spec_tables import RuleName
from verax.studies.definition.study import Study
from verax.studies.store.one_participant import BY_HAND

if TYPE_CHECKING:
    import pandas as pd


Type = Literal["integer", "number", "text", "boolean", "json"]

STATUSES = ("invited", "declined", "full", "active", "complete", "screened-out", "over-quota", "withdrawn")
PLATFORMS = ("link", "code", "prolific", "mturk")
KINDS = ("instructions", "screening", "learning", "training", "test", "questions", "debrief")
RULES: tuple[str, ...] = (*get_args(RuleName), BY_HAND)


@dataclass(frozen=True)
class RecordColumn:
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


_PARTICIPANT = RecordColumn(
    "participant",
    "text",
    "A pseudonym of the participant: the same in all tables and exports of the study.",
    always=True,
    any_text=True,
)
_BOT = RecordColumn("bot", "boolean", "Whether this is a simulated participant.", always=True)

PARTICIPANTS = (
    _PARTICIPANT,
    _BOT,
    RecordColumn(
        "status",
        "text",
        "What became of the participant: invited (saw the consent page), declined, full (agreed when no place was "
        "free), active (in the middle), complete, screened-out (failed the screening test), over-quota (as "
        "many people with the same answer as a quota takes were there before), withdrawn (ended it; the "
        "answers are there only if the participant let them stay).",
        STATUSES,
        always=True,
    ),
    RecordColumn("platform", "text", "By which way the participant came.", PLATFORMS, always=True),
    RecordColumn(
        "design_row",
        "integer",
        "The row of the design; missing before one is given: after the consent, or after a screening test that is the "
        "same for all conditions.",
    ),
    RecordColumn("number", "integer", "The participant's number by consent, from 1."),
    RecordColumn(
        "answer_order",
        "integer",
        "Which order of answers the participant's pages have, from 0; missing where all see the same.",
        later=True,
    ),
    RecordColumn("language", "text", "The language of the participant's pages.", any_text=True, later=True),
    RecordColumn(
        "device",
        "text",
        "The class of device on the first page: phone, tablet or desktop; missing where the browser has no script.",
        ("phone", "tablet", "desktop"),
        later=True,
    ),
    RecordColumn("condition", "text", "The condition, if the participant's row has only one."),
    RecordColumn("steps", "integer", "How many steps (pages) the participant has in all.", always=True),
    RecordColumn("done", "integer", "How many of them were answered.", always=True),
    RecordColumn("phase", "text", "The phase in which the participant is or stopped."),
    RecordColumn("minutes", "number", "Minutes from the consent to the end, or to the last sign of life."),
    RecordColumn("left", "boolean", "Active, but away for longer than a place is held.", always=True),
    RecordColumn("excluded", "boolean", "Whether any exclusion rule holds.", always=True),
    RecordColumn("rules", "json", "The exclusion rules that hold.", always=True),
    RecordColumn(
        "retake_of",
        "text",
        "A suspected retake: who took part in the same browser before, as far as the browser remembers; missing for "
        "all others. It may have been another person.",
        later=True,
    ),
    RecordColumn(
        "signs",
        "json",
        "Signs that this may be a machine: hidden-question (answered a question that people do not see), "
        "no-pointer-or-key, too-quick-to-react, even-times, pasted. They exclude nobody.",
        later=True,
    ),
    RecordColumn("version", "text", "The version of Verax when the participant came.", always=True),
    RecordColumn(
        "link",
        "text",
        "The same in other studies of the same research for the same person: a keyed hash of the platform's id, of "
        "people who agreed to be known again.",
        any_text=True,
        later=True,
    ),
    RecordColumn("created_at", "text", "When the participant came (ISO 8601, UTC).", identifying=True),
    RecordColumn(
        "finished_at", "text", "When the participant finished or ended (ISO 8601, UTC).", identifying=True
    ),
    RecordColumn("completion_code", "text", "The code given at the end.", identifying=True),
    RecordColumn(
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
    RecordColumn(
        "design_row",
        "integer",
        "The participant's row of the design; missing where they were screened out before they were given one.",
    ),
    RecordColumn("phase", "text", "The phase of the step.", always=True),
    RecordColumn(
        "phase_kind", "text", "What the phase is for; only test phases are scored.", KINDS, always=True
    ),
    RecordColumn(
        "step", "integer", "The place of the step among all of the participant's, from 1.", always=True
    ),
    RecordColumn(
        "number_in_phase",
        "integer",
        "The item's place in its phase, from 1; the page's if it has none.",
        always=True,
    ),
    RecordColumn("item", "text", "The item (see items.jsonl of the study)."),
    RecordColumn("condition", "text", "The condition under which the item was shown."),
    RecordColumn(
        "question",
        "text",
        "Which question of the page; of a step that expired, the scored question, or else the first of the page.",
    ),
    RecordColumn(
        "answer",
        "text",
        "What the chosen option means, or the text that was written; missing if the step expired, or the text is "
        "withheld.",
        any_text=True,
    ),
    RecordColumn("position", "integer", "The place of the chosen option on the page, from 1."),
    RecordColumn(
        "offered",
        "json",
        "What the options mean, in the order in which they stood on the page: the answer is the one at position.",
        later=True,
    ),
    RecordColumn("score", "number", "What the answer to the scored question of a test phase is worth."),
    RecordColumn("label", "integer", "The item's true class."),
    RecordColumn("prediction", "integer", "The model's class for the item."),
    RecordColumn("model_correct", "boolean", "Whether the model is right on the item."),
    RecordColumn(
        "variant_prediction", "integer", "The model's class for the perturbed item, if there is one."
    ),
    RecordColumn("flips", "boolean", "Whether the perturbation changes the model's class, if there is one."),
    RecordColumn(
        "state",
        "text",
        "closed (answered), or expired (its time was over; one row without an answer).",
        ("closed", "expired"),
        always=True,
    ),
    RecordColumn(
        "late", "boolean", "Whether the answer came after the limit; true if it never came.", always=True
    ),
    RecordColumn(
        "withheld", "boolean", "Whether a text was written that this table does not hold.", always=True
    ),
    RecordColumn(
        "seconds", "number", "From the first display to the receipt of the answer, by the server's clock."
    ),
    RecordColumn(
        "doubtful",
        "boolean",
        "Whether these seconds cannot be right, as after a step of the server's clock: negative, more than a day, "
        "fewer than the browser counted, or ten minutes more although the page was displayed once.",
        later=True,
    ),
    RecordColumn(
        "client_ms",
        "number",
        "Milliseconds from the drawing of the page to its sending, by the browser's clock.",
    ),
    RecordColumn("visible_ms", "number", "Milliseconds of these during which the page was visible."),
    RecordColumn("blurs", "integer", "How often the browser's window lost the focus."),
    RecordColumn("views", "integer", "How often the page was displayed, reloads included.", always=True),
    RecordColumn("minute", "number", "Minutes from the consent to the receipt, or to the expiry."),
)

PAGES = (
    _PARTICIPANT,
    _BOT,
    RecordColumn("design_row", "integer", "The participant's row of the design, once one is given."),
    RecordColumn(
        "step", "integer", "The place of the page among all of the participant's, from 1.", always=True
    ),
    RecordColumn("phase", "text", "The phase of the page.", always=True),
    RecordColumn("phase_kind", "text", "What the phase is for.", KINDS, always=True),
    RecordColumn("item", "text", "The item that it showed, if any."),
    RecordColumn("condition", "text", "The condition under which the item was shown."),
    RecordColumn("state", "text", "What became of it: open, closed (sent) or expired.", always=True),
    RecordColumn(
        "seconds",
        "number",
        "From the first display to its end, by the server's clock; missing while it is open.",
    ),
    RecordColumn(
        "client_ms",
        "number",
        "Milliseconds from the drawing of the page to its sending, by the browser's clock.",
    ),
    RecordColumn("visible_ms", "number", "Milliseconds of these during which the page was visible."),
    RecordColumn("away_ms", "number", "Milliseconds during which the browser's window was not in focus."),
    RecordColumn("blurs", "integer", "How often the browser's window lost the focus."),
    RecordColumn("views", "integer", "How often the page was displayed, reloads included.", always=True),
    RecordColumn("width", "integer", "The width of the browser's window, in CSS pixels."),
    RecordColumn("height", "integer", "The height of the browser's window, in CSS pixels."),
    RecordColumn(
        "zoom",
        "number",
        "Device pixels for each CSS pixel: larger screens' density times the browser's zoom.",
    ),
    RecordColumn(
        "device", "text", "The class of device by its pointer and screen: phone, tablet or desktop.", DEVICES
    ),
    RecordColumn(
        "pointer", "text", "With what the page was answered last: mouse, touch, pen or keyboard.", POINTERS
    ),
    RecordColumn(
        "translated",
        "boolean",
        "Whether the browser had translated the page; stimuli are marked as not to be.",
    ),
)

EVENTS = (
    _PARTICIPANT,
    _BOT,
    RecordColumn(
        "step",
        "integer",
        "The step that was due; 0 before the consent. Of leaf, the step that was looked at.",
    ),
    RecordColumn(
        "type",
        "text",
        "What happened: reload, resume, duplicate, stale, refused, late, leaf (an earlier page of the phase was looked "
        "at again, where it may be leafed through), or what the browser reported.",
        always=True,
    ),
    RecordColumn("minute", "number", "Minutes from the participant's coming.", always=True),
    RecordColumn("at", "text", "When (ISO 8601, UTC).", identifying=True),
    RecordColumn(
        "data",
        "json",
        "What was sent in vain, or what the browser reported; it may hold what people wrote, and is withheld like it.",
    ),
    RecordColumn("withheld", "boolean", "Whether there is data that this table does not hold.", always=True),
)

EXCLUSIONS = (
    _PARTICIPANT,
    _BOT,
    RecordColumn(
        "rule",
        "text",
        "The rule, as declared in the spec; by-hand if somebody decided it and said why.",
        RULES,
        always=True,
    ),
    RecordColumn("limit", "number", "The rule's limit; empty for what somebody decided by hand."),
    RecordColumn("measured", "number", "What was measured."),
    RecordColumn("answers", "integer", "On how many answers, checks or steps."),
    RecordColumn("evidence", "json", "All that the decision rests on.", always=True),
    RecordColumn(
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


def shown(columns: tuple[RecordColumn, ...], *, identifying: bool) -> tuple[RecordColumn, ...]:
    """The columns of an export."""
    return tuple(column for column in columns if identifying or not column.identifying)


AT_ONCE = 20_000  # records that wait to become a table
DTYPES = {"number": "float64", "text": "object", "json": "object"}
USED = {"participants": PARTICIPANTS, "responses": RESPONSES, "exclusions": EXCLUSIONS}


@dataclass(frozen=True, eq=False)
class Collected:
    """All answers to a study, people's and bots', with everything but what is identifying.

    Attributes:
        study: the frozen study.
        participants, responses, exclusions: the columns of `verax.studies.answers.schema`. Integers and booleans that
            may be missing are pandas' nullable ones, others plain; texts and JSON are objects, None where missing.
        source: where they come from, for people to read.
        edited: files of an export that were changed since, in a way that still fits the study.
    """

    study: Study
    participants: pd.DataFrame
    responses: pd.DataFrame
    exclusions: pd.DataFrame
    source: str
    edited: tuple[str, ...] = ()


def to_frame(records: Iterator[Mapping[str, object]], columns: tuple[RecordColumn, ...]) -> pd.DataFrame:
    """Records as a table with the dtypes of the columns, also if there are none."""
    import pandas as pd

    parts = []
    while some := list(islice(records, AT_ONCE)):
        parts.append(_frame(some, columns))
    return pd.concat(parts, ignore_index=True) if parts else _frame([], columns)


def _frame(records: list[Mapping[str, object]], columns: tuple[RecordColumn, ...]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {column.name: pd.Series(_values(records, column), dtype=dtype_of(column)) for column in columns}
    )


def _values(records: list[Mapping[str, object]], column: RecordColumn) -> list[object]:
    """What stands in a column; only one that came later may be missing in a record."""
    if column.later:
        return [record.get(column.name) for record in records]
    return [record[column.name] for record in records]


def dtype_of(column: RecordColumn) -> str:
    """The pandas dtype of a column."""
    match column.type:
        case "integer":
            return "int64" if column.always else "Int64"
        case "boolean":
            return "bool" if column.always else "boolean"
    return DTYPES[column.type]
