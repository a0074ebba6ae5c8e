"""What a page holds: the trace's figures, text and laws, and no more of them than fits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from app.export.figures import readings
from app.export.laws import MAX_ROWS
from app.export.replay import build_replay, replay_of
from app.export.source import open_source
from app.viewmodels.document import Document
from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.events import Baseline, FinishReason, Round
from engine.trace.statistics import statistics
from engine.trace.text import text_of
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

KEPT = ("accepted", "correction", "bonus", "plain")


def kept_tokens(replay: object) -> list[dict[str, object]]:
    data = json.loads(json.dumps(plain(replay)))
    tokens = [t for one in data["rounds"] for t in [*one["d"], one["c"]] if t]
    return [t for t in tokens if t["f"] in KEPT]


def plain(replay: object) -> object:
    import msgspec

    return msgspec.to_builtins(replay)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize("reason", list(FinishReason))
def test_last_figures_are_those_of_the_whole_trace(
    temperature: float, reason: FinishReason
) -> None:
    events = make_trace(rounds=20, seed=4, temperature=temperature, reason=reason)
    replay = build_replay(events)
    assert replay.final == statistics(events)
    assert replay.readings[-1] == tuple((r.text, r.detail) for r in readings(statistics(events)))


def test_there_is_a_row_of_figures_for_each_number_of_rounds_shown() -> None:
    events = make_trace(rounds=9, seed=1)
    document = Document(events)
    told = [[(r.text, r.detail) for r in readings(document.figures_at(n))] for n in range(10)]
    assert [list(row) for row in build_replay(events).readings] == told
    assert told[0][0] == ("–", "nothing tested yet")


def test_probes_count_once_the_rounds_before_them_are_shown() -> None:
    events = make_trace(rounds=12, seed=2, probe_every=3, baseline=False)
    details = [row[3][1].split(" / ")[0] for row in build_replay(events).readings]
    unknown, one, more = ["not measured"] * 3, ["1 probe"] * 3, ["2 probes"] * 3
    assert details == [*unknown, *one, *more, *["3 probes"] * 4]


@pytest.mark.parametrize("seed", range(4))
def test_emitted_tokens_add_up_in_the_page(seed: int) -> None:
    events = make_trace(rounds=25, seed=seed, temperature=0.9)
    replay = build_replay(events)
    assert len(kept_tokens(replay)) == replay.final.emitted
    assert replay.final.accepted <= replay.final.drafted


@pytest.mark.parametrize("seed", range(4))
def test_text_is_exact_and_chips_join_to_it(seed: int) -> None:
    events = make_trace(rounds=25, seed=seed, temperature=0.9, reason=FinishReason.CANCELLED)
    replay = build_replay(events)
    assert replay.text == text_of(events)
    joined = "".join(str(token["t"]) for token in kept_tokens(replay))
    assert replay.text.startswith(joined)
    assert set(replay.text[len(joined) :]) <= {"\ufffd"}  # half a character at the very end


def test_bytes_of_half_a_character_are_shown_and_both_tokens_say_so() -> None:
    vocabulary = (b"\xe4\xb8", b"\xad", b" a", b" b", b" c")
    events = make_trace(rounds=40, seed=2, temperature=1.0, vocabulary=vocabulary)
    tokens = kept_tokens(build_replay(events))
    at = next(i for i, t in enumerate(tokens) if t.get("h"))
    assert tokens[at]["h"] == "⟨E4 B8⟩"
    assert tokens[at]["s"] == "after"
    assert tokens[at + 1]["t"] == "中"
    assert tokens[at + 1]["s"] == "before"


def test_laws_keep_the_token_and_what_was_drawn_and_all_of_the_mass() -> None:
    events = make_trace(rounds=30, seed=6, temperature=1.0, top_n=8)
    rounds = [event for event in events if isinstance(event, Round)]
    checked = 0
    for one, shown in zip(rounds, build_replay(events).rounds, strict=True):
        for token, page_token in zip(one.drafted, shown.d, strict=True):
            laws = page_token.laws
            assert laws is not None
            assert token.id in laws.ids
            assert len(laws.ids) <= MAX_ROWS
            for column, rest in zip(
                (laws.p_target, laws.raw, laws.q_draft, laws.r), laws.rest, strict=True
            ):
                assert not column or sum(column) + rest == pytest.approx(1, abs=1e-6)
            if laws.r and one.closing is not None:
                assert one.closing.id in laws.ids
                checked += 1
    assert checked > 0


def test_a_run_without_observation_keeps_its_numbers() -> None:
    replay = build_replay(make_trace(rounds=5, seed=1, top_n=0))
    assert all(token.laws is None for one in replay.rounds for token in one.d)
    assert all(token.q_draft is not None for one in replay.rounds for token in one.d)


def test_long_run_is_shown_up_to_a_limit_and_says_so(tmp_path: Path) -> None:
    events = make_trace(rounds=400, seed=1, settings_changes=False)
    trace = tmp_path / "long.jsonl"
    trace.write_bytes(b"".join(codec.encode(event) for event in events))
    source = open_source(trace)
    replay = replay_of(source, source.document, max_rounds=50)
    assert len(replay.rounds) == 50
    assert replay.notices == (
        "This run has 400 rounds; the page replays the first 50, and its figures are those of "
        "these rounds.",
    )
    assert replay.ending == ""
    assert source.document.rounds.read <= 51  # no other round is decoded
    baseline = next(event for event in events if isinstance(event, Baseline))
    shown = statistics([e for e in events if isinstance(e, Round) and e.index < 50])
    assert replay.final.acceptance == shown.acceptance
    assert replay.text == text_of([e for e in events if isinstance(e, Round) and e.index < 50])
    assert replay.final.baseline is not None
    assert replay.final.baseline.samples == len(baseline.round_ns)


def test_run_at_the_limit_is_whole() -> None:
    assert build_replay(make_trace(rounds=20), max_rounds=20).notices == ()


def test_events_without_a_run_are_refused() -> None:
    with pytest.raises(DraftscopeError, match="no beginning of a run"):
        build_replay(make_trace(rounds=3)[1:])


def test_run_that_ended_before_any_round_has_no_figures_and_no_error() -> None:
    events = [event for event in make_trace(rounds=1) if not isinstance(event, Round | Baseline)]
    replay = build_replay(events)
    assert replay.rounds == ()
    assert {text for text, _ in replay.readings[0]} == {"–"}


def test_changed_settings_are_told_where_they_begin() -> None:
    replay = build_replay(make_trace(rounds=9, k=4))
    assert replay.settings == ("k 4, greedy", "k 0, greedy")
    assert replay.drafters == ("tiny-drafter", "tiny-drafter")
    assert [i for i, one in enumerate(replay.rounds) if one.changed] == [3, 4]


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (None, "Token for token the same as the plain target's text."),
        ("tie", "differs first at emitted token 6: a tie"),
        ("fault", "differs first at emitted token 6: a fault"),
    ],
)
def test_ending_compares_with_the_plain_target(difference: str | None, words: str) -> None:
    replay = build_replay(make_trace(rounds=8, seed=3, difference=difference))
    assert words in replay.ending


def test_paced_run_says_that_its_rates_come_from_round_times() -> None:
    replay = build_replay(make_trace(rounds=4, paced=True))
    assert replay.readings[-1][2][1].endswith("s of paced rounds")


def test_run_beside_a_training_says_so_from_the_first_such_round_on() -> None:
    events = [
        replace(event, disturbed=event.index > 1) if isinstance(event, Round) else event
        for event in make_trace(rounds=4)
    ]
    details = [row[2][1] for row in build_replay(events).readings]
    assert [detail.endswith("s of rounds beside a training") for detail in details[1:]] == [
        *(False, False),
        *(True, True),
    ]
