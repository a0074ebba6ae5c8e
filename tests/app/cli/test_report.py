from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from app.cli.report import Outcome, as_lines, as_object
from engine.trace.events import Baseline, Event, FinishReason, Round
from engine.trace.statistics import statistics
from engine.trace.text import emitted_ids_of, text_of
from tests.traces import make_trace

KEYS = {
    *("text", "token_ids", "rounds", "drafted", "tested", "accepted", "rejected", "discarded"),
    *("emitted", "acceptance", "draft_yield", "tokens_per_pass", "tokens_per_second", "baseline"),
    *("identical", "first_difference", "speedup", "latency_ms"),
}


def _outcome(events: list[Event]) -> Outcome:
    outcome = Outcome()
    for event in events:
        outcome.add(event)
    return outcome


@pytest.mark.parametrize("reason", list(FinishReason))
def test_the_object_holds_the_runs_text_ids_and_figures(reason: FinishReason) -> None:
    events = make_trace(rounds=30, reason=reason)
    found = as_object(_outcome(events))
    figures = statistics(events)
    assert set(found) >= KEYS
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["text"] == text_of(events)
    assert found["token_ids"] == emitted_ids_of(events)
    assert found["emitted"] == len(found["token_ids"])
    for name in KEYS - {"text", "token_ids", "baseline", "identical", "first_difference"}:
        if name != "latency_ms":
            assert found[name] == getattr(figures, name)
    assert list(found["latency_ms"]) == ["p50", "p95", "p99"]
    assert found["reason"] == reason.value


def test_the_object_compares_with_the_baseline() -> None:
    events = make_trace(rounds=30)
    found = as_object(_outcome(events))
    plain = next(event for event in events if isinstance(event, Baseline))
    assert found["identical"] is True
    assert found["first_difference"] is None
    assert found["baseline"]["token_ids"] == list(plain.token_ids)
    rate = len(plain.round_ns) / sum(plain.round_ns) * 1e9
    assert found["baseline"]["tokens_per_second"] == pytest.approx(rate)
    assert found["plain"]["source"] == "probes"
    assert found["speedup"] == found["tokens_per_second"] / found["plain"]["tokens_per_second"]


def test_a_difference_is_told_with_both_ids_and_logits() -> None:
    outcome = _outcome(make_trace(difference="tie"))
    found = as_object(outcome)
    assert found["identical"] is False
    names = {"position", "speculative_id", "plain_id", "speculative_logit", "plain_logit", "kind"}
    assert set(found["first_difference"]) == names
    assert found["first_difference"]["kind"] == "tie"
    assert "a tie" in as_lines(outcome)[-1]


def test_what_was_not_asked_for_is_null() -> None:
    found = as_object(_outcome(make_trace(baseline=False, probe_every=0)))
    for name in ("baseline", "identical", "first_difference", "speedup", "plain"):
        assert found[name] is None
    nothing = as_object(_outcome(make_trace(rounds=1, k=0, baseline=False)[:2]))
    assert (nothing["text"], nothing["acceptance"], nothing["rounds"]) == ("", None, 0)
    assert nothing["latency_ms"] == {"p50": None, "p95": None, "p99": None}


def test_the_lines_say_what_each_figure_divides_by() -> None:
    lines = as_lines(_outcome(make_trace(rounds=30)))
    figures = statistics(make_trace(rounds=30))
    text = "\n".join(lines)
    assert f"{figures.accepted} accepted of {figures.tested} tested" in text
    assert f"of {figures.drafted} drafted" in text
    assert f"{figures.rounds} passes" in text
    assert "plain rounds measured during the run" in text
    assert "identical to the plain target's" in text
    assert "the limit was reached" in text


def test_slower_than_plain_is_said() -> None:
    events = make_trace(rounds=30, k=1, drafter="none")
    assert any("slower than plain" in line for line in as_lines(_outcome(events)))
    assert "nothing was drafted" in "\n".join(as_lines(_outcome(events)))


@pytest.mark.case("A58")
@pytest.mark.parametrize(
    ("wanted", "words"),
    [(0.5, "slower than plain"), (0.9999, "no clear difference from plain"), (2.0, "")],
)
def test_a_measured_speed_up_is_judged_by_its_interval(wanted: float, words: str) -> None:
    events = make_trace(rounds=30)
    found = statistics(events).speedup
    assert found is not None
    paced = [_stretched(event, found / wanted) for event in events]
    figures = statistics(paced)
    assert figures.speedup == pytest.approx(wanted, abs=1e-4)
    (line,) = [one for one in as_lines(_outcome(paced)) if one.startswith("speed-up")]
    measured = line.split(";")[0].removeprefix("speed-up     measured ")
    shown = f"{wanted:.2f} ({figures.speedup_low:.2f} to {figures.speedup_high:.2f})"
    assert measured == (f"{shown}, {words}" if words else shown)


def _stretched(event: Event, factor: float) -> Event:
    """Let a round take so many times as long."""
    if not isinstance(event, Round):
        return event
    times = event.times
    longer = round(times.round * factor)
    return replace(event, times=replace(times, verify=times.verify + longer - times.round))
