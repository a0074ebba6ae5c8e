"""Which tensors a config asks for, and whether a file has them. Knows no torch and no format.

Names are those of Hugging Face folders. Letters: V vocabulary, D width, H heads.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from engine.models.config import ModelConfig

EMBEDDING = "model.embed_tokens.weight"
NORM = "model.norm.weight"
HEAD = "lm_head.weight"

Shape = tuple[int, ...]

# Tables that old checkpoints carry; they are computed from the config.
_COMPUTED = re.compile(r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq")


def layer_shapes(config: ModelConfig, index: int) -> Iterator[tuple[str, Shape]]:
    """Yield name and shape of each tensor of layer `index`."""
    width = config.width
    rows, kv_rows = config.heads * config.head_dim, config.kv_heads * config.head_dim
    layer = f"model.layers.{index}"
    yield f"{layer}.input_layernorm.weight", (width,)
    yield f"{layer}.self_attn.q_proj.weight", (rows, width)
    yield f"{layer}.self_attn.k_proj.weight", (kv_rows, width)
    yield f"{layer}.self_attn.v_proj.weight", (kv_rows, width)
    yield f"{layer}.self_attn.o_proj.weight", (width, rows)
    yield f"{layer}.post_attention_layernorm.weight", (width,)
    yield f"{layer}.mlp.gate_proj.weight", (config.mlp_width, width)
    yield f"{layer}.mlp.up_proj.weight", (config.mlp_width, width)
    yield f"{layer}.mlp.down_proj.weight", (width, config.mlp_width)


def expected_shapes(config: ModelConfig) -> dict[str, Shape]:
    """Return name and shape of every tensor of the model, in the order of a pass."""
    shapes: dict[str, Shape] = {EMBEDDING: (config.vocabulary, config.width)}
    for index in range(config.layers):
        shapes.update(layer_shapes(config, index))
    shapes[NORM] = (config.width,)
    if not config.tied:
        shapes[HEAD] = (config.vocabulary, config.width)
    return shapes


def count_parameters(config: ModelConfig) -> int:
    """Return the number of weights; a tied head counts once."""
    return sum(math.prod(shape) for shape in expected_shapes(config).values())


def settle_head(
    config: ModelConfig, found: Mapping[str, Shape], head_equals_embedding: Callable[[], bool]
) -> tuple[ModelConfig, list[str]]:
    """Decide from the file whether the head is tied; never leave a head to chance.

    Parameters
    ----------
    head_equals_embedding
        Compares the two tensors in the file; asked only where a tied config has a head of its own.

    Returns
    -------
    The config with `tied` settled, and sentences about what was decided.
    """
    if HEAD not in found:
        if config.tied:
            return config, []
        note = "The file has no head of its own (lm_head.weight): the head is tied to embed_tokens."
        return replace(config, tied=True), [note]
    if not config.tied:
        return config, []
    if head_equals_embedding():
        return config, []
    note = (
        "The configuration ties the head to embed_tokens, but the file has a different "
        "lm_head.weight: that one is used."
    )
    return replace(config, tied=False), [note]


def check_layout(config: ModelConfig, found: Mapping[str, Shape], source: str) -> None:
    """Compare what a file holds with what the config asks for.

    Raises
    ------
    DraftscopeError
        Naming the first missing, misshapen or surplus tensor and how many more there are.
    """
    expected = expected_shapes(config)
    missing = [name for name in expected if name not in found]
    if missing:
        raise DraftscopeError(
            f"{source} lacks the tensor {missing[0]}{_more(missing)} that its configuration asks "
            "for. Download the model again."
        )
    for name, shape in expected.items():
        if found[name] != shape:
            raise DraftscopeError(
                f"{source}: the tensor {name} has shape {_by(found[name])}, but the configuration "
                f"asks for {_by(shape)}. Configuration and weights are of different models."
            )
    surplus = [name for name in found if name not in expected and not _COMPUTED.fullmatch(name)]
    if config.tied and HEAD in surplus:
        surplus.remove(HEAD)  # equal to the embedding: `settle_head` has compared them
    if surplus:
        raise DraftscopeError(
            f"{source} holds the tensor {surplus[0]}{_more(surplus)}, which the plain Llama family "
            "does not have: this model is not supported."
        )


def _more(names: list[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""


def _by(shape: Shape) -> str:
    return " x ".join(map(str, shape)) or "of a single number"
