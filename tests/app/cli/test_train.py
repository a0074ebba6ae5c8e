"""`draftscope train`: lines out, words in, Ctrl+C, and what a failure looks like."""

from __future__ import annotations

import io
import queue
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
import torch

from app.cli.interrupt import Interrupt
from app.cli.main import main
from app.cli.parser import command_parser
from app.cli.train import GO, PAUSE, STOP, Reins, asked_for
from engine.drafters.file import read_drafter
from engine.training import fit
from engine.training import train as module
from engine.training.corpus import write_corpus
from engine.training.events import Evaluated, Failed, Preparing, Saved, Stepped, from_line
from engine.training.request import USUAL_TEXT, TrainingRequest
from tests.engine.training.toys import toy_corpus, write_toy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from engine.training.events import TrainingEvent


@pytest.fixture(autouse=True)
def small_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let steps be small, float32 be fastest, and the process's memory be as it is."""
    monkeypatch.setattr(fit, "PLACES", 512)
    monkeypatch.setattr(module, "FEWEST_TOKENS", 900)
    monkeypatch.setattr("engine.models.plans.batched.fastest_factors", lambda device: torch.float32)
    monkeypatch.setattr("engine.memory.keep_what_is_freed", lambda: None)
    monkeypatch.setattr(sys, "stdin", io.StringIO())


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """Words that train a small model on a few letters."""
    folder = write_toy(tmp_path / "toy")
    write_corpus(toy_corpus([40] * 60, kept=(0, 9)), tmp_path / "ids.safetensors")
    return [
        *("train", "small", "--target", str(folder), "--device", "cpu"),
        *("--corpus", str(tmp_path / "ids.safetensors"), "--vocabulary", "100"),
        *("--width", "16", "--layers", "1", "--out", str(tmp_path / "mine.safetensors")),
    ]


class Words:
    """Standard input on which one says words while the training goes on."""

    def __init__(self) -> None:
        self._words: queue.Queue[str | None] = queue.Queue()
        self.taken = 0

    def say(self, word: str | None) -> None:
        self._words.put(word)

    def __iter__(self) -> Iterator[str]:
        while (word := self._words.get()) is not None:
            yield f"{word}\n"
            self.taken += 1


class Watched(io.StringIO):
    """Standard output whose reader acts on what it reads."""

    def __init__(self, act: Callable[[TrainingEvent], None]) -> None:
        super().__init__()
        self._act = act

    def write(self, text: str) -> int:
        if text.startswith("{"):
            self._act(from_line(text))
        return super().write(text)


def lines(text: str) -> list[TrainingEvent]:
    return [from_line(line) for line in text.splitlines()]


