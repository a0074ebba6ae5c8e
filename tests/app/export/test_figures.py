"""Figures of every kind: each panel, theme and format, the same bytes, whatever the trace is."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pypdf
import pytest
from lxml import etree
from PIL import Image

from app.export.figure_words import figure_caption, moment_words, title_words
from app.export.moments import parse_moment
from app.export.options import PANELS, Options
from app.export.options import THEMES as NAMES
from app.export.sayable import sayable
from app.export.source import open_source
from app.theme import THEMES
from engine.errors import DraftscopeError
from tests.app.export import sources
from tests.app.export.sources import made, marked, saved
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

SMALL = (480, 300)
FORMS = ({}, {"svg_text": "outlines"})
TWICE = """
import sys
from pathlib import Path
from tests.app.export.sources import made
trace, out = Path(sys.argv[1]), Path(sys.argv[2])
for name in ("a.png", "a.svg", "a.pdf"):
    made(trace, out / name, title="A title 日本 שלום", at="4")
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    return saved(make_trace(12, k=4, temperature=0.8), tmp_path_factory.mktemp("trace"))


def opened(name: str, data: bytes) -> tuple[int, int]:
    """Read a figure with a reader of its kind and return its size in pixels."""
    if name == "png":
        with Image.open(io.BytesIO(data)) as picture:
            picture.load()
            return picture.size
    if name == "svg":
        root = etree.fromstring(data)
        return int(root.get("width")), int(root.get("height"))
    (page,) = pypdf.PdfReader(io.BytesIO(data), strict=True).pages
    return round(float(page.mediabox.width) / 0.24), round(float(page.mediabox.height) / 0.24)


@pytest.mark.parametrize("name", ["png", "svg", "pdf"])
def test_every_panel_becomes_a_figure_in_every_format_and_theme(qapp, trace, tmp_path, name):
    seen = set()
    for panel, theme in product(PANELS, NAMES):
        out = tmp_path / f"a.{name}"
        data = made(trace, out, panel=panel, theme=theme, size=SMALL, captions=False)
        assert opened(name, data) == SMALL
        seen.add(data)
    assert len(seen) == len(PANELS) * len(NAMES)


@pytest.mark.parametrize("kind", ["none", "one", "unobserved", "hostile", "plain", "ngram"])
def test_figures_of_any_trace_can_be_read(qapp, tmp_path, kind):
    events = {
        "none": sources.without_rounds,
        "one": lambda: make_trace(1),
        "unobserved": lambda: make_trace(6, top_n=0, baseline=False, probe_every=0),
        "hostile": sources.hostile,
        "plain": lambda: make_trace(4, k=0, drafter="none"),
        "ngram": lambda: make_trace(8, drafter="ngram", paced=True),
    }[kind]()
    path = saved(events, tmp_path)
    for panel, at in (("all", ""), ("text", "start"), ("court", ""), ("acceptance", "")):
        for name, form in (("png", {}), ("svg", FORMS[0]), ("svg", FORMS[1]), ("pdf", {})):
            data = made(path, tmp_path / f"a.{name}", panel=panel, at=at, size=(700, 450), **form)
            assert opened(name, data) == (700, 450)


def test_the_same_trace_gives_the_same_bytes_in_every_process(qapp, trace, tmp_path):
    options = {"title": "A title 日本 שלום", "at": "4"}
    names = ("a.png", "a.svg", "a.pdf")
    first = [made(trace, tmp_path / name, **options) for name in names]
    again = [made(trace, tmp_path / name, **options) for name in names]
    other = tmp_path / "other"
    other.mkdir()
    seeds = {**os.environ, "QT_HASH_SEED": "1234", "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-c", TWICE, str(trace), str(other)]
    subprocess.run(command, check=True, env=seeds, timeout=120)
    for name, one, two in zip(names, first, again, strict=True):
        assert one == two, name
        assert one == (other / name).read_bytes(), name


def test_what_is_withheld_is_nowhere_in_a_figure(qapp, tmp_path):
    path = saved(sources.secret(), tmp_path)
    secrets = (sources.SECRET_PROMPT, sources.SECRET_MACHINE)
    for withheld, hidden in ((frozenset(), 0), (frozenset({"prompt", "machine"}), 2)):
        options = {"withheld": withheld, "size": (1400, 900)}
        with Image.open(io.BytesIO(made(path, tmp_path / "a.png", **options))) as picture:
            told = [" ".join(str(value) for value in picture.info.values())]
        told.append(made(path, tmp_path / "a.svg", **options).decode())
        reader = pypdf.PdfReader(io.BytesIO(made(path, tmp_path / "a.pdf", **options)))
        streams = [
            one.get_object().get_data()
            for one in map(reader.get_object, range(1, len(reader.xref[0]) + 1))
            if hasattr(one.get_object(), "get_data")
        ]
        said = [str(reader.metadata), reader.pages[0].extract_text()]
        told.append(" ".join([*said, *(one.decode("latin-1") for one in streams)]))
        for text in told:
            assert [word for word in secrets if word in text] == list(secrets)[: 2 - hidden]


