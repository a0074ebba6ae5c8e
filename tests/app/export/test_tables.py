"""Tables read back by the csv module: every row, every number, every byte, and no formula."""

from __future__ import annotations

import csv
import io
import unicodedata
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.export.cells import bytes_cell, guarded, readable, restored, restored_bytes
from app.export.options import Options
from app.export.table_columns import ROUNDS, TOKENS
from engine.trace.events import Fate, FinishReason, Round, RunStarted
from engine.trace.statistics import statistics
from engine.trace.text import text_of
from tests.app.export.trials import HOSTILE, exported, hostile, marked, several, write
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.trace.events import Event

Rows = list[dict[str, str]]
_SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫\u2212"


def rows_of(data: bytes) -> Rows:
    read = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
    head, *rows = read
    assert [len(row) for row in rows] == [len(head)] * len(rows)
    return [dict(zip(head, row, strict=True)) for row in rows]


def table(tmp_path: Path, events: Sequence[Event], name: str) -> Rows:
    trace = write(tmp_path / "run.jsonl", events)
    return rows_of(exported(trace, tmp_path / f"out.{name}", name))


def number(value: float | None) -> str:
    return "" if value is None else repr(value)


def rounds_of(events: Sequence[Event]) -> list[Round]:
    return [event for event in events if isinstance(event, Round)]


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet could run it: it strips blanks, and parts cells at semicolons."""
    for part in (cell, *cell.split(";")[1:], *cell.split("\t")[1:]):
        shown = "".join(c for c in part if unicodedata.category(c) not in ("Cc", "Cf"))
        if shown.strip()[:1] and shown.strip()[0] in _SIGNS:
            return True
    return cell[:1] in "\t\r\n" and cell != ""


# Tokens


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_every_token_of_a_run_is_a_row_with_its_own_numbers(
    tmp_path: Path, temperature: float
) -> None:
    events = make_trace(rounds=12, seed=2, temperature=temperature)
    started = events[0]
    assert isinstance(started, RunStarted)
    rows = table(tmp_path, events, "csv")
    assert list(rows[0]) == list(TOKENS)
    prompt = [row for row in rows if row["round"] == "0"]
    assert [restored_bytes(row["bytes_hex"]) for row in prompt] == [
        token.piece for token in started.prompt_tokens
    ]
    others = iter(rows[len(prompt) :])
    for one in rounds_of(events):
        for slot, token in enumerate(one.drafted):
            row = next(others)
            assert (row["round"], row["slot"]) == (str(one.index + 1), str(slot + 1))
            assert row["position"] == str(one.position + slot)
            assert (row["id"], row["fate"]) == (str(token.id), token.fate)
            assert row["emitted"] == ("yes" if token.fate is Fate.ACCEPTED else "no")
            assert restored_bytes(row["bytes_hex"]) == token.piece
            for name in ("q_draft", "p_target", "acceptance_probability", "u"):
                assert row[name] == number(getattr(token, name)), name
            assert token.laws is not None
            for name in ("entropy_target", "entropy_raw", "entropy_draft", "overlap"):
                assert row[name] == number(getattr(token.laws, name)), name
        if one.closing is not None:
            row = next(others)
            assert (row["id"], row["fate"]) == (str(one.closing.id), one.closing.kind)
            assert row["closing_probability"] == number(one.closing.probability)
            assert row["closing_u"] == number(one.closing.u)
            assert (row["q_draft"], row["p_target"], row["u"]) == ("", "", "")
    assert list(others) == []


def test_emitted_tokens_are_the_text_byte_for_byte(tmp_path: Path) -> None:
    events = hostile()
    rows = table(tmp_path, events, "csv")
    emitted = [row for row in rows if row["emitted"] == "yes"]
    data = b"".join(restored_bytes(row["bytes_hex"]) for row in emitted)
    assert data.decode("utf-8", "replace") == text_of(events)
    assert len(emitted) == sum(one.emitted for one in rounds_of(events))
    prompt = len(rows) - sum(row["round"] != "0" for row in rows)
    assert [int(row["position"]) for row in emitted] == list(range(prompt, prompt + len(emitted)))


@pytest.mark.case("E07", "E08")
def test_no_cell_of_a_hostile_run_is_a_formula_and_every_token_comes_back(tmp_path: Path) -> None:
    events = hostile(rounds=80)
    for name in ("csv", "rounds.csv"):
        rows = table(tmp_path, events, name)
        numbers = {"q_draft", "p_target", "u"}
        found = [
            (column, cell)
            for row in rows
            for column, cell in row.items()
            if column not in numbers and is_formula(cell)
        ]
        assert found == []
        (tmp_path / f"out.{name}").unlink()
    seen = {
        restored_bytes(row["bytes_hex"]): restored(row["text"])
        for row in table(tmp_path, events, "csv")
    }
    assert set(HOSTILE) <= set(seen)
    for piece in HOSTILE:
        assert seen[piece] == readable(piece)
        if b"\0" not in piece and readable(piece).encode() == piece:
            assert seen[piece].encode() == piece


@given(st.text())
def test_guarded_text_comes_back_and_is_no_formula(text: str) -> None:
    assert restored(guarded(text)) == text
    assert not is_formula(guarded(text))


_RISKY = st.sampled_from([*"=+-@;\t\r\n ' x1", "＝", "\u200b", "\xa0", "\ufeff"])


@given(st.lists(_RISKY, max_size=12).map("".join))
def test_guarded_mixtures_of_signs_and_blanks_come_back_and_are_no_formula(text: str) -> None:
    assert restored(guarded(text)) == text
    assert not is_formula(guarded(text))
    assert restored(guarded(guarded(text))) == guarded(text)


@given(st.binary())
def test_bytes_come_back_and_are_no_number(data: bytes) -> None:
    assert restored_bytes(bytes_cell(data)) == data
    with pytest.raises(ValueError, match="could not convert"):
        float(bytes_cell(data))


def test_ordinary_text_stays_as_it_is() -> None:
    for text in (" the", "word", "3.2", "a-b", "x=1", "(1+1)", "don't", "é", " "):
        assert guarded(text) == text


@pytest.mark.parametrize("text", [" =1+1", "\t=1+1", "\n=1+1", "=cmd|' /C calc'!A0"])
def test_what_spreadsheets_run_begins_with_a_quote(text: str) -> None:
    assert guarded(text).startswith("'")


# Rounds


def test_every_round_is_a_row_and_the_sums_are_the_figures(tmp_path: Path) -> None:
    events = make_trace(rounds=30, seed=5, temperature=1.0, reason=FinishReason.LIMIT)
    rounds, figures = rounds_of(events), statistics(events)
    rows = table(tmp_path, events, "rounds.csv")
    assert list(rows[0]) == list(ROUNDS)
    assert [int(row["round"]) for row in rows] == [one.index + 1 for one in rounds]

    def total(name: str) -> int:
        return sum(int(row[name]) for row in rows)

    assert total("accepted") == figures.accepted
    assert total("rejected") == figures.rejected
    assert total("discarded") == figures.discarded
    assert total("cut") == figures.cut
    assert total("drafted") == figures.drafted + figures.cut
    assert total("emitted") == figures.emitted
    assert total("round_ns") == figures.round_ns
    assert total("observe_ns") == figures.observe_ns
    assert rows[-1]["acceptance_so_far"] == repr(figures.acceptance)
    assert float(rows[-1]["tokens_per_second_so_far"]) == pytest.approx(figures.tokens_per_second)
    assert "".join(restored(row["text"]) for row in rows) == text_of(events)
    for row, one in zip(rows, rounds, strict=True):
        assert row["closing"] == (one.closing.kind if one.closing is not None else "")
        assert int(row["target_cache_peak"]) == one.target_cache.peak
        assert int(row["target_pages_back"]) == one.target_cache.pages_given_back
        assert int(row["accepted"]) <= int(row["drafted"])


def test_settings_in_force_and_a_run_without_draft_stand_in_their_rows(tmp_path: Path) -> None:
    rows = table(tmp_path, make_trace(rounds=12), "rounds.csv")
    assert [row["k"] for row in rows[3:7]] == ["4", "0", "4", "4"]
    assert rows[4]["settings"] == "k 0, greedy"
    assert (rows[4]["closing"], rows[4]["drafted"]) == ("plain", "0")
    assert rows[0]["drafter_cache_before"] != ""
    (tmp_path / "out.rounds.csv").unlink()
    alone = table(tmp_path, make_trace(rounds=3, drafter="none", top_n=0), "rounds.csv")
    assert {row["acceptance_so_far"] for row in alone} == {""}
    assert {row["drafter_cache_before"] for row in alone} == {""}


def test_paced_rounds_say_so(tmp_path: Path) -> None:
    rows = table(tmp_path, make_trace(rounds=3, paced=True), "rounds.csv")
    assert {row["paced"] for row in rows} == {"yes"}


# Where it comes from


@pytest.mark.parametrize("name", ["csv", "rounds.csv"])
def test_every_row_names_its_run_and_the_first_of_each_says_all_else(
    tmp_path: Path, name: str
) -> None:
    rows = table(tmp_path, marked(several(3)), name)
    runs = [[row for row in rows if row["run_number"] == str(n)] for n in (1, 2, 3)]
    assert sum(map(len, runs)) == len(rows)
    for n, run in enumerate(runs):
        first, *rest = run
        assert {row["about"] for row in rest} == {""}
        about = first["about"]
        for said in ("target: tiny-target", f"seed: {n}", "machine: simulated", "column round: "):
            assert said in about
        assert "recorded: 2025-01-01T12:00:00+00:00 by Draftscope" in about
        assert "acceptance means: Accepted / tested." in about
        assert {row["seed"] for row in run} == {str(n)}
    assert "title: A talk" in runs[0][0]["about"]


@pytest.mark.parametrize("name", ["csv", "rounds.csv"])
def test_run_without_rounds_still_says_where_it_comes_from(tmp_path: Path, name: str) -> None:
    rows = table(tmp_path, make_trace(rounds=2)[:1], name)
    assert rows[0]["target"] == "tiny-target"
    assert "seed: 0" in rows[0]["about"]
    assert {row["fate"] for row in rows} == {"prompt"} if name == "csv" else len(rows) == 1


def test_torn_file_says_so_in_the_table(tmp_path: Path) -> None:
    trace = write(tmp_path / "run.jsonl", make_trace(rounds=4))
    trace.write_bytes(trace.read_bytes()[:-9])
    rows = rows_of(exported(trace, tmp_path / "out.csv", "csv"))
    assert "notice 1: The last event of run.jsonl is incomplete" in rows[0]["about"]


def test_withheld_prompt_keeps_its_place_and_nothing_else(tmp_path: Path) -> None:
    trace = write(tmp_path / "run.jsonl", make_trace(rounds=4))
    options = Options(withheld=frozenset({"prompt"}))
    rows = rows_of(exported(trace, tmp_path / "out.csv", "csv", options))
    prompt = [row for row in rows if row["fate"] == "prompt"]
    assert prompt
    assert {(row["id"], row["text"], row["bytes_hex"]) for row in prompt} == {("", "", "")}
    assert "prompt: left out on request" in rows[0]["about"]


def test_a_long_prompt_does_not_fill_a_cell(tmp_path: Path) -> None:
    events = make_trace(rounds=1)
    started = events[0]
    assert isinstance(started, RunStarted)
    events[0] = msgspec.structs.replace(started, prompt="word " * 20_000)
    rows = table(tmp_path, events, "rounds.csv")
    assert max(len(cell) for row in rows for cell in row.values()) < 32_767
    assert "(100,000 characters)" in rows[0]["about"]


@pytest.mark.case("E09")
def test_file_is_utf_8_with_a_mark_and_ends_lines_as_rfc_4180_does(tmp_path: Path) -> None:
    trace = write(tmp_path / "run.jsonl", make_trace(rounds=2))
    data = exported(trace, tmp_path / "out.rounds.csv", "rounds.csv")
    assert data.startswith(b"\xef\xbb\xbfrun_number,")
    assert data.count(b"\r\n") == 3
    assert data.endswith(b"\r\n")
