from __future__ import annotations

import signal

import pytest

from app.cli.interrupt import Interrupt
from app.cli.progress import ProgressLine
from tests.app.cli.streams import Pipe, Screen


def test_a_terminal_sees_one_line_that_goes_away() -> None:
    stream = Screen()
    line = ProgressLine(stream)
    line(0, 30, "Loading a model")
    line(30, 30, "Loading a model")
    shown = stream.getvalue()
    assert "Loading a model [" in shown
    assert shown.endswith("30 of 30")
    assert "\n" not in shown
    line.close()
    last = stream.getvalue().removeprefix(shown)
    assert last.strip(" \r") == ""
    assert last.endswith("\r")


def test_many_reports_write_few_lines() -> None:
    stream = Screen()
    line = ProgressLine(stream)
    for done in range(10_000):
        line(done, 1_000_000_000, "Fetching")
    assert stream.getvalue().count("\r") < 1_000


def test_bytes_are_shown_in_larger_units() -> None:
    stream = Screen()
    line = ProgressLine(stream, in_bytes=True)
    line(98_362_432, 98_362_432, "Fetching")
    assert "98.4 MB of 98.4 MB" in stream.getvalue()


def test_an_unknown_total_divides_by_nothing() -> None:
    stream = Screen()
    ProgressLine(stream)(5, 0, "Fetching")
    assert "Fetching" in stream.getvalue()


def test_a_log_gets_a_word_for_a_long_wait_and_nothing_for_a_short_one() -> None:
    log = Pipe()
    for line in (ProgressLine(log), ProgressLine(log, in_bytes=True)):
        for done in range(5):
            line(done, 5, "Fetching")
        line.close()
    assert log.getvalue() == "Fetching\n"


def test_the_first_interrupt_is_a_wish_and_the_second_ends() -> None:
    before = signal.getsignal(signal.SIGINT)
    wishes: list[str] = []
    with Interrupt(lambda: wishes.append("stop")) as interrupt:
        assert not interrupt.asked
        signal.raise_signal(signal.SIGINT)
        assert interrupt.asked
        assert wishes == ["stop"]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert wishes == ["stop"]
    assert signal.getsignal(signal.SIGINT) is before
