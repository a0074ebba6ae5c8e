"""Acceptance by position as it is measured: counted by hand, and as the drafter itself drafts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import torch

from engine.loading import LoadedModel, load_model
from engine.sampling import Sampling
from engine.trace.events import Fate
from engine.training.batch import Batch, make_batch
from engine.training.corpus import Corpus
from engine.training.head_model import HeadModel
from engine.training.measure import HeldOut, measure
from engine.training.small_model import SmallModel, usual_shape
from engine.training.trainable import Step
from engine.training.vocabulary import Scored
from tests.engine.decoding import decode
from tests.engine.training.toys import CPU, greedy_rows, states_of
from tests.engine.training.trained import HEADS, drafted, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.training.opened import OpenedTarget

V, T, B = 4, 30, 3
SEEN = torch.tensor([0, 1, 3])  # the ids that are scored


@dataclass
class Table:
    """Stands for Scored: rows are the logits themselves."""

    ids: torch.Tensor
    table: torch.Tensor

    def normed(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden


@dataclass
class Told:
    """A drafter whose laws are given: step s of every start."""

    steps: list[torch.Tensor]  # each [B, T, V]
    offset: int

    def unroll(self, batch: Batch, steps: int) -> Iterator[Step]:
        for index, rows in enumerate(self.steps[:steps]):
            yield Step(rows, self.offset + index)


@pytest.fixture(scope="module")
def given() -> Batch:
    draw = torch.Generator().manual_seed(3)
    logits = 1.5 * torch.randn(B, T, V, generator=draw)
    choices = logits.argmax(-1)
    tokens = torch.randint(0, V, (B, T), generator=draw)
    greedy = torch.rand(B, T, generator=draw) < 0.7
    tokens[:, 1:] = torch.where(greedy, choices, tokens)[:, :-1]
    counted = torch.ones(B, T, dtype=torch.bool)
    counted[:, :3] = False
    counted[1, 22:] = False  # a shorter row
    return Batch(tokens, logits, logits.logsumexp(-1), choices, counted)


def by_hand(
    steps: list[torch.Tensor], offset: int, batch: Batch, own_step: bool, positions: int
) -> HeldOut:
    """Count start after start, as the definition has it."""
    found = HeldOut()
    laws = [rows[..., SEEN].softmax(-1) for rows in steps]
    p_target = batch.hidden.softmax(-1)[..., SEEN]
    for row in range(B):
        for start in range(T):
            alive = True
            for index in range(positions):
                at = start + offset + index
                if at >= T:
                    break
                q_draft = laws[index][row, start] if own_step else laws[0][row, start + index]
                right = int(SEEN[q_draft.argmax()]) == int(batch.choices[row, at])
                if index:
                    alive = alive and int(batch.tokens[row, at]) == int(batch.choices[row, at - 1])
                if batch.counted[row, at]:
                    overlap = float(torch.minimum(q_draft, p_target[row, at]).sum())
                    found.add(index, int(alive), int(alive and right), overlap, 1)
                    nats = -float((p_target[row, at] * q_draft.log()).sum())
                    found.nats += nats if index == 0 else 0.0
                alive = alive and right
    return found


@pytest.mark.parametrize(("offset", "own_step"), [(1, True), (0, False)])
def test_acceptance_and_overlap_by_position_are_those_counted_by_hand(
    given: Batch, offset: int, own_step: bool
) -> None:
    draw = torch.Generator().manual_seed(4)
    steps = []
    for index in range(3 if own_step else 1):
        ahead = torch.zeros(B, T, V)
        reach = T - offset - index
        ahead[:, :reach] = given.hidden[:, offset + index :]
        steps.append(ahead + 1.2 * torch.randn(B, T, V, generator=draw))
    table = torch.eye(V)[SEEN]
    found = HeldOut()
    measure(Told(steps, offset), given, Table(SEEN, table), 3, found)  # type: ignore[arg-type]
    expected = by_hand(steps, offset, given, own_step, 3)
    assert found.places == expected.places
    assert found.overlaps() == pytest.approx(expected.overlaps(), abs=1e-5)
    assert found.loss() == pytest.approx(expected.loss(), abs=1e-4)
    assert (found.accepted, found.tested) == (expected.accepted, expected.tested)
    assert all(0.2 < share < 0.95 for share in found.greedy())


def test_sums_of_batches_are_those_of_one(given: Batch) -> None:
    steps = [given.hidden.roll(-1, 1)] * 2
    scored = Table(SEEN, torch.eye(V)[SEEN])
    whole, parts = HeldOut(), HeldOut()
    measure(Told(steps, 1), given, scored, 2, whole)  # type: ignore[arg-type]
    for row in range(B):
        one = Batch(
            *(getattr(given, name)[row : row + 1] for name in ("tokens", "hidden", "normalisers")),
            given.choices[row : row + 1],
            given.counted[row : row + 1],
        )
        some = [rows[row : row + 1] for rows in steps]
        measure(Told(some, 1), one, scored, 2, parts)  # type: ignore[arg-type]
    assert (whole.tested, whole.accepted, whole.places) == (
        *(parts.tested, parts.accepted),
        parts.places,
    )
    assert whole.overlap == pytest.approx(parts.overlap, rel=1e-5)


def test_nothing_measured_is_told_as_nothing() -> None:
    found = HeldOut()
    assert (found.greedy(), found.overlaps(), found.loss()) == ((), (), 0.0)


@pytest.fixture(scope="module")
def plain(deep_folder: Path) -> LoadedModel:
    return load_model(deep_folder, device="cpu", plan="eager")


PROMPT = [104, 101, 108, 108, 111, 32, 104]
LENGTH = 48


@pytest.mark.parametrize("kind", ["head", "tapped head of two blocks", "small"])
def test_what_is_measured_is_what_the_decoder_accepts(
    deep: OpenedTarget, plain: LoadedModel, kind: str, tmp_path: Path
) -> None:
    """On the target's own greedy text, from every place of it."""
    rows = greedy_rows(deep, 10, 60)
    ids = torch.arange(0, 258, 2) if kind == "small" else torch.arange(258)
    drafter: HeadModel | SmallModel
    if kind == "small":
        drafter = SmallModel(deep.model, usual_shape(2, 24))
        drafter.start(Corpus.of(rows).tokens.long())
    else:
        drafter = HeadModel(deep.model, HEADS[kind])
        drafter.start([torch.tensor(row.tokens) for row in rows])
    text = [*PROMPT, *decode(plain, None, k=0, count=LENGTH, prompt=PROMPT)[0]]
    corpus = Corpus(
        torch.tensor(text[:-1], dtype=torch.int32),
        torch.tensor([0, len(text) - 1]),
        *(("text",), (0.0,), frozenset({0})),
    )
    states = states_of(deep.model, corpus, getattr(drafter.shape, "taps", ()), exact=True)
    found = HeldOut()
    batch = make_batch(corpus, states, [0], len(PROMPT) - 1, CPU)
    measure(drafter, batch, Scored(deep.model, ids), 3, found)

    runs = running(drafter, plain, tmp_path / "drafter.safetensors", ids)
    tested, accepted, agreed = [0, 0, 0], [0, 0, 0], {}
    for place in range(len(PROMPT), len(text)):  # tokens before the draft
        proposal, right = drafted(plain, runs, text[:place], 3, 0.0), 0
        for index, token in enumerate(proposal.tokens[: len(text) - place]):
            tested[index] += 1
            if token != text[place + index]:
                break
            accepted[index] += 1
            right += 1
        agreed[place] = right
    assert found.tested == tested
    assert found.accepted == accepted
    assert 0 < accepted[0] < tested[0]

    _, rounds, _ = decode(plain, runs, k=3, sampling=Sampling(), count=LENGTH, prompt=PROMPT)
    for one in rounds:  # the decoder visits some of those places
        whole = len(one.drafted) == 3  # at the limit drafts are shorter
        if whole and all(token.fate is not Fate.CUT for token in one.drafted):
            assert one.accepted == agreed[one.position]
    assert len(rounds) > 5
