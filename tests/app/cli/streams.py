"""Text streams that say whether they are a terminal."""

from __future__ import annotations

import io


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Pipe(io.StringIO):
    """A stream that says it is none."""

    def isatty(self) -> bool:
        return False
