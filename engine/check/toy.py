"""The rule on laws of a few tokens, drawn many times: the text follows p_target, exactly known.

Uses the engine's own draw, rule and uniforms. Knows no model and no cache.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import torch

from engine.acceptance import accept
from engine.check.fit import Fit, Share, chi_square, share
from engine.sampling import draw
from engine.uniforms import Purpose, uniform

if TYPE_CHECKING:
    from collections.abc import Callable

_REPORT_EVERY = 2_000  # draws


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Two laws over one small vocabulary."""

    name: str
    p_target: tuple[float, ...]
    q_draft: tuple[float, ...]
    one_hot: bool = False  # the drafter is deterministic: it hands over no law

    @property
    def overlap(self) -> float:
        """sum(min(p_target, q_draft)): the probability of acceptance."""
        return sum(map(min, self.p_target, self.q_draft))


PAIRS = (
    Pair(name="unlike", p_target=(0.5, 0.3, 0.2), q_draft=(0.2, 0.3, 0.5)),
    Pair(
        name="one-hot drafter",
        p_target=(0.5, 0.3, 0.2),
        q_draft=(0.0, 0.0, 1.0),
        one_hot=True,
    ),
    Pair(name="equal", p_target=(0.5, 0.3, 0.2), q_draft=(0.5, 0.3, 0.2)),
    Pair(name="disjoint", p_target=(0.6, 0.4, 0.0, 0.0), q_draft=(0.0, 0.0, 0.3, 0.7)),
)


class ToyResult(msgspec.Struct, frozen=True, kw_only=True):
    """One pair, drawn."""

    pair: Pair
    counts: tuple[int, ...]
    tokens: Fit  # of the emitted tokens against p_target
    acceptance: Share  # against sum(min(p_target, q_draft))
    control: Fit | None  # of the same tokens against q_draft, which they must not follow


def run_pair(
    pair: Pair, draws: int, on_progress: Callable[[int, int, str], None] | None = None
) -> ToyResult:
    """Put `draws` single drafted tokens through the rule; seeds 0, 1, 2, ... at position 0."""
    p_target = torch.tensor(pair.p_target, dtype=torch.float64)
    q_draft = torch.tensor(pair.q_draft, dtype=torch.float64)
    rows, given = torch.stack((p_target, p_target)), None if pair.one_hot else q_draft[None]
    counts: Counter[int] = Counter()
    accepted = 0
    for seed in range(draws):
        token = draw(q_draft, uniform(seed, 0, Purpose.DRAFT))
        closings = [uniform(seed, 0, Purpose.CORRECTION), uniform(seed, 1, Purpose.BONUS)]
        verdict = accept(rows, given, [token], [uniform(seed, 0, Purpose.TEST)], closings)
        accepted += verdict.accepted
        counts[token if verdict.accepted else verdict.closing] += 1
        if on_progress is not None and (seed + 1) % _REPORT_EVERY == 0:
            on_progress(seed + 1, draws, f"Drawing from the toy pair {pair.name!r}")
    alike = pair.p_target == pair.q_draft
    return ToyResult(
        pair=pair,
        counts=tuple(counts[token] for token in range(len(pair.p_target))),
        tokens=chi_square(counts, pair.p_target),
        acceptance=share(accepted, draws, pair.overlap),
        control=None if alike else chi_square(counts, pair.q_draft),
    )
