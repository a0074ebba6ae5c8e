"""The window closes cleanly whatever it is doing: exit code 0 and nothing on stderr."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.trace.codec import encode
from engine.trace.journal import journals_folder, unfinished_journals
from tests.traces import make_trace

PROGRAM = Path(__file__).with_name("closing_program.py")
ROOT = PROGRAM.parents[2]


@pytest.fixture(scope="module")
def session_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("session") / "long.jsonl"
    path.write_bytes(b"".join(encode(event) for event in make_trace(rounds=300)))
    return path


def close_while(doing: str, target: Path, session: Path, *delays_ms: int) -> None:
    delays = ",".join(map(str, delays_ms))
    done = subprocess.run(
        [sys.executable, str(PROGRAM), doing, str(target), str(session), delays],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(),
        timeout=200,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), f"{doing} {delays} ms"
    assert unfinished_journals() == []


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def test_twenty_closes_during_generation(tiny_model: Path, session_file: Path) -> None:
    random_delays = random.Random(7)
    delays = [random_delays.randrange(0, 250) for _ in range(20)]
    close_while("run", tiny_model, session_file, *delays)
    assert len(list(journals_folder().glob("*.jsonl"))) == 20


@pytest.mark.parametrize(
    ("doing", "delay_ms"),
    [
        ("begin", 0),
        ("begin", 700),
        ("begin", 1400),
        ("load", 0),
        ("load", 900),
        ("paused", 2500),
        ("open", 0),
        ("open", 300),
        ("export", 0),
        ("export", 300),
    ],
)
def test_close_while(tiny_model: Path, session_file: Path, doing: str, delay_ms: int) -> None:
    close_while(doing, tiny_model, session_file, delay_ms)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_closes_the_window(
    tiny_model: Path, session_file: Path, number: signal.Signals
) -> None:
    program = subprocess.Popen(
        [sys.executable, str(PROGRAM), "paused", str(tiny_model), str(session_file), "60000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=environment(),
    )
    while not list(journals_folder().glob("*.jsonl")):
        assert program.poll() is None
        time.sleep(0.02)
    program.send_signal(number)
    assert program.communicate(timeout=60) == (b"", b"")
    assert program.returncode == 0
    assert unfinished_journals() == []


def test_without_a_display_is_one_sentence() -> None:
    gone = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    bare = {name: value for name, value in environment().items() if name not in gone}
    done = subprocess.run(
        [sys.executable, "-m", "app"], capture_output=True, text=True, env=bare, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("draftscope: There is no display")
    assert len(done.stderr.splitlines()) == 1
