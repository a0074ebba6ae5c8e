"""Which part of engine time is on screen: zoom, pan and following the cursor.

Knows nanoseconds and a width in pixels. Knows no round and no widget.
"""

from __future__ import annotations

_NARROWEST_NS = 20_000.0  # a window is never shorter than 20 microseconds
_FOLLOW_AT = 0.9  # a followed cursor stands here, as a share of the width


class TimeWindow:
    """An interval of engine time laid over a number of pixels.

    Until it is zoomed, it shows everything as long as a round has `comfortable_px`, and after
    that the latest part, at that scale.
    """

    comfortable_px = 22.0

    def __init__(self) -> None:
        self.start_ns = 0.0
        self.width_ns = 1e6
        self.pixels = 1.0
        self._total_ns = 0.0
        self._automatic = True

    @property
    def end_ns(self) -> float:
        """Right edge."""
        return self.start_ns + self.width_ns

    @property
    def total_ns(self) -> float:
        """Length of what there is to show."""
        return self._total_ns

    @property
    def automatic(self) -> bool:
        """Whether the scale is still chosen by the rounds and not by the viewer."""
        return self._automatic

    def set_content(self, total_ns: float, rounds: int, pixels: float) -> None:
        """Tell how much there is to show and on how many pixels."""
        self._total_ns, self.pixels = total_ns, max(1.0, pixels)
        if self._automatic and rounds:
            comfortable = total_ns / rounds * self.pixels / self.comfortable_px
            self.width_ns = max(min(total_ns, comfortable), _NARROWEST_NS)
        self._clamp()

    def x_of(self, ns: float) -> float:
        """Return the pixel of an instant, from the left edge."""
        return (ns - self.start_ns) / self.width_ns * self.pixels

    def ns_of(self, x: float) -> float:
        """Return the instant at a pixel."""
        return self.start_ns + x / self.pixels * self.width_ns

    def zoom(self, factor: float, x: float) -> None:
        """Show `factor` times less, keeping the instant at pixel x where it is."""
        anchor = self.ns_of(x)
        self.width_ns = min(max(self.width_ns / factor, _NARROWEST_NS), self._widest())
        self.start_ns = anchor - x / self.pixels * self.width_ns
        self._automatic = False
        self._clamp()

    def fit(self) -> None:
        """Show everything."""
        self.start_ns, self.width_ns = 0.0, self._widest()
        self._automatic = False

    def restore(self) -> None:
        """Go back to the automatic scale."""
        self._automatic = True

    def pan(self, share: float) -> None:
        """Move by a share of the width; positive is later."""
        self.start_ns += share * self.width_ns
        self._clamp()

    def move_to(self, start_ns: float) -> None:
        """Put the left edge at an instant."""
        self.start_ns = start_ns
        self._clamp()

    def follow(self, ns: float) -> bool:
        """Bring an instant on screen; return whether the window moved."""
        before = self.start_ns
        if not self.start_ns <= ns <= self.start_ns + _FOLLOW_AT * self.width_ns:
            self.start_ns = ns - _FOLLOW_AT * self.width_ns
            self._clamp()
        return self.start_ns != before

    def _widest(self) -> float:
        return max(self._total_ns, _NARROWEST_NS)

    def _clamp(self) -> None:
        self.width_ns = min(self.width_ns, self._widest())
        self.start_ns = min(max(self.start_ns, 0.0), max(0.0, self._total_ns - self.width_ns))


def tick_step(width_ns: float, pixels: float, spacing_px: float = 80.0) -> float:
    """Return 1, 2 or 5 times a power of ten nanoseconds: ticks at least `spacing_px` apart."""
    least = max(width_ns * spacing_px / max(pixels, 1.0), 1.0)
    power = 1.0
    while power * 10 <= least:
        power *= 10
    return next(power * step for step in (1, 2, 5, 10) if power * step >= least)


def tick_label(ns: float, step_ns: float) -> str:
    """Write an instant with the digits that its neighbours need, in seconds or milliseconds."""
    unit, name = (1e9, "s") if step_ns >= 1e8 else (1e6, "ms")
    share = step_ns / unit
    digits = 0 if share >= 1 else 1 if share >= 0.1 else 2 if share >= 0.01 else 3
    return f"{ns / unit:,.{digits}f} {name}"
