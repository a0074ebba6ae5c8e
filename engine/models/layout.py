"""Which tensors a config asks for, and whether a file has them. Knows no torch and no format.

Names are those of Hugging Face folders. Letters: V vocabulary, D width, H heads.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import DraftscopeError
from engine.models.family import SUPPORTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeVar

    from engine.models.config import ModelConfig

    T = TypeVar("T")

EMBEDDING = "model.embed_tokens.weight"
NORM = "model.norm.weight"
HEAD = "lm_head.weight"

Shape = tuple[int, ...]

# Tables that old checkpoints carry; they are computed from the config.
_COMPUTED = re.compile(r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq")

# Where a model that also sees or hears keeps its language model, and the names of its other parts.
_PREFIXES = (
    ("language_model.model.", "model."),
    ("language_model.lm_head.", "lm_head."),
    ("model.language_model.", "model."),
    ("model.text_model.", "model."),
    ("lm_head.", "lm_head."),
)
_OTHER_PARTS = re.compile(
    r"(?:model\.)?(vision_tower|vision_model|vision_encoder|visual|vit|audio_tower|audio_encoder"
    r"|audio_model|multi_modal_projector|mm_projector|vision_projector|audio_projector|connector"
    r"|mlp1|image_newline|patch_merger)(?:\..*)?"
)


def layer_shapes(config: ModelConfig, index: int) -> Iterator[tuple[str, Shape]]:
    """Yield name and shape of each tensor of layer `index`."""
    layer = f"model.layers.{index}"
    yield f"{layer}.input_layernorm.weight", (config.width,)
    yield from _attention_shapes(config, f"{layer}.self_attn")
    yield f"{layer}.post_attention_layernorm.weight", (config.width,)
    yield from _mlp_shapes(config, f"{layer}.mlp")


def _attention_shapes(config: ModelConfig, part: str) -> Iterator[tuple[str, Shape]]:
    width, rows = config.width, config.heads * config.head_dim
    kv_rows = config.kv_heads * config.head_dim
    apart = {"q_proj": rows, "k_proj": kv_rows, "v_proj": kv_rows}
    for name, out in ({"qkv_proj": rows + 2 * kv_rows} if config.fused else apart).items():
        yield from _linear(f"{part}.{name}", (out, width), config.qkv_bias)
    if config.head_norms:
        yield f"{part}.q_norm.weight", (config.head_dim,)
        yield f"{part}.k_norm.weight", (config.head_dim,)
    yield from _linear(f"{part}.o_proj", (width, rows), config.output_bias)


def _mlp_shapes(config: ModelConfig, part: str) -> Iterator[tuple[str, Shape]]:
    width, inner = config.width, config.mlp_width
    apart = {"gate_proj": inner, "up_proj": inner}
    for name, out in ({"gate_up_proj": 2 * inner} if config.fused else apart).items():
        yield from _linear(f"{part}.{name}", (out, width), config.mlp_bias)
    yield from _linear(f"{part}.down_proj", (width, inner), config.mlp_bias)


def _linear(name: str, shape: Shape, bias: bool) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", shape
    if bias:
        yield f"{name}.bias", shape[:1]


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


def text_part(found: Mapping[str, T]) -> tuple[dict[str, T], list[str]]:
    """Keep the language model of a file that also sees or hears, under the names of a plain one.

    Parts that are not known stay under their own names, so that `check_layout` refuses them.

    Returns
    -------
    What was found, by its new name, and a sentence about the parts that were left out.
    """
    if EMBEDDING in found:
        return dict(found), []
    kept: dict[str, T] = {}
    left_out: dict[str, None] = {}  # in the order of the file
    for name, value in found.items():
        other = _OTHER_PARTS.fullmatch(name)
        if other:
            left_out[other[1]] = None
            continue
        prefix, plain = next((pair for pair in _PREFIXES if name.startswith(pair[0])), ("", ""))
        renamed = plain + name.removeprefix(prefix)
        kept[name if renamed in kept else renamed] = value
    if EMBEDDING not in kept or not left_out:
        return kept if EMBEDDING in kept else dict(found), []
    parts = ", ".join(left_out)
    return kept, [f"Only the language model of the file is used; left out are {parts}."]


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
            f"{source} holds the tensor {surplus[0]}{_more(surplus)}, which its configuration does "
            f"not ask for: this model is not supported. {SUPPORTED}"
        )


def _more(names: list[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""


def _by(shape: Shape) -> str:
    return " x ".join(map(str, shape)) or "of a single number"
