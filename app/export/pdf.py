"""A figure as a page of its own size: lines stay lines, and words can be searched and copied.

Knows Qt's writer of PDF, which embeds the glyphs that are used of each font, and what it says of
the day: that is put right afterwards, so that the same trace gives the same bytes.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from app.export.figure import PAPER, PIXELS_PER_INCH, figure_of
from app.export.figure_words import SOFTWARE
from app.export.pdf_objects import in_order, number_in, objects_of
from app.export.pdf_words import typed
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from app.export.figure import Figure
    from app.export.options import Options, Progress
    from app.export.source import Source

_POINTS_PER_INCH = 72
_MOST_POINTS = 14_400  # of a page's side: PDF allows no more (ISO 32000-1, annex C)
_BOX = re.compile(rb"/(MediaBox|TrimBox) \[[\d. ]*\]")
_XMP = """<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:xmp="http://ns.adobe.com/xap/1.0/"><rdf:Description rdf:about="">
<dc:format>application/pdf</dc:format>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">{title}</rdf:li></rdf:Alt></dc:title>
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">{description}</rdf:li></rdf:Alt>
</dc:description>
<dc:source>{source}</dc:source>
<xmp:CreatorTool>{software}</xmp:CreatorTool>{created}
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end='w'?>"""


def write_pdf(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write one moment as a PDF of one page, 300 pixels to the inch: 0.24 points a pixel.

    Raises
    ------
    DraftscopeError
        If there is no such moment, or no page of such a size.
    OSError
        If it cannot be written.
    """
    from app.painting.devices import pdf_of

    progress(0, 2, "Painting")
    figure = figure_of(source, options, PAPER)
    points = [edge * _POINTS_PER_INCH / PIXELS_PER_INCH for edge in figure.size]
    if max(points) > _MOST_POINTS:
        most = int(_MOST_POINTS * PIXELS_PER_INCH / _POINTS_PER_INCH)
        raise DraftscopeError(
            f"A PDF page has at most {most:,} pixels on a side: take a smaller size."
        )
    page = (math.ceil(points[0]), math.ceil(points[1]))
    data = pdf_of(page, figure.paint, PIXELS_PER_INCH, _xmp(figure))
    progress(1, 2, "Writing")
    out.write_bytes(_settled(data, figure, points))


def _settled(data: bytes, figure: Figure, points: Sequence[float]) -> bytes:
    """Return a PDF's bytes with our own information and in an order that is always the same."""
    objects, trailer = objects_of(data)
    info, root = number_in(trailer, b"Info"), number_in(trailer, b"Root")
    entries = {
        "Title": _string(figure.title),
        "Subject": _string(figure.description),
        "Creator": _string(SOFTWARE),
        "Producer": _string(f"{SOFTWARE}, Qt"),
    }
    recorded = _time(figure.recorded)
    if recorded is not None:
        entries["CreationDate"] = entries["ModDate"] = f"({recorded:D:%Y%m%d%H%M%SZ})".encode()
    said = b"\n".join(b"/%s %s" % (key.encode(), value) for key, value in entries.items())
    objects[info] = b"<<\n%s\n>>" % said
    width, height = points
    top = math.ceil(height)  # Qt's pages are whole points, from whose upper left corner it paints
    box = b"/\\1 [0 %.2f %.2f %d]" % (top - height, width, top)
    objects = {number: typed(_BOX.sub(box, body)) for number, body in objects.items()}
    return in_order(objects, (root, info))


def _xmp(figure: Figure) -> str:
    recorded = _time(figure.recorded)
    created = ""
    if recorded is not None:
        created = f"\n<xmp:CreateDate>{recorded:%Y-%m-%dT%H:%M:%SZ}</xmp:CreateDate>"
    source = "\n".join(f"{name}: {words}" for name, words in figure.provenance)
    return _XMP.format(
        title=escape(figure.title),
        description=escape(figure.description),
        source=escape(source),
        software=escape(SOFTWARE),
        created=created,
    )


def _time(written: str) -> datetime | None:
    """Return a trace's own time as UTC, None if it cannot be read."""
    try:
        time = datetime.fromisoformat(written)
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _string(text: str) -> bytes:
    """Return a PDF string of any characters, in digits, so that nothing in it has a meaning."""
    return b"<%s>" % ("\ufeff" + text).encode("utf-16-be").hex().encode()
