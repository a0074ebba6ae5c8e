"""SVG, as lxml and Chromium read it: valid, alone, and alike with fonts and with outlines."""

from __future__ import annotations

import io
import re
import urllib.parse
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from lxml import etree
from PIL import Image
from PySide6.QtGui import QPainterPath

from app.export.svg_text import SVG, outlines
from app.painting.outlines import path_data
from tests.app.export.sources import hostile, made, saved
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = ("fonts", "outlines")
SIZE = (900, 600)


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    return {
        "plain": saved(make_trace(12, temperature=0.8), folder, "plain"),
        "hostile": saved(hostile(), folder, "hostile"),
    }


def words_of(root: etree._Element) -> str:
    return " ".join(word.text for word in root.iter("{*}text"))


@pytest.mark.parametrize("kind", ["plain", "hostile"])
@pytest.mark.parametrize("text", TEXTS)
def test_an_svg_is_valid_and_needs_nothing_from_elsewhere(qapp, traces, tmp_path, text, kind):
    data = made(traces[kind], tmp_path / "a.svg", size=SIZE, svg_text=text, at="6")
    root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("viewBox") == "0 0 900 600"
    assert (root.find("{*}style") is not None) is (text == "fonts")
    inside = {f"#{element.get('id')}" for element in root.iter() if element.get("id")}
    for element in root.iter():
        assert etree.QName(element).localname not in ("script", "foreignObject", "use", "a")
        assert not any(name.startswith("on") for name in element.attrib)
        for name, value in element.attrib.items():
            if name.endswith("href"):
                assert value.startswith("data:image/png;base64,")
            assert set(re.findall(r"url\(([^)]*)\)", value)) <= inside
    for address in re.findall(r'url\("([^"]*)"\)', root.findtext("{*}style") or ""):
        assert urllib.parse.urlsplit(address).scheme == "data"
    assert not re.search(rb"@import|<!DOCTYPE|<!ENTITY|<\?xml-stylesheet", data)


@pytest.mark.parametrize("text", TEXTS)
def test_words_are_words_or_outlines_as_chosen_and_told_in_either_case(
    qapp, traces, tmp_path, text
):
    data = made(
        traces["plain"], tmp_path / "a.svg", size=SIZE, svg_text=text, title="A title & more"
    )
    root = etree.fromstring(data)
    assert root.findtext("{*}title") == "A title & more"
    assert "Accepted / tested." in root.findtext("{*}desc")
    told = " ".join(element.text for element in root.find("{*}metadata"))
    for part in ("target: tiny-target", "seed: 0", "definition of acceptance", "2025-01-01T12:00"):
        assert part in told
    if text == "fonts":
        words = words_of(root)
        for part in ("A title & more", "tiny-target", "speed-up", "correction", "round 12 of 12"):
            assert part in words
    else:
        assert list(root.iter("{*}text")) == []
        assert not re.search(rb"font-family|@font-face", data)


def test_an_svg_has_no_date_but_the_traces_and_no_path_of_this_machine(qapp, traces, tmp_path):
    data = made(traces["plain"], tmp_path / "a.svg", size=SIZE)
    rest = re.sub(rb"base64,[^\"]*", b"", data)
    dates = set(re.findall(rb"20\d\d-\d\d-\d\d", rest))
    assert dates == {b"2025-01-01"}
    assert str(tmp_path).encode() not in data


def test_hostile_words_can_be_read_back(qapp, traces, tmp_path):
    data = made(traces["hostile"], tmp_path / "a.svg", size=(1400, 900), panel="text")
    words = words_of(etree.fromstring(data))
    for part in ("</script>", "]]>", "&amp;", "中文", "مرحبا", "שלום", "😀"):
        assert part in words
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\ufffe\uffff]", data.decode())


def test_a_path_is_written_as_it_is():
    path = QPainterPath()
    path.moveTo(1, 2)
    path.lineTo(3.456, -0.001)
    path.cubicTo(1, 2, 3, 4, 5, 6.5)
    assert path_data(path) == "M1 2L3.46 0C1 2 3 4 5 6.5"
    assert path_data(QPainterPath()) == ""


@pytest.mark.parametrize("words", ["Draft 0.5", "مرحبا", "שלום!", "中文", "e\u0301"])
def test_outlines_stand_where_the_words_stood(qapp, words):
    text = ET.Element(
        SVG + "text",
        {"font-family": "Inter", "font-size": "20", "x": "100", "y": "50", "fill": "#123456"},
    )
    text.text = words
    (path,) = outlines(text)
    numbers = [float(one) for one in re.findall(r"-?[\d.]+", path.get("d", ""))]
    across, down = numbers[::2], numbers[1::2]
    assert 97 < min(across) < 106
    assert max(across) < 100 + 20 * len(words)
    assert 25 < min(down) < 45
    assert max(down) < 60
    assert path.get("fill") == "#123456"


def seen(browser, path: Path) -> np.ndarray:
    """Return what Chromium shows of a file, shape [height, width], in grey."""
    page = browser.open(path, width=SIZE[0], height=SIZE[1])
    page.send("Runtime.evaluate", expression="document.fonts.ready", awaitPromise=True)
    shot = path.with_suffix(".shot.png")
    page.screenshot(shot)
    assert page.errors == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    page.close()
    with Image.open(shot) as picture:
        return np.asarray(picture.convert("L"), dtype=float)


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_browser_shows_both_forms_as_the_picture_in_pixels(
    qapp, browser, traces, tmp_path, theme
):
    options = {"size": SIZE, "panel": "court", "theme": theme, "title": "A title 中文 שלום"}
    shown = []
    for text in TEXTS:
        path = tmp_path / f"{text}.svg"
        made(traces["plain"], path, svg_text=text, **options)
        shown.append(seen(browser, path))
    fonts, outlines = shown
    with Image.open(io.BytesIO(made(traces["plain"], tmp_path / "a.png", **options))) as picture:
        pixels = np.asarray(picture.convert("L"), dtype=float)
    assert np.abs(fonts - outlines).mean() < 6
    assert np.abs(outlines - pixels).mean() < 10
    turned = np.abs(outlines - pixels[::-1]).mean()
    assert np.abs(outlines - pixels).mean() < turned / 1.5
    assert fonts.std() > 10


@pytest.mark.browser
def test_words_in_a_browser_use_the_embedded_fonts_and_keep_their_width(
    qapp, browser, traces, tmp_path
):
    path = tmp_path / "a.svg"
    made(traces["plain"], path, size=SIZE, panel="acceptance")
    page = browser.open(path, width=SIZE[0], height=SIZE[1])
    page.send("Runtime.evaluate", expression="document.fonts.ready", awaitPromise=True)
    assert page.evaluate("[...document.fonts].some((font) => font.status === 'loaded')")
    apart = page.evaluate(
        """Math.max(...[...document.querySelectorAll('text[textLength]')].map((word) =>
            Math.abs(word.getBBox().width / Number(word.getAttribute('textLength')) - 1)))"""
    )
    assert apart < 0.02
    page.close()
