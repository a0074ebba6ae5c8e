"""`draftscope bench peers` on a tiny pair of models, and what its report says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from app.cli.bench_peers import text
from app.cli.main import main
from engine.benchmarks.figures import Ratio, Spread
from engine.benchmarks.header import header
from engine.benchmarks.peers_report import LlamaRow, Rates, Report, Row
from engine.benchmarks.peers_texts import Difference
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

RATIO = Ratio(value=3.5, low=3.25, high=3.75)


def rates(tokens_per_second: float, tokens_per_pass: float = 1.0) -> Rates:
    taken = 1e9 / tokens_per_second
    per_token = Spread(
        median_ns=taken, low_quartile_ns=taken, high_quartile_ns=taken, fastest_ns=taken, samples=3
    )
    return Rates(
        tokens_per_second=tokens_per_second,
        call_tokens_per_second=tokens_per_second / 2,
        tokens_per_pass=tokens_per_pass,
        per_token=per_token,
    )


def report(*differences: Difference, llama: str | None = None) -> Report:
    kinds = [one.kind for one in differences]
    row = Row(
        drafter="ngram",
        peer="generate(prompt_lookup_num_tokens=4)",
        prompts="copying",
        k=4,
        texts=2,
        tokens=128,
        ours=rates(70.0, 3.25),
        theirs=rates(20.0, 3.5),
        round_tokens_per_second=71.5,
        speedup=RATIO,
        call_speedup=Ratio(value=2.0, low=1.9, high=2.1),
        identical=2 - len(differences),
        ties=kinds.count("tie"),
        faults=kinds.count("fault"),
        differences=differences,
    )
    beside = LlamaRow(
        prompts="chat",
        texts=2,
        ours=rates(30.0),
        theirs=rates(60.0),
        speedup=Ratio(value=0.5, low=0.4, high=0.6),
        call_speedup=RATIO,
        identical=1,
    )
    return Report(
        header=header("peers", settings={}),
        transformers="5.0",
        attention="sdpa",
        weights="float16",
        rows=(row,),
        llama=llama,
        llama_rows=() if llama is None else (beside,),
    )


def test_a_row_has_both_rates_both_ratios_and_the_texts() -> None:
    lines = text(report()).splitlines()
    assert "transformers 5.0" in lines[0]
    row = next(line for line in lines if line.startswith("ngram"))
    expected = (
        "ngram copying 4 70.0 20.0 3.50 (3.25 to 3.75) 2.00 (1.90 to 2.10) 71.5 3.25 3.50 2/2"
    )
    assert " ".join(row.split()) == expected
    assert "differ" not in text(report())
    assert "llama" not in text(report())


def test_texts_that_differ_are_told_with_position_ids_and_margins() -> None:
    tie = Difference(
        prompt=0, position=11, our_id=42, their_id=43, our_margin=2e-6, their_margin=3e-6,
        rounding=1e-5, kind="tie",
    )  # fmt: skip
    ended = Difference(prompt=1, position=5, our_id=7, their_id=None)
    said = text(report(tie, ended))
    assert (
        "tie: ngram, copying prompt 1, new token 12: 42 by 2e-06 in ours, 43 by 3e-06 in theirs; "
        "passes of several widths round 1e-05 apart"
    ) in said
    assert "fault: ngram, copying prompt 2, new token 6: theirs had ended" in said
    assert "0/2" in said


def test_llama_cpp_has_a_table_of_its_own() -> None:
    said = text(report(llama="b1234"))
    assert "against llama.cpp b1234, another precision" in said
    row = next(line for line in said.splitlines() if line.startswith("chat"))
    assert row.split()[:3] == ["chat", "30.0", "60.0"]
    assert row.endswith("1/2")


def test_the_command_measures_and_prints_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no llama-server on it
    folder = write_tiny_folder(tmp_path / "model", layers=3, endless=True)
    wish = ["bench", "peers", "--target", str(folder), "--repeats", "1", "--max-new-tokens", "8"]
    assert main([*wish, "--layers", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["header"]["benchmark"] == "peers"
    assert len(found["rows"]) == 6
    assert {row["drafter"] for row in found["rows"]} == {
        *("none", "ngram", "model:first 1 of 3 layers")
    }
    assert all(row["identical"] == row["texts"] == 2 for row in found["rows"])


def test_the_small_model_is_one_or_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "peers", "--layers", "1", "--assistant", "x"]) == 2
    assert "not allowed with" in capsys.readouterr().err
