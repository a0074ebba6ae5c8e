"""`draftscope check trace FILE`: what was derived again, and what does not follow."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.cli.main import main
from engine.trace import codec
from engine.trace.events import Round
from engine.trace.packed import plain_file
from engine.trace.reader import read_trace
from tests.app.cli.streams import Screen

if TYPE_CHECKING:
    import pytest

    from engine.trace.events import Event

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "assets" / "demos" / "3-story.jsonl.zst"


def write(path: Path, events: list[Event]) -> str:
    path.write_bytes(b"".join(codec.encode(event) for event in events))
    return str(path)


def forge(events: list[Event], index: int) -> list[Event]:
    """Change the u of the closing token of one round."""
    forged = []
    for event in events:
        if isinstance(event, Round) and event.index == index:
            assert event.closing is not None
            closing = msgspec.structs.replace(event.closing, u=0.123)
            forged.append(msgspec.structs.replace(event, closing=closing))
        else:
            forged.append(event)
    return forged


def test_a_lawful_trace_is_said_to_follow(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "trace", str(DEMO)]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    first, second, last = output.out.splitlines()
    assert first.startswith(f"{DEMO.name}: ")
    assert " verdict" in second
    assert " uniform" in second
    assert last == "all of it follows from its own numbers"


def test_what_does_not_follow_is_named_with_both_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = read_trace(DEMO)
    one = next(e for e in events if isinstance(e, Round) and e.index == 7)
    assert one.closing is not None
    path = write(tmp_path / "forged.jsonl", forge(events, 7))
    assert main(["check", "trace", path]) == 1
    lines = capsys.readouterr().out.splitlines()
    named = next(line for line in lines if "(uniform)" in line)
    assert named.startswith("round 7, closing: u of the ")
    assert named.endswith(f"is 0.123; what follows is {one.closing.u}")
    assert "do not follow" in lines[-1]


def test_programs_get_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "forged.jsonl", forge(read_trace(DEMO), 7))
    assert main(["check", "trace", path, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["file"], found["torn"], found["follows"]) == ("forged.jsonl", False, False)
    assert found["findings"][0]["round"] == 7
    assert found["findings"][0]["token"] == "closing"
    assert found["findings"][0]["recorded"] == "0.123"
    assert found["looked_at"]["verdict"] > 50
    assert main(["check", "trace", str(DEMO), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["follows"], found["findings"]) == (True, [])


def test_a_journal_cut_short_is_checked_as_far_as_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = plain_file(DEMO).read_bytes()
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(data[: len(data) // 2])
    assert main(["check", "trace", str(torn)]) == 0
    output = capsys.readouterr()
    assert "incomplete" in output.err
    assert "breaks off before the end of the run" in output.out
    assert output.out.endswith("all of it follows from its own numbers\n")


def test_many_findings_are_counted_and_not_all_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    started, *rest = read_trace(DEMO)
    events = [msgspec.structs.replace(started, seed=1), *rest]
    assert main(["check", "trace", write(tmp_path / "seed.jsonl", events)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 + 50 + 2
    assert "count from 0" in lines[2]
    assert lines[-2].startswith("... and ")


def test_what_is_no_trace_is_said_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "page.html").write_text("<!doctype html>")
    assert main(["check", "trace", str(tmp_path / "page.html")]) == 1
    assert "is not a Draftscope trace" in capsys.readouterr().err
    assert main(["check", "trace", str(tmp_path / "none.jsonl")]) == 1
    assert "cannot be opened" in capsys.readouterr().err


def test_a_terminal_sees_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    assert main(["check", "trace", str(DEMO)]) == 0
    assert f"Checking {DEMO.name} [" in screen.getvalue()


def test_neither_torch_nor_scipy_is_loaded() -> None:
    script = (
        "import sys; from app.cli.main import main; "
        f"code = main(['check', 'trace', {str(DEMO)!r}]); "
        "loaded = {name.split('.')[0] for name in sys.modules} & {'torch', 'PySide6', 'scipy'}; "
        "print(code, sorted(loaded), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr.strip() == "0 []"
