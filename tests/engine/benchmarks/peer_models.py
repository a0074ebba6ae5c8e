"""Both sides of a tiny model, as the benchmark builds them from one folder."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from engine.benchmarks.peers_ours import weights_of
from engine.benchmarks.peers_transformers import TransformersPeer
from engine.models.formats.weights import open_checkpoint

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel

# with the id 0 in it, which is a token like any other
PROMPT = [(37 * i + i * i) % 256 for i in range(30)]


def peer_of(folder: Path, target: LoadedModel) -> TransformersPeer:
    """Build the peer of a folder, with the target itself as its assistant."""
    with closing(open_checkpoint(folder)) as checkpoint:
        weights = weights_of(checkpoint, target)
        return TransformersPeer(weights, sorted(target.end_tokens), weights)
