"""The further settings: typed, remembered, and taken from sessions as far as fields hold them."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from app.settings import Settings as Remembered
from app.viewmodels.logit_bias import parse_bias, parse_biases, written_bias
from app.viewmodels.more import More
from app.viewmodels.prompt import (
    LARGEST_SEED,
    PromptState,
    drafter_label,
    early_layers,
    early_spec,
    replaced_words,
)
from engine.trace.events import Settings
from tests.app.further import FULL_MORE as FULL
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "biases"),
    [
        ("", ()),
        (" , ", ()),
        ("42=-5", ((42, -5.0),)),
        (" 42 = -5 ,7=2.5,", ((42, -5.0), (7, 2.5))),
        ("0=1e-3", ((0, 0.001),)),
        ("3=0", ()),  # moves nothing
    ],
)
def test_biases_are_read_as_they_are_typed(text, biases):
    assert parse_biases(text) == biases
    assert parse_biases(written_bias(biases)) == biases


@pytest.mark.parametrize("value", [0.1 + 0.2, 1 / 3, -1234.56789, 1e4])
def test_a_written_bias_is_the_bias(value):
    assert parse_bias(written_bias(((5, value),))) == (5, value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("42", "'42' is not ID=NUMBER"),
        ("=5", "'=5' is not ID=NUMBER"),
        ("-1=5", "'-1=5' is not ID=NUMBER"),
        ("²=5", "is not ID=NUMBER"),
        ("x=1", "is not ID=NUMBER"),
        ("42=", "token 42 is '', not a number"),
        ("42=much", "token 42 is 'much'"),
        ("42=nan", "token 42 is 'nan'"),
        ("42=inf", "token 42 is 'inf'"),
        ("42=10001", "from -10000 to 10000"),
        ("5=1, 5=2", "token 5 has two biases"),
        ("272=1", "the target's last token is 271, so there is no 272"),
    ],
)
def test_a_wrong_bias_is_a_clause(text, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        parse_biases(text, vocabulary=272)
    assert parse_biases("271=1", vocabulary=272)


def test_every_field_reaches_the_engine_and_comes_back():
    settings = PromptState(more=FULL).settings
    assert {field.name for field in fields(More)} <= set(Settings.__struct_fields__)
    for field in fields(More):
        assert getattr(settings, field.name) == getattr(FULL, field.name)
    assert More.of(settings) == FULL
    assert PromptState().settings == Settings(drafter="ngram+head", k=3, temperature=0.7)


@pytest.mark.parametrize("more", [FULL, More(), replace(FULL, drafter_temperature=0.0)])
def test_the_values_survive_a_restart(more, tmp_path: Path):
    settings = Remembered(tmp_path / "settings.json")
    more.remember(settings)
    settings.save()
    assert More.remembered(Remembered(tmp_path / "settings.json")) == more


def test_a_bias_that_makes_no_sense_in_the_file_is_none(tmp_path: Path):
    settings = Remembered(tmp_path / "settings.json")
    settings["decode.logit_bias"] = "42=much"
    assert More.remembered(settings) == More()


def test_a_session_from_elsewhere_fits_the_fields_and_can_be_remembered(tmp_path: Path):
    started = make_trace(rounds=1)[0]
    wild = Settings(
        drafter="early:7", k=32, temperature=40.0, top_k=2_000_000, min_p=1.0, k_min=30,
        repetition_penalty=9999.0, presence_penalty=-99.0, drafter_temperature=77.0,
    )  # fmt: skip
    started = msgspec.structs.replace(started, settings=wild, seed=2**70)
    state = PromptState().after_opening(started)
    state.remember(Remembered(tmp_path / "settings.json"))  # refuses what is out of range
    assert (state.drafter, state.k, state.temperature, state.seed) == (
        "early:7",
        16,
        5,
        LARGEST_SEED,
    )
    assert state.more == More(
        min_p=1.0,
        repetition_penalty=10.0,
        presence_penalty=-10.0,
        drafter_temperature=5.0,
        k_min=16,
    )


def test_what_decides_nothing_is_known():
    greedy = PromptState(temperature=0.0, drafter="head")
    assert not greedy.draws
    soft = replace(greedy, more=More(drafter_temperature=0.7))
    assert soft.draws
    assert not replace(soft, drafter="ngram").draws  # a look-up draws nothing
    assert not replace(soft, drafter="ngram").scored
    assert all(replace(soft, drafter=spec).scored for spec in ("head", "early:3", "model:x"))
    assert PromptState(temperature=0.5, drafter="none").draws


def test_early_exit_is_five_sixths_of_the_layers_by_default():
    assert [early_spec(layers) for layers in (30, 24, 2, 1)] == [
        "early:25", "early:20", "early:1", "early:1",
    ]  # fmt: skip
    assert early_layers(early_spec()) == 25
    assert [early_layers(spec) for spec in ("head", "early:", "early:x", "early:²")] == [0] * 4
    assert drafter_label("early:10") == "early exit, first 10 layers"
    assert drafter_label("early:1") == "early exit, first 1 layer"


def test_a_drafter_in_place_of_another_is_said_in_one_sentence():
    assert replaced_words("head", "ngram") == (
        "The trained head was made for another target, so the n-gram look-up drafts for this one."
    )
    few = "The target has too few layers to exit after 10, so "
    assert replaced_words("early:10", "early:2") == f"{few}its first 2 layers draft."
    assert replaced_words("early:10", "early:1") == f"{few}its first 1 layer drafts."
    assert replaced_words("early:10", "ngram") == f"{few}the n-gram look-up drafts."
