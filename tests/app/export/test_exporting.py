"""Exports are whole files or none, take a snapshot, and read what is there of a trace."""

from __future__ import annotations

import csv
import io
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from app.cli.main import main
from app.export.exporting import export
from app.export.formats import FORMATS, Format, format_named, format_of
from app.export.options import Options
from app.export.source import open_source
from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.events import Round, RunStarted
from engine.trace.journal import Journal
from engine.trace.markers import Marker, SessionNote
from engine.trace.packed import packed
from engine.whole import remove_parts
from tests.app.export.trials import several
from tests.app.importing.imports import imported
from tests.app.importing.texts import VLLM_LINE
from tests.app.opened import write_trace
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.export.options import Progress
    from app.export.source import Source

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Made(Format):
    """A format whose writer is a test's own."""

    by: Callable[[Source, Path], None] = lambda source, out: None

    def write(self, source: Source, out: Path, options: Options, progress: Progress) -> None:
        self.by(source, out)


def made(by: Callable[[Source, Path], None]) -> Made:
    return Made("made", (".made",), "Made", "", "", frozenset({"run", "withheld"}), by=by)


def test_a_file_is_there_whole_and_nothing_beside_it(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.jsonl", make_trace(rounds=5))

    def by(source: Source, out: Path) -> None:
        assert not (tmp_path / "out.made").exists()
        out.write_text(f"{len(source.document.rounds)} rounds")

    export(trace, tmp_path / "out.made", made(by), Options())
    assert (tmp_path / "out.made").read_text() == "5 rounds"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.made", "t.jsonl"]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (PermissionError(13, "Permission denied"), r"cannot be written \(Permission denied\)"),
        (DraftscopeError("It cannot be."), "It cannot be"),
        (KeyboardInterrupt(), None),
        (SystemExit(143), None),
    ],
)
def test_whatever_ends_an_export_leaves_what_was_there(
    tmp_path: Path, fault: BaseException, said: str | None
) -> None:
    trace = write_trace(tmp_path / "t.jsonl", make_trace(rounds=2))
    out = tmp_path / "out.made"
    out.write_text("the old one")

    def by(source: Source, part: Path) -> None:
        part.write_text("half of")
        raise fault

    expected = DraftscopeError if isinstance(fault, OSError) else type(fault)
    with pytest.raises(expected, match=said):
        export(trace, out, made(by), Options())
    assert out.read_text() == "the old one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.made", "t.jsonl"]