def test_options_choose_the_run_the_moment_the_token_and_the_drafts(qapp, trace, tmp_path):
    other = make_trace(5, seed=9, k=2)
    both = saved([*make_trace(12, k=4, temperature=0.8), *other], tmp_path, "both")
    out = tmp_path / "a.png"

    def picture(path: Path, **options) -> bytes:
        return made(path, out, size=SMALL, captions=False, panel="court", **options)

    assert picture(both, run=0) == picture(trace)
    assert picture(both, run=1) != picture(trace)
    ends = [picture(trace, at=at) for at in ("start", "2:draft", "2", "2:1", "end")]
    assert len(set(ends)) == len(ends)
    shown = [made(trace, out, size=SMALL, panel="text", drafts=drafts) for drafts in (True, False)]
    assert shown[0] != shown[1]
    with pytest.raises(DraftscopeError, match="Round 99 is not in this run"):
        picture(trace, at="99")


def test_plain_figures_have_no_words_but_the_title_that_was_asked_for(qapp, tmp_path):
    path = saved(marked(make_trace(8)), tmp_path)
    source = open_source(path)
    assert title_words(source, Options()).startswith("Talk </title>")
    assert title_words(source, Options(captions=False)) == ""
    assert title_words(source, Options(captions=False, title="Mine")) == "Mine"
    assert title_words(source, Options(title="")) == ""


def test_a_caption_tells_the_moment_its_marker_the_run_and_what_figures_are(tmp_path):
    source = open_source(saved(marked(make_trace(8)), tmp_path))
    document = source.document
    moment = parse_moment("m1", document)
    said = figure_caption(source, moment, "acceptance", 6)
    assert said.startswith("A <b>\N{REPLACEMENT CHARACTER} marker: One & two ]]> .")
    for part in ("Round 6", "tiny-target", "seed 0", "Accepted / tested.", "cost model"):
        assert part in said
    brief = figure_caption(source, moment, "acceptance", 6, brief=True)
    assert "Accepted / tested." in brief
    assert "cost model" not in brief
    assert "Speed-up (measured)" in figure_caption(source, moment, "all", 6)
    for at, words in (
        ("start", "Before the first round."),
        ("2:draft", "Round 2, drafted and not yet verified."),
        ("2:verify", "Round 2 as it is verified: "),
        ("2", "Round 2: "),
    ):
        assert moment_words(document, parse_moment(at, document)).startswith(words)


def test_a_torn_trace_says_so_in_its_figures(qapp, tmp_path):
    path = saved(make_trace(8), tmp_path)
    path.write_bytes(path.read_bytes()[:-40])
    with Image.open(io.BytesIO(made(path, tmp_path / "a.png", size=SMALL))) as picture:
        (notice,) = open_source(path).notices
        assert picture.info["Description"].startswith(notice)
        assert notice in picture.info["Source"]


def test_what_cannot_be_shown_is_replaced_and_what_turns_words_round_is_left_out():
    assert sayable("a\x00b\x1bc\ufffe\ud800") == "a�b�c��"
    assert sayable("a\u202eb\u2067c\n\té😀") == "abc\n\té😀"


@pytest.mark.parametrize("theme", NAMES)
def test_a_figure_stands_on_its_themes_ground(qapp, trace, tmp_path, theme):
    for panel, role in (("all", "window"), ("timeline", "base")):
        data = made(trace, tmp_path / "a.png", panel=panel, theme=theme, size=(960, 540))
        with Image.open(io.BytesIO(data)) as picture:
            pixels = np.asarray(picture.convert("RGB"))
        ground = getattr(THEMES[theme], role).lstrip("#")
        for corner in (pixels[2, 2], pixels[-3, 2], pixels[2, -3], pixels[-3, -3]):
            assert bytes(corner).hex() == ground


@pytest.mark.parametrize(("size", "least"), [((1400, 900), 5.0), ((1000, 650), 4.5)], ids=str)
def test_letters_keep_a_size_that_can_be_read_on_a_page(qapp, trace, tmp_path, size, least):
    """300 pixels are an inch of paper, and 72 points."""
    for panel in PANELS[1:]:
        data = made(trace, tmp_path / "a.svg", panel=panel, size=size, captions=False)
        points = []
        for word in etree.fromstring(data).iter("{*}text"):
            scale = re.match(r"matrix\(([\d.]+),", word.getparent().get("transform"))
            points.append(float(word.get("font-size")) * float(scale[1]) * 72 / 300)
        assert min(points) > least, panel
        assert np.median(points) > least + 0.4, panel


@pytest.mark.parametrize("name", ["png", "svg", "pdf"])
@pytest.mark.parametrize("size", [(0, 0), (1, 1), (63, 900), (999_999_999_999, 64)], ids=str)
def test_no_picture_is_made_of_a_size_that_shows_nothing(qapp, trace, tmp_path, name, size):
    with pytest.raises(DraftscopeError, match="edges have 64 to 200,000 pixels"):
        made(trace, tmp_path / f"a.{name}", size=size)


@pytest.mark.parametrize("name", ["png", "svg", "pdf"])
@pytest.mark.parametrize("size", [(64, 64), (64, 2000), (2000, 64)], ids=str)
def test_the_smallest_and_the_longest_pictures_open(qapp, trace, tmp_path, name, size):
    data = made(trace, tmp_path / f"a.{name}", size=size, font_scale=3.0)
    assert opened(name, data) == size
