"""Documents as they come about: from a file in portions, or from events as a run sends them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.file_jobs import FileJobs
from app.messages import OpenSession, PortionRead
from app.viewmodels.document import Document
from engine.trace import codec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from app.messages import Reply
    from engine.trace.events import Event


def write_trace(path: Path, events: Sequence[Event]) -> Path:
    path.write_bytes(b"".join(codec.encode(event) for event in events))
    return path


def read_portions(path: Path) -> list[PortionRead]:
    """Return what the files' thread posts while it opens a session."""
    posted: list[Reply] = []
    FileJobs()(OpenSession(path=path), posted.append)
    return [reply for reply in posted if isinstance(reply, PortionRead)]


def opened(path: Path) -> Document:
    document = Document()
    for reply in read_portions(path):
        reply.add_to(document)
    return document


def arrived(events: Sequence[Event]) -> Document:
    document = Document()
    for event in events:
        document.extend([event])
    return document
