"""States along a corpus: what the target computes, batch after batch, in files that can go on."""

from __future__ import annotations

import os
import random
from collections import namedtuple
from typing import TYPE_CHECKING

import pytest
import torch

from engine.cache import KVCache
from engine.errors import DraftscopeError
from engine.loading import LoadedModel, load_model
from engine.training.batch import make_batch
from engine.training.checkpoint import Checkpoint
from engine.training.states import DONE, batches, compute_states, state_files
from engine.training.vocabulary import Scored, commonest
from tests.engine.training.toys import CPU, random_model, states_of, toy_corpus, worst

if TYPE_CHECKING:
    from pathlib import Path

    from engine.training.opened import OpenedTarget

LENGTHS = [30, 4, 61, 12, 12, 45, 1, 28]
BFLOAT16 = 2.0**-8  # what it rounds by, as a share


@pytest.fixture(scope="module")
def plain(deep_folder: Path) -> LoadedModel:
    return load_model(deep_folder, device="cpu", plan="eager")


@pytest.mark.parametrize("taps", [(), (1, 3)])
def test_states_normalisers_and_choices_are_the_targets(
    deep: OpenedTarget, plain: LoadedModel, taps: tuple[int, ...]
) -> None:
    corpus = toy_corpus(LENGTHS)
    states = states_of(deep.model, corpus, taps)
    for row in range(corpus.rows):
        span = slice(int(corpus.starts[row]), int(corpus.starts[row + 1]))
        cache = KVCache(plain.transformer.new_pool())
        with torch.inference_mode():
            rows = plain.transformer.forward(corpus.row(row).tolist(), cache, None, taps)
            logits = plain.transformer.logits(rows[:, :32])
        assert states.hidden.shape[1] == rows.shape[1] == 32 * (1 + len(taps))
        difference = (states.hidden[span].float() - rows).abs()
        assert bool((difference <= BFLOAT16 * rows.abs() + 1e-3).all())
        assert worst(states.normalisers[span], logits.logsumexp(dim=-1)) < 1e-4
        assert torch.equal(states.choices[span].long(), logits.argmax(dim=-1))


def test_batches_hold_each_row_once_and_never_too_many_places() -> None:
    corpus = toy_corpus([3 + (17 * i) % 90 for i in range(70)])
    rows = list(range(2, 70))
    for shuffle in (None, random.Random(1)):
        found = list(batches(corpus, rows, 200, shuffle))
        assert sorted(row for batch in found for row in batch) == rows
        lengths = corpus.lengths()
        assert all(len(one) * max(lengths[row] for row in one) <= 200 for one in found)
        assert len(found) < 30  # rows of like length stand together: hardly any padding


def test_a_row_longer_than_a_batch_stands_alone() -> None:
    corpus = toy_corpus([5, 300, 6])
    assert list(batches(corpus, range(3), 100)) == [[0, 2], [1]]


def test_shuffled_rows_meet_others_each_time() -> None:
    corpus = toy_corpus([40 + i % 5 for i in range(60)])
    source = random.Random(0)
    once, twice = ({tuple(b) for b in batches(corpus, range(60), 200, source)} for _ in range(2))
    assert len(once & twice) < len(once) / 2


def test_files_are_mapped_and_go_on_where_they_stopped(toy: OpenedTarget, tmp_path: Path) -> None:
    corpus = toy_corpus(LENGTHS)
    expected = states_of(toy.model, corpus)
    kept = Checkpoint(tmp_path)
    files = state_files(kept.states, len(corpus.tokens), 32)
    for batch in compute_states(toy.model, corpus, range(4), (), files):
        kept.finish_rows(batch)
    assert kept.finished_rows() == {0, 1, 2, 3}
    again = state_files(kept.states, len(corpus.tokens), 32)
    assert torch.equal(again.hidden[:107], expected.hidden[:107])
    assert not again.hidden[107:].any()
    rest = [row for row in range(corpus.rows) if row not in kept.finished_rows()]
    for batch in compute_states(toy.model, corpus, rest, (), again):
        kept.finish_rows(batch)
    third = state_files(kept.states, len(corpus.tokens), 32)
    assert kept.finished_rows() == set(range(8))
    assert torch.equal(third.hidden, expected.hidden)
    assert torch.equal(third.choices, expected.choices)
    assert torch.allclose(third.normalisers, expected.normalisers)


