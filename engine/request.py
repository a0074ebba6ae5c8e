"""What is asked of a session: a prompt and how to decode it. Knows no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.trace.events import Settings


class Observation:
    """How much of each law a run's rounds record: `top_n` of a request and of `generate`.

    Any number of rows will do. Tokens, texts and verdicts are the same whatever is recorded.

    Attributes
    ----------
    off
        Nothing: no rows, no entropies, no overlap, and no time for them. For the text alone.
    usual
        What the window shows.
    """

    off: Final = 0
    usual: Final = 8


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """One run. `settings` may change between rounds, the rest is fixed."""

    prompt: str  # what a user says, or with `raw` the text to go on from
    settings: Settings  # of the first round
    raw: bool = False  # True: no chat template
    seed: int = 0  # of every uniform
    max_new_tokens: int = 128  # where the text ends at the latest
    stop_strings: tuple[str, ...] = ()  # the text ends before the first of them
    ignore_end_tokens: bool = False  # go on after them, as after any token
    baseline: bool = False  # run the plain target to its end afterwards
    probes: bool = True  # measure whole plain rounds now and then during the run
    top_n: int = Observation.usual  # rows kept of each law; `Observation.off` keeps none
