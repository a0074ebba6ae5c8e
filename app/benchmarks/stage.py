"""The real window with every panel open, on folders of its own, for what measures it.

Knows how the program is assembled and which widgets paint what. Measures nothing itself.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.compose import Options, Program
from app.paths import data_folder
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PySide6.QtWidgets import QWidget

    from app.worker import Perform

SIZE = (1600, 1000)
LOOK_MS = 10  # between two looks at what is waited for
PATIENCE_S = 600.0  # a guard against hanging
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
_FOLDERS = ("DRAFTSCOPE_CONFIG", "DRAFTSCOPE_DATA")
_SHARED = ("models", "kernels")


def application() -> QApplication:
    """Return the application, without a screen where there is none."""
    if sys.platform == "linux" and not any(os.environ.get(name) for name in _DISPLAYS):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    return app


@contextmanager
def own_folders() -> Iterator[None]:
    """Keep settings and journals apart from the user's; models and built plans are the user's."""
    held = {name: os.environ.get(name) for name in _FOLDERS}
    shared = [path for path in map(data_folder().joinpath, _SHARED) if path.is_dir()]
    with tempfile.TemporaryDirectory(prefix="draftscope-bench-") as scratch:
        for name in _FOLDERS:
            os.environ[name] = os.path.join(scratch, name.rpartition("_")[2].lower())
        data_folder().mkdir(parents=True, exist_ok=True)
        for path in shared:
            (data_folder() / path.name).symlink_to(path.absolute(), target_is_directory=True)
        try:
            yield
        finally:
            for name, value in held.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


@contextmanager
def window(engine: Perform | None = None) -> Iterator[Program]:
    """Open the window at its full size with every panel to be seen; close it in the end.

    Parameters
    ----------
    engine
        As in `Lanes`.
    """
    program = Program(application(), Options(), engine)
    program.window.resize(*SIZE)
    program.window.show()
    program.deeds.do("view.restore")
    docks = program.window.docks
    program.window.splitDockWidget(
        docks["throughput"], docks["caches"], Qt.Orientation.Horizontal
    )  # not a tab of the timeline's
    docks["timeline"].raise_()
    gc.freeze()  # as the engine's thread does before its first job
    settle(0.3)
    hidden = [name for name, dock in docks.items() if dock.visibleRegion().isEmpty()]
    if hidden:
        raise DraftscopeError(f"Not every panel could be opened ({', '.join(hidden)}).")
    try:
        yield program
    finally:
        program.window.close()


def surfaces(program: Program) -> dict[str, QWidget]:
    """Return the widgets that paint while tokens stream, by name."""
    acceptance, throughput, caches = program.charts
    return {
        "strip": program.strip.viewport(),
        "court": program.court.canvas,
        "timeline": program.timeline.canvas,
        "acceptance plot": acceptance.over_time.canvas.viewport(),
        "acceptance by position": acceptance.positions,
        "acceptance figures": acceptance.readings,
        "throughput plot": throughput.plot.canvas.viewport(),
        "throughput figures": throughput.readings,
        "caches plot": caches.plot.canvas.viewport(),
        "caches pages": caches.pages,
        "caches figures": caches.readings,
    }


def wait(done: Callable[[], bool], what: str, *, every_ms: int = LOOK_MS) -> None:
    """Let the window live until something is so.

    Raises
    ------
    DraftscopeError
        If it is not so in time.
    """
    end = time.monotonic() + PATIENCE_S
    loop, look = QEventLoop(), QTimer()
    look.timeout.connect(lambda: loop.quit() if done() or time.monotonic() > end else None)
    look.start(every_ms)
    loop.exec()
    if not done():
        raise DraftscopeError(f"It took too long: {what}. Nothing was measured; try again.")


def settle(seconds: float) -> None:
    """Let the window live for a while."""
    end = time.monotonic() + seconds
    wait(lambda: time.monotonic() >= end, "a rest")