def test_every_line_is_an_event_and_the_last_says_where_the_file_is(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--steps", "3", "--json"]) == 0
    out, err = capsys.readouterr()
    events = lines(out)
    assert err == ""
    assert isinstance(events[0], Preparing)
    assert {type(event) for event in events} == {Preparing, Stepped, Evaluated, Saved}
    last = events[-1]
    assert isinstance(last, Saved)
    assert last.path == str(tmp_path / "mine.safetensors")
    assert read_drafter(last.path).metadata.held_out.greedy == last.greedy


def test_without_json_people_read_how_it_goes(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--steps", "2"]) == 0
    out, _ = capsys.readouterr()
    assert "step 0: acceptance 0." in out
    assert "the best so far" in out
    assert out.splitlines()[-1].startswith(str(tmp_path / "mine.safetensors"))
    assert "on text kept from training" in out


def test_a_failure_is_one_event_or_one_sentence(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ids.safetensors").unlink()
    assert main([*command, "--json"]) == 1
    out, err = capsys.readouterr()
    failed = lines(out)[-1]
    assert isinstance(failed, Failed)
    assert "ids.safetensors" in failed.message
    assert err == ""
    assert main(command) == 1
    assert capsys.readouterr().err == f"draftscope: {failed.message}\n"


def test_the_words_on_standard_input_hold_release_and_end_it(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, seen = Words(), list[str]()

    def act(event: TrainingEvent) -> None:
        seen.append(type(event).__name__)
        if isinstance(event, Evaluated) and event.step == 0:
            words.say(PAUSE)
            words.say("nonsense")
            words.say(GO)
        if isinstance(event, Evaluated) and event.step > 0 and "told" not in seen:
            seen.append("told")
            words.say(STOP)
            words.say(None)

    monkeypatch.setattr(sys, "stdin", words)
    out = Watched(act)
    monkeypatch.setattr(sys, "stdout", out)
    assert main([*command, "--steps", "400", "--json"]) == 0
    last = lines(out.getvalue())[-1]
    assert isinstance(last, Saved)
    assert words.taken == 4
    metadata = read_drafter(last.path).metadata
    assert 0 < metadata.trained.steps < 400
    assert (tmp_path / "mine.checkpoint").is_dir()  # it can be gone on with


def test_an_interrupt_keeps_the_best(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def act(event: TrainingEvent) -> None:
        if isinstance(event, Evaluated) and event.step == 0:
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    out = Watched(act)
    monkeypatch.setattr(sys, "stdout", out)
    assert main([*command, "--steps", "4000", "--json"]) == 0
    assert isinstance(lines(out.getvalue())[-1], Saved)
    assert signal.getsignal(signal.SIGINT) is before
    assert read_drafter(tmp_path / "mine.safetensors").metadata.trained.steps < 4000


def waiting(reins: Reins) -> tuple[threading.Thread, threading.Event]:
    through = threading.Event()

    def go() -> None:
        reins.wait()
        through.set()

    thread = threading.Thread(target=go)
    thread.start()
    return thread, through


@pytest.mark.parametrize("word", [GO, STOP])
def test_a_paused_training_waits_until_it_is_told(word: str) -> None:
    reins = Reins(Interrupt())
    reins.wait()  # nobody holds it
    reins.obey(PAUSE)
    thread, through = waiting(reins)
    reins.obey("what?")
    assert not through.wait(0.05)
    reins.obey(word)
    thread.join(10)
    assert through.is_set()
    assert reins.stopped() == (word == STOP)


def test_an_interrupt_releases_a_paused_training() -> None:
    interrupt = Interrupt()
    reins = Reins(interrupt)
    reins.obey(PAUSE)
    thread, through = waiting(reins)
    interrupt.asked = True
    thread.join(10)
    assert through.is_set()
    assert reins.stopped()


@pytest.mark.parametrize(("said", "stopped"), [("", False), ("go\n", True), ("pause\n", True)])
def test_who_spoke_and_went_away_needs_no_drafter(said: str, stopped: bool) -> None:
    reins = Reins(Interrupt())
    reins.listen(io.StringIO(said))
    assert reins.stopped() == stopped


def parsed(*words: str) -> TrainingRequest:
    return asked_for(command_parser().parse_args(["train", *words, "--out", "mine.safetensors"]))


def test_words_become_a_request() -> None:
    head = parsed("head", "--blocks", "2", "--taps", "10", "20", "--minutes", "3", "--seed", "7")
    assert (head.kind, head.blocks, head.taps) == ("head", 2, (10, 20))
    assert (head.minutes, head.seed, head.own_tokens) == (3.0, 7, USUAL_TEXT)
    small = parsed("small", "--layers", "4", "--width", "256", "--steps", "9", "--resume")
    assert (small.layers, small.width, small.steps, small.resume) == (4, 256, 9, True)
    assert (head.begin, parsed("head", "--from", "head").begin) == (None, "head")


def test_files_alone_are_trained_on_unless_own_text_is_asked_for() -> None:
    assert parsed("head", "--corpus", "a.txt").own_tokens == 0
    assert parsed("head", "--corpus", "a.txt", "--self", "500").own_tokens == 500
    assert parsed("head", "--self", "20000").own_tokens == 20000


@pytest.mark.parametrize("kind", ["head", "small"])
def test_help_names_what_can_be_asked_for(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", kind, "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for word in ("--corpus", "--self", "--minutes", "--resume", "--out", "--json", "pause, go"):
        assert word in " ".join(out.split())
    assert ("--taps" in out) == (kind == "head")
    assert ("--width" in out) == (kind == "small")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["tree", "--out", "a.safetensors"],
        ["head"],
        ["head", "--out", "a.safetensors", "--steps", "0"],
        ["head", "--out", "a.safetensors", "--steps", "5", "--minutes", "5"],
        ["head", "--out", "a.safetensors", "--seed", "-1"],
        ["small", "--out", "a.safetensors", "--width", "4"],
    ],
)
def test_wrong_usage_is_told_in_a_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_program_ends_although_somebody_could_still_speak(command: list[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "app", *command, "--steps", "1", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdin.write("go\n")
        program.stdin.flush()
        out, err = program.stdout.read(), program.stderr.read()
        assert program.wait() == 0, err
    assert isinstance(lines(out)[-1], Saved)
    assert err == ""
