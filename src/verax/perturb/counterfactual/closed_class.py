"""Which English words belong to a closed class: words that a perturbation leaves as they are.

No part-of-speech tagger comes without a download, so this is a word list. Closed classes are determiners, pronouns,
conjunctions, auxiliaries, particles, numerals and punctuation. Nouns, verbs, adjectives, adverbs and adpositions are
open: these are the words that Hase and Bansal (2020, A.2) edit. A word of several classes is filed under the one in
which it occurs most (``that``, ``to`` and ``have`` are closed, ``like`` and ``after`` are open).
"""

from __future__ import annotations

from verax.data.words import Words

DETERMINERS = """
a an the this that these those some any no every each either neither both all another such what whatever which
whichever half
"""
PRONOUNS = """
i me my mine myself you your yours yourself yourselves u ur he him his himself she her hers herself it its itself
we us our ours ourselves they them their theirs themselves themself thee thou thy ye y'all em
who whom whose whoever whomever one ones oneself there
someone somebody something anyone anybody anything everyone everybody everything none nobody nothing
"""
CONJUNCTIONS = """
and or but nor plus n & if because cuz cos coz although though while whilst whereas unless whether lest
"""
AUXILIARIES = """
be am is are was were been being nt r isnt arent wasnt werent have has had having havent hasnt hadnt
do does did dont doesnt didnt will would shall should can could may might must ought cannot
wont wouldnt shouldnt cant couldnt gonna gotta wanna hafta ca wo sha ain aint
don doesn didn isn aren wasn weren hasn haven hadn wouldn shouldn couldn mustn needn shan mightn
"""
PARTICLES = "not to"
NUMERALS = """
zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion
ii iii iv vi vii viii ix xi xii xiii
"""
# Not a word: the line break that scraped reviews are full of.
MARKUP = "br"
# Open, but a class of few members: one is replaced by another of them, and by nothing else.
ADPOSITIONS = """
aboard about above across after against along alongside amid amidst among amongst around as at atop before behind below
beneath beside besides between beyond by concerning despite during except for from in inside into like near of off on
onto opposite out outside over past per regarding since than through throughout till toward towards under underneath
unlike until up upon versus via with within without
"""
# What follows the apostrophe of a contraction; some corpora write it as a word of its own.
CLITICS = frozenset(("s", "t", "d", "m", "ll", "re", "ve"))
CLOSED = CLITICS.union(
    *map(str.split, (DETERMINERS, PRONOUNS, CONJUNCTIONS, AUXILIARIES, PARTICLES, NUMERALS, MARKUP))
)

_ADPOSITIONS = frozenset(ADPOSITIONS.split())
_APOSTROPHES = ("'", "’")


def is_open(word: str) -> bool:
    """Whether a word may be edited: it has a letter, no digit, and is of no closed class.

    A contraction is judged by what stands before its apostrophe: ``it's`` and ``don't`` are closed, ``film's`` is open.
    """
    word = word.lower().replace("’", "'")
    if not any(map(str.isalpha, word)) or any(map(str.isdigit, word)):
        return False
    host, _, clitic = word.rpartition("'")
    if clitic in CLITICS:
        return clitic != "t" and word not in CLITICS and is_open(host)
    return word not in CLOSED


def is_adposition(word: str) -> bool:
    """Whether a word is a preposition (or the like): of these too there are few, but they may be edited."""
    return word.lower() in _ADPOSITIONS


def open_words(words: Words) -> list[bool]:
    """For each word of a text whether it may be edited; ``don't`` is two words there and both are closed."""
    editable = [is_open(word) for word in words.words]
    for place in range(1, len(words)):
        between = words.text[words.ends[place - 1] : words.starts[place]]
        if between in _APOSTROPHES and words.words[place].lower() == "t":
            editable[place - 1] = False
    return editable
