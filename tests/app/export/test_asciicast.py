"""The recording, played on a small terminal of our own: what is seen, and when."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from app.cli.main import main
from app.export.options import Options
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.terminal_marks import harmless, legend
from engine.errors import DraftscopeError
from engine.trace.events import Fate, Round
from engine.trace.text import text_of
from tests.app.export.small_terminal import SmallTerminal
from tests.app.export.trials import exported, hostile, marked, several, write
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.trace.events import Event

STYLE = re.compile(r"\x1b\[[\d;]*m")
ASIDE = re.compile(r"\x1b7.*?\x1b8", re.DOTALL)
WIDE = (500, 200)


class Cast:
    """A recording, read as the format says."""

    def __init__(self, data: bytes) -> None:
        first, *rest = data.decode().splitlines()
        assert data.endswith(b"\n")
        self.header: dict[str, Any] = json.loads(first)
        self.events: list[tuple[float, str, str]] = [tuple(json.loads(line)) for line in rest]
        times = [seconds for seconds, _, _ in self.events]
        assert times == sorted(times)
        assert times[0] == 0
        assert {code for _, code, _ in self.events} <= {"o", "m"}

    def written(self) -> str:
        """All output, without what was written aside and without styles."""
        sent = "".join(text for _, code, text in self.events if code == "o")
        return STYLE.sub("", ASIDE.sub("", sent))

    def play(self, until: float = float("inf")) -> SmallTerminal:
        terminal = SmallTerminal(self.header["width"], self.header["height"])
        for seconds, code, text in self.events:
            if code == "o" and seconds <= until:
                terminal.feed(text)
        return terminal


def cast(tmp_path: Path, events: Sequence[Event], **options: Any) -> Cast:
    trace = write(tmp_path / "run.jsonl", events)
    out = tmp_path / "out.cast"
    out.unlink(missing_ok=True)
    return Cast(exported(trace, out, "cast", Options(**options)))


def text_in(written: str) -> str:
    """What stands between the prompt and the figures."""
    return written.split("\r\n\r\n", 2)[2].split("\r\n\r\nacceptance: ")[0].replace("\r\n", "\n")


def test_header_is_the_second_version_and_has_a_fixed_time(tmp_path: Path) -> None:
    header = cast(tmp_path, make_trace()).header
    assert header["version"] == 2
    assert (header["width"], header["height"]) == (100, 30)
    assert header["timestamp"] == 1735732800  # 2025-01-01T12:00:00Z, when the run began
    assert header["title"] == "tiny-target with tiny-drafter"
    assert "idle_time_limit" not in header
    said = header["draftscope"]
    assert said["seed"] == "0"
    assert said["machine"] == "simulated, 2 threads"
    assert said["acceptance means"].startswith("Accepted / tested.")


def test_size_and_title_are_as_asked_for(tmp_path: Path) -> None:
    header = cast(tmp_path, marked(make_trace()), size=(64, 18)).header
    assert (header["width"], header["height"], header["title"]) == (64, 18, "A talk")
    assert cast(tmp_path, make_trace(), title="Mine").header["title"] == "Mine"
    with pytest.raises(DraftscopeError, match="1920x1080 is no size of a terminal"):
        cast(tmp_path, make_trace(), size=(1920, 1080))


def test_without_drafts_the_text_is_the_emitted_one(tmp_path: Path) -> None:
    events = make_trace(rounds=40, temperature=1.0, seed=7)
    written = cast(tmp_path, events, drafts=False, size=WIDE).written()
    expected = harmless(text_of(events)).replace("\t", "")
    assert text_in(written).replace(" ", "").rstrip("\n") == expected.replace(" ", "").rstrip("\n")


def test_with_drafts_what_was_dropped_stands_struck_in_the_text(tmp_path: Path) -> None:
    events = make_trace(rounds=40, temperature=1.0, seed=7)
    with_drafts = cast(tmp_path, events, size=WIDE).play()
    without = cast(tmp_path, events, size=WIDE, drafts=False)
    rounds = [event for event in events if isinstance(event, Round)]
    dropped = sum(t.fate is Fate.REJECTED for one in rounds for t in one.drafted)
    assert dropped > 0
    struck = with_drafts.styles["9;31"]
    aside = without.play().styles["9;31"].removeprefix("rejected")
    assert len(struck) > len(aside), "in the draft's line, and in the text too"
    assert "\x1b[9;31m" not in ASIDE.sub("", "".join(text for _, _, text in without.events))


def test_recording_lasts_as_long_as_the_presentation_clock_says(tmp_path: Path) -> None:
    events = make_trace(rounds=12, temperature=1.0, seed=3)
    for speed in (1.0, 2.5):
        end = cast(tmp_path, events, speed=speed).events[-2][0]
        clock = Presentation(Document(events), speed=speed)
        clock.advance(end - 0.001)
        assert not clock.at_end
        clock.advance(0.002)
        assert clock.at_end


def test_draft_is_pending_then_judged_then_gone(tmp_path: Path) -> None:
    events = make_trace(rounds=2, seed=1)
    recording = cast(tmp_path, events)
    frames = [recording.play(seconds) for seconds, _, _ in recording.events]
    drafts = [frame.line(29) for frame in frames]
    first = next(event for event in events if isinstance(event, Round))
    pieces = [token.piece.decode() for token in first.drafted]
    assert drafts[0] == ""
    assert [drafts[n + 1] for n in range(4)] == [
        harmless("".join(pieces[: n + 1])).rstrip() for n in range(4)
    ]
    assert drafts[4 + 1 + first.accepted] == ""
    assert frames[1].line(28) == "round 1"
    assert frames[4 + 1 + first.accepted].line(28) == "round 1: 4 of 4 accepted, then a bonus"
    assert "3;33" in frames[1].styles
    assert drafts[-1] == "", "the figures stand alone"


@pytest.mark.parametrize("size", [(20, 8), (21, 9), (41, 12), (100, 30)])
@pytest.mark.parametrize("drafts", [True, False])
@pytest.mark.parametrize("seed", [10, 12])
def test_no_character_is_lost_where_lines_end_and_scroll(
    tmp_path: Path, size: tuple[int, int], drafts: bool, seed: int
) -> None:
    events = make_trace(rounds=40, temperature=1.0, seed=seed)
    recording = cast(tmp_path, events, size=size, drafts=drafts)
    terminal = recording.play()
    shown = "".join([*terminal.gone, *terminal.screen()]).replace(" ", "")
    expected = "".join(recording.written().replace("\x1b[2J", "").split("\x1b[H", 1)[1])
    expected = re.sub(r"\x1b\[\d*(;\d+)?r", "", expected)
    assert shown == "".join(expected.split())


def test_terminal_is_given_back_whole(tmp_path: Path) -> None:
    terminal = cast(tmp_path, make_trace(rounds=9)).play()
    assert terminal.region == (0, 29)
    assert terminal.screen()[28:] == ["", ""]


def test_hostile_tokens_send_no_control(tmp_path: Path) -> None:
    terminal = cast(tmp_path, hostile(rounds=60), size=(60, 20)).play()
    shown = "".join([*terminal.gone, *terminal.screen()])
    assert "␛" in shown
    assert "\\x9b31m" in shown


def test_it_ends_with_the_figures_and_where_they_come_from(tmp_path: Path) -> None:
    lines = [line for line in cast(tmp_path, make_trace(rounds=20)).play().screen() if line]
    assert any(line.startswith("speed-up: ") for line in lines)
    assert "seed: 0" in lines
    assert "machine: simulated, 2 threads" in lines


def test_markers_are_the_formats_own(tmp_path: Path) -> None:
    recording = cast(tmp_path, marked(make_trace()))
    marks = [(seconds, text) for seconds, code, text in recording.events if code == "m"]
    assert [text for _, text in marks] == ["Before", "Look here"]
    assert marks[0][0] == 0
    shown = recording.play(marks[1][0])
    assert shown.line(28).startswith("round 2: ")


@pytest.mark.parametrize(
    "events",
    [
        make_trace()[:1],
        make_trace(rounds=1, drafter="none", top_n=0, baseline=False, probe_every=0),
        make_trace(rounds=5, drafter="ngram", paced=True),
    ],
)
def test_odd_runs_are_recorded(tmp_path: Path, events: list[Event]) -> None:
    recording = cast(tmp_path, events, drafts=False)
    assert STYLE.sub("", legend(drafts=False)) in recording.play().screen()
    assert harmless(text_of(events)).strip()[:20] in recording.written()


def test_command_takes_a_run_and_a_speed(tmp_path: Path) -> None:
    trace = write(tmp_path / "run.jsonl", several(2))
    out = tmp_path / "talk.cast"
    asked = ["--run", "2", "--speed", "4", "--size", "80x24", "--hide-drafts"]
    assert main(["export", str(trace), str(out), *asked]) == 0
    header = Cast(out.read_bytes()).header
    assert (header["draftscope"]["seed"], header["width"]) == ("1", 80)
