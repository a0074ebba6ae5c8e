"""Make the README's pictures: a real run in the real window, light and dark.

Called by `make screenshots`. The window is built as the program builds it, what it begins with is
run on the default model, a rejected token is pinned in the court, and what the window shows is
saved.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from engine.models.native.build import library_path  # noqa: E402  # after the path
from engine.models.registry import DEFAULT_MODEL, models_folder, resolve  # noqa: E402  # after the path

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QApplication

    from app.compose import Program

SIZE = (1440, 900)
PATIENCE_S = 240


def isolate(folder: Path) -> None:
    """Use settings and journals of this call only; the model is the user's own."""
    model = resolve(DEFAULT_MODEL)
    kernels = library_path().parent  # the compiled plan, where it was built
    os.environ["DRAFTSCOPE_DATA"] = str(folder / "data")
    os.environ["DRAFTSCOPE_CONFIG"] = str(folder / "config")
    models_folder().mkdir(parents=True)
    (models_folder() / model.name).symlink_to(model)
    if kernels.is_dir():
        library_path().parent.symlink_to(kernels)


def wait(app: QApplication, done: Callable[[], bool]) -> None:
    """Let the window live until `done()`."""
    end = time.monotonic() + PATIENCE_S
    while not done():
        if time.monotonic() > end:
            raise SystemExit("the run did not end in time; nothing was saved")
        app.processEvents()
        time.sleep(0.005)


def pin_a_rejection(program: Program) -> None:
    """Pin the rejected token whose laws differ most visibly: the one with the largest q_draft."""
    from app.viewmodels.refs import TokenRef
    from engine.trace.events import Fate

    found = [
        (token.q_draft, TokenRef(one.index, slot))
        for one in program.desk.document.rounds
        for slot, token in enumerate(one.drafted)
        if token.fate is Fate.REJECTED
    ]
    if found:
        ref = max(found, key=lambda pair: pair[0])[1]
        program.strip.set_pinned(ref)
        program.court.pin(ref)


def picture(app: QApplication, program: Program, theme: str, path: Path) -> None:
    """Save the window under one theme."""
    program.appearance.choose(theme)
    for _ in range(20):
        app.processEvents()
        time.sleep(0.01)
    program.window.grab().save(str(path), "PNG")
    print(path)


def main(folder: Path) -> None:
    """Run the prompt and save light.png and dark.png."""
    from PySide6.QtWidgets import QApplication

    from app.compose import Options, Program

    app = QApplication(sys.argv[:1])
    program = Program(app, Options())
    program.window.resize(*SIZE)
    program.show()
    program.deeds.do("view.restore")  # the first arrangement of a window this wide
    program.deeds.set_speed(None)
    program.deeds.run()
    document = program.desk.document
    wait(app, lambda: document.baseline is not None and program.desk.presentation.at_end)
    pin_a_rejection(program)
    folder.mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):
        picture(app, program, theme, folder / f"{theme}.png")
    program.window.close()


if __name__ == "__main__":
    os.environ.setdefault("QT_SCALE_FACTOR", "1.5")
    with tempfile.TemporaryDirectory() as scratch:
        isolate(Path(scratch))
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "assets" / "screenshots")
