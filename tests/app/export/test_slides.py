"""A trace as slides: what is in a deck, read back with python-pptx and lxml."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from lxml import etree
from pptx.enum.shapes import PP_PLACEHOLDER

from app.theme import DARK, LIGHT
from engine.trace.events import Event, Fate
from tests.app.export.decks import (
    charts,
    frames,
    leaves,
    make_deck,
    marked,
    text_of,
    write_trace,
)
from tests.tiny_laws import VOCABULARY
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.app.export.decks import Made

PLACES: tuple[dict[str, Any], ...] = (
    {"round": -1, "title": "Before it begins", "note": "Only the prompt is there."},
    {"round": 1, "phase": "verify", "slot": 0, "title": "Look at this one", "note": "Say this."},
    {"round": 5, "note": "It has no title."},
)
HOSTILE = (
    *(b"</script>", b"=cmd|' /C calc'!A0", b"\x00\x1b", b"\xed\xa0\x80", b"\xe4\xb8", b"\xad"),
    *("مرحبا".encode(), "שלום".encode(), "👩‍👩‍👧".encode(), "漢字".encode(), b"\n", b"\t=1+1"),
    *(b"<![CDATA[", b"]]>", b"&amp;", b"_x0041_", b"\xef\xbf\xbe", b"\r\n", b"</a:t>", b"+1"),
    b"aVeryLongTokenWithoutAnySpace" * 12,
)


def hostile_events() -> list[Event]:
    pieces = (*VOCABULARY[:3], *HOSTILE, *VOCABULARY[3 + len(HOSTILE) :])
    events = make_trace(rounds=24, vocabulary=pieces, temperature=0.8, k=6)
    events[0] = msgspec.structs.replace(
        events[0], prompt="שלום =1+1 \x00\x1b <b>&amp; ]]> " + "and so on " * 300
    )
    title = "</a:t> \x00 שלום \ufffe " + "x" * 90
    return marked(
        events,
        {"round": 8, "title": title, "note": "\x07 =1+1 " + "word " * 390},
        {"round": 4, "phase": "draft", "title": "=1+1"},
        title="<&> \x0b \u202e title",
        note="]]>",
    )


@pytest.fixture(scope="module")
def sky(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A deck of a sampled run with three markers."""
    events = marked(
        make_trace(rounds=12, temperature=0.7), *PLACES, title="A talk", note="About tokens."
    )
    return make_deck(tmp_path_factory.mktemp("deck"), events)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A deck of tokens, prompts and notes that try to break it."""
    return make_deck(tmp_path_factory.mktemp("deck"), hostile_events())


def test_slides_come_in_the_order_of_a_talk(sky: Made) -> None:
    titles = sky.titles
    assert titles[:4] == ["A talk", "Before it begins", "Look at this one", "Round 6, finished"]
    told = [title for title in titles if title.startswith("Round 2: ")]
    assert titles[4 : 4 + len(told)] == told
    assert "proposes 4 tokens" in told[0]
    assert "one pass" in told[1]
    assert "is rejected" in told[-3]
    assert "the correction" in told[-2]
    assert titles[4 + len(told) :] == [
        "How much of the draft the target kept",
        "Where the time went, and how fast that is",
        next(title for title in titles if title.startswith("In short: ")),
        "How this was measured: the run",
        "How this was measured: what each figure means",
    ]


def test_slides_are_wide_and_titles_are_placeholders(sky: Made) -> None:
    assert sky.deck.slide_width / sky.deck.slide_height == pytest.approx(16 / 9)
    kinds = {PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE}
    for slide in sky.slides:
        assert slide.shapes.title.placeholder_format.type in kinds
        assert slide.shapes.title.text_frame.text.strip()
        assert slide.shapes[0].shape_id == slide.shapes.title.shape_id  # read out first


def test_notes_of_markers_are_on_the_slide_and_for_the_speaker(sky: Made) -> None:
    for begins, note in (("Before it", PLACES[0]["note"]), ("Look at", PLACES[1]["note"])):
        slide = sky.slide(begins)
        assert note in text_of(slide)
        assert slide.notes_slide.notes_text_frame.text == note


def test_without_captions_notes_are_for_the_speaker_alone(tmp_path: Path) -> None:
    events = marked(make_trace(rounds=12, temperature=0.7), *PLACES, note="About tokens.")
    made = make_deck(tmp_path, events, captions=False)
    shown = "\n".join(text_of(slide) for slide in made.slides)
    assert not any(place["note"] in shown for place in PLACES)
    assert "About tokens." not in shown
    spoken = [s.notes_slide.notes_text_frame.text for s in made.slides if s.has_notes_slide]
    assert [place["note"] for place in PLACES] == spoken[1:4]
    assert spoken[0] == "About tokens."


def test_text_so_far_has_a_run_a_token_with_its_fate(sky: Made) -> None:
    slide = sky.slide("Round 6, finished")
    box = next(shape for shape in slide.shapes if shape.name == "Text so far")
    runs = [run for one in box.text_frame.paragraphs for run in one.runs]
    colours = {run.font.color.rgb for run in runs}
    for fate in ("accepted", "rejected", "correction"):
        assert LIGHT.fates[fate].colour[1:].upper() in {str(colour) for colour in colours}
    struck = [run.text for run in runs if run._r.rPr.get("strike") == "sngStrike"]
    document = sky.source.document
    lost = [
        token
        for one in document.rounds[:6]
        for token in one.drafted
        if token.fate in (Fate.REJECTED, Fate.DISCARDED)
    ]
    assert struck
    assert len([text for text in struck if text != "↵"]) >= len(lost)
    assert any(shape.name == "Legend" for shape in slide.shapes)


def test_nothing_stands_outside_its_slide(sky: Made, hostile: Made) -> None:
    for made in (sky, hostile):
        for slide in made.slides:
            for shape in slide.shapes:
                assert shape.left >= 0
                assert shape.top >= 0
                assert shape.left + shape.width <= made.deck.slide_width, shape.name
                assert shape.top + shape.height <= made.deck.slide_height, shape.name


def test_boxes_on_a_slide_do_not_cover_one_another(sky: Made, hostile: Made) -> None:
    for made in (sky, hostile):
        for slide in made.slides:
            boxes = [
                (s.left, s.top, s.left + s.width, s.top + s.height, s.name) for s in slide.shapes
            ]
            for at, one in enumerate(boxes):
                for two in boxes[at + 1 :]:
                    wide = min(one[2], two[2]) - max(one[0], two[0])
                    high = min(one[3], two[3]) - max(one[1], two[1])
                    assert min(wide, high) <= 12700, (slide.shapes.title.text, one[4], two[4])


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_no_letter_is_tiny_and_what_is_read_is_large(tmp_path: Path, scale: float) -> None:
    made = make_deck(
        tmp_path, marked(make_trace(rounds=9, temperature=0.7), *PLACES), font_scale=scale
    )
    sizes = [
        (run.font.size.pt, run.text)
        for slide in made.slides
        for frame in frames(slide.shapes)
        for one in frame.paragraphs
        for run in one.runs
    ]
    assert min(sizes)[0] >= 10
    if scale >= 1:
        notes = [size for size, text in sizes if text in [place["note"] for place in PLACES]]
        assert len(notes) == 3
        assert min(notes) >= 14
    for slide in made.slides:
        for chart in charts(slide).values():
            assert chart.font.size.pt >= 10


def test_charts_tables_and_groups_say_what_they_show(sky: Made) -> None:
    described = 0
    for slide in sky.slides:
        for shape in slide.shapes:
            if shape.has_chart or shape.has_table or hasattr(shape, "shapes"):
                described += 1
                assert len(shape._element.xpath(".//p:cNvPr")[0].get("descr")) > 10, shape.name
    assert described > 10


def test_every_part_is_well_formed_and_hostile_tokens_are_text(hostile: Made) -> None:
    parsed = 0
    for name, data in hostile.parts():
        if name.endswith((".xml", ".rels")):
            etree.fromstring(data)
            parsed += 1
            assert b"<f>" not in data, name  # a formula in a workbook
            assert b"<hyperlink" not in data, name
    assert parsed > 50
    shown = "\n".join(text_of(slide) for slide in hostile.slides)
    for token in ("</script>", "⟨E4 B8⟩", "漢字", "]]>", "⟨00⟩"):
        assert token in shown


def test_right_to_left_text_has_its_own_direction(hostile: Made) -> None:
    box = next(s for s in hostile.slides[0].shapes if s.name == "Prompt")
    directions = [one._p.pPr.get("rtl") for one in box.text_frame.paragraphs]
    assert directions == [None, "1"]


def test_what_is_withheld_is_in_no_part(tmp_path: Path) -> None:
    events = make_trace(rounds=12, temperature=0.7)
    events[0] = msgspec.structs.replace(
        events[0], prompt="a secret question", machine="a secret machine"
    )
    open_deck = make_deck(tmp_path, events, "open")
    assert any(b"a secret question" in data for _, data in open_deck.parts())
    assert any(b"a secret machine" in data for _, data in open_deck.parts())
    events = marked(events, *PLACES)
    made = make_deck(tmp_path, events, "kept", withheld=frozenset({"prompt", "machine"}))
    for name, data in made.parts():
        assert b"secret" not in data, name
    assert "left out on request" in text_of(made.slides[0])
    assert "left out on request" in text_of(made.slide("Before it begins"))


def test_the_same_trace_gives_the_same_bytes(tmp_path: Path, hostile: Made) -> None:
    again = tmp_path / "again.pptx"
    trace = write_trace(tmp_path / "deck.jsonl", hostile_events())
    command = [sys.executable, "-m", "app", "export", str(trace), str(again)]
    other = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    subprocess.run(command, check=True, capture_output=True, env=other, timeout=120)
    assert again.read_bytes() == hostile.path.read_bytes()


def test_dates_are_the_runs_and_the_author_is_the_program(sky: Made) -> None:
    about = sky.deck.core_properties
    started = datetime.fromisoformat(sky.source.started.started_at).replace(tzinfo=None)
    assert about.created == about.modified == started
    assert about.author == about.last_modified_by == "Draftscope"
    assert about.title == "A talk"
    with zipfile.ZipFile(sky.path) as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
    year = str(datetime.now().year).encode()
    books = [data for name, data in sky.parts() if name.endswith("xlsx/docProps/core.xml")]
    assert len(books) > 5
    assert not any(year in book for book in books)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_colours_are_the_themes(tmp_path: Path, theme: Any) -> None:
    made = make_deck(tmp_path, make_trace(rounds=5, temperature=0.7), theme=theme.name)
    allowed = {value for value in vars(theme).values() if isinstance(value, str)}
    allowed |= {c for fate in theme.fates.values() for c in (fate.colour, fate.fill)}
    used = {
        f"#{element.get('val').lower()}"
        for slide in made.slides
        for element in slide._element.iter("{*}srgbClr")
    }
    assert len(used) > 8
    assert used <= {colour.lower() for colour in allowed}


def test_every_shape_has_an_id_of_its_own(sky: Made) -> None:
    numbers = [[shape.shape_id for shape in leaves(slide.shapes)] for slide in sky.slides]
    assert all(len(set(ids)) == len(ids) for ids in numbers)
