"""Waiting for what happens on another thread or in another process."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEventLoop

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_S = 60.0  # a guard against hanging; torch is imported on first use


def wait_until(condition: Callable[[], bool], what: str = "") -> None:
    """Let Qt's events run until the condition holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what or condition}"
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)
        time.sleep(0.001)
