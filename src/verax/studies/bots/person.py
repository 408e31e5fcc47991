"""One simulated person: what they know of a study beforehand, what they see, and what they answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

from verax.studies.bots.page import Page, PageQuestion, drawn_answer, drawn_page, explains, quotes_on, seen_on
from verax.studies.bots.profiles import Aid, Careless, Case, Chance, Late, Leaver, Profile, SameAnswer
from verax.studies.definition.own_pages import right_answers
from verax.studies.definition.own_questions import scored_scales
from verax.studies.definition.screen import (
    Facts,
    Meaning,
    Question,
    Screen,
    class_mark,
    fits,
    with_names,
)
from verax.studies.definition.study import Item, Study
from verax.studies.design import order_count, shown_screen
from verax.studies.protocol.common_steps import participant_steps
from verax.studies.protocol.contract import Protocol, make_protocol

# Some screens are drawn by lot: so many participants of each row are asked which ones they see.
MOST_LOOKED_AT = 64

# What is asked: the name of each question, or the first answer of a pair, and how many answers it has.
AskedForms = tuple[tuple[str | tuple[str, ...], int], ...]
Look = tuple[tuple[str, ...], AskedForms]
Pairs = tuple[tuple[str, str], ...]
Scores = tuple[float, ...]


@dataclass(frozen=True)
class KnownPage:
    """What is known of a page.

    Attributes:
        key: of one of the screens that look so.
        screen: that one.
        item: what it is about.
        kinds: the kinds of the conditions under which somebody sees it: "none", "method", "control".
        explains: whether an explanation stands on it.
    """

    key: str
    screen: Screen
    item: Item | None
    kinds: frozenset[str]
    explains: bool


@dataclass(frozen=True, eq=False)
class Album:
    """All screens of a study by their looks.

    Attributes:
        study: the study.
        protocol: its protocol, which knows the right answers.
        names: the classes' own names.
        screens: by look: the keys of the screens that look so.
        uses: by key: the item, and the conditions under which the screen is shown.
        checks: by question that checks attention, the answer that it asks for.
        reversed: questions of scales in which agreement means less of what is measured.
    """

    study: Study
    protocol: Protocol
    names: tuple[str, ...]
    screens: dict[Look, list[str]]
    uses: dict[str, tuple[str | None, frozenset[str]]]
    checks: dict[str, Meaning]
    reversed: frozenset[str]
    _pages: dict[tuple[str, tuple[str, ...], int | None], Page] = field(default_factory=dict, repr=False)
    _known: dict[tuple[Look, Pairs, tuple[str, ...]], KnownPage | None] = field(
        default_factory=dict, repr=False
    )
    _scores: dict[tuple[str, str], tuple[Scores, Scores]] = field(default_factory=dict, repr=False)

    def page(self, key: str, names: tuple[str, ...], order: int | None, ord: int, steps: int) -> Page:
        """The page of a screen in one participant's words and order, without the web."""
        look = (key, names, order)
        if look not in self._pages:
            self._pages[look] = drawn_page(shown_screen(self.study, key, order), names)
        return replace(self._pages[look], hidden={"ord": str(ord)}, done=ord - 1, steps=steps)

    def recognise(self, page: Page) -> KnownPage | None:
        """What is known of a page; None if no screen looks so."""
        look: Look = (page.seen, tuple((question.name, len(question.labels)) for question in page.questions))
        # Of a pair the answers say which is which: the one first named stands first.
        paired = (
            page.seen,
            tuple((question.labels[:1], len(question.labels)) for question in page.questions),
        )
        look = paired if paired in self.screens else look
        if (look, page.facts, page.quotes) not in self._known:
            self._known[look, page.facts, page.quotes] = self._recognised(look, page)
        return self._known[look, page.facts, page.quotes]

    def scores(self, known: KnownPage, question: Question) -> tuple[Scores, Scores] | None:
        """What each answer is worth, and would be if the model were always right; None if nothing is."""
        if known.item is None or question.name != self.protocol.scored:
            return None
        if (known.key, question.name) not in self._scores:
            right, believed = (
                tuple(self.protocol.score(item, option.means) for option in question.options)
                for item in (known.item, _if_right(known.item))
            )
            self._scores[known.key, question.name] = (right, believed)
        return self._scores[known.key, question.name]

    def _recognised(self, look: Look, page: Page) -> KnownPage | None:
        alike = [
            key
            for key in self.screens.get(look, [])
            if self._facts_fit(self.study.screens[key], page.facts)
            and _quotes_fit(self.study.screens[key], page.quotes)
        ]
        if not alike:
            return None
        screen = self.study.screens[alike[0]]
        item, _ = self.uses.get(alike[0], (None, frozenset()))
        conditions = frozenset[str]().union(*(self.uses.get(key, (None, frozenset()))[1] for key in alike))
        kinds = frozenset(self.study.spec.condition(name).kind for name in conditions)
        return KnownPage(
            alike[0], screen, None if item is None else self.study.items[item], kinds, explains(screen)
        )

    def _facts_fit(self, screen: Screen, facts: Sequence[tuple[str, str]]) -> bool:
        """Classes under other names than their own tell nothing."""
        expected = [pair for block in screen.blocks if isinstance(block, Facts) for pair in block.pairs]
        if len(expected) != len(facts):
            return False
        return all(
            shown not in self.names or shown == with_names(value, self.names)
            for (_, value), (_, shown) in zip(expected, facts, strict=True)
        )


