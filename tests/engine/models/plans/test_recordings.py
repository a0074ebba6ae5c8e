"""Which recording serves which pass, and when it goes."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import pytest
import torch

import engine.cache as cache_module
import engine.models.plans.recordings as recordings_module
from engine.cache import KVCache, PagePool
from engine.models.plans.recordings import USES_BEFORE, Recordings, Shape
from tests.engine.models.plans.replaying import Replaying

SHAPE = Shape(stack=0, layers=range(2), rows=4, blocks=1, start=0)
SHAPES = [
    SHAPE,
    replace(SHAPE, stack=1),
    replace(SHAPE, layers=range(1)),
    replace(SHAPE, rows=1),
    replace(SHAPE, blocks=2),
    replace(SHAPE, start=16),
]


def new_pool() -> PagePool:
    return PagePool(1, 1, 2, pages=1)


def use(recordings: Recordings, shape: Shape, pool: PagePool, number: float = 0.0) -> bool:
    """Use a shape once; return whether it was replayed, with the number that it was made of."""
    if not recordings.due(shape, pool):
        return False
    result = recordings.replay(shape, pool, lambda: lambda: torch.full((1,), number))
    return result is not None


def used_up(recordings: Recordings, shape: Shape, pool: PagePool, number: float = 0.0) -> None:
    for _ in range(USES_BEFORE):
        assert not use(recordings, shape, pool)
    assert use(recordings, shape, pool, number)


def test_a_shape_is_recorded_once_when_it_has_come_back() -> None:
    recordings, pool = Recordings(Replaying()), new_pool()
    used_up(recordings, SHAPE, pool)
    for _ in range(5):
        assert use(recordings, SHAPE, pool)
    assert (recordings.made, recordings.replays) == (1, 6)


def test_every_shape_has_its_own() -> None:
    recordings, pool = Recordings(Replaying()), new_pool()
    for number, shape in enumerate(SHAPES):
        used_up(recordings, shape, pool, number)
    assert recordings.made == len(SHAPES)
    for number, shape in enumerate(SHAPES):
        assert recordings.due(shape, pool)
        result = recordings.replay(shape, pool, lambda: pytest.fail("it is there"))
        assert result is not None
        assert result.item() == number


def test_a_result_is_a_copy() -> None:
    recorder = Replaying()
    recordings, pool = Recordings(recorder), new_pool()
    used_up(recordings, SHAPE, pool)
    assert recordings.due(SHAPE, pool)
    result = recordings.replay(SHAPE, pool, list)  # type: ignore[arg-type]  # not called
    assert result is not None
    recorder.made[0].output.fill_(7)
    assert result.item() == 0


def test_what_was_recorded_on_a_store_goes_when_it_grows() -> None:
    recordings, pool = Recordings(Replaying()), new_pool()
    other = new_pool()
    used_up(recordings, SHAPE, pool)
    used_up(recordings, SHAPE, other)
    KVCache(pool).reserve(100)  # more than its one page
    assert not use(recordings, SHAPE, pool)
    assert len(recordings) == 2  # the other store's, and the one that has just been met
    assert use(recordings, SHAPE, other)


def on_store(recordings: Recordings, pool: PagePool) -> weakref.ref[torch.Tensor]:
    """Record a body that keeps a view of the store; return what tells whether that is gone."""
    view = pool.keys[0][:, :1]
    for _ in range(USES_BEFORE + 1):
        if recordings.due(SHAPE, pool):
            recordings.replay(SHAPE, pool, lambda: lambda view=view: view.sum()[None])  # type: ignore[misc]
    recordings.recorder.made.clear()  # type: ignore[union-attr]  # the stand-in keeps them
    return weakref.ref(view)


def test_no_recording_keeps_a_dead_store() -> None:
    recordings, pool, other = Recordings(Replaying()), new_pool(), new_pool()
    view = on_store(recordings, pool)
    on_store(recordings, other)
    assert view() is not None
    assert len(recordings) == 2
    del pool
    gc.collect()
    assert view() is None
    assert len(recordings) == 1


def test_no_recording_keeps_a_store_while_a_larger_one_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recordings, pool, seen = Recordings(Replaying()), new_pool(), []
    zeros = cache_module.zeros
    for growth in range(1, 3):  # it may grow more than once, and is watched once
        view = on_store(recordings, pool)
        assert view() is not None

        def taken(*of, view=view):  # type: ignore[no-untyped-def]  # as `zeros`
            seen.append((view() is None, len(recordings)))
            return zeros(*of)

        monkeypatch.setattr(cache_module, "zeros", taken)
        KVCache(pool).reserve(100 * growth * growth)
        assert pool.generation == growth + 1
    assert len(pool.before_growth) == 1
    assert seen == [(True, 0)] * 4  # keys and values, twice


def test_a_store_keeps_no_recordings() -> None:
    recordings, pool = Recordings(Replaying()), new_pool()
    on_store(recordings, pool)
    gone = weakref.ref(recordings)
    del recordings
    gc.collect()
    assert gone() is None
    KVCache(pool).reserve(100)


def test_a_new_store_with_the_name_of_a_dead_one_is_not_taken_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recordings_module, "id", lambda _: 7, raising=False)
    recordings, pool = Recordings(Replaying()), new_pool()
    used_up(recordings, SHAPE, pool)
    del pool
    gc.collect()
    pool = new_pool()
    used_up(recordings, SHAPE, pool)
    assert recordings.made == 2
    assert len(recordings) == 1


def test_the_longest_unused_goes_when_there_are_too_many() -> None:
    recordings, pool = Recordings(Replaying(), most=3), new_pool()
    for shape in SHAPES[:3]:
        used_up(recordings, shape, pool)
    assert use(recordings, SHAPES[0], pool)
    assert not use(recordings, SHAPES[3], pool)
    assert len(recordings) == 3
    assert use(recordings, SHAPES[0], pool)
    assert use(recordings, SHAPES[2], pool)
    assert not use(recordings, SHAPES[1], pool)  # the one that had to go


def test_a_failure_ends_recording_and_is_said_once() -> None:
    recordings, pool = Recordings(Replaying(fails_after=1)), new_pool()
    used_up(recordings, SHAPES[0], pool)
    for _ in range(USES_BEFORE):
        assert not use(recordings, SHAPES[1], pool)
    with pytest.warns(RuntimeWarning, match="without recorded graphs.*is capturing$"):
        assert not use(recordings, SHAPES[1], pool)
    assert len(recordings) == 0  # the memory of the others is wanted elsewhere
    assert recordings.note is not None
    assert recordings.note.endswith("operation not permitted when stream is capturing")
    for shape in SHAPES:
        assert not any(use(recordings, shape, pool) for _ in range(5))


def test_stacks_have_names_of_their_own() -> None:
    recordings = Recordings(None)
    assert len({recordings.new_stack() for _ in range(4)}) == 4
