"""The timeline read back as strict JSON and held against the Trace Event Format."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from app.export.perfetto import microseconds
from engine.trace.events import Probe, Round
from engine.trace.statistics import statistics
from tests.app.export.trials import exported, hostile, marked, several, write
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.trace.events import Event

Json = dict[str, Any]
# Of the format's document: what each kind of event must have beside its name.
_NEEDED = {
    "M": {"pid", "args"},
    "X": {"pid", "tid", "ts", "dur"},
    "i": {"pid", "tid", "ts", "s"},
    "C": {"pid", "ts", "args"},
}


def refuse(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def timeline(tmp_path: Path, events: Sequence[Event]) -> Json:
    trace = write(tmp_path / "run.jsonl", events)
    data = exported(trace, tmp_path / "out.perfetto.json", "perfetto.json")
    read: Json = json.loads(data, parse_constant=refuse, parse_float=Decimal)
    assert data.startswith(b'{"traceEvents":[')  # what viewers tell the format by
    return read


def ns(value: Decimal | int) -> int:
    whole = Decimal(value) * 1000
    assert whole == int(whole), "nanoseconds, exactly"
    return int(whole)


def of_kind(read: Json, kind: str, **wanted: object) -> list[Json]:
    return [
        event
        for event in read["traceEvents"]
        if event["ph"] == kind and all(event.get(name) == value for name, value in wanted.items())
    ]


@pytest.mark.parametrize("events", [make_trace(), hostile(), marked(several()), make_trace()[:1]])
def test_every_event_has_what_the_format_asks_for(tmp_path: Path, events: list[Event]) -> None:
    read = timeline(tmp_path, events)
    assert set(read) == {"traceEvents", "displayTimeUnit", "otherData"}
    assert read["displayTimeUnit"] in ("ms", "ns")
    assert all(isinstance(value, str) for value in read["otherData"].values())
    for event in read["traceEvents"]:
        assert set(event) >= {"ph", "name"} | _NEEDED[event["ph"]], event
        assert isinstance(event["pid"], int)
        if event["ph"] == "i":
            assert event["s"] in ("g", "p", "t")
        if event["ph"] == "C":
            assert all(isinstance(value, int | Decimal) for value in event["args"].values())


def test_rounds_and_phases_last_as_long_as_they_were_measured(tmp_path: Path) -> None:
    events = make_trace(rounds=20, seed=4)
    read = timeline(tmp_path, events)
    rounds = [event for event in events if isinstance(event, Round)]
    spans = of_kind(read, "X", cat="round")
    assert [ns(span["dur"]) for span in spans] == [one.times.round for one in rounds]
    assert [span["name"] for span in spans] == [f"round {one.index + 1}" for one in rounds]
    figures = statistics(events)
    for phase in ("draft", "verify", "accept", "commit", "observe"):
        of_phase = of_kind(read, "X", cat="phase", name=phase)
        assert sum(ns(span["dur"]) for span in of_phase) == getattr(figures, f"{phase}_ns")
    assert sum(span["args"]["emitted"] for span in spans) == figures.emitted


def test_spans_of_a_line_nest_and_never_overlap(tmp_path: Path) -> None:
    read = timeline(tmp_path, several(2, rounds=20))
    by_line = defaultdict(list)
    for event in of_kind(read, "X"):
        start = ns(event["ts"])
        by_line[event["pid"], event["tid"]].append((start, -ns(event["dur"])))
    assert len(by_line) == 2
    for spans in by_line.values():
        assert spans == sorted(spans, key=lambda span: span[0])
        open_until: list[int] = []
        for start, minus in spans:
            end = start - minus
            while open_until and open_until[-1] <= start:
                open_until.pop()
            assert not open_until or end <= open_until[-1], "within the one that is open"
            open_until.append(end)


def test_lines_have_names_and_every_run_is_a_process(tmp_path: Path) -> None:
    read = timeline(tmp_path, several(3))
    processes = of_kind(read, "M", name="process_name")
    assert [one["pid"] for one in processes] == [1, 2, 3]
    assert processes[1]["args"]["name"] == "Run 2: tiny-target with tiny-drafter"
    lines = {(one["pid"], one["tid"]) for one in of_kind(read, "M", name="thread_name")}
    used = {(one["pid"], one["tid"]) for kind in "Xi" for one in of_kind(read, kind)}
    assert used <= lines


def test_counters_end_at_the_figures(tmp_path: Path) -> None:
    events = make_trace(rounds=20, seed=4)
    read = timeline(tmp_path, events)
    figures = statistics(events)
    last = {event["name"]: event for event in of_kind(read, "C")}
    assert float(last["acceptance"]["args"]["value"]) == pytest.approx(figures.acceptance)
    rate = float(last["tokens per second"]["args"]["value"])
    assert rate == pytest.approx(figures.tokens_per_second)
    assert ns(last["acceptance"]["ts"]) == figures.round_ns + figures.observe_ns


def test_markers_probes_and_settings_stand_at_their_instants(tmp_path: Path) -> None:
    events = marked(make_trace(rounds=12, temperature=1.0))
    read = timeline(tmp_path, events)
    rounds = {span["name"]: span for span in of_kind(read, "X", cat="round")}
    first, second = of_kind(read, "i", cat="marker")
    assert (first["name"], ns(first["ts"])) == ("Before", 0)
    assert (second["name"], second["args"]["note"]) == ("Look here", "The first rejection.")
    after = rounds["round 3"]
    assert ns(second["ts"]) == ns(after["ts"])
    changes = of_kind(read, "i", cat="settings")
    assert [change["name"] for change in changes] == ["k 4 → 0", "k 0 → 4"]
    assert ns(changes[0]["ts"]) == ns(rounds["round 5"]["ts"])
    probes = of_kind(read, "i", cat="probe")
    assert len(probes) == sum(isinstance(event, Probe) for event in events)


def test_it_says_where_it_comes_from_and_which_clock_it_has(tmp_path: Path) -> None:
    said = timeline(tmp_path, several(2))["otherData"]
    assert said["clock"].startswith("Engine time:")
    assert said["run 2: seed"] == "1"
    assert said["run 1: machine"] == "simulated, 2 threads"
    assert said["run 1: speed-up means"].startswith("Tokens per second of this run /")


def test_nothing_measured_gives_no_counter_and_no_nan(tmp_path: Path) -> None:
    read = timeline(tmp_path, make_trace(rounds=3, drafter="none", top_n=0, probe_every=0))
    assert of_kind(read, "C", name="acceptance") == []
    assert len(of_kind(read, "C", name="tokens per second")) == 3
    assert of_kind(read, "X", name="observe") == []


@pytest.mark.parametrize("value", [0, 1, 999, 1000, 1001, 123_456_789_012])
def test_microseconds_are_exact(value: int) -> None:
    assert Decimal(bytes(microseconds(value)).decode()) * 1000 == value
