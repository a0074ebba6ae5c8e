"""Rows of `articles` from rounds made by hand: acceptance by position, repetition apart, sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.benchmarks.articles_best import best_of
from engine.benchmarks.articles_rows import (
    Cell,
    Row,
    Taken,
    curve,
    emitted_ids,
    make_rows,
    parted,
    split,
)
from engine.trace.events import (
    CacheSpan,
    ClosingKind,
    ClosingToken,
    DraftedToken,
    DraftEnd,
    Fate,
    Laws,
    Round,
    RoundTimes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

SPAN = CacheSpan(
    before=0, peak=0, after=0, pages_before=0, pages_peak=0, pages_after=0, page_size=1
)
PASS = 100
FATES = {"a": Fate.ACCEPTED, "r": Fate.REJECTED, "d": Fate.DISCARDED, "c": Fate.CUT}


def laws(overlap: float) -> Laws:
    return Laws(ids=(), pieces=(), p_target=(), p_raw=(), overlap=overlap)


def decoded(
    pattern: Sequence[str],
    ids: Sequence[int],
    *,
    step: int = 10,
    unsure: Sequence[int] = (),
    overlap: float | None = None,
) -> list[Round]:
    """Rounds whose drafts met these fates ("aar": two accepted, one rejected), emitting `ids`.

    A draft takes 4 and `step` a look, a pass 100 and 10 a token drafted, the rest 5.
    """
    rounds: list[Round] = []
    given = iter(ids)
    position = 7
    for index, fates in enumerate(pattern):
        drafted = tuple(
            DraftedToken(
                id=next(given) if fate == "a" else -1,
                piece=b"",
                q_draft=1.0,
                p_target=1.0,
                fate=FATES[fate],
                laws=None if overlap is None else laws(overlap),
            )
            for fate in fates
        )
        closing = None
        if "c" not in fates:
            kind = ClosingKind.PLAIN if not fates else ClosingKind.BONUS
            closing = ClosingToken(id=next(given), piece=b"", kind=kind, probability=1.0)
        looks = len(fates) + (index in unsure)
        rounds.append(
            Round(
                run="r",
                index=index,
                position=position,
                drafter="head",
                k=3,
                drafted=drafted,
                closing=closing,
                texts=(),
                times=RoundTimes(
                    draft=4 + step * looks if looks else 0,
                    verify=PASS + 10 * len(fates),
                    accept=3,
                    commit=2,
                ),
                target_cache=SPAN,
                draft_end=DraftEnd.UNSURE if index in unsure else None,
            )
        )
        position += rounds[-1].emitted
    return rounds


def plain(ids: Sequence[int]) -> list[Round]:
    return decoded([""] * len(ids), ids)


def row(cell: Cell, *runs: Taken) -> Row:
    _, (found,) = make_rows({cell: runs}, "beginnings")
    return found


GREEDY = Cell("head", 3, 0.0)


def test_acceptance_by_position_by_hand() -> None:
    found = row(GREEDY, Taken(decoded(["aaa", "aar", "rdd", "ard"], range(10)), plain(range(10))))
    assert [(one.tested, one.accepted) for one in found.positions] == [(4, 3), (3, 2), (2, 1)]
    assert found.acceptance == pytest.approx(6 / 9)
    assert found.tokens_per_pass == 10 / 4
    assert found.drafted == 3.0


def test_sums_agree_with_the_rounds() -> None:
    rounds = decoded(["aaa", "aar", "rdd", ""], range(9))
    found = row(GREEDY, Taken(rounds, plain(range(9)), "identical"))
    assert found.tokens == len(emitted_ids(rounds)) == 9
    assert found.rounds == 4
    took = sum(one.times.round for one in rounds)
    assert found.tokens_per_second == pytest.approx(1e9 * 9 / took)
    assert found.plain_tokens_per_second == pytest.approx(1e9 / 105)
    assert found.speedup is not None
    assert found.speedup.value == pytest.approx(9 / took * 105)
    assert (found.identical, found.ties) == (1, 0)
    # c, v and the fixed cost put together are the time of the rounds
    assert found.c == pytest.approx(3 * 34 / 9 / PASS)
    assert found.v == pytest.approx(1.3)
    assert found.fixed == pytest.approx(0.05)


def test_both_predictions_of_rounds_that_follow_the_model_are_what_was_measured() -> None:
    ids = range(12)
    rounds = decoded(["aaa", "aar", "rdd", "aaa"], ids)
    model, (found,) = make_rows({GREEDY: [Taken(rounds, plain(ids))]}, "beginnings")
    assert model is not None
    assert model.acceptance == (3 / 4, 1.0, 2 / 3)
    # E = 1 + 3/4 + 3/4 + 1/2 = 3 tokens; a round takes 34 + 130 + 5, a plain one 105
    assert found.by_position is not None
    assert found.by_position.speedup == pytest.approx(3 / 1.69 * 1.05)
    assert found.by_position.difference == pytest.approx(0.0)
    # one a = 8/10: 1 + .8 + .64 + .512 over 1.3 + 0.34
    assert found.one_acceptance is not None
    assert found.one_acceptance.speedup == pytest.approx(2.952 / 1.64)


def test_the_curve_is_shared_by_every_fixed_k_and_not_by_stops() -> None:
    one, two = Cell("head", 1, 0.0), Cell("head", 2, 0.0)
    stop = Cell("head", 2, 0.0, 0.5)
    taken = {
        one: [Taken(decoded(["a", "r"], range(3)), plain(range(3)))],
        two: [Taken(decoded(["ar", "rd"], range(3)), plain(range(3)))],
        stop: [Taken(decoded(["aa", ""], range(4), unsure=[1]), plain(range(4)))],
    }
    model, rows = make_rows(taken, "beginnings")
    assert model is not None
    assert model.acceptance == (2 / 4, 0.0)
    assert [each.k for each in rows] == [1, 2, 2]
    assert curve(taken[stop][0].rounds) == (1.0, 1.0)
    assert rows[2].by_position is not None
    # of a round of two and of a look in vain: (3 + 1) tokens over (1.2 + 0.24) + (1 + 0.14) + 0.1
    assert rows[2].by_position.speedup == pytest.approx(4 * 1.05 / (1.44 + 1.14 + 0.1))
    assert rows[2].by_position.difference == pytest.approx(0.0)


def test_a_cut_round_is_in_no_length() -> None:
    ids = range(6)
    found = row(GREEDY, Taken(decoded(["aaa", "acc"], ids), plain(ids)))
    assert [(one.tested, one.accepted) for one in found.positions] == [(2, 2), (1, 1), (1, 1)]
    assert found.by_position is not None
    # 4 tokens at 1.3 + 0.34 + 0.05 of the whole round alone
    assert found.by_position.speedup == pytest.approx(4 * 1.05 / 1.69)


def test_rounds_are_split_where_the_text_begins_to_repeat_itself() -> None:
    stretch = list(range(100, 110))
    ids = [*range(5), *stretch * 3, 100, 101, 102]  # 38: the second time begins at 15
    rounds = decoded(["r"] * 3 + ["aaa"] * 8 + ["aa"], ids)
    before, again = split(rounds, 15)
    assert emitted_ids([*before, *again]) == tuple(ids)
    assert len(emitted_ids(before)) == 15
    assert split(rounds, None) == (rounds, [])
    straddling, _ = split(rounds, 14)
    assert len(emitted_ids(straddling)) == 15  # a round belongs to where it begins


def test_repetition_is_in_figures_of_its_own() -> None:
    stretch = list(range(100, 110))
    ids = [*range(5), *stretch * 3, 100, 101, 102]
    rounds = decoded(["r"] * 3 + ["aaa"] * 8 + ["aa"], ids)
    fresh, again = parted(Taken(rounds, plain(ids), "identical"))
    assert again is not None
    assert (len(emitted_ids(fresh.plain)), len(emitted_ids(again.plain))) == (15, 23)
    found = row(GREEDY, Taken(rounds, plain(ids), "identical"))
    assert (found.tokens, found.rounds) == (15, 6)
    assert found.positions[0].acceptance == 0.5
    assert found.repetition is not None
    assert (found.repetition.texts, found.repetition.tokens) == (1, 23)
    assert found.repetition.acceptance == 1.0
    assert found.repetition.tokens_per_pass == pytest.approx(23 / 6)
    assert found.repetition.speedup is not None
    assert found.speedup is not None
    assert found.repetition.speedup > found.speedup.value


def test_a_text_that_does_not_repeat_itself_is_whole() -> None:
    run = Taken(decoded(["aaa"], range(4)), plain(range(4)))
    assert parted(run) == (run, None)
    assert row(GREEDY, run).repetition is None


def test_sampled_rows_have_an_overlap_and_no_verdict() -> None:
    cell = Cell("head", 3, 1.0)
    some = Taken(decoded(["aaa"], range(4), overlap=0.25), plain(range(4)))
    more = Taken(decoded(["rdd"], range(1), overlap=0.75), plain(range(4)))
    found = row(cell, some, more)
    assert found.overlap == 0.5
    assert found.identical is None
    assert row(GREEDY, Taken(some.rounds, some.plain, "tie")).ties == 1
    assert row(GREEDY, Taken(decoded(["a"], range(2)), plain(range(2)))).overlap is None


def test_a_speedup_is_over_all_runs_together_with_an_interval_over_runs() -> None:
    quick = Taken(decoded(["aaa"], range(4)), plain(range(4)))
    slow = Taken(decoded(["rdd"], range(1)), plain(range(1)))
    found = row(GREEDY, quick, slow).speedup
    assert found is not None
    assert found.value == pytest.approx(5 * 105 / (2 * 169))
    assert found.low == pytest.approx(105 / 169)
    assert found.high == pytest.approx(4 * 105 / 169)


def test_no_rounds_make_no_row() -> None:
    assert make_rows({}, "beginnings") == (None, ())
    assert make_rows({GREEDY: []}, "beginnings") == (None, ())


def test_the_quickest_k_and_the_quickest_stop_are_chosen_apart() -> None:
    ids = range(4)
    cells = [Cell("head", 1, 0.0), Cell("head", 2, 0.0), Cell("head", 2, 0.0, 0.5)]
    patterns = [["a", "a"], ["aa", "r"], ["rd", "rd", "rd", "rd"]]
    rows = [
        row(cell, Taken(decoded(pattern, ids), plain(ids)))
        for cell, pattern in zip(cells, patterns, strict=True)
    ]
    found = best_of(rows)
    assert [one.cell for one in found] == [cells[0], cells[2]]
    assert found[0].tokens_per_pass == 2.0
