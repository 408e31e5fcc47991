"""Three probing tasks derived from Universal Dependencies treebanks, with the definitions of SentEval's.

Conneau et al. (2018) derive them from automatic parses of books; here they come from gold parses. As there,
sentences have 5 to 28 tokens (the syntactic words of the treebank, punctuation included); all others are
dropped and counted.

- ``ud-tense``: PRES or PAST, the tense of the main clause's finite verb. That is the leftmost with
  ``VerbForm=Fin`` among the root of the tree and its children that are ``aux``, ``aux:pass`` or ``cop``:
  "has left" is PRES, "was tired" PAST. It must be indicative with ``Tense=Pres`` or ``Past``; sentences
  without such a verb (fragments, imperatives, modals as in "will leave") are dropped.
- ``ud-subject-number``: NN (singular) or NNS (plural), the number of the subject of the main clause: the
  first child of the root that is ``nsubj`` or ``nsubj:pass``. It must be a common noun (``NOUN``) with
  ``Number=Sing`` or ``Plur``/``Ptan`` (plural in form only, "trousers"); pronouns, names and clauses as
  subjects are dropped.
- ``ud-length``: the number of tokens in six bins, 5-8, 9-12, 13-16, 17-20, 21-25 and 26-28.

SentEval also sees to it that no verb or subject form occurs in two parts; here the treebank's own split is
kept. The column ``source`` keeps what a sentence's id begins with, in EWT its genre.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from verax.data.formats.conllu import Sentence, read_sentences
from verax.data.records import Records, counted, text_records
from verax.data.registry import Choice, dataset_formats

LENGTHS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))
TENSES = {"Pres": "PRES", "Past": "PAST"}
NUMBERS = {"Sing": "NN", "Plur": "NNS", "Ptan": "NNS"}
LENGTH_NAMES = tuple(f"{low}-{high} tokens" for low, high in LENGTHS)


@dataset_formats.register("ud-tense")
def ud_tense(path: Path, choice: Choice) -> Records:
    """Sentences with the tense of their main clause, PAST or PRES."""
    choice.among("ud-tense")
    return _probing(path, tense, ("PAST", "PRES"), "without a main verb in the present or past tense")


@dataset_formats.register("ud-subject-number")
def ud_subject_number(path: Path, choice: Choice) -> Records:
    """Sentences with the number of their subject, NN or NNS."""
    choice.among("ud-subject-number")
    return _probing(
        path, subject_number, ("NN", "NNS"), "without a common noun as subject of the main clause"
    )


@dataset_formats.register("ud-length")
def ud_length(path: Path, choice: Choice) -> Records:
    """Sentences with their length in six bins."""
    choice.among("ud-length")
    return _probing(path, length_bin, LENGTH_NAMES, "without a length")


def tense(sentence: Sentence) -> str | None:
    """PRES or PAST, or None if the main clause has no finite verb in one of them."""
    root = sentence.root()
    if root is None:
        return None
    verbs = [token for token in sentence.children(root) if token.relation in ("aux", "aux:pass", "cop")]
    finite = [token for token in (*verbs, root) if token.feature("VerbForm") == "Fin"]
    if not finite:
        return None
    first = min(finite, key=lambda token: token.number)
    return TENSES.get(first.feature("Tense")) if first.feature("Mood") == "Ind" else None


def subject_number(sentence: Sentence) -> str | None:
    """NN or NNS, or None if the main clause's subject is not a common noun."""
    root = sentence.root()
    if root is None:
        return None
    subjects = [token for token in sentence.children(root) if token.relation in ("nsubj", "nsubj:pass")]
    if not subjects or subjects[0].upos != "NOUN":
        return None
    return NUMBERS.get(subjects[0].feature("Number"))


def length_bin(sentence: Sentence) -> str | None:
    """The name of the bin that the number of tokens falls into, or None."""
    n = len(sentence.tokens)
    bins = zip(LENGTHS, LENGTH_NAMES, strict=True)
    return next((name for (low, high), name in bins if low <= n <= high), None)


def _probing(
    path: Path, label_of: Callable[[Sentence], str | None], class_names: tuple[str, ...], unlabelled: str
) -> Records:
    sentences = read_sentences(path)
    fitting = [sentence for sentence in sentences if length_bin(sentence) is not None]
    labelled = [(sentence, label) for sentence in fitting if (label := label_of(sentence)) is not None]
    notes = [
        counted(len(sentences) - len(fitting), "sentence", "shorter than 5 or longer than 28 tokens dropped"),
        counted(len(fitting) - len(labelled), "sentence", f"{unlabelled} dropped"),
    ]
    # Sentences of files that name no part belong to train if others do name theirs.
    parts = [sentence.part or 0 for sentence, _ in labelled]
    records = text_records(
        (sentence.text for sentence, _ in labelled),
        (class_names.index(label) for _, label in labelled),
        class_names,
        parts,
        notes,
    )
    return replace(records, columns={"source": [source(sentence) for sentence, _ in labelled]})


def source(sentence: Sentence) -> str:
    """Where a sentence comes from: its sent_id up to the first hyphen, in EWT "email", "reviews" and so on."""
    return sentence.identity.partition("-")[0]
