from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from app.cli import run as run_module
from app.cli.main import main
from engine.trace.events import Event, FinishReason, RunFinished, RunStarted
from engine.trace.reader import read_trace
from engine.trace.text import text_of
from tests.app.opened import opened, write_trace
from tests.lawful import assert_lawful
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.control import Control
    from engine.loading import Progress
    from engine.request import RunRequest

ROOT = Path(__file__).parents[3]
FOX = (
    "Repeat after me: the quick brown fox jumps over the lazy dog. "
    "The quick brown fox jumps over the lazy dog."
)


class Recorded:
    """A session that plays events; remembers what was asked of it and whether it was closed."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.request: RunRequest | None = None
        self.before: Callable[[int, Control], None] = lambda index, control: None
        self.closed = False

    def run(self, request: RunRequest, control: Control, *, progress: Progress) -> Iterator[Event]:
        self.request = request
        try:
            for index, event in enumerate(self.events):
                self.before(index, control)
                if control.stopped:
                    yield RunFinished(run=event.run, reason=FinishReason.CANCELLED)
                    return
                yield event
        finally:
            self.closed = True


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    recorded = Recorded(make_trace(rounds=20))
    monkeypatch.setattr(run_module, "_load", lambda asked, _: (recorded, asked.drafter or "none"))
    return recorded


def test_the_text_goes_to_standard_output_and_figures_to_standard_error(
    session: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--prompt", "hello"]) == 0
    output = capsys.readouterr()
    assert output.out == text_of(session.events)
    assert "tokens per pass" in output.err
    assert session.closed


def test_json_is_exactly_one_object(session: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--prompt", "hello", "--json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["text"] == text_of(session.events)
    assert output.out.count("\n") == 1
    assert output.err == ""


def test_options_reach_the_request(session: Recorded, tmp_path: Path) -> None:
    arguments = ["--drafter", "head", "--k", "3", "--temperature", "0.7", "--top-k", "40"]
    arguments += ["--top-p", "0.9", "--seed", "5", "--max-new-tokens", "9", "--raw", "--stop", "a"]
    arguments += ["--stop", "b", "--baseline", "--no-probes", "--trace", str(tmp_path / "t.jsonl")]
    assert main(["run", "--prompt", "hello", *arguments]) == 0
    request = session.request
    assert request is not None
    settings = request.settings
    assert (settings.drafter, settings.k, settings.temperature) == ("head", 3, 0.7)
    assert (settings.top_k, settings.top_p) == (40, 0.9)
    assert (request.prompt, request.raw, request.seed) == ("hello", True, 5)
    assert (request.max_new_tokens, request.stop_strings) == (9, ("a", "b"))
    assert (request.baseline, request.probes) == (True, False)
    assert request.top_n == run_module.TOP_N


def test_without_a_trace_nothing_is_observed(session: Recorded) -> None:
    assert main(["run", "--prompt", "hello"]) == 0
    assert session.request is not None
    assert session.request.top_n == 0


def test_the_trace_holds_every_event(session: Recorded, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("an older file")
    assert main(["run", "--prompt", "hello", "--trace", str(path)]) == 0
    assert read_trace(path) == session.events


@pytest.mark.skipif(sys.platform == "win32", reason="an open file keeps its name there")
def test_a_trace_written_over_one_on_show_leaves_what_is_on_show(
    session: Recorded, tmp_path: Path
) -> None:
    path = write_trace(tmp_path / "out.jsonl", make_trace(rounds=9, seed=4))
    document = opened(path)
    assert main(["run", "--prompt", "hello", "--trace", str(path)]) == 0
    assert document.events == make_trace(rounds=9, seed=4)
    assert read_trace(path) == session.events


@pytest.mark.parametrize("name", ["", "missing/out.jsonl"])
def test_a_trace_that_cannot_be_written_is_refused_before_the_model_is_loaded(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loads: list[object] = []
    monkeypatch.setattr(run_module, "_load", lambda *arguments: loads.append(arguments))
    assert main(["run", "--prompt", "hello", "--trace", str(tmp_path / name)]) == 1
    assert loads == []
    assert "cannot be written" in capsys.readouterr().err


def test_a_packed_trace_is_refused_with_what_to_do_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loads: list[object] = []
    monkeypatch.setattr(run_module, "_load", lambda *arguments: loads.append(arguments))
    assert main(["run", "--prompt", "hello", "--trace", str(tmp_path / "a.jsonl.zst")]) == 1
    assert loads == []
    said = capsys.readouterr().err
    assert "write a.jsonl, then `draftscope export a.jsonl a.jsonl.zst`." in said


def test_prompts_come_from_files_and_standard_input_as_they_are(
    session: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Größe\r\n  ends with a break\n"
    file = tmp_path / "prompt.txt"
    for data in (text.encode(), b"\xef\xbb\xbf" + text.encode()):
        file.write_bytes(data)
        assert main(["run", "--prompt-file", str(file)]) == 0
        assert session.request is not None
        assert session.request.prompt == text
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    assert main(["run", "--prompt-file", "-"]) == 0
    assert session.request.prompt == text


def test_a_prompt_that_is_no_text_is_refused(
    session: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "prompt.bin"
    file.write_bytes(b"\xff\xfe\x00")
    for arguments, said in (
        (["--prompt-file", str(file)], "is not UTF-8 text"),
        (["--prompt-file", str(tmp_path / "none")], "cannot be read"),
        (["--prompt-file", str(tmp_path)], "cannot be read"),
        (["--prompt", os.fsdecode(b"\xff")], "is not UTF-8 text"),
    ):
        assert main(["run", *arguments]) == 1
        message = capsys.readouterr().err
        assert said in message
        assert message.count("\n") == 1
    assert session.request is None


def test_an_interrupt_stops_the_run_in_good_order(
    session: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(index: int, control: Control) -> None:
        if index == 6:
            signal.raise_signal(signal.SIGINT)

    session.before = interrupt
    path = tmp_path / "out.jsonl"
    assert main(["run", "--prompt", "hello", "--json", "--trace", str(path)]) == 130
    assert json.loads(capsys.readouterr().out)["reason"] == "cancelled"
    events = read_trace(path)
    assert events[:6] == session.events[:6]
    assert isinstance(events[-1], RunFinished)
    assert_lawful(events)
    assert session.closed


def test_a_fault_within_the_run_is_one_sentence_after_what_there_is(
    session: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    session.events = make_trace(rounds=5, reason=FinishReason.ERROR, baseline=False)
    assert main(["run", "--prompt", "hello", "--json"]) == 1
    output = capsys.readouterr()
    assert json.loads(output.out)["text"] == text_of(session.events)
    assert output.err == "draftscope: The model gave numbers that are not finite.\n"


def test_a_trace_that_fails_ends_the_run_and_closes_the_session(
    session: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = session.events[0]
    assert isinstance(started, RunStarted)
    folder = tmp_path / "gone"
    folder.mkdir()
    session.before = lambda index, control: folder.rmdir() if index == 0 else None
    assert main(["run", "--prompt", "hello", "--trace", str(folder / "t.jsonl")]) == 1
    assert session.closed


@pytest.mark.model
@pytest.mark.usefixtures("data_with_model")
def test_the_default_model_runs_and_gives_the_plain_targets_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fox.jsonl"
    arguments = ["--drafter", "ngram", "--k", "4", "--temperature", "0", "--max-new-tokens", "64"]
    arguments += ["--baseline", "--json", "--trace", str(path), "--prompt", FOX]
    assert main(["run", *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["identical"] is True
    assert found["token_ids"] == found["baseline"]["token_ids"]
    assert found["tokens_per_pass"] > 1
    events = read_trace(path)
    assert_lawful(events)
    assert text_of(events) == found["text"]
    assert "quick brown fox" in found["text"]


@pytest.mark.model
@pytest.mark.usefixtures("data_with_model")
def test_an_interrupted_process_ends_with_130_and_a_valid_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    script = "import sys; from app.cli.main import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["run", "--max-new-tokens", "4000", "--trace", str(path)]
    arguments += ["--prompt", "Tell a very long story."]
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.read(10)  # the text has begun
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
        assert running.returncode == 130
    assert b"Traceback" not in told
    assert b"stopped" in told
    events = read_trace(path)
    assert_lawful(events)
    assert isinstance(events[-1], RunFinished)
    assert events[-1].reason is FinishReason.CANCELLED