def make_album(study: Study) -> Album:
    """All screens of a study, and who sees them."""
    screens: dict[Look, list[str]] = {}
    for key, screen in study.screens.items():
        # Bars of the classes stand in as many orders as answers do.
        shown = [screen, *(shown_screen(study, key, order) for order in range(order_count(study)))]
        for look in dict.fromkeys((tuple(seen_on(one)), _asked_on(one)) for one in shown):
            screens.setdefault(look, []).append(key)
    uses: dict[str, tuple[str | None, frozenset[str]]] = {}
    for key, item, condition in _shown(study):
        known = uses.get(key, (item, frozenset()))[1]
        uses[key] = (item, known if condition is None else known | {condition})
    names = tuple(study.spec.class_names or study.class_names)
    asked = study.spec.questions
    turned = frozenset[str]().union(*(scale.reverse for scale in scored_scales(asked)))
    return Album(
        study, make_protocol(study.spec.protocol), names, screens, uses, right_answers(asked), turned
    )


def _asked_on(screen: Screen) -> AskedForms:
    """The questions by name and number of answers; of a pair, by its first answer, which says what stands first."""
    return tuple(
        (
            tuple(option.label for option in question.options[:1]) if screen.paired else question.name,
            len(question.options),
        )
        for question in screen.questions
    )


def _quotes_fit(screen: Screen, quotes: Sequence[str]) -> bool:
    """Whether these are the screen's explanations in words, whatever the classes are called."""
    expected = list(quotes_on(screen))
    return len(expected) == len(quotes) and all(map(fits, expected, quotes))


def _if_right(item: Item) -> Item:
    """The item as it would be if the model always said what is true."""
    variant = None if item.variant is None else replace(item.variant, prediction=item.label)
    return replace(item, prediction=item.label, variant=variant)


def _shown(study: Study) -> Iterator[tuple[str, str | None, str | None]]:
    unseen = set(study.screens)
    for number in range(1, MOST_LOOKED_AT + 1):
        for row, language in product(study.rows, study.spec.languages):
            for step in participant_steps(study, row, number, language):
                unseen.discard(step.screen)
                yield step.screen, step.item, step.condition
        if not unseen:
            return


# People who rate explanations differ by so many points, and from one explanation to the next by so many.
RATER_SPREAD, RATING_SPREAD = 0.8, 1.0
# A method's explanations are rated so much above the middle of the scale; a control's in the middle.
LIKED = 1.0
# Reading: so many seconds for a word and so many for a page, times a person's own pace.
WORD_SECONDS, PAGE_SECONDS, PACE_SPREAD, PAGE_SPREAD = 0.08, 2.5, 0.3, 0.35
OWN_WORDS = ("I went by the strong words.", "Mostly by feeling.", "I looked at how it answered before.")
SAYS_NOTHING = 0.5  # the share of texts that are left empty where they may be


