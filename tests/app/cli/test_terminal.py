from __future__ import annotations

import re

import pytest

from app.cli.terminal import TokenPrinter, shows_colours
from app.viewmodels.terminal_marks import harmless
from engine.trace.events import Event, Round, RunFinished, RunStarted
from engine.trace.text import text_of
from tests.app.cli.streams import Pipe, Screen
from tests.traces import make_trace

STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def _printed(events: list[Event], stream: Screen | Pipe, *, show_drafts: bool = False) -> str:
    printer = TokenPrinter(stream, show_drafts=show_drafts)
    for event in events:
        match event:
            case RunStarted():
                printer.begin(event.prompt)
            case Round():
                printer.round(event)
            case RunFinished():
                printer.end(event.tail)
    return stream.getvalue()


def test_a_pipe_gets_the_text_exactly() -> None:
    events = make_trace(rounds=60, temperature=1.0)
    assert _printed(events, Pipe(), show_drafts=True) == text_of(events)


def test_a_terminal_gets_the_same_text_styled_by_fate_under_a_legend() -> None:
    events = make_trace(rounds=60, temperature=1.0)
    shown = _printed(events, Screen())
    started = events[0]
    assert isinstance(started, RunStarted)
    legend, text = shown.split(f"\n\n\x1b[2m{started.prompt}\x1b[0m\n\n")
    assert STYLE.sub("", legend).split() == ["accepted", "correction", "bonus", "plain"]
    assert STYLE.sub("", text).rstrip("\n") == text_of(events).rstrip("\n")
    styles = {name: code for code, name in re.findall(r"\x1b\[([0-9;]+)m(\w+)", legend)}
    assert styles == {"accepted": "4;32", "correction": "7;34", "bonus": "1;3;35"}
    codes = set(re.findall(r"\x1b\[([0-9;]+)m", text)) - {"0"}
    assert codes == set(styles.values())


def test_each_emitted_token_has_the_style_of_its_fate() -> None:
    events = make_trace(rounds=3, baseline=False)
    one = next(event for event in events if isinstance(event, Round) and event.index == 1)
    stream = Screen()
    TokenPrinter(stream, show_drafts=True).round(one)
    accepted, closing = one.texts[0], one.texts[-1]
    assert stream.getvalue().startswith(f"\x1b[4;32m{accepted}\x1b[0m\x1b[9;31m")
    assert stream.getvalue().count("\x1b[2;9m") == one.discarded == 2
    assert f"\x1b[7;34m{closing}\x1b[0m" in stream.getvalue() or closing == ""


def test_drafts_are_shown_in_place_only_if_asked_for() -> None:
    events = make_trace(rounds=20, temperature=1.0)
    with_drafts = _printed(events, Screen(), show_drafts=True)
    without = _printed(events, Screen())
    for code in ("9;31", "2;9", "2;3"):
        assert f"\x1b[{code}m" in with_drafts
        assert f"\x1b[{code}m" not in without


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_that_wants_no_styles_gets_none(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    events = make_trace(rounds=20)
    assert not shows_colours(Screen())
    assert "\x1b" not in _printed(events, Screen(), show_drafts=True)


def test_an_empty_no_color_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    assert shows_colours(Screen())


def test_a_text_cannot_command_the_terminal() -> None:
    wild = "\x1b]0;title\x07 a\rb\x08 \x9b31m \x7f ok\n\tend"
    shown = harmless(wild)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)
    assert shown.endswith(" ok\n\tend")
    for text in ("naïve 漢字 שלום 👩‍💻", "a\nb\tc"):
        assert harmless(text) == text


def test_a_style_ends_before_each_line_break() -> None:
    events = make_trace(rounds=100, temperature=1.0)
    for line in _printed(events, Screen(), show_drafts=True).split("\n"):
        assert line.count("\x1b[0m") * 2 == len(STYLE.findall(line))
        assert not line or STYLE.sub("", line) or "\x1b" not in line
