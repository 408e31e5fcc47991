"""Networks that a command trained, kept on disk: the same training is not done twice, and an interrupt loses none.

A network depends on its name and options, the files that these name, the dataset, the seed, and the code that trains
it. All of that is in its key, so that a network which would come out differently is trained anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from itertools import accumulate
from pathlib import Path

import numpy as np
import torch

from verax.data.dataset import Dataset
from verax.errors import VeraxError
from verax.models.base import Model
from verax.models.neural import ABOUT
from verax.models.neural.networks import TableNetwork, TextNetwork
from verax.models.neural.representations import cache_folder
from verax.models.neural.saving import NETWORKS, load_model, save_model
from verax.run.canonical import canonical
from verax.run.checksums import is_whole, seal

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
    files = [value for value in options.values() if isinstance(value, str) and Path(value).is_file()]
    contents = [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files]
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
            _make_room(folder.parent)
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


def _make_room(folder: Path) -> None:
    """Lets the least recently used go, beyond what may be kept."""
    kept = sorted(folder.glob(f"*/{ABOUT}"), key=lambda about: -about.stat().st_mtime)
    sizes = (sum(file.stat().st_size for file in about.parent.iterdir()) for about in kept)
    for about, held in zip(kept, accumulate(sizes), strict=True):
        if held > MAX_BYTES:
            shutil.rmtree(about.parent, ignore_errors=True)
