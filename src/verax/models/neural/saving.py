"""Networks on disk, without pickle: a folder with plain JSON and safetensors. Loading one runs nothing of it.

``model.json`` says what the network is, what it reads, what it was trained on and how well it did. Its numbers are in
``weights.safetensors``, its training inputs, if they are kept, in ``reference.json`` (texts) or
``reference.safetensors`` (rows), and their classes in ``reference_labels.json``.

Networks that a command trained are kept, so that the same training is not done twice, and an interrupt loses none. A
network depends on its name and options, the files that these name, the dataset, the seed, and the code that trains
it. All of that is in its key, so that a network which would come out differently is trained anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cache
from itertools import accumulate
from pathlib import Path

import numpy as np
import torch
from pydantic import TypeAdapter
from safetensors import SafetensorError
from safetensors.numpy import load as read_arrays
from safetensors.numpy import save as arrays_to_bytes
from safetensors.torch import load as read_tensors
from safetensors.torch import save as tensors_to_bytes
from torch import Tensor, nn

from verax.arrays import FloatArray, IntArray
from verax.data.dataset import Dataset, Part
from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.neural import ABOUT
from verax.models.neural.architectures import (
    BilstmNetwork,
    CnnNetwork,
    DenseNetwork,
    PrototypeBilstm,
    PrototypeDense,
)
from verax.models.neural.encoders import Json, PieceEncoder, RowEncoder, WordEncoder
from verax.models.neural.networks import TableNetwork, TextNetwork, TrainingRecord, WordNetwork, check_finite
from verax.models.neural.rationale import (
    RationaleModel,
    RationaleNetwork,
    RecurrentRationaleNetwork,
    SelectingNetwork,
)
from verax.models.neural.representations import cache_folder
from verax.models.neural.transformer import TransformerNetwork
from verax.models.ready import option_files
from verax.run.canonical import canonical, write_json, write_whole
from verax.run.manifest import is_whole, seal

FORMAT, VERSION = "verax network", 1
WEIGHTS = "weights.safetensors"
REFERENCE = {"text": "reference.json", "table": "reference.safetensors"}
LABELS = "reference_labels.json"

# What a file may name; nothing else is ever built.
NETWORKS: dict[str, type[nn.Module]] = {
    network.__name__: network
    for network in (
        CnnNetwork,
        BilstmNetwork,
        DenseNetwork,
        TransformerNetwork,
        PrototypeBilstm,
        PrototypeDense,
        RationaleNetwork,
        RecurrentRationaleNetwork,
    )
}


def save_model(model: Model, path: str | Path, *, test: Part | None = None, reference: bool = True) -> None:
    """Writes a network that was trained here into a folder, from which ``load_model`` and ``--model`` read it.

    Args:
        model: a ready-made network after its training.
        path: the folder; made if it is not there.
        test: inputs and labels on which the accuracy that is written down is measured, beside the validation accuracy.
        reference: whether its training inputs are written too. Explainers that have to learn first need them; leave
            them out of a model that is passed on if they are nobody else's business.
    """
    if not isinstance(model, TextNetwork | TableNetwork) or type(model.network).__name__ not in NETWORKS:
        raise VeraxError(
            f"Only networks that were trained here can be saved, and this is a {type(model).__name__}; save others "
            "with their own library, or with joblib."
        )
    assert isinstance(model.encoder, WordEncoder | PieceEncoder | RowEncoder)
    check_finite(model.network)  # it could not be loaded again
    folder = Path(path)
    weights = tensors_to_bytes(
        {name: tensor.contiguous() for name, tensor in _saved_state(model.network).items()}
    )
    about: Json = {
        "format": FORMAT,
        "version": VERSION,
        "kind": model.kind,
        "class_names": list(model.class_names),
        "network": type(model.network).__name__,
        "settings": model.network.settings,
        "encoder": model.encoder.to_json(),
        "training": None if model.record is None else asdict(model.record),
        "test_accuracy": None if test is None else accuracy(model, test),
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
    }
    write_whole(folder / WEIGHTS, weights)
    if reference and model.reference is not None:
        write_whole(folder / REFERENCE[model.kind], _reference_bytes(model))
        if model.reference_labels is not None:
            write_whole(folder / LABELS, json.dumps(model.reference_labels.tolist()).encode())
    write_json(folder / ABOUT, about)  # last: a folder that has it is whole


def accuracy(model: Model, part: Part) -> float:
    """The share of a part that a model gets right."""
    return float(np.mean(model.predict_proba(part.inputs).argmax(axis=1) == part.labels))


def load_model(path: str | Path) -> TextNetwork | TableNetwork:
    """The network in a folder that ``save_model`` wrote; a sentence if it is anything else, or not whole."""
    folder = Path(path)
    about = _about(folder)
    try:
        network = NETWORKS[str(about["network"])](**_mapping(about["settings"]))
        names = tuple(map(str, _list(about["class_names"])))
        training = about["training"]
        record = None if training is None else TypeAdapter(TrainingRecord).validate_python(training)
        encoder, kind = _mapping(about["encoder"]), about["kind"]
        if kind == "text" and isinstance(network, WordNetwork):
            reader = PieceEncoder if isinstance(network, TransformerNetwork) else WordEncoder
            texts = _saved_texts(folder / REFERENCE["text"])
            model: TextNetwork | TableNetwork
            if isinstance(network, SelectingNetwork):
                model = RationaleModel(network, WordEncoder.from_json(encoder), names, texts, record)
            else:
                model = TextNetwork(network, reader.from_json(encoder), names, texts, record)
        elif kind == "table":
            rows = _saved_rows(folder / REFERENCE["table"])
            model = TableNetwork(network, RowEncoder.from_json(encoder), names, rows, record)
        else:
            raise ValueError(f"its kind is {kind!r}")
    except VeraxError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise VeraxError(
            f"{folder / ABOUT} does not describe a network of this version of Verax ({_short(error)}); save the "
            "model again."
        ) from error
    _fill(network, folder / WEIGHTS, str(about.get("weights_sha256")))
    network.eval()
    return replace(model, reference_labels=_saved_labels(folder / LABELS, model))


def _about(folder: Path) -> Json:
    """The description, known to be ours."""
    path = folder / ABOUT
    if not path.is_file():
        raise VeraxError(
            f"There is no saved model in {str(folder)!r} (no {ABOUT}); give a folder that verax.save_model wrote."
        )
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise VeraxError(
            f"{path} is not whole or not JSON ({_short(error)}); save the model again."
        ) from error
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise VeraxError(f"{path} is no saved model of Verax; give a folder that verax.save_model wrote.")
    if about.get("version") != VERSION:
        raise VeraxError(
            f"{path} was written by another version of Verax (format {about.get('version')}, this one reads "
            f"{VERSION}); save the model again."
        )
    return about


def _fill(network: nn.Module, path: Path, digest: str) -> None:
    """Puts the weights into a network, if they are the right ones."""
    content = _content(path)
    try:
        weights = read_tensors(content)
    except SafetensorError as error:
        raise VeraxError(
            f"{path} is not whole or no safetensors file ({_short(error)}); save the model again."
        ) from error
    own = _saved_state(network)
    shapes = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    if shapes != {name: tuple(tensor.shape) for name, tensor in own.items()}:
        raise VeraxError(
            f"The weights in {path} are those of another network; keep the files of a model together."
        )
    for name, tensor in weights.items():
        if not bool(tensor.isfinite().all()):
            raise VeraxError(
                f"The weights {name!r} in {path} are not all finite numbers; train the model again."
            )
    if hashlib.sha256(content).hexdigest() != digest:
        raise VeraxError(
            f"{path} is not the file that was saved with {ABOUT}; keep the files of a model together."
        )
    network.load_state_dict(weights, strict=False)


def _saved_state(network: nn.Module) -> dict[str, Tensor]:
    """The weights that are the network's own; those of a transformer stay where they are."""
    unsaved = network.unsaved if isinstance(network, TransformerNetwork) else ()
    return {name: tensor for name, tensor in network.state_dict().items() if not name.startswith(unsaved)}


