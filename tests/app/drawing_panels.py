"""Draw every panel at the end of a session, where torch cannot be imported. Run as a program."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication

from app.fonts import load_fonts
from app.theme import LIGHT
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.views.acceptance import AcceptanceView
from app.views.caches import CachesView
from app.views.court import CourtView
from app.views.strip import StripView
from app.views.throughput import ThroughputView
from app.views.timeline import TimelineView
from engine.trace.reader import read_trace

PANELS = (StripView, CourtView, AcceptanceView, ThroughputView, TimelineView, CachesView)
SIZE = QSize(480, 420)


class NoTorch:
    """Refuses torch, as where it is not installed."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Refuse torch and what is in it, and know nothing of any other module."""
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"{name} was imported")


def colours(panel: type, document: Document) -> dict[str, int]:
    """Return how often each colour occurs in a panel's picture of a document's end."""
    view = panel()
    view.set_theme(LIGHT)
    presentation = Presentation(document)
    presentation.seek(len(document.rounds) - 1)
    view.set_state(document, presentation)
    view.resize(SIZE)
    view.show()
    image = view.grab().toImage()
    counts: dict[str, int] = {}
    for y in range(image.height()):
        for x in range(image.width()):
            name = image.pixelColor(x, y).name()
            counts[name] = counts.get(name, 0) + 1
    view.close()
    return counts


def main() -> None:
    """Print each panel's name, its number of colours, and how many pixels the session decided."""
    app = QApplication(sys.argv[:1])
    load_fonts()
    document, nothing = Document(read_trace(Path(sys.argv[1]))), Document()
    for panel in PANELS:
        shown, empty = colours(panel, document), colours(panel, nothing)
        moved = sum(abs(n - empty.get(name, 0)) for name, n in shown.items())
        print(panel.__name__, len(shown), moved)
    assert "torch" not in sys.modules
    del app


if __name__ == "__main__":
    sys.meta_path.insert(0, NoTorch())  # type: ignore[arg-type]  # one method of a finder is enough
    main()
