"""PDF, as pypdf reads it: one page of words, lines and embedded fonts, of the trace's own day."""

from __future__ import annotations

import datetime
import io
import re

import pypdf
import pytest

from app.export.pdf_objects import in_order, objects_of
from app.export.pdf_words import typed
from engine.errors import DraftscopeError
from engine.version import VERSION
from tests.app.export.sources import hostile, made, saved
from tests.traces import make_trace


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    return saved(make_trace(12, temperature=0.8), tmp_path_factory.mktemp("trace"))


def read(data: bytes) -> pypdf.PdfReader:
    return pypdf.PdfReader(io.BytesIO(data), strict=True)


def test_a_pdf_is_one_page_of_the_figures_size(qapp, trace, tmp_path):
    for size, points in (((1400, 900), (336, 216)), ((1920, 1080), (460.8, 259.2))):
        (page,) = read(made(trace, tmp_path / "a.pdf", size=size)).pages
        box = page.mediabox
        assert (float(box.width), float(box.height)) == pytest.approx(points, abs=0.01)


def test_every_font_is_embedded_and_nothing_is_pixels(qapp, trace, tmp_path):
    for panel in ("all", "text", "caches"):
        (page,) = read(made(trace, tmp_path / "a.pdf", panel=panel)).pages
        fonts = page["/Resources"]["/Font"]
        assert len(fonts) > 1
        for font in fonts.values():
            (descendant,) = font.get_object()["/DescendantFonts"]
            described = descendant.get_object()["/FontDescriptor"].get_object()
            assert len(described["/FontFile2"].get_object().get_data()) > 200
            assert re.fullmatch(r"/[A-Z]{6}\+[\w-]+", described["/FontName"])
            assert "/ToUnicode" in font.get_object()
        assert len(page.images) == 0


def test_words_can_be_found_and_copied(qapp, trace, tmp_path):
    title = "A difficult office file, 2026"
    (page,) = read(made(trace, tmp_path / "a.pdf", title=title, panel="acceptance")).pages
    text = page.extract_text().replace("\n", " ")
    for part in (title, "acceptance by draft position", "tokens per pass", "Accepted / tested."):
        assert part in text


def test_a_pdf_says_what_it_is_where_it_comes_from_and_when(qapp, trace, tmp_path):
    reader = read(made(trace, tmp_path / "a.pdf", title="Title (5 0 R) \\ 日本 😀"))
    said = reader.metadata
    assert said.title == "Title (5 0 R) \\ 日本 😀"
    assert said.creator == f"Draftscope {VERSION}"
    day = datetime.datetime(2025, 1, 1, 12, tzinfo=datetime.UTC)
    assert said.creation_date == said.modification_date == day
    assert "Accepted / tested." in said.subject
    xmp = reader.xmp_metadata
    assert xmp.dc_title["x-default"] == "Title (5 0 R) \\ 日本 😀"
    assert xmp.xmp_create_date.replace(tzinfo=datetime.UTC) == day
    for part in (
        "target: tiny-target",
        "seed: 0",
        "machine: simulated",
        "definition of acceptance",
    ):
        assert part in xmp.dc_source


def test_hostile_words_stay_words(qapp, tmp_path):
    data = made(saved(hostile(), tmp_path), tmp_path / "a.pdf", at="m1", panel="text")
    reader = read(data)
    assert reader.metadata.title.startswith("Talk </title> � 😀 (5 0 R)")
    assert "A <b>� marker: One & two ]]> ." in reader.metadata.subject
    text = reader.pages[0].extract_text()
    assert "One & two ]]>" in text
    assert "\t" not in text
    assert "مرحبا"[::-1] in text or "مرحبا" in text  # letters, not their shapes
    assert "/JavaScript" not in data.decode("latin-1")


def test_a_trace_without_a_day_gives_a_pdf_without_one(qapp, tmp_path):
    events = make_trace(3)
    path = saved(events, tmp_path)
    path.write_bytes(path.read_bytes().replace(b"2025-01-01T12:00:00+00:00", b"some day"))
    said = read(made(path, tmp_path / "a.pdf")).metadata
    assert said.creation_date is None
    assert said.title


def test_a_side_that_no_page_has_is_refused_in_a_sentence(qapp, trace, tmp_path):
    with pytest.raises(DraftscopeError, match="at most 60,000 pixels on a side"):
        made(trace, tmp_path / "a.pdf", size=(60_001, 100))
    assert list(tmp_path.glob("a*")) == []


def test_tables_of_letters_keep_their_length_true():
    table = b"begincmap\n2 beginbfrange\n<0001> <0004> [<0041> <0009> <FE8E> <FB01> ]\n"
    stream = table + b"<0005> <0005> <0009>\nendbfrange\nendcmap"
    body = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream)
    put_right = typed(body)
    inside = put_right.split(b"stream\n", 1)[1].rsplit(b"\nendstream", 1)[0]
    assert b"[<0041> <0020> <0627> <00660069> ]" in inside
    assert b"\n<0005> <0005> <0020>\n" in inside
    assert b"/Length %d " % len(inside) in put_right
    assert typed(b"<< /Type /Page >>") == b"<< /Type /Page >>"


def pdf_of(order: list[int]) -> bytes:
    """Write a small PDF whose objects stand in some order."""
    bodies = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        4: b"<< /Length 14 >>\nstream\n7 0 R endobj %\n\nendstream",
        5: b"<< /Title <feff0041> >>",
        6: b"(not led to)",
    }
    out, places = b"%PDF-1.4\n", {}
    for number in order:
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, bodies[number])
    table = b"".join(b"%010d 00000 n \n" % places[number] for number in range(1, 7))
    trailer = b"trailer\n<< /Size 7 /Root 1 0 R /Info 5 0 R >>\n"
    head = b"xref\n0 7\n0000000000 65535 f \n"
    return out + head + table + trailer + b"startxref\n%d\n%%%%EOF\n" % len(out)


def test_the_order_of_objects_is_that_of_their_references_whatever_it_was():
    settled = {
        in_order(objects_of(pdf_of(order))[0], (1, 5))
        for order in ([1, 2, 3, 4, 5, 6], [6, 4, 2, 5, 3, 1])
    }
    (data,) = settled
    reader = read(data)
    assert len(reader.pages) == 1
    assert reader.pages[0]["/Contents"].get_data().startswith(b"7 0 R endobj %")
    assert reader.metadata.title == "A"
    assert b"not led to" not in data


@pytest.mark.parametrize("harm", [b"startxref", b"xref\n0", b"4 0 obj", b"00000 n"])
def test_what_is_not_written_as_qt_writes_is_refused(harm):
    data = pdf_of([1, 2, 3, 4, 5, 6])
    at = data.rindex(harm)
    with pytest.raises(ValueError, match=r"no |torn|not where"):
        objects_of(data[:at] + b"#" + data[at + 1 :])
