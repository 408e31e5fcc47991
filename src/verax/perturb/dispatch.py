"""Choosing the path for a model, once per model."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, cast

from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.capabilities import Refittable
from verax.models.records import RecordModel
from verax.models.wrappers import TextPipeline
from verax.perturb.masks import Absent, Path
from verax.perturb.paths.bag_of_words import bag_path
from verax.perturb.paths.conditional import ConditionalPath
from verax.perturb.paths.records import RecordPath
from verax.perturb.paths.strings import StringPath
from verax.perturb.paths.tables import table_path

if TYPE_CHECKING:
    from verax.models.neural.encoders import WordEncoder
    from verax.models.neural.networks import TextNetwork

log = logging.getLogger("verax.perturb")

# A path holds its model, so a dictionary of weak keys would never let go of either: a run of a thousand models would
# keep them all. The last few are enough, since explainers take turns on one model.
MAX_PATHS = 4
_PATHS: OrderedDict[tuple[Model, Absent], tuple[tuple[int, ...], Path[Any]]] = OrderedDict()


def path_for(model: Model, absent: Absent = "dropped") -> Path[Any]:
    """The fastest path that gives the model's own probabilities; built and checked once, kept for the last few models.

    A classifier that was fitted again gets a new path.

    Args:
        model: what is asked.
        absent: whether absent words are dropped, or masked: this only a network can that shows its embeddings.
    """
    if absent == "dropped" and type(model).__module__.startswith("verax.models.llm."):
        # Made in no time, and kept it would hold half a gigabyte: what takes time the model keeps itself.
        return _choose(model)
    state = fitted_state(model)
    known = _PATHS.get((model, absent))
    if known is not None and known[0] == state:
        _PATHS.move_to_end((model, absent))
        return known[1]
    path = _choose(model) if absent == "dropped" else _masked_path(model)
    _PATHS[model, absent] = (state, path)
    _PATHS.move_to_end((model, absent))
    while len(_PATHS) > MAX_PATHS:
        _PATHS.popitem(last=False)
    return path


def _choose(model: Model) -> Path[Any]:
    if model.kind == "table":
        return ConditionalPath(model) if model.resampling == "conditional" else table_path(model)
    if isinstance(model, RecordModel):
        return RecordPath(model)
    if isinstance(model, TextPipeline):
        path = bag_path(model)
        if not isinstance(path, str):
            return path
        log.info("This model's texts are rebuilt as strings: %s.", path)
    if type(model).__module__.startswith("verax.models.neural."):  # then torch is loaded already
        return _network_path(model)
    if type(model).__module__.startswith("verax.models.llm."):
        from verax.perturb.paths.strings import PromptPath

        return PromptPath(cast(Any, model))
    return StringPath(model)


def _network_path(model: Model) -> Path[Any]:
    from verax.models.neural.encoders import WordEncoder
    from verax.models.neural.networks import TextNetwork
    from verax.perturb.paths.networks import WordIdPath

    if isinstance(model, TextNetwork) and isinstance(model.encoder, WordEncoder):
        return _own_path(model, model.encoder, "dropped") or WordIdPath(model, model.encoder)
    log.info("This network's texts are rebuilt as strings: its pieces of words depend on their neighbours.")
    return StringPath(model)


def _own_path(model: TextNetwork, encoder: WordEncoder, absent: Absent) -> Path[Any] | None:
    """The path of a network whose arithmetic is known; None for any other."""
    from verax.perturb.paths.networks import convolution_path, recurrence_path

    return convolution_path(model, encoder, absent) or recurrence_path(model, encoder, absent)


def _masked_path(model: Model) -> Path[Any]:
    if type(model).__module__.startswith("verax.models.neural."):  # then torch is loaded already
        from verax.models.neural.encoders import WordEncoder
        from verax.models.neural.networks import TextNetwork
        from verax.perturb.paths.networks import BLANK, MaskedPath

        if isinstance(model, TextNetwork):
            encoder = model.encoder
            fast = _own_path(model, encoder, "masked") if isinstance(encoder, WordEncoder) else None
            mask = getattr(getattr(encoder, "tokenizer", None), "mask_token_id", None)
            return fast or MaskedPath(model, BLANK if mask is None else int(mask))
    raise VeraxError(
        f"absent='masked' puts a mask where a word was, and this {type(model).__name__} shows no place for one; "
        "networks of texts do (cnn, bilstm, transformer-mean, Hugging Face classifiers). Leave it at absent='dropped'."
    )


def fitted_state(model: Model) -> tuple[int, ...]:
    """What fitting changes: a network's own account of its weights, or the identities of what fitting replaces."""
    if isinstance(model, Refittable):
        return model.fitted_state()
    classifier = getattr(model, "classifier", getattr(model, "estimator", None))
    steps = [
        step for _, step in getattr(classifier, "steps", ())
    ]  # of a pipeline: fitting replaces parts of its steps
    classifier = steps[-1] if steps else classifier
    parts = [getattr(step, "transformers_", None) for step in steps]
    # xgboost makes up what it says of coef_ anew each time, which takes longer than all the rest of this.
    booster = getattr(classifier, "_Booster", None)
    names = [
        "coef_", "coefs_", "tree_", "estimators_", "flat_", "_predictors", "calibrated_classifiers_",
    ]  # fmt: skip
    if booster is not None:
        names = []
    parts += [booster, *(getattr(classifier, name, None) for name in names)]
    vectorizer = getattr(model, "vectorizer", None)
    parts.append(getattr(vectorizer, "vocabulary_", None))
    if classifier is not None and type(classifier).__module__.startswith("catboost."):
        # Fitted again, it stays the same object.
        return (*map(id, parts), hash(classifier.get_metadata()["model_guid"]))
    return tuple(id(part) for part in parts)
