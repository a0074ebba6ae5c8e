"""The loss and its gradient against plain autograd in float64."""

from __future__ import annotations

import pytest
import torch

from engine.training import loss as module
from engine.training.loss import LawLoss

ROWS, WIDTH, SCORED, ALL = 23, 12, 17, 30


class Given:
    """Rows of a drafter and of a target over the scored part of a vocabulary; all float64."""

    def __init__(self, seed: int = 0) -> None:
        draw = torch.Generator().manual_seed(seed)

        def noise(*shape: int) -> torch.Tensor:
            return torch.randn(*shape, generator=draw, dtype=torch.float64)

        whole = noise(ALL, WIDTH)
        self.table = whole[:SCORED]
        self.rows, self.target = noise(ROWS, WIDTH), noise(ROWS, WIDTH)
        logits = self.target @ whole.T
        self.normalisers, choices = logits.logsumexp(-1), logits.argmax(-1)
        self.choices = torch.where(choices < SCORED, choices, -1)
        self.weights = torch.rand(ROWS, generator=draw, dtype=torch.float64)

    def plain(self, hardness: float, mixing: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
        """Return value and gradient as they are defined."""
        rows = self.rows.clone().requires_grad_()
        log_law = (rows @ self.table.T).log_softmax(-1)
        law = (self.target @ self.table.T - self.normalisers[:, None]).exp()
        soft = -(law * log_law).sum(-1)
        picked = log_law.gather(1, self.choices.clamp(min=0)[:, None])[:, 0]
        hard = torch.where(self.choices >= 0, -picked, torch.zeros_like(picked))
        crossed = (1 - hardness) * soft + hardness * hard
        rejected = 1 - torch.minimum(law, log_law.exp()).sum(-1)
        total = (self.weights * (mixing * crossed + (1 - mixing) * rejected)).sum()
        total.backward()
        assert rows.grad is not None
        return total.detach(), rows.grad

    def ours(
        self, hardness: float, kind: torch.dtype, mixing: float = 1.0
    ) -> tuple[torch.Tensor, torch.Tensor]:
        rows = self.rows.to(kind).clone().requires_grad_()
        given = (self.target, self.table, self.normalisers)
        total, _, _ = LawLoss.apply(
            rows,
            *(one.to(kind) for one in given),
            self.choices,
            self.weights.to(kind),
            hardness,
            mixing,
        )
        total.backward()
        assert rows.grad is not None
        return total.detach(), rows.grad


@pytest.mark.parametrize("hardness", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("mixing", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("together", [1, 7, 23, 512])
def test_value_and_gradient_are_those_of_cross_entropy_and_rejection_mixed(
    monkeypatch: pytest.MonkeyPatch,
    hardness: float,
    mixing: float,
    kind: torch.dtype,
    together: int,
) -> None:
    monkeypatch.setattr(module, "ROWS", together)
    given = Given()
    value, gradient = given.ours(hardness, kind, mixing)
    expected, slope = given.plain(hardness, mixing)
    assert float(value) == pytest.approx(float(expected), rel=1e-5)
    assert float((gradient.double() - slope).abs().max()) < 1e-5 * float(slope.abs().max())


def test_some_choices_lie_outside_of_what_is_scored() -> None:
    outside = Given().choices < 0
    assert 3 < int(outside.sum()) < ROWS - 3


def test_mass_that_cannot_be_won_weighs_nothing() -> None:
    # rows whose law lies outside the scored ids have no slope at all
    given = Given()
    given.normalisers = given.normalisers + 60.0
    _, gradient = given.ours(0.0, torch.float32)
    assert float(gradient.abs().max()) < 1e-20
    given.choices = torch.full_like(given.choices, -1)
    _, gradient = given.ours(0.5, torch.float32)
    assert float(gradient.abs().max()) < 1e-20


def test_a_row_counts_by_its_weight() -> None:
    given = Given()
    whole, _ = given.ours(0.3, torch.float64)
    parts = []
    for row in range(ROWS):
        given.weights = Given().weights * (torch.arange(ROWS) == row)
        parts.append(float(given.ours(0.3, torch.float64)[0]))
    assert sum(parts) == pytest.approx(float(whole), rel=1e-5)
    assert len({round(part, 6) for part in parts}) == ROWS


def test_the_gradient_is_scaled_by_what_comes_after() -> None:
    given = Given()
    rows = given.rows.float().requires_grad_()
    others = (given.target.float(), given.table.float(), given.normalisers.float())
    total, *_ = LawLoss.apply(rows, *others, given.choices, given.weights.float(), 0.1, 1.0)
    (3.0 * total).backward()
    assert rows.grad is not None
    assert torch.allclose(rows.grad, 3.0 * given.ours(0.1, torch.float32)[1])


def test_no_rows_cost_nothing() -> None:
    rows = torch.zeros(0, WIDTH, requires_grad=True)
    empty = torch.zeros(0)
    table = torch.randn(SCORED, WIDTH)
    ids = torch.zeros(0, dtype=torch.int64)
    total, *_ = LawLoss.apply(rows, torch.zeros(0, WIDTH), table, empty, ids, empty, 0.1, 0.5)
    total.backward()
    assert float(total.detach()) == 0.0


def test_what_is_told_beside_the_loss_is_cross_entropy_and_overlap() -> None:
    given = Given()
    laws = [
        (given.target @ given.table.T - given.normalisers[:, None]).exp(),
        (given.rows @ given.table.T).softmax(-1),
    ]
    overlap = (given.weights * torch.minimum(*laws).sum(-1)).sum()
    others = (given.target, given.table, given.normalisers, given.choices, given.weights)
    for mixing in (0.0, 0.4, 1.0):
        _, crossed, overlapped = LawLoss.apply(given.rows, *others, 0.2, mixing)
        assert float(crossed) == pytest.approx(float(given.plain(0.2)[0]), rel=1e-5)
        assert float(overlapped) == pytest.approx(float(overlap), rel=1e-5)
