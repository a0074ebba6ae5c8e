"""What a model is: its sizes and constants, whatever file they were read from.

Knows no torch, no tensor and no file: `config_folder` and `config_gguf` read them, `layout` says
which tensors a config asks for, the readers find those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from engine.models.rope_scaling import RopeScaling

MOST_LAYERS = 4096  # a bound for damaged files, far above any model


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and constants of a decoder-only transformer.

    Letters: V vocabulary, L layers, D width, H heads.

    Attributes
    ----------
    architecture
        Model type of a folder, architecture of a GGUF file.
    vocabulary
        V, rows of the embedding; may be padded beyond the tokenizer's own vocabulary.
    head_dim
        Of one head; `heads * head_dim` need not be `width`.
    context_length
        Tokens that a text may have.
    tied
        Whether the head multiplies by the embedding; the file decides where it disagrees.
    end_tokens
        Ids that end a text, in rising order.
    qkv_bias, output_bias, mlp_bias
        Whether queries, keys and values, the attention's output, the three layers of the MLP add
        a bias.
    head_norms
        Whether queries and keys are normed over each head before they turn.
    fused
        Whether the file holds queries, keys and values in one tensor, and gate and up in another.
    rotary_width
        Coordinates of a head that turn, the first ones; None for all of them.
    scaling
        Rule that changes the rotary frequencies; None where they are plain.
    window
        A row sees the positions less than so many before it, itself one of them.
    windowed
        Layers in which that holds, in rising order; the others see everything.
    """

    architecture: str
    vocabulary: int
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    mlp_width: int
    context_length: int
    rms_epsilon: float
    rope_base: float
    tied: bool
    bos_token: int | None
    end_tokens: tuple[int, ...]
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    head_norms: bool = False
    fused: bool = False
    rotary_width: int | None = None
    scaling: RopeScaling | None = None
    window: int | None = None
    windowed: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        sizes = ("vocabulary", "layers", "width", "heads", "kv_heads", "head_dim", "mlp_width")
        for name in (*sizes, "context_length"):
            if getattr(self, name) < 1:
                raise DraftscopeError(
                    f"The model's configuration gives {name} {getattr(self, name)}, which must be "
                    "positive. Download the model again."
                )
        if self.layers > MOST_LAYERS:
            raise DraftscopeError(
                f"The model's configuration asks for {self.layers} layers; at most {MOST_LAYERS} "
                "are supported. Check the file."
            )
        if self.heads % self.kv_heads or self.head_dim % 2:
            raise DraftscopeError(
                f"The model's configuration is inconsistent: {self.heads} heads, {self.kv_heads} "
                f"key/value heads, head size {self.head_dim}. Download the model again."
            )
        if self.rotary_dim % 2 or not 2 <= self.rotary_dim <= self.head_dim or self.rope_base <= 1:
            raise DraftscopeError(
                f"The model's configuration turns {self.rotary_dim} coordinates of heads of "
                f"{self.head_dim} with base {self.rope_base:g}, which is no rotary position. "
                "Download the model again."
            )
        if self.windowed and (self.window is None or self.window < 1):
            raise DraftscopeError(
                f"The model's configuration gives a sliding window of {self.window} positions, "
                "which must be positive. Download the model again."
            )

    @property
    def rotary_dim(self) -> int:
        """How many coordinates of a head turn."""
        return self.head_dim if self.rotary_width is None else self.rotary_width

    @property
    def notes(self) -> list[str]:
        """What a user should know of it, in sentences."""
        if self.scaling is None or self.scaling.kind != "dynamic":
            return []
        return [
            f"Its dynamic rotary scaling begins past the {self.context_length} tokens that it was "
            "trained on; it is used up to there."
        ]

    def window_of(self, layer: int) -> int | None:
        """Return the sliding window of a layer; None where it sees everything."""
        return self.window if layer in self.windowed else None
