"""A target and a small model in Hugging Face transformers, with the very weights that ours has.

Knows transformers, configs and checkpoints; nothing of our decoding. The library is asked for only
when a peer is made: it is no dependency of the program.
"""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch

from engine.benchmarks.peers_timing import Arrivals
from engine.errors import DraftscopeError, out_of_memory
from engine.models.layout import expected_shapes
from engine.models.rotary import frequencies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.benchmarks.peers_timing import Decoded
    from engine.models.config import ModelConfig
    from engine.models.plans.protocol import Plan

LONGEST_NGRAM = 4  # ours looks up so many tokens at most; transformers would only two


@dataclass(frozen=True)
class Weights:
    """A model's weights as a plan keeps them, for another library to compute with.

    Attributes
    ----------
    vocabulary
        Rows of the table that stand for tokens; the others would only be scored.
    tensor
        Returns a weight by its Hugging Face name.
    plan
        Which type it keeps them in, in which it computes, and where.
    """

    config: ModelConfig
    vocabulary: int
    tensor: Callable[[str], Tensor]
    plan: Plan

    @property
    def kept(self) -> torch.dtype:
        """The type that the plan keeps matrices in: they were rounded to it."""
        return self.plan.table(torch.zeros(1, 1)).dtype

    def named(self, name: str) -> Tensor:
        """Return a weight rounded as the plan rounds it, in the type that the plan computes in."""
        tensor = self.tensor(name)
        if name in ("model.embed_tokens.weight", "lm_head.weight"):
            tensor = tensor[: self.vocabulary]
        if tensor.ndim > 1:  # norms and biases stay as they are
            tensor = tensor.to(self.kept)
        return tensor.to(self.plan.dtype)


def library() -> Any:
    """Return transformers.

    Raises
    ------
    DraftscopeError
        If it is not installed.
    """
    try:
        found = import_module("transformers")
    except ImportError as error:
        raise DraftscopeError(
            "Comparing with transformers needs the library; install it with "
            "pip install 'transformers>=4.57,<6', or with Draftscope's extra named peers."
        ) from error
    found.logging.set_verbosity_error()
    return found


class TransformersPeer:
    """Greedy `generate`: plain, with prompt look-up, or with an assistant."""

    def __init__(
        self, weights: Weights, end_tokens: Sequence[int], assistant: Weights | None = None
    ) -> None:
        """Build the models; `end_tokens` end a text, as they do ours."""
        self.version: str = library().__version__
        self.kept = weights.kept
        self._device = weights.plan.device
        self._model = _built(weights, end_tokens)
        self._assistant = None if assistant is None else _built(assistant, end_tokens)
        self.attention: str = self._model.config._attn_implementation

    def decode(self, prompt: Sequence[int], drafter: str, k: int, limit: int) -> Decoded:
        """Decode one text.

        Parameters
        ----------
        prompt
            Token ids.
        drafter
            "none", "ngram" or "model": `generate` alone, with `prompt_lookup_num_tokens=k`, with
            `assistant_model`.
        k
            Tokens drafted a round.
        limit
            New tokens at most.
        """
        ids = torch.tensor([list(prompt)], device=self._device)
        streamer = _Streamer()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a version thinks of its own settings
            self._model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                do_sample=False,
                max_new_tokens=limit,
                streamer=streamer,
                **self._drafting(drafter, k),
            )
        return streamer.arrivals.decoded()

    def call(self, drafter: str, k: int) -> str:
        """Write what `decode` calls, as a user of the library would."""
        drafting = {
            "none": "",
            "ngram": f"prompt_lookup_num_tokens={k}",
            "model": "assistant_model=...",
        }
        return f"generate({drafting[drafter]})"

    def _drafting(self, drafter: str, k: int) -> dict[str, Any]:
        if drafter == "none":
            return {}
        if drafter == "ngram":
            return {"prompt_lookup_num_tokens": k, "max_matching_ngram_size": LONGEST_NGRAM}
        assert self._assistant is not None, "a drafter that was not asked for"
        settings = self._assistant.generation_config
        settings.num_assistant_tokens = k
        settings.num_assistant_tokens_schedule = "constant"
        settings.assistant_confidence_threshold = 0.0
        return {"assistant_model": self._assistant}

    @torch.inference_mode()
    def rows(self, tokens: Sequence[int], widths: Sequence[int]) -> Tensor:
        """Return the logits after `tokens` from passes of several widths; [widths, V]."""
        named = inspect.signature(self._model.forward).parameters
        key = "cache" if "cache" in named else "past_key_values"  # the name that a version has
        ids = torch.tensor([list(tokens)], device=self._device)
        rows = []
        for width in widths:
            if width > len(tokens):
                break
            given: dict[str, Any] = {}
            if width < len(tokens):
                given[key] = self._model(ids[:, :-width], use_cache=True)[key]
            rows.append(self._model(ids[:, -width:], use_cache=True, **given).logits[0, -1])
        return torch.stack(rows).float()


