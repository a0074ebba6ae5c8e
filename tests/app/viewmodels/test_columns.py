"""Columns say what the rounds said, walk each round once, and grow by doubling."""

from __future__ import annotations

import math

import numpy as np
import pytest

from app.viewmodels import portion
from app.viewmodels.columns import PHASES, Growing, columns_of, window_ratio
from app.viewmodels.document import Document
from engine.trace.events import Round
from tests.traces import make_trace


def test_a_growing_table_holds_what_was_appended_and_moves_seldom():
    table = Growing(3)
    rows = np.arange(30_000.0).reshape(-1, 3)
    for start in range(0, len(rows), 7):
        table.append(rows[start : start + 7])
    assert len(table) == len(rows)
    for index in range(3):
        assert np.array_equal(table.column(index), rows[:, index])
    assert table.moves <= 3 * math.ceil(math.log2(len(rows)))


def test_no_append_to_a_long_table_moves_all_its_columns():
    table, most = Growing(24), 0
    for length in range(0, 100_000, 500):
        before = table.moves
        table.append(np.zeros((500, 24)))
        if length > 50_000:
            most = max(most, table.moves - before)
    assert most == 1


def test_a_column_cannot_be_written():
    table = Growing(1)
    table.append(np.ones((2, 1)))
    with pytest.raises(ValueError, match="read-only"):
        table.column(0)[0] = 5


def test_running_sums_are_the_rounds_sums():
    document = Document(make_trace(rounds=20, temperature=0.8))
    held = columns_of(document)
    assert len(held) == len(document.rounds) == 20
    for end in range(21):
        rounds = document.rounds[:end]
        assert held.sums("accepted")[end] == sum(one.accepted for one in rounds)
        assert held.sums("tested")[end] == sum(one.accepted + one.rejected for one in rounds)
        assert held.sums("emitted")[end] == sum(one.emitted for one in rounds)
        assert held.sums("round_ns")[end] == sum(one.times.round for one in rounds)
        whole = sum(held.sums(phase)[end] for phase in PHASES)
        assert held.sums("span_ns")[end] == whole
        back = sum(one.target_cache.peak - one.target_cache.after for one in rounds)
        assert held.sums("target_positions_back")[end] == back


def test_a_round_is_walked_once_however_many_panels_ask(monkeypatch):
    walked = []
    row = portion.row_of
    monkeypatch.setattr(
        portion, "row_of", lambda one, new: walked.append(one.index) or row(one, new)
    )
    events = make_trace(rounds=12)
    document = Document()
    for event in events:
        document.extend([event])
        columns_of(document)
        columns_of(document)
    assert walked == list(range(12))


def test_another_run_in_the_same_document_begins_anew():
    document = Document(make_trace(rounds=5, seed=1))
    columns_of(document)
    document.clear()
    document.extend(make_trace(rounds=9, seed=2, temperature=0.8))
    again = columns_of(Document(make_trace(rounds=9, seed=2, temperature=0.8)))
    assert np.array_equal(columns_of(document).sums("accepted"), again.sums("accepted"))


def test_a_drafter_without_a_cache_leaves_gaps():
    document = Document(make_trace(rounds=4, drafter="ngram"))
    assert np.isnan(columns_of(document).gauge("drafter_pages")).all()
    assert np.isfinite(columns_of(document).gauge("target_pages")).all()


@pytest.mark.parametrize("window", [None, 1, 3, 20])
def test_a_window_ratio_is_the_ratio_over_its_rounds(window):
    rounds = [e for e in make_trace(rounds=30, temperature=0.8) if isinstance(e, Round)]
    over = np.cumsum([0, *(one.accepted for one in rounds)])
    under = np.cumsum([0, *(one.accepted + one.rejected for one in rounds)])
    got = window_ratio(over.astype(float), under.astype(float), window)
    for end in range(1, 31):
        part = rounds[max(0, end - (window or end)) : end]
        tested = sum(one.accepted + one.rejected for one in part)
        if tested:
            assert got[end - 1] == pytest.approx(sum(one.accepted for one in part) / tested)
        else:
            assert np.isnan(got[end - 1])
