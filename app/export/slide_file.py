"""A presentation as a file whose bytes follow from its contents alone.

Knows zip archives, and where in them times are written: a presentation's own properties, and those
of the workbook behind each chart. Knows no slide.
"""

from __future__ import annotations

import io
import re
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pptx.presentation import Presentation

AUTHOR = "Draftscope"
_FIRST = "[Content_Types].xml"
_NEVER = (1980, 1, 1, 0, 0, 0)  # the earliest time that an archive can hold
_TIME = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*(</dcterms:)")


def moment(started_at: str) -> datetime:
    """Return when a run started, UTC; the year 1980 where that is not said."""
    try:
        found = datetime.fromisoformat(started_at)
    except ValueError:
        return datetime(*_NEVER[:3])
    return found.astimezone(UTC).replace(tzinfo=None, microsecond=0)


def describe(presentation: Presentation, title: str, subject: str, when: datetime) -> None:
    """Fill in what a file says of itself."""
    properties = presentation.core_properties
    properties.title, properties.subject = title[:250], subject[:250]
    properties.author = properties.last_modified_by = AUTHOR
    properties.created = properties.modified = properties.last_printed = when
    properties.keywords = "speculative decoding"
    properties.revision = 1


def save(presentation: Presentation, out: Path, when: datetime) -> None:
    """Write a presentation: the same slides give the same bytes."""
    written = io.BytesIO()
    presentation.save(written)
    out.write_bytes(_again(written.getvalue(), when))


def _again(archive: bytes, when: datetime) -> bytes:
    """Return an archive in the order of its names, with no time but `when` in it."""
    again = io.BytesIO()
    stamp = f"{when.isoformat()}Z".encode()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as before,
        zipfile.ZipFile(again, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for name in sorted(before.namelist(), key=lambda name: (name != _FIRST, name)):
            data = before.read(name)
            if name.endswith(".xlsx"):
                data = _again(data, when)
            elif name == "docProps/core.xml":
                data = _TIME.sub(rb"\g<1>" + stamp + rb"\g<3>", data)
            entry = zipfile.ZipInfo(name, _NEVER)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # as on Linux, whatever system writes it
            entry.external_attr = 0o600 << 16
            after.writestr(entry, data)
    return again.getvalue()
