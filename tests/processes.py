"""Whether a program that a test started has ended."""

from __future__ import annotations

from pathlib import Path


def is_gone(number: int) -> bool:
    """Whether a process has ended on Linux; one that nobody waited for has ended too."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"
