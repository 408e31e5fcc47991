"""Pictures of typical participants' pages, at a desk and on a phone, for docs/participants-pages.md.

    python scripts/participants_pages.py STUDIES OUT

STUDIES holds the ready examples, built under their own names; their pages are drawn anew by the present code.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from verax.explain.explanation import Explanation
from verax.phrases import say
from verax.studies.build.build import compose_study
from verax.studies.definition.spec_tables import About
from verax.studies.definition.study import Material, Study
from verax.studies.definition.study_files import load_study
from verax.studies.display import wording
from verax.studies.display.levels import scales
from verax.studies.protocol.common_steps import participant_class_names, participant_steps
from verax.studies.protocol.contract import make_protocol
from verax.studies.store import ParticipantView
from verax.studies.store.participant.participant_view import Tally
from verax.web.app import SafeHeaders, static
from verax.web.pages import asset_name, draw
from verax.web.participant.routes import about_study
from verax.web.participant.step_page import step_page
from web.serving import running

WINDOWS = {"desk": (1280, 800), "phone": (390, 664)}
# The picture's name, the example, the beginning of the screen's key, the row of the design, and seconds that are left.
STEPS: tuple[tuple[str, str, str, int, float | None], ...] = (
    ("02-table-learning", "forward-table", "learning:", 1, None),
    ("03-table-prediction", "forward-table", "predict:", 1, None),
    ("04-rating", "forward", "explained:", 1, None),
    ("05-class-from-evidence", "class-from-evidence", "evidence:", 0, None),
    ("06-model-choice", "model-choice", "choice:", 0, None),
    ("07-uncertain-case", "uncertain-case", "case:", 1, None),
    ("08-counterfactual", "counterfactual", "post:", 1, None),
    ("09-reverse-turing", "reverse-turing", "training:", 2, 440.0),
)
TOKEN = "kX0oYh1q2w3e4r5t6y7u8i9o0p1a2s3d"
OWN = {
    "action": f"/p/{TOKEN}",
    "link": f"http://localhost/p/{TOKEN}",
    "leaving": ("Leave the study", f"/p/{TOKEN}/leave"),
    "problem": "",
    "earlier": "",
    "reading": 0.0,
}
ABOUT = About(
    purpose="We want to find out whether explanations help people to understand what a computer program does.",
    minutes=25,
    pay="5 euros",
    run_by="Anna Example, University of Nowhere",
    ethics="Ethics board of the University of Nowhere, 2026-117",
)


def redrawn(folder: Path) -> Study:
    """A built study with its screens as they would be built now."""
    study = load_study(folder)
    explanations = {
        (record["item"], record["condition"], record["model"]): Explanation.from_dict(record["explanation"])
        for record in study.explanations
    }
    material = Material(
        study.spec,
        study.kind,
        study.class_names,
        tuple(study.items.values()),
        explanations,
        scales(explanations, study.spec.display.features),
    )
    return compose_study(material, make_protocol(study.spec.protocol), study.spec_text)


def shared(study: Study) -> dict[str, object]:
    """What every template is told."""
    return {
        "study": study.spec.title,
        "contact": "anna@example.org",
        "preview": False,
        "here": "",
        "root": "",
        "static": lambda name: f"/static/{asset_name(name)}",
        "link": "",
    }


def step(study: Study, prefix: str, row: int, seconds: float | None) -> str:
    """The first page of its sort in a row of the design."""
    steps = participant_steps(study, study.rows[row], 1)
    parts = list(dict.fromkeys(one.phase for one in steps if study.phases[one.phase].kind != "instructions"))
    ord, here = next((ord, one) for ord, one in enumerate(steps, 1) if one.screen.startswith(prefix))
    alike = [one for one in steps if one.phase == here.phase]
    where = ParticipantView(
        status="active",
        participant=1,
        ord=ord,
        steps=len(steps),
        step=here,
        screen=study.screens[here.screen],
        nonce="0123456789abcdef",
        names=participant_class_names(study, 1),
        phase=study.phases[here.phase],
        phase_number=parts.index(here.phase) + 1,
        phases=len(parts) - 1,
        number_in_phase=alike.index(here) + 1,
        steps_in_phase=len(alike),
        seconds_left=seconds,
    )
    return draw("step.html", shared(study) | OWN | step_page(where, minutes=25))


def pages(studies: Path) -> Iterator[tuple[str, str]]:
    """Ten pages by name, as HTML."""
    forward = redrawn(studies / "forward")
    spec = forward.spec.model_copy(
        update={
            "about": ABOUT,
            "texts": forward.spec.texts.model_copy(update={"contact": "anna@example.org"}),
        }
    )
    first: dict[str, object] = {"going_on": "", "needs_code": False, "code": "", "problem": "", "hidden": {}}
    first |= {"looking": False, "left": False, "welcome": wording.welcome(spec), "about": about_study(spec)}
    yield "01-first-page", draw("welcome.html", shared(forward) | first)
    for name, example, prefix, row, seconds in STEPS:
        yield name, step(redrawn(studies / example), prefix, row, seconds)
    gone = {"leaving": (say("participant", "delete-my-answers"), f"/p/{TOKEN}/leave")}
    code = "K7QM2XW9PB"
    last = gone | {
        "completion_code": code,
        "code": code,
        "way_on": None,
        "submit": None,
        "tally": Tally(41, 64),
    }
    yield "10-last-page", draw("complete.html", shared(forward) | OWN | last)


@contextmanager
def serving(drawn: dict[str, str]) -> Iterator[str]:
    """The address under which the pages are served."""

    def one(request: Request) -> HTMLResponse:
        return HTMLResponse(drawn[request.path_params["name"]])

    routes = [Route("/page/{name}", one), Route("/static/{name}", static)]
    with running(Starlette(routes=routes, middleware=[Middleware(SafeHeaders)])) as address:
        yield address


def main(studies: Path, out: Path) -> None:
    """Draws them all."""
    out.mkdir(parents=True, exist_ok=True)
    drawn = dict(pages(studies))
    with serving(drawn) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", chromium_sandbox=False)
        for window, (width, height) in WINDOWS.items():
            context = browser.new_context(viewport={"width": width, "height": height}, has_touch=width < 400)
            page = context.new_page()
            for name in drawn:
                page.goto(f"{address}/page/{name}")
                path = out / f"{name}-{window}.png"
                page.screenshot(path=path)
                small(path)
            context.close()
        browser.close()


def small(path: Path) -> None:
    """The picture in 64 colours, which is all that the pages need."""
    Image.open(path).convert("RGB").quantize(64, method=Image.Quantize.MAXCOVERAGE).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
