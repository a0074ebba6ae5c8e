from __future__ import annotations

import codecs

import msgspec
import pytest

from engine.trace.events import (
    Baseline,
    ClosingKind,
    Comparison,
    Fate,
    FinishReason,
    Probe,
    Round,
    RunStarted,
    SettingsChanged,
)
from engine.trace.text import emitted_ids_of, text_of
from tests.lawful import assert_lawful
from tests.tiny_laws import END_PIECE, STOP_PIECE
from tests.traces import make_trace


@pytest.mark.parametrize("drafter", ["model:tiny-drafter", "ngram", "head", "none"])
@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("reason", list(FinishReason))
def test_made_traces_are_lawful(drafter: str, temperature: float, reason: FinishReason) -> None:
    for seed in range(3):
        for k in (0, 1, 4):
            events = make_trace(
                rounds=9, seed=seed, k=k, temperature=temperature, reason=reason, drafter=drafter
            )
            assert_lawful(events)


def test_a_spoilt_trace_is_not_lawful() -> None:
    events = make_trace()
    at = next(i for i, event in enumerate(events) if isinstance(event, Round) and event.index == 3)
    spoilt = msgspec.structs.replace(events[at], position=events[at].position + 1)
    with pytest.raises(AssertionError, match="positions add up"):
        assert_lawful([*events[:at], spoilt, *events[at + 1 :]])


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_made_trace_shows_everything_that_can_happen(temperature: float) -> None:
    events = make_trace(temperature=temperature)
    rounds = [event for event in events if isinstance(event, Round)]
    assert {token.fate for one in rounds for token in one.drafted} == set(Fate)
    kinds = {one.closing.kind for one in rounds if one.closing is not None}
    assert kinds == set(ClosingKind)
    assert rounds[-1].closing is None
    seen = {type(event) for event in events}
    assert {Probe, SettingsChanged, Baseline} <= seen
    assert (Comparison in seen) == (temperature == 0)


def test_the_same_arguments_give_the_same_events() -> None:
    assert make_trace(seed=5, temperature=1.0) == make_trace(seed=5, temperature=1.0)
    assert make_trace(seed=5, temperature=1.0) != make_trace(seed=6, temperature=1.0)


def test_the_text_is_the_decoded_bytes_with_characters_split_over_tokens() -> None:
    events = make_trace(rounds=400, temperature=1.0, top_n=0)
    pieces: list[bytes] = []
    for event in events:
        if isinstance(event, Round):
            pieces += [t.piece for t in event.drafted if t.fate is Fate.ACCEPTED]
            pieces += [event.closing.piece] if event.closing is not None else []
    text = text_of(events)
    assert text == b"".join(pieces).decode("utf-8", "replace")
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    assert sum(decoder.decode(piece) == "" for piece in pieces) > 10  # half characters
    assert all(piece in text for piece in ("🙂", "é", "<b>", "</script>"))


@pytest.mark.parametrize(
    ("reason", "last"),
    [(FinishReason.END_TOKEN, END_PIECE), (FinishReason.STOP_STRING, STOP_PIECE)],
)
def test_a_stop_is_the_last_emitted_token_and_not_in_the_text(
    reason: FinishReason, last: bytes
) -> None:
    events = make_trace(reason=reason)
    started = events[0]
    assert isinstance(started, RunStarted)
    end = started.end_tokens[0] + (reason is FinishReason.STOP_STRING)
    assert emitted_ids_of(events)[-1] == end
    assert last.decode() not in text_of(events)