def _reference_bytes(model: TextNetwork | TableNetwork) -> bytes:
    if isinstance(model, TextNetwork):
        return json.dumps(list(model.reference or ())).encode()
    assert model.reference is not None
    return arrays_to_bytes({"rows": np.ascontiguousarray(model.reference)})


def _saved_texts(path: Path) -> list[str] | None:
    """The training texts, if they are there."""
    if not path.is_file():
        return None
    try:
        return list(map(str, json.loads(_content(path))))
    except (ValueError, RecursionError) as error:
        raise _broken(path, error) from error


def _saved_rows(path: Path) -> FloatArray | None:
    """The training rows, if they are there."""
    if not path.is_file():
        return None
    try:
        rows: FloatArray = read_arrays(_content(path))["rows"]
        return rows
    except (KeyError, SafetensorError) as error:
        raise _broken(path, error) from error


def _saved_labels(path: Path, model: TextNetwork | TableNetwork) -> IntArray | None:
    """The classes of the training inputs, if they are there; folders of earlier versions have none."""
    if not path.is_file() or model.reference is None:
        return None
    try:
        labels = np.array([int(label) for label in json.loads(_content(path))], dtype=np.int64)
        if len(labels) != len(model.reference) or not np.isin(labels, range(len(model.class_names))).all():
            raise ValueError("these are not the classes of the training inputs beside it")
    except (TypeError, ValueError, RecursionError) as error:
        raise _broken(path, error) from error
    return labels


