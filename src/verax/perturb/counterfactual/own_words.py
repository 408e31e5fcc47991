"""Which words are similar to which, for a model: learned from the texts that it was trained on, once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from verax.data.dataset import contents
from verax.data.vectors import TooFewWordsError, word_vectors
from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.capabilities import has
from verax.perturb.counterfactual.thesaurus import Thesaurus

# Of the last few training parts: a benchmark explains many models of the same texts.
KEPT = 2
# What a method can do without similar words.
REMOVED = {"anchor": ", or let it leave words out: anchor(words=removed)"}
_BY_TEXTS: OrderedDict[tuple[str, str], Thesaurus] = OrderedDict()
_BY_MODEL: WeakKeyDictionary[Model, dict[str, Thesaurus]] = WeakKeyDictionary()


def thesaurus_for(model: Model, source: str, method: str) -> Thesaurus:
    """The similar words for a model of texts; kept, so that only the first explanation waits for it.

    Args:
        model: the model; "trained" vectors need its reference texts.
        source: "trained" (on the reference texts, about 2 s for 6,000 reviews), "minilm", or the path of a GloVe file.
        method: the explainer's name, for the sentence if there are no reference texts.
    """
    kept = _BY_MODEL.setdefault(model, {})
    if source not in kept:
        try:
            kept[source] = _of_texts(_reference(model, source, method), source)
        except TooFewWordsError as error:
            raise VeraxError(
                f"The method {method!r} learns similar words from the model's {error.n_texts:,} training texts, and no "
                f"word occurs {error.min_count} times in them; say where word vectors are: {method}(vectors=minilm), "
                f"or a GloVe file{REMOVED.get(method, '')}."
            ) from error
    return kept[source]


def _reference(model: Model, source: str, method: str) -> Sequence[str]:
    if source != "trained":
        return ()
    if not has(model, "reference"):
        raise VeraxError(
            f"The method {method!r} replaces words by similar ones, which it learns from texts that the model was "
            "trained on, and this model has none; give some: verax.as_model(..., reference=texts), or say where word "
            f"vectors are: {method}(vectors=minilm), or a GloVe file{REMOVED.get(method, '')}."
        )
    reference: Sequence[str] = getattr(model, "reference", ())
    return reference


def _of_texts(texts: Sequence[str], source: str) -> Thesaurus:
    digest = hashlib.sha256(b"\0".join(contents(texts))).hexdigest()
    key = (source, digest)
    if key not in _BY_TEXTS:
        _BY_TEXTS[key] = Thesaurus.of(word_vectors(source, texts))
        while len(_BY_TEXTS) > KEPT:
            _BY_TEXTS.popitem(last=False)
    _BY_TEXTS.move_to_end(key)
    return _BY_TEXTS[key]
