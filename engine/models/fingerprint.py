"""What tells one target from another: its tokenizer, what shapes its computation, its weights.

A drafter is made for one target and drafts badly, or nonsense, for any other. The same model gives
the same fingerprint from a GGUF file and from a folder: norms are never quantised, and of the
configuration only what every format tells counts. Loads no torch; knows no drafter.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from engine.models.layout import expected_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch import Tensor

    from engine.models.config import ModelConfig
    from engine.models.formats.weights import Checkpoint
    from engine.models.text.tokenizer import Tokenizer

NORM = "norm.weight"  # how the names of all norms end


class Fingerprint(msgspec.Struct, frozen=True):
    """The parts of a target that a drafter hangs on, each as a SHA-256 in hexadecimal."""

    tokenizer: str
    configuration: str
    weights: str

    def differences(self, other: Fingerprint) -> tuple[str, ...]:
        """Name the parts that differ, in words."""
        names = ("tokenizer", "configuration", "weights")
        return tuple(name for name in names if getattr(self, name) != getattr(other, name))


def tokenizer_hash(tokenizer: Tokenizer) -> str:
    """Hash the entries of a vocabulary in the order of their ids."""
    found = hashlib.sha256()
    for token in range(tokenizer.vocabulary):
        entry = tokenizer.entry(token).encode("utf-8", "surrogatepass")
        found.update(struct.pack("<I", len(entry)) + entry)  # "a", "bc" is not "ab", "c"
    return found.hexdigest()


def configuration_hash(config: ModelConfig) -> str:
    """Hash what shapes the computation, as far as every format tells it alike."""
    sizes = ("layers", "width", "heads", "kv_heads", "head_dim", "mlp_width", "vocabulary", "tied")
    values: dict[str, object] = {name: getattr(config, name) for name in sizes}
    values["rope_base"] = float(np.float32(config.rope_base))  # a GGUF file holds it as float32
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def weights_hash(config: ModelConfig, tensor: Callable[[str], Tensor]) -> str:
    """Hash the weights of all norms as float32, in the order of a pass.

    Parameters
    ----------
    tensor
        Returns a weight by its Hugging Face name.
    """
    norms = [name for name in expected_shapes(config) if name.endswith(NORM)]
    return _hash(tensor(name) for name in norms)


def fingerprint_of(checkpoint: Checkpoint, tokenizer: Tokenizer) -> Fingerprint:
    """Return the fingerprint of an opened model; of its weights only the norms are read."""
    config = checkpoint.config
    return Fingerprint(
        tokenizer_hash(tokenizer),
        configuration_hash(config),
        weights_hash(config, checkpoint.tensor),
    )


def _hash(norms: Iterable[Tensor]) -> str:
    found = hashlib.sha256()
    for norm in norms:
        found.update(norm.float().cpu().contiguous().numpy().astype("<f4", copy=False).tobytes())
    return found.hexdigest()
