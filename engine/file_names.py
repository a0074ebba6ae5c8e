"""A file's name as text that can be written anywhere. Knows no file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def name_in_words(path: str | Path) -> str:
    r"""Return a path or a name; bytes of it that are no text, as Linux allows them, as \xff."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
