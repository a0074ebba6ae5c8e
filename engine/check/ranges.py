"""Which settings a run can have had at all. Knows ranges; no law and no token.

The engine refuses others before a run begins (`engine.run.check_settings`), so a trace that holds
one was changed afterwards.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from engine.bounds import HOTTEST, LARGEST_SHIFT, MOST_DRAFTED
from engine.check.findings import Kind

if TYPE_CHECKING:
    from engine.check.findings import Ledger
    from engine.trace.events import Settings

_RANGES: dict[str, tuple[float, float]] = {
    "k": (0, MOST_DRAFTED),
    "k_min": (0, MOST_DRAFTED),
    "confidence": (0.0, 1.0),
    "temperature": (0.0, HOTTEST),
    "drafter_temperature": (0.0, HOTTEST),
    "top_k": (0, math.inf),
    "top_p": (math.ulp(0.0), 1.0),
    "min_p": (0.0, 1.0),
    "repetition_penalty": (1 / LARGEST_SHIFT, LARGEST_SHIFT),
    "presence_penalty": (-LARGEST_SHIFT, LARGEST_SHIFT),
    "frequency_penalty": (-LARGEST_SHIFT, LARGEST_SHIFT),
}


def check_ranges(settings: Settings, vocabulary: int, ledger: Ledger) -> None:
    """Check that the engine would have taken these settings, for a target of V = `vocabulary`."""
    for name, (low, high) in _RANGES.items():
        value = getattr(settings, name)
        if value is not None:
            within = low <= value <= high
            ledger.holds(Kind.SETTINGS, name, within, value, f"from {low:g} to {high:g}")
    for token, added in settings.logit_bias:
        sound = 0 <= token < (vocabulary or math.inf) and abs(added) <= LARGEST_SHIFT
        ledger.holds(Kind.SETTINGS, f"bias of token {token}", sound, added, "a token and a number")
