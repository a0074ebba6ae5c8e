"""What float16 can hold. Knows no kernel."""

from __future__ import annotations

from engine.errors import DraftscopeError

FLOAT16_MAX = 65504.0


def check_float16(largest: float) -> None:
    """Raise a DraftscopeError if weights up to this magnitude cannot be kept in float16."""
    if largest > FLOAT16_MAX:
        raise DraftscopeError(
            f"A weight of this model is {largest:.3g}, beyond float16's {FLOAT16_MAX:.0f}; "
            "choose the eager plan (--plan eager)."
        )
