"""The plain target as a run measured it, and the gain over it. Knows no rounds and no file."""

from __future__ import annotations

from engine.trace.figures import PlainMeasure, PlainSource, ratio
from engine.trace.intervals import RunningMean

# Probes are taken in the run's own conditions (what else the machine does, the picture painted
# meanwhile), a baseline by itself afterwards; two give an interval, wide as it is. Below: baseline.
PROBES_NEEDED = 2


class PlainSide:
    """Plain rounds of both sources: probes within the run, and a baseline after it."""

    def __init__(self) -> None:
        self._probes = RunningMean()
        self._baseline = RunningMean()

    def add_probe(self, ns: int) -> None:
        """Take in a plain round measured between this run's rounds."""
        self._probes.add(ns)

    def add_baseline(self, ns: int) -> None:
        """Take in a round of the plain run."""
        self._baseline.add(ns)

    @property
    def probes(self) -> PlainMeasure | None:
        """What the probes say."""
        return _measure(self._probes)

    @property
    def baseline(self) -> PlainMeasure | None:
        """What the plain run says."""
        return _measure(self._baseline)

    @property
    def source(self) -> PlainSource | None:
        """Which of them is the plain figure: probes saw the same contexts in the same run."""
        if self._probes.count >= PROBES_NEEDED:
            return "probes"
        if self._baseline.total > 0:
            return "baseline"
        return "probes" if self._probes.total > 0 else None

    @property
    def chosen(self) -> PlainMeasure | None:
        """The measure of that source."""
        return self.baseline if self.source == "baseline" else self.probes


def speedups(
    tokens_per_second: float | None, plain: PlainMeasure | None
) -> tuple[float | None, float | None, float | None]:
    """Return the speed-up and, from the ends of the plain interval, its low and high ends."""
    if plain is None:
        return None, None, None
    return (
        ratio(tokens_per_second, plain.tokens_per_second),
        ratio(tokens_per_second, plain.high_tokens_per_second),
        ratio(tokens_per_second, plain.low_tokens_per_second),
    )


def _measure(samples: RunningMean) -> PlainMeasure | None:
    if samples.total <= 0:
        return None
    half = samples.half_width()
    low = None if half is None else max(0.0, samples.mean - half)
    high = None if half is None else samples.mean + half
    return PlainMeasure(
        samples=samples.count,
        mean_ns=samples.total / samples.count,
        low_ns=low,
        high_ns=high,
        tokens_per_second=samples.count * 1e9 / samples.total,
        low_tokens_per_second=ratio(1e9, high),
        high_tokens_per_second=ratio(1e9, low),
    )
