"""Opens the window, begins to do something, and closes it after a delay: run by `test_closing`.

Arguments: what to be doing (run, begin, load, paused, build, open, export), the target's folder, a
session file, the delay in milliseconds: for "run" after its first round, else from the beginning.
Of several delays, separated by commas, each is a process of its own; all are forked from this one,
which has imported torch once for all of them.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from importlib import import_module
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
        self.prompt.set_state(replace(state, drafter="ngram"))
        begin = {
            "run": self.deeds.run,
            "begin": self.deeds.run,
            "load": self.choosing.load,
            "paused": self.deeds.step_round,
            "build": self.warming.start,
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
    app = QApplication(sys.argv[:1])
    code = compose.run(compose.Options())
    del app
    return code


def fork(delay_ms: str) -> int:
    """Run the window in a child and return its exit code, negative for a signal."""
    child = os.fork()
    if child == 0:
        sys.argv[4] = delay_ms
        sys.exit(main())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    delays = sys.argv[4].split(",")
    if len(delays) == 1:
        sys.exit(main())
    import_module("engine.session")  # torch, before the forks
    codes = [fork(delay_ms) for delay_ms in delays]
    sys.exit(codes != [0] * len(codes))