def test_states_are_two_bytes_a_number_on_disk_and_none_in_memory(tmp_path: Path) -> None:
    files = state_files(tmp_path, 1000, 64)
    assert (tmp_path / "hidden").stat().st_size == 1000 * 64 * 2
    assert (tmp_path / "normalisers").stat().st_size == 4000
    assert (tmp_path / "choices").stat().st_size == 4000
    files.hidden[7] = 1.0
    assert torch.equal(state_files(tmp_path, 1000, 64).hidden[7], files.hidden[7])  # one file


def test_files_of_another_size_are_made_anew_and_nothing_counts_as_done(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path)
    state_files(kept.states, 100, 8).hidden.fill_(1.0)
    kept.finish_rows([0, 1])
    assert kept.finished_rows() == {0, 1}
    fresh = state_files(kept.states, 120, 8)
    assert kept.finished_rows() == set()
    assert not fresh.hidden.any()


def test_a_full_disk_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")  # as shutil's own
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(9, 9, 2_000_000_000))
    with pytest.raises(DraftscopeError, match=r"2000000 tokens need 2\.3 GB .* 2\.0 GB are free"):
        state_files(tmp_path / "states", 2_000_000, 576)
    assert list((tmp_path / "states").iterdir()) == []


def test_a_disk_that_fills_meanwhile_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(DraftscopeError, match=r"cannot be kept in .*: No space left on device"):
        state_files(tmp_path / "states", 100, 8)


def test_a_torn_last_line_of_done_rows_is_not_believed(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path)
    kept.states.mkdir()
    (kept.states / DONE).write_text("3 4\n5 1")
    assert kept.finished_rows() == {3, 4}


def test_a_batch_is_its_rows_with_nothing_after_them() -> None:
    model, corpus = random_model(), toy_corpus(LENGTHS)
    states = states_of(model, corpus)
    batch = make_batch(corpus, states, [3, 1, 0], 2, CPU)
    assert batch.tokens.shape == (3, 30)
    for place, row in enumerate((3, 1, 0)):
        length, begin = LENGTHS[row], int(corpus.starts[row])
        span = slice(begin, begin + length)
        assert torch.equal(batch.tokens[place, :length], corpus.tokens[span].long())
        assert torch.equal(batch.hidden[place, :length], states.hidden[span].float())
        assert torch.equal(batch.normalisers[place, :length], states.normalisers[span])
        assert torch.equal(batch.choices[place, :length], states.choices[span].long())
        assert not batch.tokens[place, length:].any()
        counted = [2 <= at < length for at in range(30)]
        assert batch.counted[place].tolist() == counted


def test_the_commonest_ids_are_scored_in_rising_order() -> None:
    text = torch.tensor([5, 5, 5, 9, 9, 2], dtype=torch.int32)
    choices = torch.tensor([7, 7, 7, 7, 2, 1], dtype=torch.int32)
    assert commonest(text, choices, 12, 3).tolist() == [2, 5, 7]
    assert commonest(text, choices, 12, 5).tolist() == [1, 2, 5, 7, 9]
    assert commonest(text, choices, 12, 6).tolist() == [0, 1, 2, 5, 7, 9]  # ties: the lowest
    assert commonest(text, choices, 12, 99).tolist() == list(range(12))


def test_scored_rows_give_the_targets_own_logits() -> None:
    model, corpus = random_model(), toy_corpus([20])
    ids = torch.tensor([1, 40, 97, 200])
    scored, states = Scored(model, ids), states_of(model, corpus, (1,), exact=True)
    logits = model.transformer.logits(states.hidden[:, :32])
    assert torch.allclose(scored.normed(states.hidden) @ scored.table.T, logits[:, ids], atol=1e-4)
    assert scored.columns[ids].tolist() == [0, 1, 2, 3]
    assert int((scored.columns >= 0).sum()) == 4
