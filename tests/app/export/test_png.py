"""PNG, as Pillow reads it: its size, what is said in it, and that something is seen."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from engine.errors import DraftscopeError
from engine.version import VERSION
from tests.app.export.sources import hostile, made, saved
from tests.traces import make_trace


@pytest.fixture
def trace(tmp_path):
    return saved(make_trace(8), tmp_path)


def test_a_png_says_what_it_is_where_it_comes_from_and_when(qapp, trace, tmp_path):
    with Image.open(io.BytesIO(made(trace, tmp_path / "a.png", title="Ein Täg 日本"))) as picture:
        assert picture.format == "PNG"
        assert picture.mode == "RGB"
        assert picture.size == (1920, 1080)
        assert picture.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        said = picture.info
    assert said["Title"] == "Ein Täg 日本"
    assert said["Software"] == f"Draftscope {VERSION}"
    assert said["Creation Time"] == "2025-01-01T12:00:00+00:00"
    for part in (
        "target: tiny-target",
        "seed: 0",
        "machine: simulated",
        "definition of acceptance",
    ):
        assert part in said["Source"]
    assert "Accepted / tested." in said["Description"]


def test_hostile_words_are_kept_beside_the_picture(qapp, tmp_path):
    data = made(saved(hostile(), tmp_path), tmp_path / "a.png", size=(400, 300), at="m1")
    with Image.open(io.BytesIO(data)) as picture:
        picture.load()
        assert "A <b>� marker: One & two ]]> ." in picture.info["Description"]
        assert picture.info["Title"].startswith("Talk </title> � 😀")


def test_a_larger_picture_is_the_same_picture_larger(qapp, trace, tmp_path):
    options = {"panel": "acceptance", "captions": False}
    with Image.open(io.BytesIO(made(trace, tmp_path / "a.png", **options))) as slide:
        small = slide.convert("L").resize((480, 270), Image.Resampling.BOX)
    size = (3840, 2160)
    with Image.open(io.BytesIO(made(trace, tmp_path / "b.png", size=size, **options))) as large:
        assert large.size == size
        shrunk = large.convert("L").resize((480, 270), Image.Resampling.BOX)
    apart = [abs(a - b) for a, b in zip(small.tobytes(), shrunk.tobytes(), strict=True)]
    assert sum(apart) / len(apart) < 1.0
    assert len(set(small.tobytes())) > 50


def test_larger_letters_and_captions_make_another_picture(qapp, trace, tmp_path):
    common = {"panel": "acceptance", "size": (700, 450)}
    forms = ({}, {"font_scale": 1.5}, {"captions": False}, {"title": "Another"})
    pictures = {made(trace, tmp_path / "a.png", **common, **form) for form in forms}
    assert len(pictures) == len(forms)


@pytest.mark.parametrize("size", [(200_000, 200_000), (16_384, 16_385)])
def test_a_size_that_no_memory_holds_is_refused_in_a_sentence(qapp, trace, tmp_path, size):
    with pytest.raises(DraftscopeError, match="too large: take a smaller size"):
        made(trace, tmp_path / "a.png", size=size)
    assert list(tmp_path.glob("a*")) == []
