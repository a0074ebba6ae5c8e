"""How a model scales its rotary positions, from config.json or from a GGUF file's metadata.

Knows names and numbers; `rotary` makes frequencies of them. Knows no tensor.

Linear: Chen et al. 2023 (position interpolation). Yarn: Peng et al. 2023. Llama3: the rule of the
Llama 3.1 release. Dynamic changes nothing up to the trained length and would have to turn the
cached keys again beyond it, so such a model is used up to its trained length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.models.family import unsupported
from engine.models.formats.config_values import MOST, flag, integer, number

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class RopeScaling:
    """A rule that changes the frequencies of rotary positions.

    Attributes
    ----------
    kind
        "linear", "llama3", "yarn", "dynamic", or "divisors" for the frequencies of a GGUF file.
    factor
        How many times longer the context became.
    original_length
        Trained length before it did, in tokens; 0 where the kind does not ask.
    slow, fast
        llama3: frequencies of fewer than `slow` turns within the original length are divided by
        the factor, of more than `fast` kept. yarn: the same as dimensions of the ramp.
    truncate
        yarn: whether the ramp begins and ends at whole dimensions.
    attention_factor
        yarn: what rotated queries and keys are multiplied by.
    divisors
        One a frequency.
    """

    kind: str
    factor: float = 1.0
    original_length: int = 0
    slow: float = 1.0
    fast: float = 32.0
    truncate: bool = True
    attention_factor: float = 1.0
    divisors: tuple[float, ...] = ()


MOST_TURNS = 1e9  # a bound for damaged files

_COMMON = {"rope_type", "type", "rope_theta", "partial_rotary_factor"}
_KEYS: dict[str, set[str]] = {
    "default": set(),
    "linear": {"factor"},
    "dynamic": {"factor"},
    "llama3": {
        *("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    },
    "yarn": {
        *("factor", "original_max_position_embeddings", "attention_factor", "truncate"),
        *("beta_fast", "beta_slow", "mscale", "mscale_all_dim"),
        "finetuned",  # says how it was trained, not what is computed
    },
}


def rope_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `rope_scaling` or its newer form `rope_parameters`; empty where neither is given.

    Raises
    ------
    DraftscopeError
        If it is no object, is given twice and differently, or differs from layer to layer.
    """
    given = {key: values[key] for key in ("rope_scaling", "rope_parameters") if values.get(key)}
    for key, rope in given.items():
        if not isinstance(rope, dict):
            raise unsupported(f"{key} is {rope!r:.80}")
        for name, inner in rope.items():
            if isinstance(inner, dict):
                raise unsupported(f"{key} of its own for {name} layers")
    distinct = list(given.values())
    if len(distinct) == 2 and distinct[0] != distinct[1]:
        raise unsupported("rope_scaling and rope_parameters that differ")
    return dict(distinct[0]) if distinct else {}


def scaling_of_folder(values: Mapping[str, Any]) -> RopeScaling | None:
    """Read the scaling of a config.json; None where rotary positions are plain.

    Raises
    ------
    DraftscopeError
        For a kind, or a key of it, that is not supported, by name.
    """
    rope = {key: value for key, value in rope_values(values).items() if value is not None}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if not isinstance(kind, str) or kind not in _KEYS:
        raise unsupported(f"rotary scaling {kind!s:.80}")
    if rope.get("type", kind) != kind:
        raise unsupported(f"rotary scaling {kind} and {rope['type']!s:.80} at once")
    surplus = sorted(rope.keys() - _COMMON - _KEYS[kind])
    if surplus:
        named = ", ".join(surplus)
        raise unsupported(f"rotary scaling {kind} with {named}")
    if kind == "default":
        return None
    needed = ("low_freq_factor", "high_freq_factor") if kind == "llama3" else ()
    for key in ("factor", *needed):
        if key not in rope:
            raise unsupported(f"rotary scaling {kind} without {key}")
    factor = number(rope, "factor")
    if kind in ("linear", "dynamic"):
        return RopeScaling(kind, factor)
    original = integer(
        # a number outside of the scaling wins, as in transformers
        {**rope, **_given(values, "original_max_position_embeddings")},
        "original_max_position_embeddings",
        integer(values, "max_position_embeddings"),
    )
    if kind == "llama3":
        slow, fast = number(rope, "low_freq_factor"), number(rope, "high_freq_factor")
        return _checked(RopeScaling(kind, factor, original, slow, fast))
    return _checked(
        RopeScaling(
            kind,
            factor,
            original,
            slow=number(rope, "beta_slow", 1.0),
            fast=number(rope, "beta_fast", 32.0),
            truncate=flag(rope, "truncate", True),
            attention_factor=number(rope, "attention_factor", _attention_factor(rope, factor)),
        )
    )