class SimulatedPerson:
    """Somebody with a profile; the same seed and pages make the same decisions, with the web and without it."""

    def __init__(self, album: Album, profile: Profile, seed: int, number: int) -> None:
        self.profile = profile
        self.number = number
        self._album = album
        self._chance = Chance(seed, number)
        self._names: dict[int, str] = {}  # learnt from pages, where classes are not called by their own names
        self._last_aid: Aid = "none"

    def meet(self, album: Album) -> None:
        """Is given another study than the one that was expected, before its first page."""
        self._album = album

    def answer(self, page: Page) -> dict[str, str]:
        """The answers to a page by question: the place of the chosen option, or a text; nothing where one is left open.

        Pages are to be answered in the order in which they come: people learn from them.
        """
        known = self._album.recognise(page)
        aid = self._learn(page, known)
        given: dict[str, str] = {}
        for asked in page.questions:
            if asked.kind:
                given |= drawn_answer(asked, partial(self._chance.share, page.ord, asked.name))
            else:
                given[asked.name] = self._answer(asked, page, known, aid)
        return {name: answer for name, answer in given.items() if answer}

    def seconds(self, page: Page) -> float:
        """How long this person would look at a page."""
        pace = PACE_SPREAD * self._chance.normal("pace") + PAGE_SPREAD * self._chance.normal("pace", page.ord)
        return (PAGE_SECONDS + WORD_SECONDS * page.words) * math.exp(pace)

    def leaves(self, page: Page) -> bool:
        """Whether the page is closed for good."""
        habit = self.profile.habit(Leaver)
        return habit is not None and page.done >= habit.after * page.steps

    def is_late(self, ord: int) -> bool:
        """Whether this step is answered too late, if there is a limit."""
        habit = self.profile.habit(Late)
        return habit is not None and self._chance.share("late", ord) < habit.share

    def _learn(self, page: Page, known: KnownPage | None) -> Aid:
        """Keeps what a page teaches; what helps with its questions."""
        if known is None:
            return "none"
        shown = [pair for block in known.screen.blocks if isinstance(block, Facts) for pair in block.pairs]
        for (_, value), (_, name) in zip(shown, page.facts, strict=True):
            for number in range(len(self._album.names)):
                if value == class_mark(number):
                    self._names[number] = name
        if not known.explains:
            # A page that only people without explanations see is one on which nothing helps; others come after some.
            return "none" if known.kinds == {"none"} else self._last_aid
        if known.kinds != {"method", "control"}:  # where both look alike, it is what it was before
            self._last_aid = "control" if known.kinds == {"control"} else "method"
        return self._last_aid

    def _answer(self, asked: PageQuestion, page: Page, known: KnownPage | None, aid: Aid) -> str:
        study = self._album.study
        if not asked.labels:
            return self._text(asked, page)
        if study.screening is not None and asked.name in study.screening.answers:
            return str(self._tested(asked, page, int(study.screening.answers[asked.name])))
        question = None if known is None else _question(known, asked.name)
        if question is not None and asked.name in self._album.checks:
            right = [option.means for option in question.options].index(self._album.checks[asked.name])
            return str(self._tested(asked, page, right + 1))
        if question is not None and question.kind == "scale":
            return str(self._rating(asked, page, question, aid))
        return str(self._choice(asked, page, known, question, aid))

    def _text(self, asked: PageQuestion, page: Page) -> str:
        if not asked.required and self._chance.share(page.ord, asked.name, "says nothing") < SAYS_NOTHING:
            return ""
        return OWN_WORDS[int(len(OWN_WORDS) * self._chance.share(page.ord, asked.name))]

    def _tested(self, asked: PageQuestion, page: Page, right: int) -> int:
        habit = self.profile.habit(Careless)
        if habit is None or self._chance.share(page.ord, asked.name, "careless") >= habit.wrong:
            return right
        return right % len(asked.labels) + 1

    def _rating(self, asked: PageQuestion, page: Page, question: Question, aid: Aid) -> int:
        points = len(asked.labels)
        turned = asked.name in self._album.reversed
        if isinstance(self.profile.answering, SameAnswer):
            return min(self.profile.answering.position, points)
        middle = (points + 1) / 2 + (LIKED if aid == "method" else 0)
        own = RATER_SPREAD * self._chance.normal("rater") + RATING_SPREAD * self._chance.normal(
            page.ord, asked.name
        )
        rated = max(1, min(points, round(middle + own)))
        return self._place(asked, question, points + 1 - rated if turned else rated)

    def _choice(
        self, asked: PageQuestion, page: Page, known: KnownPage | None, question: Question | None, aid: Aid
    ) -> int:
        worth = None if known is None or question is None else self._album.scores(known, question)
        if known is None or known.item is None or question is None or worth is None:
            case = Case(None, None, False, aid, "", page.ord, self._chance, len(asked.labels))
        else:
            understood = self._understands(question, asked)
            case = Case(*worth, understood, aid, known.item.id, page.ord, self._chance, len(asked.labels))
        chosen = self.profile.answering.choose(case)
        if question is None or isinstance(self.profile.answering, SameAnswer):
            return chosen
        return self._place(asked, question, chosen)

    def _place(self, asked: PageQuestion, question: Question, chosen: int) -> int:
        """Where the answer stands on this person's pages whose place in the study's list is this one.

        Answers under names that are not known yet are all alike, so that any of them may be taken for it.
        """
        labels = self._labels(question, asked)
        wanted = labels[chosen - 1]
        if wanted in asked.labels:
            return asked.labels.index(wanted) + 1
        unknown = [place for place, label in enumerate(asked.labels, 1) if label not in labels]
        return unknown[sum(label not in asked.labels for label in labels[: chosen - 1])]

    def _labels(self, question: Question, asked: PageQuestion) -> list[str]:
        """The answers in the order of the study's list, in the words of this person's pages where they are known."""
        labels = [option.label for option in question.options]
        own = [with_names(label, self._album.names) for label in labels]
        if set(own) == set(asked.labels):
            return own
        learnt = [self._names.get(number, class_mark(number)) for number in range(len(self._album.names))]
        return [with_names(label, learnt) for label in labels]

    def _understands(self, question: Question, asked: PageQuestion) -> bool:
        """Whether the answers name the classes by names that are known, or were learnt; the last one by exclusion."""
        if set(self._labels(question, asked)) == set(asked.labels):
            return True
        unknown = {number for number in range(len(self._album.names)) if number not in self._names}
        return len(unknown) <= 1


def _question(known: KnownPage, name: str) -> Question | None:
    return next((question for question in known.screen.questions if question.name == name), None)
