"""The articles' test: pairs of tokens, the second depending on the first, laws at odds."""

from __future__ import annotations

import numpy as np
import torch

from engine.acceptance import accept
from engine.sampling import draw
from engine.uniforms import Purpose, uniform

SIZE = 5
PAIRS = 200_000
BOUND = 51.2  # chi-square, 24 degrees of freedom, 0.1 %


def _laws(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a first-token law [5] and second-token laws [5, 5], given the first."""
    generator = torch.Generator().manual_seed(seed)
    first = torch.softmax(1.2 * torch.randn(SIZE, generator=generator), dim=0)
    second = torch.softmax(1.2 * torch.randn(SIZE, SIZE, generator=generator), dim=1)
    return first, second


def _chi_square(counts: np.ndarray, expected: np.ndarray) -> float:
    return float(((counts - expected) ** 2 / expected).sum())


def _speculative_counts(pairs: int) -> np.ndarray:
    """Draw pairs through propose, verify, accept: k = 2 from each start, cut after two tokens."""
    p_first, p_second = _laws(1)
    q_first, q_second = _laws(2)
    counts = np.zeros((SIZE, SIZE))
    p_rows = {a: torch.stack((p_first, p_second[a], p_first)) for a in range(SIZE)}
    q_rows = {a: torch.stack((q_first, q_second[a])) for a in range(SIZE)}
    for seed in range(pairs):
        one = draw(q_first, uniform(seed, 0, Purpose.DRAFT))
        two = draw(q_second[one], uniform(seed, 1, Purpose.DRAFT))
        tests = [uniform(seed, i, Purpose.TEST) for i in range(2)]
        closings = [uniform(seed, i, Purpose.CORRECTION) for i in range(3)]
        verdict = accept(p_rows[one], q_rows[one], [one, two], tests, closings)
        text = [*[one, two][: verdict.accepted], verdict.closing]
        if len(text) == 1:  # the first was rejected: position 1 is drafted again in a new round
            text += _next_round(p_rows[text[0]][1:], q_rows[text[0]][1:], seed)
        counts[text[0], text[1]] += 1
    return counts


def _next_round(p_target: torch.Tensor, q_draft: torch.Tensor, seed: int) -> list[int]:
    """Return the first token of a round with k = 1 at position 1, in the decoder's own draws."""
    drafted = draw(q_draft[0], uniform(seed, 1, Purpose.DRAFT))
    test = uniform(seed, 1, Purpose.TEST)
    closings = [uniform(seed, 1, Purpose.CORRECTION), 0.5]
    verdict = accept(p_target, q_draft, [drafted], [test], closings)
    return [drafted if verdict.accepted else verdict.closing]


def test_pairs_follow_the_target_and_not_the_drafter() -> None:
    p_first, p_second = _laws(1)
    q_first, q_second = _laws(2)
    expected = PAIRS * (p_first[:, None] * p_second).double().numpy()
    counts = _speculative_counts(PAIRS)
    assert counts.sum() == PAIRS
    assert _chi_square(counts, expected) < BOUND
    drafted = PAIRS * (q_first[:, None] * q_second).double().numpy()
    assert _chi_square(drafted, expected) > 1_000  # the same test sees the drafter's own law
