"""`draftscope bench`: the table of benchmarks, and what the command does with a row."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import msgspec
import pytest

from app.cli import bench as bench_module
from app.cli import bench_table, parser_bench
from app.cli.bench_table import BENCHMARKS, Benchmark, common
from app.cli.main import main
from app.cli.parser import command_parser
from engine.benchmarks.header import Header, header
from tests.app.cli.streams import Screen

if TYPE_CHECKING:
    from collections.abc import Callable


class Report(msgspec.Struct, frozen=True):
    header: Header
    answer: int


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """A benchmark "asking", in the table; what it was given is in what this returns."""
    given: dict[str, object] = {}
    module = ModuleType("asking_benchmark")

    def measure(*, progress: Callable[[int, int, str], None], **options: object) -> Report:
        given.update(options)
        progress(1, 2, "Asking")
        return Report(header("asking", settings={"max_new_tokens": 3}), 42)

    vars(module).update(measure=measure, text=lambda report: f"the answer is {report.answer} ms")
    monkeypatch.setitem(sys.modules, "asking_benchmark", module)
    row = Benchmark(
        "asking",
        "what is asked",
        lambda parser: common(parser, repeats=7),
        measure="asking_benchmark:measure",
        text="asking_benchmark:text",
    )
    for place in (bench_table, bench_module, parser_bench):
        monkeypatch.setattr(place, "BENCHMARKS", (*BENCHMARKS, row))
    return given


@pytest.mark.parametrize("row", BENCHMARKS, ids=lambda row: row.name)
def test_every_row_of_the_table_is_there(row: Benchmark) -> None:
    for place in (row.measure, row.text):
        module, _, name = place.partition(":")
        assert callable(getattr(import_module(module), name))
    parser = argparse.ArgumentParser()
    row.options(parser)
    assert parser.parse_args(["--json"]).json  # all options have defaults
    assert not row.says.endswith(".")


def test_names_are_listed_where_none_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench"]) == 0
    output = capsys.readouterr()
    for row in BENCHMARKS:
        assert f"  {row.name} " in output.out
        assert row.says in output.out
    assert output.err == ""


def test_options_without_a_name_are_the_default_benchmarks() -> None:
    options = command_parser().parse_args(["bench", "--k", "1", "2", "--json"])
    assert (options.name, options.k) == ("decoding", [1, 2])
    assert command_parser().parse_args(["bench"]).name is None


def test_an_unknown_name_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err


def test_options_reach_the_benchmark_as_keywords(asked: dict[str, object]) -> None:
    assert main(["bench", "asking", "--target", "t", "--device", "cpu", "--json"]) == 0
    assert asked == {"target": "t", "device": "cpu", "plan": None, "repeats": 7}


def test_a_report_is_one_json_object(
    asked: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "asking", "--json"]) == 0
    output = capsys.readouterr()
    report = json.loads(output.out)
    assert (report["answer"], report["header"]["benchmark"]) == (42, "asking")
    assert output.err == ""  # nobody looks: no bar


def test_a_report_for_people_begins_with_the_machine(
    asked: dict[str, object], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    assert main(["bench", "asking", "--repeats", "2"]) == 0
    out = capsys.readouterr().out
    head, body = out.split("\n\n")
    assert body == "the answer is 42 ms\n"
    for words in ("asking", "draftscope ", "Python ", "torch ", "thread", "max new tokens 3"):
        assert words in head
    assert "Not measured on a GPU." in head
    assert "Asking [" in screen.getvalue()
    assert screen.getvalue().endswith("\r")  # and is removed
