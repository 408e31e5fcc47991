"""The model that a command line names: ready-made, the user's own by import, or a saved one."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from verax.arrays import FloatArray
from verax.errors import VeraxError, reason
from verax.foreign import SAVED_MODEL, check_foreign
from verax.installed import install_command
from verax.models.adapt import as_model, predicts_number, reads_texts
from verax.models.base import Batch, Model
from verax.models.llm.adapt import ENDPOINT, endpoint_for
from verax.models.neural import ABOUT
from verax.models.ready import check_model, fit_model, models, option_files, parse_model
from verax.models.records import RecordModel
from verax.models.wrappers import CallableModel, TableModel, TextPipeline

if TYPE_CHECKING:
    from verax.data.bins import Bands
    from verax.data.dataset import Dataset

SAVED = (".joblib", ".pkl", ".pickle")


def is_saved(name: str) -> bool:
    """Whether a command line names a model that was fitted elsewhere: a file, or a folder of ``save_model``."""
    return name.endswith(SAVED) or (
        ":" not in name and (name.endswith(("/", os.sep)) or Path(name, ABOUT).is_file())
    )


def model_files(name: str) -> list[str]:
    """The files that a model depends on: a saved one's own, or those that the options of a ready-made one name."""
    if name.endswith(SAVED):
        return [name]
    if is_saved(name):
        return [str(path) for path in sorted(Path(name).glob("*")) if path.is_file()]
    return option_files(parse_model(name).options)


def resolve_model(
    name: str, dataset: Dataset, seed: int = 0, options: Mapping[str, object] | None = None
) -> Model:
    """The model that a command line names.

    Args:
        name: a ready-made one (``forest``, ``cnn(epochs=2)``), which is fitted on the dataset (a network only if the
            same training was not done before);
            ``package.module:attribute``, a fitted thing for :func:`as_model` or a function that returns one, called
            with the dataset if it takes an argument (and with ``seed=`` if it has such a one); a folder that
            ``save_model`` wrote; a file that joblib or pickle wrote; or ``openai:MODEL``, a language model behind the
            endpoint that the environment variable OPENAI_BASE_URL names.
        dataset: what the model is for.
        seed: of a ready-made model's fit.
        options: of a ready-made model, by name; nothing else has any.
    """
    if name.startswith(ENDPOINT):
        return endpoint_for(name, dataset)
    if is_saved(name):
        for option in options or ():
            raise VeraxError(f"The model {name!r} has no option {option!r}; only ready-made ones have any.")
        return _own_model(name, load_saved(name), dataset)
    given, ready = check_model(name, options), parse_model(name).name
    if ":" in ready:
        return own_model(name, models.get(name), dataset, seed)

    def train() -> Model:
        return fit_model(name, dataset, seed=seed, options=options)

    # Without torch the training itself says what is missing.
    if find_spec("torch") is None or not models.get(ready).__module__.startswith("verax.models.neural."):
        return train()
    from verax.models.neural.saving import kept_network

    return kept_network(train, ready, given, dataset, seed)


def own_model(name: str, thing: object, dataset: Dataset, seed: int = 0) -> Model:
    """A model of the user's own for a dataset.

    Args:
        name: what to call it.
        thing: something fitted for :func:`as_model`, or a function that returns such a thing; see `resolve_model`.
        dataset: what the model is for.
        seed: given to a function that has a parameter of that name.
    """
    if callable(thing) and not isinstance(thing, Model) and not hasattr(thing, "predict_proba"):
        thing = _call(name, thing, dataset, seed)
    return _own_model(name, thing, dataset)


def fitted_thing(name: str) -> object | None:
    """What a name of somebody's own model stands for, if that is fitted already; None for any other name."""
    if is_saved(name):
        return load_saved(name)
    if name.startswith(ENDPOINT):
        return None
    ready = parse_model(name).name
    thing: object = models.get(ready) if ":" in ready else None
    is_function = callable(thing) and not hasattr(thing, "predict_proba") and not hasattr(thing, "predict")
    return None if is_function else thing


def load_saved(name: str) -> object:
    """What a file that joblib or pickle wrote holds, or a folder of ``save_model``."""
    path = Path(name)
    if not path.exists():
        raise VeraxError(f"There is no saved model {name!r}; check the path (looked in {Path.cwd()}).")
    if path.suffix not in SAVED:
        try:
            from verax.models.neural.saving import load_model
        except ImportError as error:
            raise VeraxError(
                f"The saved model {str(path)!r} needs torch; {install_command('neural')}."
            ) from error
        return load_model(path)
    check_foreign(str(path), SAVED_MODEL)
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:
        raise VeraxError(
            f"The model {str(path)!r} cannot be loaded ({type(error).__name__}: {error}); "
            "give a file that joblib.dump or pickle wrote with the same library versions."
        ) from error


