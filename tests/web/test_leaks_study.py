"""A masked study, built and served: nothing in the pages' HTML but the words of a text can tell the model's class."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import httpx
import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.preprocessing import MaxAbsScaler

from real_parts import LONG
from verax.studies.build.build import build_study
from verax.studies.definition.spec import make_study_spec
from verax.studies.definition.study import Study
from verax.studies.store import open_store
from verax.web.app import make_app
from verax.web.pages import assets
from web.gallery import at, draw_step
from web.serving import running
from web.walk import Asked, Form, http_enter, http_walk

EXAMPLE = Path(__file__).parents[2] / "examples" / "reverse-turing.toml"
# Items of each of the three groups: 48 in all.
ITEMS = 16
SEED = 1
FOLDS = 5
# What guessing does more seldom than this is a leak. Pages as they were sent hold numbers that are new in each run, and
# must not fail the test now and then.
CHANCE = 0.01
HARDLY_EVER = 1e-6
# Elements that never have an end.
VOID = {"meta", "link", "input", "br"}


# ---- A study, and every page that its participants get


@dataclass(frozen=True)
class Page:
    """An evaluation page as it was sent, and what only the server knows of it."""

    html: str
    item: str
    condition: str
    prediction: int


@dataclass
class Seen:
    """Everything that the browsers of all participants got.

    Attributes:
        pages: of the evaluation.
        others: the HTML of all other pages up to the last answer; after it, people are told what it was about.
        addresses: that were asked for, or that a page or an answer led to.
        cookies: names and values.
    """

    pages: list[Page] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    addresses: set[str] = field(default_factory=set)
    cookies: set[str] = field(default_factory=set)


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Study:
    """The ready spec of the Reverse Turing Test, masked, with less of everything but evaluation items."""
    options = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
    options["protocol"] |= {"training": 2, "evaluation": ITEMS}
    options["source"] = {"limit": 4000}
    options["conditions"][1]["parameters"] = {"samples": 200}
    study = build_study(make_study_spec(options), "", tmp_path_factory.mktemp("study"))
    assert study.spec.protocol["masked"]
    return study


@pytest.fixture(scope="module")
def seen(study, tmp_path_factory) -> Seen:
    """One participant for each row of the design goes all the way."""
    found = Seen()
    store = open_store(study, f"sqlite:///{tmp_path_factory.mktemp('answers') / 'answers.db'}")
    with running(make_app(store, study)) as address:
        for _ in study.rows:
            with httpx.Client(base_url=address, timeout=LONG) as client:
                take_part(study, store, client, found)
    return found


def take_part(study: Study, store, client: httpx.Client, found: Seen) -> None:
    """Walks as a new participant, and keeps what the browser gets."""

    def keep(answer: httpx.Response) -> None:
        found.addresses |= {str(answer.request.url), answer.headers.get("location", "/")}

    client.event_hooks = {"response": [keep]}
    found.others.append(client.get("/").text)
    url = http_enter(client)

    def look(_form: Form, html: str) -> None:
        step = store.look(url.removeprefix("/p/")).step
        found.addresses |= set(re.findall(r'(?:src|href|action)="([^"]*)"', html))
        if step is not None and step.screen.startswith("evaluation:"):
            found.pages.append(Page(html, step.item, step.condition, study.items[step.item].prediction))
        elif step is not None and not step.screen.startswith("debrief"):
            found.others.append(html)

    def answer(asked: Asked) -> str:
        return str(study.screening.answers.get(asked.name, 1)) if asked.options else ""

    http_walk(client, url, answer, look=look)
    found.cookies |= {part for cookie in client.cookies.jar for part in (cookie.name, cookie.value)}


# ---- Pages without the words of the text


class Taken(HTMLParser):
    """Takes HTML apart.

    Attributes:
        markup: all tags as written, with all attributes; no text.
        said: the text of the page, without that of the input.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.markup: list[str] = []
        self.said: list[str] = []
        self._inside = 0  # elements that are open within the input
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.markup.append(self.get_starttag_text() or "")
        is_input = "input" in (dict(attrs).get("class") or "").split()
        if tag not in VOID and (self._inside or is_input):
            self._inside += 1

    def handle_endtag(self, tag: str) -> None:
        self.markup.append(f"</{tag}>")
        self._inside = max(0, self._inside - 1)

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.said.append(data)


