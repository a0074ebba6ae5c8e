"""Which tensors a drafter's file holds, by its sizes, and whether it does. Knows no torch.

Letters: D width of the target, W of a small model, R scored ids, T taps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.drafters.metadata import HeadShape, damaged
from engine.errors import DraftscopeError, short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.drafters.metadata import DrafterMetadata, SmallShape
    from engine.models.config import ModelConfig
    from engine.models.formats.safetensors_header import StoredTensor
    from engine.models.layout import Shape

ID_BYTES = {"I64": 8, "I32": 4}
VOCABULARY = "vocabulary"


def head_shapes(
    shape: HeadShape, width: int, queries: int, qkv: int, scored: int
) -> dict[str, Shape]:
    """Return name and shape of each tensor of a head.

    Parameters
    ----------
    width, queries, qkv
        D; rows of the target's queries, and of queries, keys and values together.
    scored
        R.
    """
    states = 1 + len(shape.taps)
    shapes: dict[str, Shape] = {
        VOCABULARY: (scored,),
        "hidden_norm.weight": (states * width,),
        "embedding_norm.weight": (width,),
        "fuse.weight": (width, (states + 1) * width),
        "output_norm.weight": (width,),
    }
    if shape.taps:
        shapes |= {"own_norm.weight": (width,), "own.weight": (width, 2 * width)}
    return shapes | _blocks(shape.blocks, width, queries, qkv, shape.inner)


def small_shapes(shape: SmallShape, width: int, scored: int) -> dict[str, Shape]:
    """Return name and shape of each tensor of a small model for a target of width D."""
    own, queries = shape.width, shape.heads * shape.head_dim
    qkv = queries + 2 * shape.kv_heads * shape.head_dim
    shapes: dict[str, Shape] = {
        VOCABULARY: (scored,),
        "input_norm.weight": (width,),
        "input.weight": (own, width),
        "output_norm.weight": (own,),
        "output.weight": (width, own),
    }
    return shapes | _blocks(shape.layers, own, queries, qkv, shape.inner)


def check_whole(found: Mapping[str, StoredTensor], metadata: DrafterMetadata, file: str) -> None:
    """Check a file's tensors against the sizes that the file itself gives.

    Raises
    ------
    DraftscopeError
        Naming the first tensor that is missing, misshapen or too many.
    """

    def size(name: str, axis: int) -> int:
        shape = found[name].shape if name in found else ()
        return shape[axis] if axis < len(shape) else 0

    shape, scored = metadata.shape, size(VOCABULARY, 0)
    if isinstance(shape, HeadShape):
        queries = size("blocks.0.attention.output.weight", 1)
        qkv = size("blocks.0.attention.qkv.weight", 0)
        expected = head_shapes(shape, size("output_norm.weight", 0), queries, qkv, scored)
    else:
        expected = small_shapes(shape, size("input_norm.weight", 0), scored)
    for name, wanted in expected.items():
        stored = found.get(name)
        if stored is None or (stored.kind in ID_BYTES) != (name == VOCABULARY):
            raise damaged(file, f"it lacks the tensor {name!r}")
        if stored.shape != wanted or 0 in wanted:
            raise damaged(file, f"the tensor {name!r} has the shape {stored.shape}, not {wanted}")
    surplus = next((name for name in found if name not in expected), None)
    if surplus is not None:
        raise damaged(file, f"it holds the tensor {short(surplus)!r}, which no such drafter has")


def check_sizes(
    found: Mapping[str, Shape], metadata: DrafterMetadata, config: ModelConfig, file: str
) -> None:
    """Check whole tensors against a target's sizes.

    Raises
    ------
    DraftscopeError
        Naming the first tensor of another size, or a tap that the target does not have.
    """
    shape, (scored,) = metadata.shape, found[VOCABULARY]
    if isinstance(shape, HeadShape):
        queries = config.heads * config.head_dim
        qkv = queries + 2 * config.kv_heads * config.head_dim
        expected = head_shapes(shape, config.width, queries, qkv, scored)
        if shape.taps and shape.taps[-1] >= config.layers:
            raise DraftscopeError(
                f"{file} does not fit this target: it reads the state after layer "
                f"{shape.taps[-1]} of {config.layers}. Choose the one that was trained for it."
            )
    else:
        expected = small_shapes(shape, config.width, scored)
    for name, wanted in expected.items():
        if found[name] != wanted:
            raise DraftscopeError(
                f"{file} does not fit this target: {name!r} has the shape {found[name]} where "
                f"{wanted} is needed. Choose the one that was trained for it."
            )


def _blocks(count: int, width: int, queries: int, qkv: int, inner: int) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    for index in range(count):
        block = f"blocks.{index}"
        shapes |= {
            f"{block}.attention_norm.weight": (width,),
            f"{block}.mlp_norm.weight": (width,),
            f"{block}.attention.qkv.weight": (qkv, width),
            f"{block}.attention.output.weight": (width, queries),
            f"{block}.mlp.gate_up.weight": (2 * inner, width),
            f"{block}.mlp.down.weight": (width, inner),
        }
    return shapes
