"""The window of time stays inside the run, and zoom keeps what is under the pointer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.viewmodels.time_window import TimeWindow, tick_label, tick_step


def window(total_ns: float = 1e9, rounds: int = 40, pixels: float = 800) -> TimeWindow:
    made = TimeWindow()
    made.set_content(total_ns, rounds, pixels)
    return made


def test_a_short_run_is_shown_whole_and_a_long_one_at_a_comfortable_scale():
    short = window(rounds=20)
    assert (short.start_ns, short.end_ns) == (0, 1e9)
    long = window(total_ns=100e9, rounds=4000)
    assert long.width_ns / (100e9 / 4000) == pytest.approx(800 / TimeWindow.comfortable_px)


@given(
    moves=st.lists(
        st.one_of(
            st.tuples(st.just("zoom"), st.floats(0.2, 5), st.floats(0, 800)),
            st.tuples(st.just("pan"), st.floats(-2, 2), st.just(0.0)),
            st.tuples(st.just("follow"), st.floats(0, 1e9), st.just(0.0)),
        ),
        max_size=20,
    )
)
def test_the_window_never_leaves_the_run(moves):
    made = window()
    for kind, value, x in moves:
        if kind == "zoom":
            made.zoom(value, x)
        elif kind == "pan":
            made.pan(value)
        else:
            made.follow(value)
            assert made.start_ns <= value <= made.end_ns * (1 + 1e-9)
        assert made.start_ns >= 0
        assert made.end_ns <= 1e9 * (1 + 1e-9)
        assert made.width_ns > 0


def test_zoom_keeps_the_instant_under_the_pointer():
    made = window()
    before, width = made.ns_of(300), made.width_ns
    made.zoom(3, 300)
    assert made.ns_of(300) == pytest.approx(before)
    assert made.width_ns == pytest.approx(width / 3)
    assert not made.automatic


def test_pixels_and_instants_are_inverse():
    made = window()
    made.zoom(7, 500)
    for x in (0.0, 13.0, 799.0):
        assert made.x_of(made.ns_of(x)) == pytest.approx(x)


def test_new_rounds_do_not_undo_the_viewers_zoom():
    made = window()
    made.zoom(4, 0)
    width = made.width_ns
    made.set_content(2e9, 80, 800)
    assert made.width_ns == width
    made.restore()
    made.set_content(2e9, 80, 800)
    assert made.width_ns != width


def test_following_moves_only_when_it_must():
    made = window()
    made.zoom(10, 0)
    assert not made.follow(made.width_ns / 2)
    assert made.follow(9e8)
    assert made.start_ns <= 9e8 <= made.end_ns


@pytest.mark.parametrize("width_ns", [3e4, 1e6, 7.7e7, 4e9, 6e12])
def test_ticks_are_apart_and_their_labels_differ(width_ns):
    step = tick_step(width_ns, 800)
    assert step / width_ns * 800 >= 80
    assert f"{step:.0e}"[0] in "125"
    labels = [tick_label(i * step, step) for i in range(8)]
    assert len(set(labels)) == 8