class _Streamer:
    """What `generate` hands its tokens to: the prompt first, then a burst a pass."""

    def __init__(self) -> None:
        self.arrivals = Arrivals()
        self._prompt = True

    def put(self, value: Tensor) -> None:
        """Take what arrived."""
        if self._prompt:
            self._prompt = False
            return
        self.arrivals.put(value.flatten().tolist())

    def end(self) -> None:
        """Nothing is kept back."""


def _built(weights: Weights, end_tokens: Sequence[int]) -> Any:
    """Build a model from named weights; nothing of it comes from a file of its own."""
    transformers, config = library(), weights.config
    try:
        asked = transformers.AutoConfig.for_model(**_values(weights, end_tokens))
        model = transformers.AutoModelForCausalLM.from_config(asked, dtype=weights.plan.dtype)
    except Exception as error:  # the library has errors of its own for this
        if out_of_memory(error):
            raise DraftscopeError(
                "The memory does not hold the models of transformers beside Draftscope's; measure "
                "a smaller target."
            ) from error
        raise DraftscopeError(
            f"transformers cannot build this {config.architecture} model ({error}); "
            "measure another target."
        ) from error
    parameters = dict(model.named_parameters())
    if set(parameters) != set(expected_shapes(config)):
        odd = sorted(set(parameters) ^ set(expected_shapes(config)))[0]
        raise DraftscopeError(
            f"transformers and Draftscope disagree about the tensor {odd} of this "
            f"{config.architecture} model; measure another target."
        )
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights.named(name))
    rotary = model.model.rotary_emb
    scaling = config.scaling
    turned = frequencies(config.rotary_dim, config.rope_base, scaling)
    rotary.inv_freq = turned.to(rotary.inv_freq)
    rotary.attention_scaling = 1.0 if scaling is None else scaling.attention_factor
    return model.to(weights.plan.device).eval()


def _values(weights: Weights, end_tokens: Sequence[int]) -> dict[str, Any]:
    """Return the configuration in transformers' words; rotary scaling is set in the model."""
    config = weights.config
    kind, window = config.architecture, config.window if config.windowed else None
    if kind == "llama" and window is not None:
        kind = "mistral"  # as the GGUF files of that family call themselves
    values = {
        "model_type": kind,
        "vocab_size": weights.vocabulary,
        "hidden_size": config.width,
        "intermediate_size": config.mlp_width,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "max_position_embeddings": config.context_length,
        "rms_norm_eps": config.rms_epsilon,
        "rope_theta": config.rope_base,
        "tie_word_embeddings": config.tied,
        "bos_token_id": None,
        "eos_token_id": list(end_tokens) or None,
        "pad_token_id": next(iter(end_tokens), None),  # any other would be masked in prompts
    }
    if kind in ("llama", "qwen3"):
        values |= {"attention_bias": config.output_bias, "mlp_bias": config.mlp_bias}
    if kind in ("mistral", "phi3"):
        values["sliding_window"] = window
    if kind == "phi3":
        values["partial_rotary_factor"] = config.rotary_dim / config.head_dim
        del values["head_dim"]  # it has none of its own
    if kind in ("qwen2", "qwen3"):
        layers = ["full_attention"] * config.layers
        for index in config.windowed:
            layers[index] = "sliding_attention"
        values |= {"layer_types": layers, "sliding_window": window}
        values["use_sliding_window"] = window is not None
    return values