def test_the_session_itself_is_never_written_over(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.jsonl", make_trace(rounds=2))
    before = trace.read_bytes()
    with pytest.raises(DraftscopeError, match="is the session itself"):
        export(trace, trace, format_named("jsonl"), Options())
    with pytest.raises(DraftscopeError, match="is a folder"):
        export(trace, tmp_path, format_named("jsonl"), Options())
    assert trace.read_bytes() == before


def test_of_a_run_under_way_what_is_there_is_taken(tmp_path: Path) -> None:
    events = make_trace(rounds=9)
    with Journal(tmp_path / "j.jsonl") as journal:
        for event in events[:7]:
            journal.write(event)
        source = open_source(journal.path)
        for event in events[7:]:
            journal.write(event)
        there = [event for event in events[:7] if isinstance(event, Round)]
        assert list(source.document.rounds) == there
        assert source.document.finished is None
        assert len(open_source(journal.path).document.rounds) == 9


def test_each_run_of_a_trace_is_a_document(tmp_path: Path) -> None:
    first, second = make_trace(rounds=5, seed=1), make_trace(rounds=3, seed=2)
    mixed = [*first[:4], *second[:3], *first[4:], *second[3:]]
    marker = Marker(run=second[0].run, id="m1", round=1, title="here")
    named = SessionNote(run=first[0].run, title="the first")
    path = write_trace(tmp_path / "t.jsonl", [*mixed, marker, named])
    source = open_source(path)
    assert [len(run.rounds) for run in source.runs] == [5, 3]
    for run, events in zip(source.runs, (first, second), strict=True):
        assert list(run.events)[: len(events)] == events
    assert (source.note.title, source.markers) == ("the first", ())
    other = open_source(path, run=1)
    assert other.markers == (marker,)
    with pytest.raises(DraftscopeError, match="has 2 runs, so there is no run 3"):
        open_source(path, run=2)


def test_a_packed_trace_is_a_source_too(tmp_path: Path) -> None:
    events = make_trace(rounds=6)
    path = tmp_path / "t.jsonl.zst"
    path.write_bytes(b"".join(packed(codec.encode(event) for event in events)))
    source = open_source(path)
    assert list(source.document.events) == events
    assert list(source.events()) == events


@pytest.mark.parametrize("withheld", [{"prompt"}, {"machine"}, {"prompt", "machine"}, set()])
def test_what_is_withheld_is_nowhere_in_the_events(tmp_path: Path, withheld: set[str]) -> None:
    events = make_trace(rounds=4)
    started = events[0]
    assert isinstance(started, RunStarted)
    target = msgspec.structs.replace(started.target, device="Secret GPU 9000")
    events[0] = msgspec.structs.replace(
        started, prompt="my secret plan", machine="secret-host, 3 threads", target=target
    )
    path = write_trace(tmp_path / "t.jsonl", events)
    source = open_source(path, withheld=withheld)
    for told in (source.events(), source.document.events):
        data = b"".join(codec.encode(event) for event in told)
        assert (b"my secret plan" in data) == ("prompt" not in withheld)
        assert (b"secret-host" in data) == ("machine" not in withheld)
        assert (b"Secret GPU" in data) == ("machine" not in withheld)
    kept = source.started
    assert set(kept.withheld) == withheld
    assert len(kept.prompt_tokens) == len(started.prompt_tokens)
    blank = {token.piece for token in kept.prompt_tokens} == {"·".encode()}
    assert blank == ("prompt" in withheld)


def test_formats_are_known_by_the_longest_end_of_a_name() -> None:
    for name, expected in (
        ("a.csv", "csv"),
        ("a.rounds.csv", "rounds.csv"),
        ("A.TOKENS.CSV", "csv"),
        ("a.perfetto.json", "perfetto.json"),
        ("a.jsonl.zst", "jsonl.zst"),
        ("a.b.HTML", "html"),
        ("a.htm", "html"),
    ):
        assert format_of(Path(name)).name == expected
    for name in ("a", "a.json", ".csv", "a.mp3"):
        with pytest.raises(DraftscopeError, match="end its name in one of"):
            format_of(Path(name))
    with pytest.raises(DraftscopeError, match="There is no format docx"):
        format_named("docx")


def test_every_format_has_a_name_a_suffix_and_options_that_exist() -> None:
    names = [one.name for one in FORMATS]
    suffixes = [suffix for one in FORMATS for suffix in one.suffixes]
    assert len(set(names)) == len(names)
    assert len(set(suffixes)) == len(suffixes)
    for one in FORMATS:
        assert one.takes <= set(Options.__dataclass_fields__)
        assert one.what.endswith(".")


def test_a_killed_exports_rest_is_removed_by_its_process(tmp_path: Path) -> None:
    out = tmp_path / "a[1].mp4"
    mine = tmp_path / ".a[1].mp4.77-00aa.part"
    others = tmp_path / ".a[1].mp4.78-00aa.part"
    for part in (mine, others):
        part.touch()
    remove_parts(out, 77)
    assert not mine.exists()
    assert others.exists()


_SLOW = """
import sys, time
from pathlib import Path
from app.cli import main
from app.export import formats
def write(self, source, out, options, progress):
    out.write_text("half of")
    print("begun", flush=True)
    time.sleep(60)
formats.Format.write = write
sys.exit(main.main(["export", sys.argv[1], sys.argv[2]]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be asked to end there")
def test_an_export_that_is_asked_to_end_takes_its_half_file_along(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t.jsonl", make_trace(rounds=2))
    process = subprocess.Popen(
        [sys.executable, "-c", _SLOW, str(trace), str(tmp_path / "out.md")],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        assert len(list(tmp_path.glob(".out.md.*.part"))) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


_FULL = """
import resource, signal, sys
from app.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
sys.exit(main.main(["export", *sys.argv[1:]]))
"""


@pytest.mark.parametrize("name", [one.suffixes[0] for one in FORMATS])
def test_a_disk_that_is_full_is_said_in_a_sentence_and_leaves_nothing(
    tmp_path: Path, name: str
) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    trace = write_trace(tmp_path / "t.jsonl", make_trace(rounds=400, temperature=1.0))
    out = tmp_path / f"out{name}"
    small = ["--size", "320x180", "--to", "3"] if name in (".mp4", ".webm", ".gif") else []
    found = subprocess.run(
        [sys.executable, "-c", _FULL, str(trace), str(out), *small],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in found.stderr
    if out.exists():  # it fits into 20 kB
        assert found.returncode == 0
        assert out.stat().st_size <= 20_000
    else:
        assert found.returncode == 1
        assert "cannot be written" in found.stderr
        assert len(found.stderr.splitlines()) == 1
    assert len(list(tmp_path.iterdir())) == 1 + out.exists()


@pytest.mark.parametrize("name", ["csv", "rounds.csv", "perfetto.json", "jsonl", "jsonl.zst"])
def test_data_hold_every_run_so_none_is_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    trace = write_trace(tmp_path / "t.jsonl", several(2, 3))
    assert main(["export", str(trace), str(tmp_path / f"o.{name}"), "--run", "2"]) == 1
    assert f"--run means nothing to {name}: leave it out" in capsys.readouterr().err


def test_an_imported_run_keeps_nobody_from_the_rounds_of_the_next(tmp_path: Path) -> None:
    counted = imported(tmp_path, VLLM_LINE)
    both = write_trace(tmp_path / "both.jsonl", [*counted, *make_trace(rounds=3)])
    for name in ("csv", "rounds.csv", "perfetto.json"):
        export(both, tmp_path / f"o.{name}", format_named(name), Options())
    table = (tmp_path / "o.rounds.csv").read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["run_number"], row["round"]) for row in rows] == [
        ("1", ""),
        ("2", "1"),
        ("2", "2"),
        ("2", "3"),
    ]
    with pytest.raises(DraftscopeError, match="holds counts, not rounds"):
        export(both, tmp_path / "o.gif", format_named("gif"), Options())
    alone = write_trace(tmp_path / "alone.jsonl", counted)
    with pytest.raises(DraftscopeError, match="cannot become a table of rounds"):
        export(alone, tmp_path / "alone.csv", format_named("rounds.csv"), Options())