def unwrapped(thing: object) -> object:
    """The scikit-learn model inside of what `as_model` made of it."""
    if isinstance(thing, TextPipeline):
        from sklearn.pipeline import make_pipeline

        return make_pipeline(thing.vectorizer, *thing.transforms, thing.classifier)
    if isinstance(thing, RecordModel) and thing.estimator is not None:
        return thing.estimator
    # Without frames it was fitted on rows that were encoded before, which it would not be given here.
    return thing.estimator if isinstance(thing, TableModel) and thing.frames else thing


def _call(name: str, loader: Callable[..., object], dataset: Dataset, seed: int) -> object:
    try:
        parameters = dict(inspect.signature(loader).parameters)
        options = {"seed": seed} if parameters.pop("seed", None) else {}
        first = next(iter(parameters.values()), None)
        wanted = first is not None and (first.default is first.empty or first.name == "dataset")
        return loader(dataset, **options) if wanted else loader(**options)
    except VeraxError:
        raise
    except Exception as error:
        raise VeraxError(
            f"Calling {name!r} for a model raised {type(error).__name__} ({reason(error)}); it is called with the "
            "dataset and must return a fitted model."
        ) from error


@dataclass(frozen=True, eq=False)
class BandOf:
    """A model of numbers as a function of classes: 1 for the band in which its number lies."""

    model: Model
    bands: Bands

    def __call__(self, inputs: Batch) -> FloatArray:
        """Probabilities of the bands."""
        return self.bands.one_hot(self.model.predict_proba(inputs)[:, 0])


def _in_bands(thing: object, dataset: Dataset, bands: Bands) -> Model:
    """A regressor as a classifier of the dataset's bands."""
    if dataset.fields is not None:
        raise VeraxError("Models of several texts are not asked for bands; give a classifier of them.")
    if isinstance(thing, Model):
        inner = thing
    elif dataset.kind == "text":
        inner = as_model(thing, kind="text")
    else:
        inner = as_model(thing, kind="table", schema=dataset.schema, reference=dataset.train.inputs)
    return CallableModel(
        BandOf(inner, bands),
        kind=dataset.kind,
        class_names=dataset.class_names,
        schema=inner.schema,
        reference=dataset.train.inputs,
    )


def _own_model(name: str, thing: object, dataset: Dataset) -> Model:
    """The user's thing as a model of this dataset: its class names and columns are the dataset's."""
    labels = [str(label) for label in getattr(thing, "classes_", getattr(thing, "class_names", ()))]
    if sorted(labels) == sorted(dataset.class_names) and labels != list(dataset.class_names):
        raise VeraxError(
            f"The classes of {name!r} are in the order {', '.join(labels)}, those of {dataset.name!r} "
            f"{', '.join(dataset.class_names)}; fit the model on the numbers of the classes "
            "(dataset.train.labels)."
        )
    if predicts_number(thing):
        if dataset.bands is None:
            raise VeraxError(
                f"The model {name!r} predicts a number, and {dataset.name!r} has classes; load a column of numbers in "
                "bands (bands=4, or where they meet), whose classes such a model is asked for. verax.judge(model, "
                "rows) and explainers take models of numbers as they are."
            )
        thing = _in_bands(thing, dataset, dataset.bands)
    if dataset.kind == "table" and reads_texts(thing):
        raise VeraxError(
            f"The model {name!r} reads texts, and {dataset.name!r} is a table of the columns "
            f"{', '.join(dataset.schema.names if dataset.schema else ())}; name the column of its texts: text=..., on "
            "the command line --text-column."
        )
    if dataset.fields is not None and not isinstance(thing, Model):
        model = as_model(
            thing,
            class_names=dataset.class_names,
            texts=dataset.fields.texts,
            reference=dataset.fields.to_frame([str(record) for record in dataset.train.inputs]),
        )
    elif dataset.kind == "text":
        model = as_model(thing, class_names=dataset.class_names, kind="text")
    else:
        rows = dataset.train.inputs
        model = as_model(
            thing, class_names=dataset.class_names, kind="table", schema=dataset.schema, reference=rows
        )
    if model.kind != dataset.kind:
        raise VeraxError(
            f"The model {name!r} is of the kind {model.kind!r} but the dataset {dataset.name!r} of the kind "
            f"{dataset.kind!r}; give a model and a dataset of one kind."
        )
    if getattr(model, "schema", None) != dataset.schema:
        raise VeraxError(
            f"The columns or categories of the model {name!r} are not those of the dataset {dataset.name!r}; "
            "build the model with as_model(..., schema=dataset.schema)."
        )
    return model
