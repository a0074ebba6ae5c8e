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
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.compose import Options, Program
from app.interrupts import Interrupts
from app.paths import data_folder
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from app.worker import Perform

SIZE = (1600, 1000)
LOOK_MS = 10  # between two looks at what is waited for
PATIENCE_S = 600.0  # a guard against hanging
_FOLDERS = ("DRAFTSCOPE_CONFIG", "DRAFTSCOPE_DATA")
_SHARED = ("models", "kernels")


def application() -> QApplication:
    """Return the application, off any screen unless `QT_QPA_PLATFORM` names another platform.

    Qt ends the process where `DISPLAY` names a screen that has gone, so none is tried unasked.
    """
    if not os.environ.get("QT_QPA_PLATFORM"):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    return app


def screen_notes() -> tuple[str, ...]:
    """Say how to paint on a screen, where nothing does."""
    if QGuiApplication.platformName() != "offscreen":
        return ()
    return ("Painted offscreen; QT_QPA_PLATFORM=xcb (wayland, cocoa, windows) takes a screen.",)


@contextmanager
def own_folders(*, models: bool = False) -> Iterator[None]:
    """Keep settings and journals apart from the user's; models and built plans are the user's.

    Parameters
    ----------
    models
        Whether nothing can be measured without the user's models.

    Raises
    ------
    DraftscopeError
        If they cannot be linked: journals lie in the folder of the models.
    """
    held = {name: os.environ.get(name) for name in _FOLDERS}
    shared = [path for path in map(data_folder().joinpath, _SHARED) if path.is_dir()]
    with tempfile.TemporaryDirectory(prefix="draftscope-bench-") as scratch:
        for name in _FOLDERS:
            os.environ[name] = os.path.join(scratch, name.rpartition("_")[2].lower())
        try:
            data_folder().mkdir(parents=True, exist_ok=True)
            _link(shared, models)
            yield
        finally:
            for name, value in held.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _link(shared: list[Path], needed: bool) -> None:
    try:
        for path in shared:
            (data_folder() / path.name).symlink_to(path.absolute(), target_is_directory=True)
    except OSError as fault:
        if needed:
            raise DraftscopeError(
                f"The folder of the models cannot be linked ({fault.strerror}): allow links (on "
                "Windows: developer mode), or leave the window out with --no-window."
            ) from fault


@contextmanager
def window(engine: Perform | None = None) -> Iterator[Program]:
    """Open the window at its full size with every panel to be seen; close it in the end.

    Parameters
    ----------
    engine
        As in `Lanes`.
    """
    program = Program(application(), Options(), engine)
    try:
        _show_all(program)
        yield program
    finally:
        program.window.close()


def _show_all(program: Program) -> None:
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
    KeyboardInterrupt
        If Ctrl+C or a polite kill came: raised here, since Qt swallows what its slots raise.
    """
    end = time.monotonic() + PATIENCE_S
    interrupted: list[bool] = []
    loop, look = QEventLoop(), QTimer()
    look.timeout.connect(
        lambda: loop.quit() if interrupted or done() or time.monotonic() > end else None
    )
    look.start(every_ms)

    def interrupt() -> None:
        interrupted.append(True)
        loop.quit()

    interrupts = Interrupts(interrupt)
    try:
        loop.exec()
    finally:
        look.stop()
        interrupts.end()
    if interrupted:
        raise KeyboardInterrupt
    if not done():
        raise DraftscopeError(f"It took too long: {what}. Nothing was measured; try again.")


def settle(seconds: float) -> None:
    """Let the window live for a while."""
    end = time.monotonic() + seconds
    wait(lambda: time.monotonic() >= end, "a rest")
