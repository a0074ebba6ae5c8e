"""Files that nobody meant: refused in one sentence, read no further than a limit, never guessed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import app.importing.reading as reading
from app.importing.programs import PROGRAMS, can_import, import_events
from engine.errors import DraftscopeError
from tests.app.importing.imports import imported, told_by
from tests.app.importing.texts import (
    LLAMA_CHAT,
    LLAMA_SERVER_LOG,
    LLAMA_SPECULATIVE,
    LM_REST,
    LM_SDK,
    PLAIN,
    VLLM_LOG,
    VLLM_METRICS,
    lines,
    vllm_record,
)

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {
    "vllm": [VLLM_LOG, VLLM_METRICS, lines(vllm_record(4, 8, [3, 2]))],
    "llama.cpp": [json.dumps(LLAMA_CHAT), LLAMA_SERVER_LOG, LLAMA_SPECULATIVE],
    "lmstudio": [json.dumps(LM_REST), json.dumps(LM_SDK)],
    "plain": [json.dumps(PLAIN)],
}
ALL = [(key, text) for key, texts in TEXTS.items() for text in texts]


@pytest.mark.parametrize(("key", "text"), ALL)
def test_a_file_is_told_by_what_it_holds(tmp_path: Path, key: str, text: str) -> None:
    path = tmp_path / "f"
    path.write_text(text, "utf-8")
    material = reading.read_material(path)
    assert [one.key for one in PROGRAMS if one.looks_like(material)] == [key]
    assert import_events(path) == import_events(path, key)


@pytest.mark.parametrize(("key", "text"), ALL)
def test_another_programs_file_is_refused_in_a_sentence(
    tmp_path: Path, key: str, text: str
) -> None:
    for other in TEXTS.keys() - {key}:
        with pytest.raises(DraftscopeError, match="expected") as fault:
            imported(tmp_path, text, other)
        assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"  \n\t\n",
        b"\xff\xfe\x00",
        b"PK\x03\x04\x00\x00",
        b"{",
        b"[]",
        b"{}",
        b"null",
        b"[" * 100_000,
        b'{"timings":' * 50_000,
        b"NaN",
        b'{"timings": {"predicted_n": NaN, "predicted_ms": 1}}',
        b'{"num_draft_tokens": 1e999, "num_accepted_tokens": 1}',
        b"\x00" * 1000,
        b"some prose about SpecDecoding and draft acceptance",
        json.dumps("text").encode(),
    ],
    ids=range(16),
)
def test_what_is_no_statistics_is_refused_in_a_sentence(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DraftscopeError) as fault:
        imported(tmp_path, data)
    assert "\n" not in str(fault.value).strip()
    assert str(fault.value).endswith(".")


@pytest.mark.parametrize(
    "part",
    [
        "statistics a: ",
        "vllm:spec_decode_num_drafts{",
        "vllm:spec_decode_num_drafts{\n",
        "vllm:spec_decode_num_",
        "SpecDecoding metrics: Accepted: ",
        "draft acceptance rate = ",
        "eval time = ",
        "n_draft ",
        '{"stats":',
        '{"stats": {}}\n',
        "data: ",
        " ",
    ],
)
def test_long_and_senseless_files_are_read_once_and_refused(tmp_path: Path, part: str) -> None:
    # what is looked through again from each of its beginnings would not come to an end
    with pytest.raises(DraftscopeError):
        imported(tmp_path, part * (2_000_000 // len(part)))


def test_a_line_with_more_positions_than_any_draft_has_is_cut(tmp_path: Path) -> None:
    line = VLLM_LOG.splitlines()[1].replace("0.344", "0.344" + ", 0.001" * 50_000)
    told = told_by(imported(tmp_path, line))
    assert (told.drafted, told.accepted) == (279, 146)
    assert len(told.accepted_by_position) <= 256


def test_text_in_utf_16_is_read_as_windows_writes_it(tmp_path: Path) -> None:
    told = told_by(imported(tmp_path, VLLM_LOG.encode("utf-16")))
    assert told.drafted == 549
    assert told_by(imported(tmp_path, b"\xef\xbb\xbf" + json.dumps(PLAIN).encode())).rounds == 5


def test_no_more_is_read_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        file.truncate(1 << 30)  # a hole: it takes no room
    with pytest.raises(DraftscopeError, match=r"more than 64 MB"):
        import_events(path)
    assert not can_import(path)
    monkeypatch.setattr(reading, "MOST_BYTES", 100)
    with pytest.raises(DraftscopeError, match="more than 0 MB"):
        imported(tmp_path, VLLM_LOG)


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(DraftscopeError, match="cannot be read"):
            import_events(path)


def test_the_same_file_gives_the_same_session(tmp_path: Path) -> None:
    first = imported(tmp_path, VLLM_LOG)
    assert imported(tmp_path, VLLM_LOG) == first
    assert imported(tmp_path, VLLM_LOG + "\n")[0].run != first[0].run


def test_hostile_names_and_texts_come_through_as_they_are(tmp_path: Path) -> None:
    hostile = "</script>=1+1\x00\u202e\U0001f600\ufeff{{title}}"
    choices = [{"message": {"role": "assistant", "content": hostile}}]
    events = imported(tmp_path, json.dumps(LLAMA_CHAT | {"model": hostile, "choices": choices}))
    assert told_by(events).text == hostile
