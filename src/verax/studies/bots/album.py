"""What a simulated person knows of a study beforehand: every screen, to be recognised by what stands on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from verax.studies.bots.page import Page, drawn_page, explains, quotes_on, seen_on
from verax.studies.design.answer_order import order_count, shown_screen
from verax.studies.model.item import Item
from verax.studies.model.screen import Facts, Question, Screen, fits, with_names
from verax.studies.model.study import Study
from verax.studies.protocol.contract import Protocol, make_protocol
from verax.studies.protocol.surroundings import participant_steps

# Some screens are drawn by lot: so many participants of each row are asked which ones they see.
MOST_LOOKED_AT = 64

# What is asked: the name of each question, or the first answer of a pair, and how many answers it has.
Asked = tuple[tuple[str | tuple[str, ...], int], ...]
Look = tuple[tuple[str, ...], Asked]
Pairs = tuple[tuple[str, str], ...]
Scores = tuple[float, ...]


@dataclass(frozen=True)
class Known:
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
    """

    study: Study
    protocol: Protocol
    names: tuple[str, ...]
    screens: dict[Look, list[str]]
    uses: dict[str, tuple[str | None, frozenset[str]]]
    _pages: dict[tuple[str, tuple[str, ...], int | None], Page] = field(default_factory=dict, repr=False)
    _known: dict[tuple[Look, Pairs, tuple[str, ...]], Known | None] = field(default_factory=dict, repr=False)
    _scores: dict[tuple[str, str], tuple[Scores, Scores]] = field(default_factory=dict, repr=False)

    def page(self, key: str, names: tuple[str, ...], order: int | None, ord: int, steps: int) -> Page:
        """The page of a screen in one participant's words and order, without the web."""
        look = (key, names, order)
        if look not in self._pages:
            self._pages[look] = drawn_page(shown_screen(self.study, key, order), names)
        return replace(self._pages[look], hidden={"ord": str(ord)}, done=ord - 1, steps=steps)

    def recognise(self, page: Page) -> Known | None:
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

    def scores(self, known: Known, question: Question) -> tuple[Scores, Scores] | None:
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

    def _recognised(self, look: Look, page: Page) -> Known | None:
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
        return Known(
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
    return Album(study, make_protocol(study.spec.protocol), names, screens, uses)


def _asked_on(screen: Screen) -> Asked:
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
        for row in study.rows:
            for step in participant_steps(study, row, number):
                unseen.discard(step.screen)
                yield step.screen, step.item, step.condition
        if not unseen:
            return
