"""Uniform numbers as a function of (seed, position, purpose). No state, no generator, no torch.

A counter-based generator (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): the
same triple gives the same number whatever ran before, so that probes and observation draw nothing
from a run's stream and any round of a trace can be derived again.
"""

from __future__ import annotations

from enum import StrEnum
from hashlib import blake2b


class Purpose(StrEnum):
    """What a uniform decides at its position."""

    DRAFT = "draft"  # which token the drafter draws
    TEST = "test"  # whether the drafted token is kept
    CORRECTION = "correction"  # which token is drawn from the residual
    BONUS = "bonus"  # which token is drawn after every drafted token was accepted
    PLAIN = "plain"  # which token a plain round draws


def uniform(seed: int, position: int, purpose: Purpose) -> float:
    """Return the uniform in [0, 1) of this purpose at this position of the text.

    Parameters
    ----------
    seed
        Any integer.
    position
        Index of the token that is decided, counted from the first token of the prompt.
    purpose
        What the number decides.

    Returns
    -------
    float
        A multiple of 2**-53, so every value is a float64 below 1.
    """
    message = f"{seed}/{position}/{purpose}".encode()
    bits = int.from_bytes(blake2b(message, digest_size=8).digest(), "little")
    return (bits >> 11) * 2.0**-53
