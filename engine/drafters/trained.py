"""A trained drafter by its name: from its file to something that drafts for a loaded target.

Knows files, targets and both kinds; nothing of how they were trained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.drafters.file import read_tensors
from engine.drafters.head import HeadDrafter
from engine.drafters.head_weights import prepare_head
from engine.drafters.header import read_drafter_header
from engine.drafters.metadata import HeadShape
from engine.drafters.names import BUNDLED, HEAD
from engine.drafters.registry import find_drafter, spec_of
from engine.drafters.shared_small import SharedSmallModel
from engine.drafters.small import SmallModelDrafter

if TYPE_CHECKING:
    from engine.drafters.file import DrafterFile
    from engine.drafters.metadata import HeldOut
    from engine.loading import LoadedModel
    from engine.trace.events import ModelInfo


def make_trained(spec: str, target: LoadedModel) -> HeadDrafter | SmallModelDrafter:
    """Make the trained drafter of this name for its target.

    Raises
    ------
    DraftscopeError
        If there is no such file, if it is damaged, or if it was trained for another target.
    """
    header = read_drafter_header(find_drafter(spec))
    header.check_target(target.fingerprint, target.info.name)
    file = read_tensors(header)
    name = spec if spec in BUNDLED else spec_of(header.path)  # a trace names no folder
    info = _info(file, target)
    if header.metadata.kind == HEAD:
        return HeadDrafter(target.transformer, prepare_head(file, target.transformer), info, name)
    model = SharedSmallModel(file, target.transformer)
    return SmallModelDrafter(model, info, name, target.info.vocabulary, model.vocabulary)


def _info(file: DrafterFile, target: LoadedModel) -> ModelInfo:
    metadata, shape = file.metadata, file.metadata.shape
    plain = msgspec.structs.replace(
        target.info,
        name=f"trained {metadata.name}",
        kind=metadata.kind,
        source=file.name,
        parameters=file.header.parameters,
        dtype=target.transformer.plan.draft_description,
        vocabulary=int(file.tensors["vocabulary"].shape[0]),
        notes=_notes(metadata.held_out),
    )
    if isinstance(shape, HeadShape):
        return msgspec.structs.replace(plain, layers=shape.blocks)
    context, notes = min(shape.context, target.info.context_length), plain.notes
    if context < target.info.context_length:
        notes += (f"It reads {context} tokens; past them nothing is drafted and rounds are plain.",)
    return msgspec.structs.replace(
        plain, layers=shape.layers, width=shape.width, context_length=context, notes=notes
    )


def _notes(held_out: HeldOut) -> tuple[str, ...]:
    if not held_out.greedy:
        return ()
    share = 100.0 * held_out.greedy[0]
    return (
        f"On text held out of its training, the first token that it would draft is the target's "
        f"own at {share:.0f} % of {held_out.tokens:,} places.",
    )
