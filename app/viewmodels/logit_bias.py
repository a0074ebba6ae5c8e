"""Logit biases as they are typed: "42=-5, 7=2.5". Knows no vocabulary, no widget and no parser.

A bias is added to one token's logit; whether the id is in the vocabulary is the engine's to say.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST = 1e4  # of a bias, as of a penalty: far beyond any logit
Bias = tuple[tuple[int, float], ...]


def parse_bias(text: str) -> tuple[int, float]:
    """Return one bias from "ID=NUMBER".

    Raises
    ------
    ValueError
        With a clause that says what is wrong and what to write.
    """
    name, sign, written = text.partition("=")
    name, written = name.strip(), written.strip()
    if not (sign and name.isascii() and name.isdecimal()):
        raise ValueError(f"{text.strip()!r} is not ID=NUMBER, for example 42=-5")
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    if not -LARGEST <= value <= LARGEST:
        raise ValueError(
            f"the bias of token {name} is {written!r}, not a number from {-LARGEST:.0f} to "
            f"{LARGEST:.0f}"
        )
    return int(name), value


def parse_biases(text: str, vocabulary: int = 0) -> Bias:
    """Return all biases of a list that commas separate; empty for an empty text.

    Parameters
    ----------
    vocabulary
        V of the target, where it is known; ids beyond it are refused.

    Raises
    ------
    ValueError
        With a clause that says what is wrong and what to write.
    """
    return joined([parse_bias(part) for part in text.split(",") if part.strip()], vocabulary)


def joined(biases: Sequence[tuple[int, float]], vocabulary: int = 0) -> Bias:
    """Return biases as settings hold them; raises ValueError where an id is wrong or comes twice.

    A bias of 0 moves nothing and is left out.
    """
    ids = [token for token, _ in biases]
    for at, token in enumerate(ids):
        if token in ids[:at]:
            raise ValueError(f"token {token} has two biases: leave one")
        if 0 < vocabulary <= token:
            raise ValueError(f"the target's last token is {vocabulary - 1}, so there is no {token}")
    return tuple((token, value) for token, value in biases if value != 0)


def written_bias(bias: Bias) -> str:
    """Write biases as they are typed."""
    return ", ".join(f"{token}={_number(value)}" for token, value in bias)


def _number(value: float) -> str:
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
