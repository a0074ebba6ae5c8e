"""What a training may be asked for, and the sentence for what it may not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import DraftscopeError
from engine.training.request import TrainingRequest

GOOD = TrainingRequest("head", "toy", Path("mine.safetensors"))

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "another kind": ({"kind": "tree"}, r"no drafter of the kind 'tree'; choose head or small"),
    "wrong suffix": ({"out": Path("mine.gguf")}, r"mine\.gguf does not; choose mine\.safetensors"),
    "no suffix": ({"out": Path("mine")}, r"mine does not; choose mine\.safetensors"),
    "no folder": ({"out": Path("gone/mine.safetensors")}, r"no folder gone to write to; make it"),
    "no text": ({"own_tokens": 0}, r"nothing to train on; give files"),
    "one id": ({"vocabulary": 1}, r"scores 1 ids cannot draft; choose 2"),
    "no time": ({"minutes": 0.0}, r"0 minutes ends before it begins"),
    "no number of minutes": ({"minutes": float("nan")}, r"nan minutes ends before"),
    "no steps": ({"steps": 0}, r"0 steps ends before it begins"),
    "no layers": ({"kind": "small", "layers": 0}, r"0 layers and width 384 cannot be made"),
    "odd width": ({"kind": "small", "width": 100}, r"a width that is a multiple of 8"),
    "no blocks": ({"blocks": 0}, r"head of 0 blocks cannot be made"),
    "falling taps": ({"taps": (3, 2)}, r"cannot read the layers 3 2; name layers from 1"),
    "one tap twice": ({"taps": (3, 3)}, r"each once and in rising order"),
    "tap of no layer": ({"taps": (0, 2)}, r"name layers from 1"),
    "negative seed": ({"seed": -1}, r"seed -1 is out of range"),
    "huge seed": ({"seed": 1 << 63}, r"is out of range"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_made_is_refused_in_a_sentence(case: str) -> None:
    changes, words = REFUSED[case]
    with pytest.raises(DraftscopeError, match=words):
        replace(GOOD, **changes).check()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kind": "small", "width": 8, "layers": 1, "taps": (9, 1)},
        {"minutes": 0.0, "steps": 1},
        {"own_tokens": 0, "corpora": (Path("a.txt"),)},
        {"taps": (1, 5, 30), "blocks": 2},
    ],
)
def test_what_can_be_made_is_not_refused(changes: dict[str, Any]) -> None:
    replace(GOOD, **changes).check()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "small", "width": 72}, r"width 72 is wider than toy, whose width is 64"),
        ({"blocks": 4}, r"4 blocks is no smaller than toy, which has 4 layers"),
        ({"taps": (1, 4)}, r"cannot read layer 4 beside the last one: toy has 4"),
    ],
)
def test_what_does_not_fit_the_target_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(DraftscopeError, match=words):
        replace(GOOD, **changes).check_target("toy", 4, 64)


def test_what_fits_the_target_is_not_refused() -> None:
    replace(GOOD, kind="small", width=64, blocks=9).check_target("toy", 4, 64)
    replace(GOOD, taps=(1, 3), blocks=3).check_target("toy", 4, 64)


@pytest.mark.parametrize(
    ("asked", "layers", "read"),
    [
        ({}, 30, (10, 20)),
        ({}, 2, (1,)),
        ({}, 1, ()),
        ({"taps": ()}, 30, ()),
        ({"taps": (4,)}, 30, (4,)),
        ({"kind": "small"}, 30, ()),
        ({"kind": "small", "taps": (4,)}, 30, ()),
    ],
)
def test_a_head_reads_a_third_and_two_thirds_unless_told(
    asked: dict[str, object], layers: int, read: tuple[int, ...]
) -> None:
    assert replace(GOOD, **asked).taps_of(layers) == read
