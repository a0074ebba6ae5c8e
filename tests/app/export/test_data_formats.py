"""What holds for every format of data: the same bytes each time, nothing of what is withheld."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.export.formats import FORMATS, format_named
from app.export.options import Options
from app.export.source import open_source
from engine.trace.packed import plain_file
from tests.app.export.trials import (
    SECRET_DEVICE,
    SECRET_MACHINE,
    SECRET_PROMPT,
    exported,
    hostile,
    marked,
    secret,
    several,
    write,
)
from tests.traces import make_trace

if TYPE_CHECKING:
    from engine.trace.events import Event

ROOT = Path(__file__).parents[3]
NAMES = ("csv", "rounds.csv", "perfetto.json", "md", "cast", "jsonl", "jsonl.zst")
DEMOS = sorted((ROOT / "assets" / "demos").glob("*.jsonl*"))

SCRIPT = """
import hashlib, json, sys
from pathlib import Path
from app.export.exporting import export
from app.export.formats import format_named
from app.export.options import Options
trace, folder, *names = sys.argv[1:]
said = {}
for name in names:
    out = Path(folder) / ("out." + name)
    export(Path(trace), out, format_named(name), Options())
    said[name] = hashlib.sha256(out.read_bytes()).hexdigest()
print(json.dumps(said))
"""


def digests(trace: Path, folder: Path) -> dict[str, str]:
    folder.mkdir()
    return {
        name: hashlib.sha256(exported(trace, folder / f"out.{name}", name)).hexdigest()
        for name in NAMES
    }


def elsewhere(trace: Path, folder: Path, **environment: str) -> dict[str, str]:
    """Export in a process of its own, in which a file without an encoding is an error."""
    folder.mkdir()
    strict = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning"]
    done = subprocess.run(
        [sys.executable, *strict, "-c", SCRIPT, str(trace), str(folder), *NAMES],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, str] = json.loads(done.stdout)
    return said


@pytest.mark.parametrize("events", [hostile(), marked(several()), make_trace()[:1]])
def test_same_session_gives_the_same_bytes(tmp_path: Path, events: list[Event]) -> None:
    trace = write(tmp_path / "run.jsonl", events)
    assert digests(trace, tmp_path / "a") == digests(trace, tmp_path / "b")


@pytest.mark.case("E09")
def test_neither_hashes_nor_locale_nor_time_zone_show(tmp_path: Path) -> None:
    trace = write(tmp_path / "run.jsonl", hostile())
    expected = digests(trace, tmp_path / "here")
    old = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    first = elsewhere(trace, tmp_path / "c", PYTHONHASHSEED="1", LC_ALL="C", LANG="C", **old)
    second = elsewhere(
        trace, tmp_path / "west", PYTHONHASHSEED="77", PYTHONIOENCODING="cp1252", TZ="XYZ-13"
    )
    assert first == expected
    assert second == expected


@pytest.mark.parametrize("name", NAMES)
def test_withheld_words_are_nowhere(tmp_path: Path, name: str) -> None:
    events = secret(make_trace(rounds=12))
    trace = write(tmp_path / "run.jsonl", events)
    words = (SECRET_PROMPT, *SECRET_PROMPT.split(), SECRET_MACHINE, "Quuxotron", SECRET_DEVICE)
    options = Options(withheld=frozenset({"prompt", "machine"}))
    whole = plain(trace, tmp_path / "a", name)
    emptied = plain(trace, tmp_path / "b", name, options)
    assert SECRET_PROMPT.encode() in whole, "it is there where nothing is withheld"
    assert SECRET_MACHINE.encode() in whole
    assert SECRET_DEVICE.encode() in whole
    assert [word for word in words if word.encode() in emptied] == []


def plain(trace: Path, folder: Path, name: str, options: Options | None = None) -> bytes:
    folder.mkdir()
    out = folder / f"out.{name}"
    exported(trace, out, name, options)
    return plain_file(out).read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_where_it_comes_from_is_in_every_file(tmp_path: Path, name: str) -> None:
    data = plain(write(tmp_path / "run.jsonl", make_trace()), tmp_path / "out", name)
    for said in ("tiny-target", "tiny-drafter", "simulated, 2 threads", "2025-01-01T12", "0.1.0"):
        assert said.encode() in data.replace(b"\\:", b":"), said


@pytest.mark.case("E18")
@pytest.mark.parametrize("path", DEMOS, ids=lambda path: path.name)
def test_every_demo_becomes_every_kind_of_data(tmp_path: Path, path: Path) -> None:
    for name in NAMES:
        assert exported(path, tmp_path / f"out.{name}", name)


def test_formats_of_data_are_those_of_the_table() -> None:
    modules = ("tables", "perfetto", "summary", "asciicast", "lines")
    assert {one.name for one in FORMATS if one.writer.split(":")[0] in modules} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_rounds_of_a_long_run_are_never_held(tmp_path: Path, name: str) -> None:
    trace = write(tmp_path / "run.jsonl", make_trace(rounds=1500, top_n=0, baseline=False))
    source = open_source(trace)
    held: list[int] = []

    def progress(done: int, total: int, what: str) -> None:
        assert 0 <= done <= total
        held.append(source.document.rounds.held)

    format_named(name).write(source, tmp_path / "out", Options(), progress)
    assert held, "it says how far it is"
    assert max(held) < 600
