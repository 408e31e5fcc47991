"""Screens made by hand that show and ask everything a page can: looked at, checked for leaks and by axe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from verax.data.words import split_words
from verax.explain import Composite, Edit, Exemplar, Part, Path, Rule
from verax.phrases import say
from verax.studies.definition.screen import (
    Bars,
    Cell,
    Evidence,
    Facts,
    Option,
    Passage,
    Prose,
    Question,
    Quote,
    Row,
    Screen,
    Token,
    class_mark,
)
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.study import Phase, Step
from verax.studies.display import wording
from verax.studies.display.legends import weights_legend
from verax.studies.display.stimulus import worded_block
from verax.studies.store import ParticipantView
from verax.studies.store.participant.participant_view import Tally
from verax.web.app import SafeHeaders, static
from verax.web.pages import asset_name, draw
from verax.web.participant.notices import NOTICES, notice_words
from verax.web.participant.routes import about_study, begun_words
from verax.web.participant.step_page import step_page

NAMES = ("Alpha", "Beta")
TEXT = (
    "A warm, funny and clever film that begins slowly, loses its way for a while in a second act full of idle talk, "
    "and then finds, almost by accident, one of the most moving endings of the year."
)
LEVELS = (0, 3, 4, 0, 2, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4)
SIGNS = (
    0,
    1,
    1,
    0,
    1,
    0,
    0,
    -1,
    -1,
    -1,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    -1,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    1,
)
GREY = "The stronger the highlight, the more the word mattered for the model's answer."
SIGNED = f"{GREY} Blue (+): for it. Orange (−): against it."

CLASSES = tuple(Option(class_mark(number), number) for number in range(2))
PREDICTION = Question("prediction", "What does the model say?", "choice", CLASSES)
RATING = Question(
    "rating",
    "Does this explanation show me why the system thought what it did?",
    "scale",
    tuple(Option(str(point), point) for point in range(1, 8)),
    "not at all",
    "completely",
)
FIVE = ("Clearly {0}", "Rather {0}", "I cannot tell", "Rather {1}", "Clearly {1}")
CONFIDENCE = Question(
    "choice",
    "What does the model say?",
    "choice",
    tuple(Option(label.format(class_mark(0), class_mark(1)), place) for place, label in enumerate(FIVE, -2)),
)
CHECK = Question(
    "check",
    "What are you asked to predict?",
    "choice",
    tuple(
        Option(label, place)
        for place, label in enumerate(
            (
                "What I think of the text myself",
                "What the model says, even where I think that it is wrong",
                "What most people would say",
            ),
            start=1,
        )
    ),
)
STRATEGY = Question("strategy", "How did you decide?", "text", required=False)
REASON = Question("reason", "What did you find hard?", "text")


def marked_text(levels=(), signs=(), changed=(), text=TEXT) -> tuple[Token, ...]:
    """The text in pieces, each word with its marks."""
    pieces = []
    for place, word in enumerate(text.split(" ")):
        core = word.rstrip(",.")
        level = levels[place] if place < len(levels) else 0
        sign = signs[place] if level and place < len(signs) else 0
        pieces.append(Token(core, level=level, sign=sign, changed=place in changed))
        pieces.append(Token(word[len(core) :] + " ", word=False))
    return tuple(pieces)


WRITTEN = "Features:\nOccupation = sales   |  0.21\nAge > 48   |  -0.17\n----\nTotal evidence: 0.48"
CELLS = (
    Cell("age", "37 years", level=4),
    Cell("education", "Bachelors", level=2),
    Cell("marital status", "married", level=1),
    Cell("occupation", "sales"),
    Cell("hours per week", "50", level=3),
)

RULE = Rule(("a", "warm", "film"), (1,), ("warm",), 0.98, 0.96, 0.5, True, (), 0, "Alpha", TEXT)
PATH = Path(
    split_words(TEXT).distinct,
    (Edit(1, 1, "warm", "cold"), Edit(2, 2, "funny", "dreary")),
    (5.21, 3.0, -0.32),
    "Beta",
    0,
    "Alpha",
    TEXT,
)
EXEMPLAR = Exemplar(
    ("a", "warm"), np.array([0.2, 5.1]), 0.996, "Routine and rather silly.", "Alpha", 0, "Alpha", "a warm"
)
TOLD = {
    "rule": RULE,
    "path": PATH,
    "exemplar": EXEMPLAR,
    "composite": Composite(
        (Part("Anchor", RULE), Part("Decision boundary", PATH), Part("Prototype", EXEMPLAR)), 0
    ),
}


def told(explanation):
    """An explanation in words, as a condition shows it."""
    return worded_block(explanation, NAMES)


SCREENS = {
    "prose": Screen(
        "What you will do",
        (
            Prose(
                (
                    f"A computer program, the model, reads a text and answers: {class_mark(0)} or {class_mark(1)}.",
                    "You try to find out how it decides. First you see examples, then you predict its answers.",
                    "- There are 16 examples and 16 questions.",
                    "- You cannot look at the examples again while you predict.",
                    "- The model makes mistakes. Predict what it says, not what is true.",
                )
            ),
        ),
    ),
    "learning": Screen(
        "Look at this text",
        (
            Passage(marked_text(), "The text"),
            Facts((("It really is", class_mark(1)), ("The model says", class_mark(0)))),
        ),
    ),
    "grey": Screen(
        "Predict the model", (Passage(marked_text(LEVELS), "The text", GREY),), (PREDICTION, RATING)
    ),
    "signed": Screen(
        "Learn from this explanation",
        (
            Passage(marked_text(LEVELS, SIGNS), "The text", SIGNED),
            Bars(
                (("clever", 0.82), ("moving", 0.64), ("slowly", -0.41), ("idle", -0.1)),
                "What counted",
                "Points",
            ),
        ),
        (RATING,),
    ),
    "changed": Screen(
        "The text was changed",
        (
            Passage(marked_text(), "Before"),
            Facts((("The model said", class_mark(0)),)),
            Passage(marked_text(changed=(3, 8)), "After", "Words in a box were changed."),
        ),
        (PREDICTION,),
    ),
    "two": Screen(
        "Which model would you trust?",
        (
            Passage(marked_text(LEVELS), f"Model S says {class_mark(0)}", GREY),
            Passage(marked_text(tuple(reversed(LEVELS))), f"Model H says {class_mark(0)}", GREY),
        ),
        (CONFIDENCE,),
    ),
    "row": Screen("Predict the model", (Row(CELLS, "The record", GREY),), (PREDICTION,)),
    "evidence": Screen(
        "An uncertain case",
        (
            Bars(((class_mark(0), 0.58), (class_mark(1), 0.42)), "How sure the model is"),
            Evidence(
                ("one of the most moving endings", "clever film", "warm"), f"Evidence for {class_mark(0)}"
            ),
            Evidence((), f"Evidence for {class_mark(1)}"),
        ),
        (CONFIDENCE,),
    ),
    "quote": Screen(
        "Rate this explanation",
        (
            Row(CELLS, "The record"),
            Quote(WRITTEN, "Explanation", "The larger the number, the more the value mattered."),
        ),
        (RATING,),
    ),
    **{
        name: Screen("Example 3 of 16", (told(explanation),), (RATING,)) for name, explanation in TOLD.items()
    },
    "weights": Screen(
        "Example 3 of 16",
        (
            Passage(marked_text(), "The text"),
            Bars(
                (
                    ("charms", 0.05),
                    ("modest", 0.04),
                    ("despite", -0.18),
                    ("Sum of words", -0.09),
                    ("Baseline", 0.24),
                    (f"Estimated probability of {class_mark(1)}", 0.15),
                ),
                "Explanation",
                weights_legend("text", 1, NAMES),
            ),
        ),
        (RATING,),
    ),
    "feedback": Screen(
        "The model's answer", (Facts((("The model says", class_mark(0)),)),), echo="prediction"
    ),
    "check": Screen("A few questions", questions=(CHECK, replace(CHECK, name="check-2")), button="Send"),
    "words": Screen("In your own words", questions=(STRATEGY, REASON), button="Send"),
}


def at(
    screen: Screen, *, seconds_left: float | None = None, item: str = "i017", condition: str = "lime"
) -> ParticipantView:
    """Somebody at a screen, in the middle of a study."""
    phase = Phase("post", "Your predictions", "test", session_seconds=300)
    return ParticipantView(
        status="active",
        participant=7,
        ord=31,
        steps=68,
        step=Step("post", f"post.{item}.{condition}", item, condition),
        screen=screen,
        nonce="0123456789abcdef",
        names=NAMES,
        phase=phase if seconds_left is not None else replace(phase, session_seconds=None),
        phase_number=2,
        phases=4,
        number_in_phase=7,
        steps_in_phase=16,
        seconds_left=seconds_left,
        echo=NAMES[1] if screen.echo else None,
        tally=Tally(3, 5, last=True) if screen.echo else None,
    )


SPEC = make_study_spec(
    {
        "title": "Understanding a model",
        "dataset": "by-hand",
        "protocol": {"name": "by-hand"},
        "conditions": [{"name": "none"}, {"name": "lime", "explainer": "lime"}],
        "texts": {"contact": "study@example.org"},
        "about": {
            "purpose": "How people learn what a computer program does.",
            "minutes": 25,
            "pay": "5 euros",
            "run_by": "The reading group of the University of Nowhere",
            "ethics": "Ethics board of the University of Nowhere, 2026-117",
        },
    }
)
TOKEN = "kX0oYh1q2w3e4r5t6y7u8i9o0p1a2s3d"
OWN = {
    "action": f"/p/{TOKEN}",
    "link": f"http://localhost/p/{TOKEN}",
    "leaving": ("Leave the study", f"/p/{TOKEN}/leave"),
    "earlier": "",
}
MISSING = {"rating": "Please choose an answer.", "reason": "Please write an answer."}


def draw_step(where: ParticipantView, given=(), errors=()) -> str:
    """The page of a step as HTML."""
    problem = "An answer is missing below. This page is not saved yet." if errors else ""
    return draw(
        "step.html",
        _shared()
        | OWN
        | {"problem": problem, "reading": 0.0}
        | step_page(where, dict(given), dict(errors), minutes=25),
    )


def pages() -> dict[str, str]:
    """Every kind of page by name, as HTML."""
    linking = say("participant", "link-answers")
    first = {"welcome": wording.welcome(SPEC), "going_on": "", "needs_code": False, "code": "", "problem": ""}
    first |= {"about": about_study(SPEC)}
    first |= {"hidden": {}, "looking": False, "begun": begun_words("active")}
    done = {
        "completion_code": "K7QM2XW9PB",
        "code": "K7QM2XW9PB",
        "way_on": None,
        "submit": None,
        "tally": Tally(41, 64),
        "platform": "Prolific",
    }
    leave = {"action": f"/p/{TOKEN}/leave", "back": f"/p/{TOKEN}", "complete": False}
    found = {name: draw_step(at(screen)) for name, screen in SCREENS.items()}
    found |= {
        "timed": draw_step(at(SCREENS["grey"], seconds_left=200.0)),
        "missing": draw_step(at(SCREENS["grey"], seconds_left=45.0), {"prediction": "2"}, MISSING),
        "missing words": draw_step(at(SCREENS["words"]), {"strategy": "By heart."}, MISSING),
        "welcome": draw("welcome.html", _shared() | first),
        "code": draw(
            "welcome.html",
            _shared() | first | {"needs_code": True, "code": "ABC", "problem": "We do not know this code."},
        ),
        "again": draw("welcome.html", _shared() | first | {"going_on": f"/p/{TOKEN}"}),
        "looking": draw("welcome.html", _shared() | first | {"looking": True}),
        "again, left": draw(
            "welcome.html", _shared() | first | {"going_on": f"/p/{TOKEN}", "begun": begun_words("withdrawn")}
        ),
        "consent": draw(
            "consent.html",
            _shared() | OWN | first | {"consent": wording.consent(SPEC), "linking": linking},
        ),
        "complete": draw("complete.html", _shared() | OWN | done),
        "complete, back": draw(
            "complete.html",
            _shared() | OWN | done | {"way_on": ("Return to Prolific", "https://app.prolific.com/")},
        ),
        "complete, submit": draw(
            "complete.html", _shared() | OWN | done | {"submit": ("https://www.mturk.com/mturk/x", "A1")}
        ),
        "leave": draw("leave.html", _shared() | leave | {"stops": True, "gave": True, "own": True}),
        "leave, lent": draw("leave.html", _shared() | leave | {"stops": True, "gave": True, "own": False}),
        "leave early": draw("leave.html", _shared() | leave | {"stops": True, "gave": False, "own": True}),
        "delete": draw(
            "leave.html", _shared() | leave | {"stops": False, "gave": True, "complete": True, "own": True}
        ),
        "preview": draw("preview.html", _shared() | {"rows": [(0, "conditions: none, lime"), (1, "")]}),
    }
    for name in NOTICES:
        heading, says, button = notice_words(name)
        words = {"heading": heading, "says": says, "way_on": (button, "/") if button else None}
        found[f"notice {name}"] = draw("notice.html", _shared() | words)
    return found


def gallery_app(given: dict[str, str] | None = None) -> Starlette:
    """Serves every kind of page, or those that are given, with the headers of the real application."""
    drawn = pages() if given is None else given

    def one(request: Request) -> HTMLResponse:
        return HTMLResponse(drawn[request.path_params["name"]])

    return Starlette(
        routes=[Route("/page/{name}", one), Route("/static/{name}", static)],
        middleware=[Middleware(SafeHeaders)],
    )


def _shared() -> dict[str, object]:
    return {
        "study": SPEC.title,
        "contact": SPEC.texts.contact,
        "preview": False,
        "root": "",
        "static": lambda name: f"/static/{asset_name(name)}",
        "link": "",
    }