def settled(html: str) -> str:
    """The page without what differs from run to run: nonce, token, port, and what is left of the time."""
    html = re.sub(r'(name="nonce" value|data-step|data-seconds)="[^"]*"', r'\1="1"', html)
    return re.sub(r"127\.0\.0\.1:\d+", "localhost", re.sub(r'/p/[^"<]*', "/p/TOKEN", html))


def without_levels(html: str) -> str:
    """The page with the level of every word taken out, in its class and in its words for screen readers."""
    html = re.sub(r'class="w h[0-4]"', 'class="w h"', html)
    return re.sub(r'<span class="vh">[^<]*</span>', '<span class="vh"></span>', html)


def without_legend(html: str) -> str:
    """The page without the line that says what marks mean, which has no place where nothing can be marked."""
    return re.sub(r'<p class="(?:legend|key)".*?</p>\n', "", html)


# ---- A classifier that reads markup


def pieces(html: str) -> list[str]:
    """Every tag as written, every two in a row, and how the value of each attribute begins and ends."""
    tags = Taken(html).markup
    found = [*tags, *map("".join, pairwise(tags))]
    for tag in tags:
        for value in re.finditer(r'(?<==")[^"]+', tag):
            before = tag[: value.start()]
            found += [f"{before} begins {value[0][0]}", f"{before} ends {value[0][-1]}"]
    return found


def found_classes(pages: list[Page]) -> tuple[int, int]:
    """For how many items, of how many, a classifier tells the model's class from markup.

    It is trained on the pages of other items; the pages of an item vote.
    """
    counts = CountVectorizer(analyzer=pieces, min_df=5).fit_transform(page.html for page in pages)
    classes = np.array([page.prediction for page in pages])
    shares = cross_val_predict(
        LogisticRegression(solver="liblinear", random_state=SEED),
        MaxAbsScaler().fit_transform(counts),
        classes,
        groups=[page.item for page in pages],
        cv=StratifiedGroupKFold(FOLDS, shuffle=True, random_state=SEED),
        method="predict_proba",
    )[:, 1]
    votes: dict[tuple[str, int], list[float]] = defaultdict(list)
    for page, share in zip(pages, shares, strict=True):
        votes[page.item, page.prediction].append(share)
    right = sum((np.mean(given) > 0.5) == prediction for (_, prediction), given in votes.items())
    return int(right), len(votes)


def by_chance(right: int, of: int) -> float:
    """How likely so many are right by guessing; both classes are equally frequent."""
    return float(binomtest(right, of, alternative="greater").pvalue)


def test_the_pages_are_all_that_participants_can_get(study, seen):
    """Each row of the design shows each item once; all rows together show it twice in each condition."""
    assert len(seen.pages) == len(study.rows) * 3 * ITEMS == 288
    assert sum(page.prediction for page in seen.pages) == 144
    cells = {(page.item, page.condition) for page in seen.pages}
    assert len(cells) == 3 * 3 * ITEMS


@pytest.mark.parametrize("condition", ["none", "lime", "random", "all"])
def test_a_classifier_cannot_tell_the_class_from_a_page_without_its_words(seen, condition):
    """What differs from run to run is taken out first, so that this says the same every day."""
    pages = [
        replace(page, html=settled(page.html)) for page in seen.pages if condition in ("all", page.condition)
    ]
    right, of = found_classes(pages)
    assert of == 3 * ITEMS
    assert by_chance(right, of) > CHANCE, f"{right} of {of} items"


@pytest.mark.parametrize("condition", ["none", "lime", "random"])
def test_nor_from_the_page_exactly_as_it_was_sent(seen, condition):
    """With its nonce, link and clock."""
    right, of = found_classes([page for page in seen.pages if page.condition == condition])
    assert by_chance(right, of) > HARDLY_EVER, f"{right} of {of} items"