def _given(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {key: values[key]} if values.get(key) is not None else {}


def _attention_factor(rope: Mapping[str, Any], factor: float) -> float:
    """Peng et al. 2023, eq. 22, and the two numbers by which DeepSeek's files change it."""
    mscale, all_dim = rope.get("mscale"), rope.get("mscale_all_dim")
    if mscale and all_dim:
        one, other = number(rope, "mscale"), number(rope, "mscale_all_dim")
        return mscale_of(factor, one) / mscale_of(factor, other)
    return mscale_of(factor)


def mscale_of(factor: float, mscale: float = 1.0) -> float:
    """Return what longer contexts multiply rotated queries and keys by."""
    return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1.0


def usable_length(given: int, scaling: RopeScaling | None) -> int:
    """Return how many tokens a text may have: yarn's files often give the length before it."""
    if scaling is None or scaling.kind != "yarn":
        return given
    return max(given, int(min(scaling.factor * scaling.original_length, MOST)))


def _checked(scaling: RopeScaling) -> RopeScaling:
    if scaling.original_length < 1 or not scaling.slow < scaling.fast < MOST_TURNS:
        raise unsupported(
            f"rotary scaling {scaling.kind} from {scaling.slow:g} to {scaling.fast:g} turns in "
            f"{scaling.original_length} tokens"
        )
    return scaling


def scaling_of_gguf(values: Mapping[str, Any], context_length: int) -> RopeScaling | None:
    """Read the scaling of GGUF metadata; None where rotary positions are plain.

    Parameters
    ----------
    values
        Metadata without the architecture's prefix.
    context_length
        What the original length is where it is not given.

    Raises
    ------
    DraftscopeError
        For a kind, or a number, that is not supported, by name.
    """
    # llama.cpp scales linearly where a factor is given without a kind, also by its old name
    kind = values.get("rope.scaling.type", "linear")
    if kind not in ("none", "linear", "yarn"):
        raise unsupported(f"rotary scaling {kind!s:.80}")
    neutral = {"rope.scaling.yarn_ext_factor": 1.0, "rope.scaling.yarn_log_multiplier": 0.0}
    if kind != "yarn":
        neutral["rope.scaling.attn_factor"] = 1.0
    for key, harmless in neutral.items():
        if values.get(key, harmless) != harmless:
            raise unsupported(f"{key} is {values[key]!r:.80}")
    given = values.get("rope.scaling.factor") or values.get("rope.scale_linear")
    if kind == "none" or (kind == "linear" and given in (None, 0, 1)):
        return None
    if given is None:
        raise unsupported(f"rotary scaling {kind} without rope.scaling.factor")
    factor = number({"rope.scaling.factor": given}, "rope.scaling.factor")
    if kind == "linear":
        return RopeScaling("linear", factor)
    attention = number(values, "rope.scaling.yarn_attn_factor", mscale_of(factor))
    return _checked(
        RopeScaling(
            "yarn",
            factor,
            integer(values, "rope.scaling.original_context_length", context_length),
            slow=number(values, "rope.scaling.yarn_beta_slow", 1.0),
            fast=number(values, "rope.scaling.yarn_beta_fast", 32.0),
            attention_factor=attention * number(values, "rope.scaling.attn_factor", 1.0),
        )
    )