def _broken(path: Path, error: Exception) -> VeraxError:
    return VeraxError(f"{path} is not whole ({_short(error)}); save the model again, or delete this file.")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise VeraxError(
            f"{path} cannot be read ({error.strerror}); keep the files of a model together."
        ) from error


def _mapping(value: object) -> Json:
    if not isinstance(value, dict):
        raise TypeError(f"a {type(value).__name__} stands where names and values should")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"a {type(value).__name__} stands where a list should")
    return value


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"


# What is kept at the most; the least recently used goes first.
MAX_BYTES = 1_000_000_000
# What a network is made by: these packages of Verax.
MAKERS = ("data", "models")


def kept_network(
    train: Callable[[], Model], name: str, options: Mapping[str, object], dataset: Dataset, seed: int
) -> Model:
    """A network that was trained before, from disk, or else one that is trained now and kept if it is one of ours.

    Args:
        train: trains it.
        name: of the model, without its options.
        options: all of them; what files that they name hold counts too.
        dataset: what it learns from.
        seed: of its training.
    """
    contents = [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in option_files(options)]
    versions = [torch.__version__, np.__version__, _code()]
    about = canonical([name, dict(options), contents, dataset.hash, seed, versions], "network")
    folder = cache_folder() / "networks" / hashlib.sha256(about.encode()).hexdigest()[:32]
    if is_whole(folder):
        # What a full disk or another program left half written, or whose bytes changed, is trained again.
        with contextlib.suppress(VeraxError, OSError):
            model = load_model(folder)
            (folder / ABOUT).touch()  # used today
            return model
    trained = train()
    if isinstance(trained, TextNetwork | TableNetwork) and type(trained.network).__name__ in NETWORKS:
        with contextlib.suppress(VeraxError, OSError):
            save_model(trained, folder)
            seal(folder)
            _drop_oldest(folder.parent)
    return trained


@cache
def _code() -> str:
    """A hash of the code that makes networks."""
    digest = hashlib.sha256()
    home = Path(__file__).parents[2]
    for maker in MAKERS:
        for path in sorted((home / maker).rglob("*.py")):
            digest.update(path.relative_to(home).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _drop_oldest(folder: Path) -> None:
    """Lets the least recently used go, beyond what may be kept."""
    kept = sorted(folder.glob(f"*/{ABOUT}"), key=lambda about: -about.stat().st_mtime)
    sizes = (sum(file.stat().st_size for file in about.parent.iterdir()) for about in kept)
    for about, held in zip(kept, accumulate(sizes), strict=True):
        if held > MAX_BYTES:
            shutil.rmtree(about.parent, ignore_errors=True)
