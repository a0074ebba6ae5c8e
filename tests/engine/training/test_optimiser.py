"""How weights are moved: the rate over a training, both kinds of weights, and going on."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from engine.training.optimiser import FALL, MATRIX_RATE, WARM, Optimiser, scheduled


class Pair(nn.Module):
    """A matrix and a vector, and a matrix that is not always used."""

    def __init__(self) -> None:
        super().__init__()
        draw = torch.Generator().manual_seed(0)
        self.matrix = nn.Parameter(torch.randn(6, 4, generator=draw))
        self.vector = nn.Parameter(torch.ones(4))
        self.other = nn.Parameter(torch.randn(4, 4, generator=draw))

    def loss(self, seed: int) -> torch.Tensor:
        x = torch.randn(8, 4, generator=torch.Generator().manual_seed(seed))
        return ((x * self.vector) @ self.matrix.T - 1.0).square().mean()


def stepped(pair: Pair, optimiser: Optimiser, seeds: range, done: float = 0.3) -> None:
    for seed in seeds:
        pair.loss(seed).backward()  # type: ignore[no-untyped-call]  # torch's own
        optimiser.step(done)


def test_the_rate_rises_stays_and_falls_to_nothing() -> None:
    shares = [scheduled(done / 1000) for done in range(1001)]
    top = [place for place, share in enumerate(shares) if share == 1.0]
    assert top == list(range(round(1000 * WARM), round(1000 * (1 - FALL)) + 1))
    assert shares[: top[0]] == sorted(shares[: top[0]])
    assert shares[0] > 0.0  # the first step is one
    assert shares[top[-1] :] == sorted(shares[top[-1] :], reverse=True)
    assert shares[1000] == 0.0
    assert scheduled(1.0 - FALL / 2) == pytest.approx(0.5)


def test_every_weight_moves_and_gradients_are_forgotten() -> None:
    pair = Pair()
    optimiser = Optimiser(pair)
    before = {name: value.clone() for name, value in pair.state_dict().items()}
    stepped(pair, optimiser, range(1))
    assert not torch.equal(pair.matrix, before["matrix"])
    assert not torch.equal(pair.vector, before["vector"])
    assert torch.equal(pair.other, before["other"])  # it was in no sum
    assert pair.matrix.grad is None
    assert pair.vector.grad is None
    assert optimiser.rate == MATRIX_RATE


def test_a_loss_falls_and_a_rate_of_nothing_moves_nothing() -> None:
    pair = Pair()
    optimiser = Optimiser(pair)
    begun = float(pair.loss(99).detach())
    stepped(pair, optimiser, range(60))
    assert float(pair.loss(99).detach()) < 0.8 * begun
    kept = pair.matrix.detach().clone()
    stepped(pair, optimiser, range(1), done=1.0)
    assert torch.equal(pair.matrix, kept)
    assert optimiser.rate == 0.0


def test_a_restored_optimiser_goes_on_as_the_first_would() -> None:
    through, first, second = Pair(), Pair(), Pair()
    stepped(through, Optimiser(through), range(10))
    optimiser = Optimiser(first)
    stepped(first, optimiser, range(4))
    second.load_state_dict(first.state_dict())
    restored = Optimiser(second)
    restored.restore(optimiser.state())
    stepped(second, restored, range(4, 10))
    for name, value in through.state_dict().items():
        assert torch.equal(second.state_dict()[name], value)
