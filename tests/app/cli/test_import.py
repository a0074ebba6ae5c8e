"""`draftscope import`: a session comes out, with what it lacks; and what exports make of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from app.cli.main import main
from app.cli.parser_import import KEYS
from app.export.provenance import definitions, facts
from app.export.source import open_source
from app.importing.programs import PROGRAMS
from engine.trace.reader import read_trace
from tests.app.importing.imports import told_by
from tests.app.importing.texts import LLAMA_CHAT, PLAIN, VLLM_LOG
from tests.app.opened import write_trace
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "vllm.log"
    path.write_text(VLLM_LOG, "utf-8")
    return path


def test_a_session_is_written_and_what_it_lacks_is_said(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = log.with_name("out.jsonl")
    assert main(["import", str(log), str(out)]) == 0
    said = capsys.readouterr().out
    assert "imported from vLLM, 2 log lines" in said
    assert "drafted 549, tested 428, accepted 326" in said
    assert "not told: rounds, emitted, decoding time" in said
    assert told_by(read_trace(out)).accepted == 326
    assert main(["check", "trace", str(out)]) == 0
    assert "counts imported from vLLM, no rounds" in capsys.readouterr().out


def test_the_json_of_an_import_is_one_object(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = log.with_name("out.jsonl")
    assert main(["import", str(log), str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["written"], told["imported"]["drafts"]) == (str(out), 183)


def test_names_of_programs_are_those_that_can_be_read() -> None:
    assert set(KEYS) == {program.key for program in PROGRAMS}


def test_a_file_of_another_program_leaves_nothing_behind(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = log.with_name("out.jsonl")
    assert main(["import", str(log), str(out), "--from", "lmstudio"]) == 1
    assert "expected are an answer of its REST API" in capsys.readouterr().err
    assert not out.exists()
    assert main(["import", str(log), str(log)]) == 1
    assert log.read_text("utf-8") == VLLM_LOG
    assert main(["import", str(log), str(out), "--from", "tgi"]) == 2


def session(tmp_path: Path, value: object) -> Path:
    source, out = tmp_path / "source.json", tmp_path / "session.jsonl"
    source.write_text(json.dumps(value), "utf-8")
    assert main(["import", str(source), str(out)]) == 0
    return out


def test_what_an_export_must_carry_says_not_recorded(tmp_path: Path) -> None:
    source = open_source(session(tmp_path, LLAMA_CHAT))
    told = dict(facts(source))
    for name in ("drafter", "seed", "limit", "prompt", "machine"):
        assert told[name] == "not recorded", name
    assert told["settings"] == "settings not recorded"
    assert told["imported"] == "from llama.cpp: an answer of its server"
    assert told["target"] == "qwen3-8b"
    assert told["counted"] == "drafted 40, accepted 29, emitted 47"
    assert told["recorded"] == "2025-11-24T16:00:00+00:00"
    assert [name for name, _ in definitions(source.document)] == [
        *("acceptance", "draft yield", "tokens per pass", "this run")
    ]
    assert source.notices[0].startswith("Imported from llama.cpp")
    assert source.notices[1].startswith("Not told: rounds, drafts,")
    assert dict(facts(open_source(session(tmp_path, PLAIN))))["seed"] == "7"


def test_an_export_that_needs_rounds_says_so_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = session(tmp_path, LLAMA_CHAT)
    capsys.readouterr()
    for name in ("mp4", "webm", "gif", "pptx", "tokens.csv", "rounds.csv", "perfetto.json", "cast"):
        out = tmp_path / f"out.{name}"
        assert main(["export", str(path), str(out)]) == 1
        assert "was imported from llama.cpp and holds counts, not rounds" in capsys.readouterr().err
        assert not out.exists()


def test_a_page_of_an_import_shows_its_counts_and_its_reasons(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert main(["export", str(session(tmp_path, LLAMA_CHAT)), str(out)]) == 0
    page = out.read_text("utf-8")
    assert "Imported from llama.cpp (an answer of its server)" in page
    assert "not told by llama.cpp: which tokens were tested" in page
    assert "as llama.cpp states it" in page
    assert "The sky is blue." in page
    assert "seed 0" not in page
    assert "settings not recorded" in page


def test_the_same_file_becomes_the_same_bytes(tmp_path: Path) -> None:
    first = session(tmp_path, PLAIN).read_bytes()
    assert session(tmp_path, PLAIN).read_bytes() == first


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("panel", ["all", "acceptance", "throughput"])
def test_a_picture_of_an_import_shows_what_was_told(tmp_path: Path, panel: str) -> None:
    out = tmp_path / "out.svg"
    assert main(["export", str(session(tmp_path, PLAIN)), str(out), "--panel", panel]) == 0
    root = ElementTree.fromstring(out.read_text("utf-8"))
    said = " ".join(" ".join(root.itertext()).split())
    assert "Imported from my decoder" in said
    assert "No round" not in said
    assert "71.4" in said if panel != "throughput" else "69.2" in said


def test_a_summary_tells_what_was_told_by_its_own_definitions(tmp_path: Path) -> None:
    out = tmp_path / "out.md"
    assert main(["export", str(session(tmp_path, LLAMA_CHAT)), str(out)]) == 0
    said = out.read_text("utf-8")
    assert said.startswith("# qwen3-8b, llama.cpp\n")
    (rate,) = [line for line in said.splitlines() if line.startswith("| this run ")]
    assert "20.0 tok/s | imported | as llama.cpp states it" in rate
    assert "summed round times" not in rate
    assert "No round was run" not in said
    assert said.rstrip().endswith("The sky is blue.")


def test_a_summary_sets_an_import_beside_a_run_of_our_own(log: Path, tmp_path: Path) -> None:
    own = write_trace(tmp_path / "own.jsonl", make_trace(rounds=4, k=3))
    told, both = tmp_path / "told.jsonl", tmp_path / "both.jsonl"
    assert main(["import", str(log), str(told)]) == 0
    assert main(["join", str(own), str(told), str(both)]) == 0
    out = tmp_path / "both.md"
    assert main(["export", str(both), str(out)]) == 0
    said = out.read_text("utf-8")
    (row,) = [line for line in said.splitlines() if line.startswith("| acceptance ")]
    assert "76.2 %" in row
    assert "run 2: 326/428 tested" in row
    assert main(["check", "trace", str(both)]) == 0
