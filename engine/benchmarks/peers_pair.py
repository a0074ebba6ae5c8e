"""Both sides of `peers`, loaded: one target and one small model, in Draftscope and in transformers.

Knows names, files and who builds what from them; decodes nothing.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.benchmarks.measuring import Progress, silent
from engine.benchmarks.peers_ours import cut, small_drafter, weights_of
from engine.benchmarks.peers_transformers import TransformersPeer, Weights
from engine.models.formats.weights import open_checkpoint
from engine.models.registry import resolve
from engine.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.loading import LoadedModel

DRAFTERS = ("none", "ngram", "model")


@dataclass(frozen=True)
class Pair:
    """Two sides with the same weights.

    Attributes
    ----------
    drafters
        Of `DRAFTERS`, with the name that our settings have for each.
    notes
        What a reader of the figures must know of what was loaded, in sentences.
    """

    session: Session
    peer: TransformersPeer
    weights: Weights
    drafters: dict[str, str]
    notes: tuple[str, ...]


def load_pair(
    target: LoadedModel,
    name_or_path: str,
    drafters: Sequence[str] = DRAFTERS,
    *,
    layers: int | None = None,
    assistant: str | None = None,
    progress: Progress = silent,
) -> Pair:
    """Build the peer of a loaded target, and the small model on both sides if it is asked for.

    Parameters
    ----------
    name_or_path
        Where the target was loaded from: its weights are read again.
    drafters
        Of `DRAFTERS`.
    layers, assistant
        The small model: so many of the target's own first layers (five sixths of them if None), or
        a model of its own by name or path.

    Raises
    ------
    DraftscopeError
        Without transformers, and for a model that cannot be built on either side.
    """
    session = Session(target)
    with ExitStack() as files:
        weights = weights_of(
            files.enter_context(closing(open_checkpoint(resolve(name_or_path)))), target
        )
        specs = {name: name for name in drafters}
        notes = [_weights_note(weights)]
        small: Weights | None = None
        if "model" in drafters and assistant is not None:
            specs["model"] = f"model:{assistant}"
            session.drafter(specs["model"], progress=progress)
            file = files.enter_context(closing(open_checkpoint(resolve(assistant))))
            rows = min(weights.vocabulary, file.config.vocabulary)
            small = Weights(file.config, rows, file.tensor, weights.plan)
        elif "model" in drafters:
            whole = weights.config.layers
            small = cut(weights, max(1, whole * 5 // 6) if layers is None else layers)
            specs["model"] = f"model:first {small.config.layers} of {whole} layers"
            drafter = small_drafter(small, target, specs["model"], progress)
            session.add_drafter(specs["model"], drafter)
            notes.append(
                f"The small model is the target's own first {small.config.layers} of {whole} "
                "layers with its norm and head: a poor drafter, but the same one on both sides."
            )
        progress(0, 1, "Building the models of transformers")
        peer = TransformersPeer(weights, sorted(target.end_tokens), small)
        progress(1, 1, "Building the models of transformers")
    return Pair(session, peer, weights, specs, tuple(notes))


def _weights_note(weights: Weights) -> str:
    kept = str(weights.kept).removeprefix("torch.")
    computed = str(weights.plan.dtype).removeprefix("torch.")
    if weights.kept == weights.plan.dtype:
        return f"Both sides compute in {computed} with the same weights, bit for bit."
    return (
        f"Both sides compute in {computed} with the same weights, bit for bit: those of "
        f"transformers were rounded to {kept} first, as the {weights.plan.name} plan keeps its own."
    )
