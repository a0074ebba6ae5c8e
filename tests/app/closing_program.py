"""Opens the window, begins to do something, and closes it after a delay: run by `test_closing`.

Arguments: what to be doing (run, begin, load, paused, open, export), the target's folder, a session
file, the delay in milliseconds: for "run" after its first round, else from the beginning.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app import compose


class ClosingProgram(compose.Program):
    """The program as it is, with something begun as soon as it is shown."""

    def show(self) -> None:
        """Show the window, begin, and close later."""
        super().show()
        doing, target, session, delay_ms = sys.argv[1:5]
        state = replace(self.prompt.state, prompt="a b c", raw=True, limit=100_000, target=target)
        self.prompt.set_state(state)
        begin = {
            "run": self.deeds.run,
            "begin": self.deeds.run,
            "load": self.choosing.load,
            "paused": self.deeds.step_round,
            "open": lambda: self.sessions.open(Path(session)),
            "export": lambda: self.export.start("html", Path(session), Path(f"{session}.html")),
        }[doing]
        QTimer.singleShot(0, begin)
        self._delay_ms = int(delay_ms)
        if doing == "run":
            self.desk.picture_changed.connect(self._close_later)
        else:
            QTimer.singleShot(self._delay_ms, self.window.close)

    def _close_later(self) -> None:
        if self.desk.state.running and self.desk.document.rounds:
            self.desk.picture_changed.disconnect(self._close_later)
            QTimer.singleShot(self._delay_ms, self.window.close)


def main() -> int:
    """Run the window as the command does."""
    compose.Program = ClosingProgram  # type: ignore[misc]  # so that `run` itself is what is tested
    return compose.run(compose.Options())


if __name__ == "__main__":
    app = QApplication(sys.argv[:1])
    sys.exit(main())
