"""`draftscope mark` and the words around `draftscope export`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from app.cli.main import main
from engine.trace import codec
from engine.trace.reader import read_trace
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(codec.encode(event) for event in make_trace(rounds=8, k=3)))
    return path


def mark(trace: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main(["mark", str(trace), *words, "--json"]) == 0
    told: dict[str, object] = json.loads(capsys.readouterr().out)
    return told


def test_markers_are_appended_changed_and_taken_away(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = trace.read_bytes()
    told = mark(trace, capsys, "--at", "2:verify:1", "--title", "Here", "--note", "Look.")
    marker = told["markers"][0]  # type: ignore[index]
    assert (marker["id"], marker["round"], marker["phase"], marker["slot"]) == (
        "m1",
        1,
        "verify",
        0,
    )
    told = mark(trace, capsys, "--at", "start", "--title", "First", "--no-pause")
    assert [one["title"] for one in told["markers"]] == ["First", "Here"]  # type: ignore[attr-defined]
    mark(trace, capsys, "--id", "m1", "--title", "There")
    mark(trace, capsys, "--id", "m1", "--at", "5")
    told = mark(trace, capsys, "--remove", "m2")
    assert [(one["title"], one["round"], one["note"]) for one in told["markers"]] == [  # type: ignore[attr-defined]
        ("There", 4, "Look.")
    ]
    told = mark(trace, capsys, "--name", "A talk", "--about", "On one run.")
    told = mark(trace, capsys, "--about", "On two runs.")
    assert told["session"]["title"] == "A talk"  # type: ignore[index]
    assert told["session"]["note"] == "On two runs."  # type: ignore[index]
    assert trace.read_bytes().startswith(before)  # appended, never rewritten
    assert len(read_trace(trace)) == before.count(b"\n") + 7


def test_markers_are_listed_for_people(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mark", str(trace)]) == 0
    assert capsys.readouterr().out == "No markers.\n"
    main(["mark", str(trace), "--at", "2:draft", "--title", "Here", "--note", "Look."])
    assert capsys.readouterr().out == "m1  round 2, draft  Here: Look.\n"


def test_the_list_says_which_token_and_lets_no_note_steer_the_terminal(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["mark", str(trace), "--at", "2:verify:1", "--note", "\x1b[2Jgone"])
    main(["mark", str(trace), "--at", "3:closing", "--no-pause"])
    main(["mark", str(trace), "--at", "start"])
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "m3  start",
        "m1  round 2, verify, token 1  ␛[2Jgone",
        "m2  round 3, closing token (no pause)",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--at", "99"], "Round 99 is not in this run"),
        (["--title", "x"], "Say where: --at for a new marker"),
        (["--id", "m7"], "There is no marker m7: this session has none, or say --at"),
        (["--remove", "m7"], "There is no marker m7"),
        (["--at", "1", "--title", "x" * 121], "has 121 characters: 120 at most"),
        (["--name", "x" * 121], "has 121 characters: 120 at most"),
        (["--about", "x" * 2001], "has 2001 characters: 2000 at most"),
        (["--at", "1", "--title", "a\nb"], "A title is one line"),
        (["--at", "1", "--id", "m1", "--remove", "m1"], "--id and --remove both name m1"),
        (["--run", "2"], "has 1 run, so there is no run 2"),
    ],
)
def test_what_cannot_be_marked_is_said_and_nothing_is_written(
    trace: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    before = trace.read_bytes()
    assert main(["mark", str(trace), *words]) == 1
    assert said in capsys.readouterr().err
    assert trace.read_bytes() == before


def test_an_option_that_means_nothing_to_a_format_is_refused(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, said in (
        (["--panel", "court"], "--panel means nothing to jsonl"),
        (["--from", "1"], "--from means nothing to jsonl"),
        (["--no-captions"], "--no-captions means nothing to jsonl"),
    ):
        assert main(["export", str(trace), str(tmp_path / "o.jsonl"), *words]) == 1
        assert said in capsys.readouterr().err
    assert not (tmp_path / "o.jsonl").exists()
