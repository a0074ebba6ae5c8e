"""Models alone: nats on given and on drawn text, whatever part of the vocabulary is scored."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
import torch

from engine import Session, load_model
from engine.benchmarks.articles_alone import TARGET, Listener, Told
from engine.drafters.protocol import Proposal
from tests.engine.drafters.making import SHAPES, made
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.drafters.protocol import Context, DraftRequest
    from engine.loading import LoadedModel

IDS = [5, 9, 14, 9, 33, 60, 61]


@pytest.fixture
def target(tmp_path: Path) -> LoadedModel:
    folder = write_tiny_folder(tmp_path / "target", endless=True)
    return load_model(folder, device="cpu", plan="eager")


class Even:
    """Scores even ids alone, all alike."""

    cache = None

    def __init__(self, vocabulary: int) -> None:
        self.support = torch.arange(0, vocabulary, 2)
        self.law = torch.zeros(1, vocabulary)
        self.law[0, self.support] = 1 / len(self.support)
        self.asked: list[list[int]] = []

    def begin(self) -> None: ...

    def prepare(self, context: Context, stopped: object) -> None: ...

    def observe(self, tokens: object) -> None: ...

    def propose(self, context: Context, request: DraftRequest) -> Proposal:
        self.asked.append(list(context.tokens))
        assert len(context.hidden) == len(context.tokens) - 1
        return Proposal((0,), self.law, self.support)


def test_told_nats_are_over_the_bytes_of_covered_tokens() -> None:
    told = Told()
    told.add(0.5, 0.25, 3, 10)
    told.add(None, 0.125, 4, 30)
    told.add(0.25, 0.5, 1, 20)
    found = told.figures("head", "held-out", 0.5)
    assert found.tokens == 3
    assert found.covered == pytest.approx(2 / 3)
    assert found.nats_per_byte == pytest.approx((math.log(2) + math.log(4)) / 4)
    assert found.target_nats_per_byte == pytest.approx((math.log(4) + math.log(2)) / 4)
    assert found.tokens_per_second == 1e9 / 20
    assert found.passes_per_token == 0.5


def test_nothing_covered_gives_no_nats() -> None:
    told = Told()
    told.add(None, 0.5, 2, 10)
    found = told.figures("head", "held-out", None)
    assert (found.covered, found.nats_per_byte, found.target_nats_per_byte) == (0.0, None, None)


def test_a_given_text_is_scored_token_by_token(target: LoadedModel) -> None:
    even = Even(target.transformer.vocabulary)
    told = {TARGET: Told(), "even": Told()}
    Listener(target, {"even": even}).hear(told, IDS)  # type: ignore[dict-item]  # a stand-in
    assert even.asked == [IDS[:n] for n in range(2, len(IDS))]
    assert told["even"].nats == pytest.approx([math.log(len(even.support))] * 2)  # 14 and 60
    assert len(told[TARGET].nats) == len(IDS) - 2
    logits = fresh_logits(target, IDS)
    expected = [-float(logits[i - 1, IDS[i]]) for i in range(2, len(IDS))]
    assert told[TARGET].nats == pytest.approx(expected, abs=1e-4)
    assert told["even"].target_nats == pytest.approx([expected[0], expected[3]], abs=1e-4)


def fresh_logits(target: LoadedModel, ids: list[int]) -> torch.Tensor:
    from engine.cache import KVCache

    model = target.transformer
    with torch.inference_mode():
        hidden = model.forward(ids, KVCache(model.new_pool()))
        return torch.log_softmax(model.logits(hidden), dim=-1)


def test_a_drafter_of_the_targets_own_weights_says_what_the_target_says(
    target: LoadedModel, tmp_path: Path
) -> None:
    name = f"model:{tmp_path / 'target'}"
    drafter = Session(target).drafter(name)
    assert drafter is not None
    told = {TARGET: Told(), name: Told()}
    listener = Listener(target, {name: drafter})
    listener.hear(told, IDS)
    listener.hear(told, IDS[:3], own=5, seed=1)
    assert told[name].nats == pytest.approx(told[TARGET].nats, abs=1e-4)
    assert len(told[name].nats) == len(IDS) - 2 + 5


def test_drawn_text_depends_on_its_seed_alone(target: LoadedModel) -> None:
    def nats(seed: int) -> list[float]:
        told = {TARGET: Told()}
        Listener(target, {}).hear(told, IDS, own=6, seed=seed)
        return told[TARGET].nats

    assert nats(1) == nats(1)
    assert nats(1) != nats(2)


def test_a_text_of_one_token_is_passed_over(target: LoadedModel) -> None:
    told = {TARGET: Told()}
    Listener(target, {}).hear(told, [4], own=3)
    assert told[TARGET].ns == []


def test_every_kind_of_trained_drafter_tells_what_it_would_draft(
    target: LoadedModel, tmp_path: Path
) -> None:
    drafters = {kind: made(target, kind, tmp_path) for kind in SHAPES}
    told = {name: Told() for name in (TARGET, *drafters)}
    Listener(target, drafters).hear(told, IDS)
    Listener(target, drafters).hear(told, IDS, own=3)
    assert [len(one.ns) for one in told.values()] == [len(IDS) - 2 + 3] * len(told)
    assert all(0 < sum(one.nats) < math.inf for one in told.values())
