"""A film's pictures: each is painted once and stands as long as the schedule says."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from app.export.film import Film
from app.export.options import Options
from app.export.painter import Canvas
from app.export.source import open_source
from app.theme import THEMES, rgb
from engine.errors import DraftscopeError
from engine.trace.markers import Marker, SessionNote
from tests.app.export.films import film, painted
from tests.app.opened import write_trace
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

EVENTS = make_trace(rounds=4, k=3, temperature=0.9)
RUN = EVENTS[0].run
MARKED = Marker(run=RUN, id="m1", round=1, phase="verify", slot=0, title="Look", note="At this.")


@pytest.fixture
def trace(qapp: object, tmp_path: Path) -> Path:
    return write_trace(tmp_path / "t.jsonl", [*EVENTS, MARKED])


@pytest.mark.parametrize(("rate", "speed"), [(30, 1.0), (10, 1.0), (2, 1.0), (10, 20.0)])
def test_pictures_follow_each_other_without_a_gap(trace: Path, rate: int, speed: float) -> None:
    one = film(trace, rate, speed=speed)
    at = 0
    for first, ticks, _ in painted(one):
        assert first == at
        assert ticks >= 1
        at += ticks
    assert at == one.ticks
    assert at / rate == pytest.approx(one.schedule.seconds, abs=0.5 / rate)


def test_each_picture_comes_at_its_time(trace: Path) -> None:
    one = film(trace, 30)
    starts, passed = [], 0.0
    for segment in one.schedule:
        starts.append(passed)
        passed += segment.seconds
    shown = [shot.first / 30 for shot in one.shots()]
    assert len(shown) <= len(starts)
    assert all(min(abs(at - start) for start in starts) < 1 / 30 + 1e-6 for at in shown)


def test_what_stands_is_painted_once(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    painting: list[object] = []
    paint = Canvas.paint
    monkeypatch.setattr(Canvas, "paint", lambda *given: (painting.append(1), paint(*given))[1])
    one = film(trace)
    pictures = painted(one)
    assert len(painting) == len(pictures) < one.ticks / 2
    for (_, _, before), (_, _, after) in itertools.pairwise(pictures):
        assert (before != after).any()


def test_a_caption_is_seen_at_its_marker_and_left_out_on_request(trace: Path) -> None:
    plain = write_trace(trace.with_name("plain.jsonl"), EVENTS)
    assert len(painted(film(trace))) > len(painted(film(plain)))
    accent = np.array(rgb(THEMES["light"].accent_soft))
    for captions in (True, False):
        told = [
            bool(((picture == accent).all(axis=2)).mean() > 0.05)
            for _, _, picture in painted(film(trace, captions=captions))
        ]
        assert sum(told) == (2 if captions else 0)  # the marker's, and the figures' at the end


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_theme_title_and_drafts_are_as_chosen(trace: Path, theme: str) -> None:
    window = np.array(rgb(THEMES[theme].window))
    options = {"theme": theme, "title_card": False, "begin": "end"}
    ((_, _, begin), *_, (_, _, end)) = painted(film(trace, **options))
    assert (begin[0, 0] == window).all()
    titled = painted(film(trace, title="Another title", **options))[0][2]
    larger = painted(film(trace, font_scale=1.5, **options))[0][2]
    without = painted(film(trace, drafts=False, **options))[0][2]
    for other in (titled, larger, without, end):
        assert (other != begin).any()


def test_the_sessions_own_name_is_the_title_unless_one_is_given(trace: Path) -> None:
    named = SessionNote(run=RUN, title="Named", note="And told.")
    path = write_trace(trace.with_name("named.jsonl"), [*EVENTS, named])
    assert film(path).title == "Named"
    assert film(path, title="Given").title == "Given"
    assert film(trace).title == ""


def test_what_of_a_file_could_not_be_read_is_said_first_and_last(trace: Path) -> None:
    torn = trace.with_name("torn.jsonl")
    torn.write_bytes(trace.read_bytes() + b'{"type":"round","index":')
    whole, cut = (painted(film(path, begin="end")) for path in (trace, torn))
    differs = [bool((a != b).any()) for (*_, a), (*_, b) in zip(whole, cut, strict=True)]
    assert differs == [True, False, True]


def test_stills_are_the_first_the_last_and_some_between(trace: Path) -> None:
    one = film(trace)
    every = [picture for _, _, picture in painted(one)]
    stills = [pixels[..., 2::-1].copy() for pixels in one.stills(5)]
    assert len(stills) == 5
    assert (stills[0] == every[0]).all()
    assert (stills[-1] == every[-1]).all()
    assert len(list(one.stills(1000))) == len(every)


@pytest.mark.parametrize("size", [(119, 500), (500, 5000)])
def test_sizes_that_are_not_made_are_refused(trace: Path, size: tuple[int, int]) -> None:
    with pytest.raises(DraftscopeError, match="120 to 4,096"):
        film(trace, size=size)


def test_a_long_session_is_refused_before_anything_is_painted(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Canvas, "paint", lambda *given: pytest.fail("painted"))
    clock = Fraction(10)
    with pytest.raises(DraftscopeError, match="longer than"):
        Film(open_source(trace), Options(), size=(320, 180), clock=clock, rate=clock, most_s=10.0)


HOSTILE = ["</script>", "\x00", "\ud800", "שלום עולם", "👩‍💻", "é" * 3, "\n\n", "=1+1", "\u202e"]


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(EVENTS[:1], id="no round, torn off"),
        pytest.param(EVENTS[:3], id="one round, no end"),
        pytest.param(make_trace(rounds=1, k=2, baseline=False), id="one round, no baseline"),
        pytest.param(make_trace(rounds=3, top_n=0), id="no laws"),
        pytest.param(make_trace(rounds=3, k=0, drafter="none"), id="no drafter"),
        pytest.param(make_trace(rounds=3, paced=True), id="paced"),
        pytest.param(
            make_trace(
                rounds=3,
                vocabulary=[text.encode("utf-8", "surrogatepass") for text in HOSTILE],
            ),
            id="hostile tokens",
        ),
    ],
)
def test_every_session_is_a_film(qapp: object, tmp_path: Path, events: list) -> None:  # type: ignore[type-arg]
    said = Marker(run=events[0].run, id="m1", round=0, slot=9, title="‮" + "x" * 119, note="\n\0")
    one = film(write_trace(tmp_path / "t.jsonl", [*events, said]), title="\0שלום 👩‍💻", speed=16.0)
    pictures = painted(one)
    assert sum(ticks for _, ticks, _ in pictures) == one.ticks
    assert all(len(np.unique(picture.reshape(-1, 3), axis=0)) > 2 for _, _, picture in pictures)
