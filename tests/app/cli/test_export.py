"""`draftscope export` where names, streams and signals are odd: a sentence, never a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.interrupt import ENDED, ending
from app.cli.main import main
from app.end_signals import undisturbed
from engine.file_names import name_in_words
from engine.trace import codec
from tests.app.opened import write_trace
from tests.traces import make_trace

ROOT = Path(__file__).parents[3]
STRANGE = os.fsdecode(b"t\xff.jsonl")  # as Linux lets a file be called

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
with_signals = pytest.mark.skipif(sys.platform == "win32", reason="no such signals there")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "t.jsonl", make_trace(rounds=4))


@pytest.mark.parametrize(
    "words",
    [
        ["export", "{}", "o.html", "--title", "\udcff"],
        ["mark", "{}", "--at", "2", "--title", "\udcff"],
        ["mark", "{}", "--at", "2", "--note", "\udcff"],
        ["mark", "{}", "--name", "\udcff"],
        ["mark", "{}", "--at", "2", "--id", "\udcff"],
    ],
)
def test_bytes_that_are_no_text_are_refused_as_words(
    trace: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    before = trace.read_bytes()
    assert main([word.format(trace) for word in words]) == 2
    assert "is no text in UTF-8" in capsys.readouterr().err
    assert trace.read_bytes() == before


@on_linux
@pytest.mark.parametrize("end", ["html", "cast", "perfetto.json", "md", "csv", "svg", "gif"])
@pytest.mark.usefixtures("qapp")
def test_a_torn_session_with_a_name_that_is_no_text_is_exported_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], end: str
) -> None:
    whole = b"".join(map(codec.encode, make_trace(rounds=4)))
    trace = tmp_path / STRANGE
    trace.write_bytes(whole + b'{"type":"round","ru')
    out = tmp_path / os.fsdecode(b"o\xfe." + end.encode())
    small = ["--size", "160x120", "--speed", "64", "--from", "end"] if end == "gif" else []
    assert main(["export", str(trace), str(out), "--json", *small]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["written"] == str(tmp_path / r"o\xfe.") + end
    assert told["notices"][0].startswith(r"The last event of t\xff.jsonl is incomplete")
    assert out.stat().st_size == told["bytes"]
    assert main(["check", "trace", str(trace), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == r"t\xff.jsonl"


def test_a_name_that_is_text_stays_as_it_is() -> None:
    assert name_in_words("plain ünï 😀.md") == "plain ünï 😀.md"
    assert name_in_words(Path("a.md")) == "a.md"


def test_what_a_strangers_session_says_never_steers_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [codec.encode(event) for event in make_trace(rounds=3)]
    first = json.loads(lines[0]) | {"schema": 99, "version": "9\x1b[2J"}
    newer = tmp_path / "t.jsonl"
    newer.write_bytes(b"".join([json.dumps(first).encode() + b"\n", *lines[1:]]))
    for words in (["export", str(newer), str(tmp_path / "o.md")], ["check", "trace", str(newer)]):
        assert main(words) == 0
        said = capsys.readouterr()
        assert "written by Draftscope 9␛[2J" in said.err
        assert "\x1b" not in said.out + said.err


@pytest.mark.skipif(sys.platform == "win32", reason="no shell to close streams with")
@pytest.mark.parametrize(
    ("streams", "code", "said"),
    [
        (">&-", 0, b""),
        ("2>&-", 0, b""),
        ("<&-", 0, b""),
        pytest.param("> /dev/full", 1, b"draftscope: standard output is full", marks=on_linux),
    ],
)
def test_a_stream_that_is_closed_or_full_keeps_no_export_from_its_file(
    trace: Path, tmp_path: Path, streams: str, code: int, said: bytes
) -> None:
    out = tmp_path / "o.csv"
    command = f'"{sys.executable}" -m app export "{trace}" "{out}" {streams}'
    found = subprocess.run(
        ["/bin/sh", "-c", command], cwd=ROOT, capture_output=True, timeout=60, check=False
    )
    assert (found.returncode, b"Traceback" in found.stderr) == (code, False)
    assert found.stderr.startswith(said)
    assert out.read_bytes().startswith(b"\xef\xbb\xbfrun_number")


@with_signals
@pytest.mark.parametrize(
    ("number", "fault"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_a_wish_to_end_that_a_library_lost_is_kept(
    number: signal.Signals, fault: type[BaseException]
) -> None:
    before = signal.getsignal(number)
    with ending() as asked:
        asked.check()
        with pytest.raises(fault):  # a library would have it so
            signal.raise_signal(number)
        with pytest.raises(fault) as raised:
            asked.check()
    assert signal.getsignal(number) == before
    if isinstance(raised.value, SystemExit):
        assert raised.value.code == ENDED


@with_signals
def test_a_wish_to_end_of_which_a_library_made_a_fault_is_still_one() -> None:
    def painted() -> None:
        with ending():
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise AttributeError("no attribute BrushStyle") from None  # as Qt's loader does

    with pytest.raises(KeyboardInterrupt):
        painted()


@with_signals
def test_no_wish_to_end_disturbs_qt_while_it_is_loaded() -> None:
    done = []

    def load() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            done.append("loaded")

    with pytest.raises(KeyboardInterrupt):
        load()
    assert done == ["loaded"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@with_signals
def test_an_ignored_interrupt_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ending() as asked:
            signal.raise_signal(signal.SIGINT)
            asked.check()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
