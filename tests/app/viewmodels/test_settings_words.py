"""One wording for settings: what holds, what changed, and what a law went through."""

from __future__ import annotations

import msgspec
import pytest

from app.viewmodels.document import Document
from app.viewmodels.more import More
from app.viewmodels.settings_words import (
    change_words,
    law_words,
    more_words,
    moved_words,
    settings_words,
)
from app.viewmodels.timeline import TimelineModel
from engine.trace.events import Settings, SettingsChanged
from tests.traces import make_trace

OFF = Settings(drafter="head", k=4, temperature=0.0)
OTHER = {
    "drafter": "early:10",
    "k": 2,
    "temperature": 0.8,
    "top_k": 40,
    "top_p": 0.95,
    "min_p": 0.05,
    "repetition_penalty": 1.1,
    "presence_penalty": 0.5,
    "frequency_penalty": -0.25,
    "logit_bias": ((42, -5.0), (7, 2.5)),
    "drafter_temperature": 0.5,
    "k_min": 2,
    "confidence": 0.4,
}
CHANGES = {
    "drafter": "drafter trained head → early exit, first 10 layers",
    "k": "k 4 → 2",
    "temperature": "temperature 0 → 0.8",
    "top_k": "top-k 0 → 40",
    "top_p": "top-p 1 → 0.95",
    "min_p": "min-p 0 → 0.05",
    "repetition_penalty": "repetition penalty 1 → 1.1",
    "presence_penalty": "presence penalty 0 → 0.5",
    "frequency_penalty": "frequency penalty 0 → -0.25",
    "logit_bias": "logit biases 0 → 2",
    "drafter_temperature": "drafter temperature the target's → 0.5",
    "k_min": "least draft 0 → 2",
    "confidence": "confidence 0 → 0.4",
}


def with_(**fields: object) -> Settings:
    return msgspec.structs.replace(OFF, **fields)


def test_what_is_not_at_its_default_is_said_and_nothing_else() -> None:
    assert settings_words(OFF) == "k 4, greedy"
    assert settings_words(OFF, 0) == "k 0, greedy"
    settings = with_(**{name: OTHER[name] for name in OTHER if name not in ("k", "top_k", "top_p")})
    assert settings_words(settings) == (
        "k 4, at least 2, confidence 0.4, temperature 0.8, min-p 0.05, repetition penalty 1.1, "
        "presence penalty 0.5, frequency penalty -0.25, drafter temperature 0.5, 2 logit biases"
    )
    assert settings_words(with_(logit_bias=((3, 1.0),))) == "k 4, greedy, 1 logit bias"


@pytest.mark.parametrize("name", Settings.__struct_fields__)
def test_no_field_changes_without_a_word(name: str) -> None:
    assert change_words(OFF, with_(**{name: OTHER[name]})) == CHANGES[name]
    if name != "drafter":
        assert settings_words(with_(**{name: OTHER[name]})) != settings_words(OFF)


def test_a_change_of_several_fields_is_one_list() -> None:
    after = with_(k=2, temperature=0.7, min_p=0.1)
    assert change_words(OFF, after) == "k 4 → 2, temperature 0 → 0.7, min-p 0 → 0.1"
    assert change_words(OFF, OFF) == "settings repeated"
    first, second = with_(logit_bias=((1, 2.0),)), with_(logit_bias=((1, 3.0),))
    assert change_words(first, second) == "logit biases changed"
    assert (
        change_words(None, with_(min_p=0.1))
        == "drafter trained head, k 4, temperature 0, min-p 0.1"
    )


def test_a_law_names_what_is_switched_on_in_the_order_in_which_it_is_applied() -> None:
    assert law_words(with_(temperature=1.0)) == "at temperature 1, nothing cut"
    assert law_words(OFF) == "at temperature 0"
    assert law_words(with_(temperature=0.8, top_p=0.9)) == "after temperature 0.8, top-p 0.9"
    assert law_words(with_(temperature=1.0, min_p=0.1)) == "after min-p 0.1"
    assert law_words(with_(presence_penalty=0.5)) == "after presence penalty 0.5, at temperature 0"
    everything = law_words(Settings(**OTHER))
    assert everything == (
        "after logit bias, repetition penalty 1.1, frequency penalty -0.25, presence penalty 0.5, "
        "temperature 0.8, top-k 40, top-p 0.95, min-p 0.05"
    )


def test_only_bias_and_penalties_move_a_law_before_the_raw_one() -> None:
    assert moved_words(with_(temperature=0.5, top_k=3, min_p=0.2, confidence=0.3)) == ""
    words = moved_words(with_(logit_bias=((1, 2.0),), repetition_penalty=1.2))
    assert words == "p_target has logit bias and repetition penalty 1.2 in it; the raw law has not."


def test_folded_settings_say_what_is_on() -> None:
    assert more_words(More()) == ""
    assert more_words(More(k_min=2, confidence=0.4)) == "least draft 2, confidence 0.4"


def test_the_timeline_names_every_kind_of_change() -> None:
    events = make_trace(rounds=8, settings_changes=False)
    changed = msgspec.structs.replace(
        events[0].settings, min_p=0.1, drafter_temperature=0.5, confidence=0.3
    )
    at = next(i for i, event in enumerate(events) if getattr(event, "index", None) == 4)
    events.insert(at, SettingsChanged(run=events[0].run, before_round=4, settings=changed))
    (mark,) = TimelineModel(Document(events)).marks
    assert mark.label == (
        "confidence 0 → 0.3, min-p 0 → 0.1, drafter temperature the target's → 0.5"
    )