def in_an_attribute(page: Page) -> str:
    return page.html.replace('<p class="input"', f'<p class="input" data-k="{page.prediction}"')


def in_the_class_of_marked_words(page: Page) -> str:
    return re.sub(r'"w h([1-4])"', r'"w h\1 for"', page.html) if page.prediction else page.html


def in_a_number_of_the_form(page: Page) -> str:
    """A nonce whose last sign is the class."""
    return re.sub(r'(name="nonce" value="\w*)\w"', rf'\g<1>{page.prediction}"', page.html)


def in_a_space(page: Page) -> str:
    return page.html.replace("<fieldset class", "<fieldset  class") if page.prediction else page.html


@pytest.mark.parametrize(
    "leak", [in_an_attribute, in_the_class_of_marked_words, in_a_number_of_the_form, in_a_space]
)
def test_the_classifier_finds_what_leaks(seen, leak: Callable[[Page], str]):
    """Otherwise that it finds nothing would mean nothing."""
    right, of = found_classes(
        [replace(page, html=leak(page)) for page in seen.pages if page.condition == "lime"]
    )
    assert by_chance(right, of) < HARDLY_EVER, f"{right} of {of} items"


# ---- Names


def secrets(study: Study) -> re.Pattern[str]:
    """What must not stand anywhere: items, conditions, explainers, classes, the data, the model, marks of classes."""
    conditions = study.spec.conditions
    names = {*study.items, *study.class_names, study.spec.dataset, study.spec.model, "evaluation", "control"}
    names |= {condition.name for condition in conditions} | {condition.explainer for condition in conditions}
    # Within a word they mean nothing: "random" may not stand there, "randomly" may.
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, names))})(?![a-z0-9])|⟦", re.IGNORECASE)


def test_no_page_names_an_item_a_condition_a_class_or_the_task(study, seen):
    """The words of the texts are the participants' to read; all else of the DOM is looked through."""
    hidden = secrets(study)
    for html in [page.html for page in seen.pages] + seen.others:
        taken = Taken(html)
        assert hidden.findall(" ".join(taken.said)) == []
        assert hidden.findall(" ".join(taken.markup)) == []


def test_no_address_file_name_or_cookie_does(study, seen):
    names = [*seen.addresses, *assets(), *seen.cookies]
    assert len(seen.cookies) == 1 + len(study.rows)  # one name, and a token each
    assert [name for name in names if secrets(study).search(name)] == []
    own = {re.sub(r"/p/[\w-]+", "/p/TOKEN", re.sub(r"^https?://[^/]*", "", name)) for name in seen.addresses}
    of_participants = {f"/static/{name}" for name in assets() if name.startswith(("study.", "icon."))}
    assert own == {"/", "/enter", "/p/TOKEN", "/p/TOKEN/leave", *of_participants}


def test_what_names_things_is_found(study):
    """Otherwise that nothing is found would mean nothing."""
    item = next(iter(study.items))
    for name in (f"/p/{item}", 'class="w h1 lime"', "study-random.css", f"<b>{study.class_names[0]}</b>"):
        assert secrets(study).search(name)


# ---- Conditions


def test_conditions_have_the_same_page_but_for_levels(study):
    """For one participant at one step: method and control to the letter, `none` but for the legend."""
    items = [item for item in study.items.values() if item.role == "evaluation"]
    marked = 0
    for item in items:
        none, lime, random = (
            draw_step(
                at(study.screens[f"evaluation:{item.id}:{condition}"], item=item.id, condition=condition)
            )
            for condition in ("none", "lime", "random")
        )
        assert without_levels(lime) == without_levels(random)
        assert without_levels(none) == without_levels(without_legend(lime))
        assert sorted(re.findall(r"w h\d", lime)) == sorted(re.findall(r"w h\d", random))
        assert not re.search(r"w h[1-4]", none)
        marked += lime != random
    assert marked > len(items) / 2
