"""What no test may do: skip without a declared reason, or leave a thread or a timer behind.

A pytest plugin, loaded by conftest and by the tests of the strictness itself. Knows nothing of
Draftscope. Warnings and Qt messages are made errors by pyproject.toml.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

ALLOWED_SKIPS = frozenset(
    {
        "needs a CUDA device",
        "needs headless Chromium",
        "needs LibreOffice",
        "needs an x86 CPU with FBGEMM",
        "needs a C++ compiler and an x86 CPU with AVX2",
    }
)

# Threads of others that live as long as the process does, by the name of their class.
FOREIGN_THREADS = frozenset({"TMonitor"})  # tqdm's, started by the first bar of transformers

GRACE_S = 1.0  # for a thread that was told to end and is on its way


def _undeclared(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    """Return the reason of a skip that is not allowed, else None."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return None
    longrepr: Any = report.longrepr
    reason = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
    reason = reason.removeprefix("Skipped: ")
    return None if reason in ALLOWED_SKIPS else reason


def _refuse(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = _undeclared(report)
    if reason is not None:
        report.outcome = "failed"
        report.longrepr = (
            f"undeclared skip: {reason!r} is not among the allowed reasons "
            f"({', '.join(sorted(ALLOWED_SKIPS))}); see tests/strictness.py"
        )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn an undeclared skip of a test into a failure."""
    report = yield
    _refuse(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn an undeclared skip of a whole module into a failure."""
    report = yield
    _refuse(report)
    return report


def _new_threads(before: set[threading.Thread]) -> list[str]:
    """Name the Python threads that live and did not before.

    A QThread that ran Python leaves a dummy in Python's list for good: it is judged as a QThread.
    """
    return [
        f"thread {thread.name!r}"
        for thread in threading.enumerate()
        if thread not in before
        and not isinstance(thread, threading._DummyThread)
        and type(thread).__name__ not in FOREIGN_THREADS
    ]


def _describe_active(candidate: Any, core: Any) -> str | None:
    """Say what a Qt object is still doing, or None."""
    kind = type(candidate)
    if issubclass(kind, core.QThread) and candidate.isRunning():
        return f"running {kind.__name__} {candidate.objectName()!r}"
    if issubclass(kind, core.QTimer) and candidate.isActive():
        return f"active {kind.__name__} of {candidate.interval()} ms {candidate.objectName()!r}"
    if (
        issubclass(kind, core.QAbstractAnimation)
        and candidate.state() == core.QAbstractAnimation.State.Running
    ):
        return f"running {kind.__name__}"
    return None


def _active_qt_objects() -> list[str]:
    """Describe the QThreads, QTimers and animations at work among the objects made by the test."""
    core: Any = sys.modules.get("PySide6.QtCore")
    if core is None:
        return []
    import shiboken6

    if core.QCoreApplication.instance() is not None:
        core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete)
    kinds = (core.QThread, core.QTimer, core.QAbstractAnimation)
    candidates = [thing for thing in gc.get_objects() if issubclass(type(thing), kinds)]
    valid = [thing for thing in candidates if shiboken6.isValid(thing)]
    found = [_describe_active(thing, core) for thing in valid]
    return [description for description in found if description is not None]


@pytest.fixture(autouse=True)
def no_thread_or_timer_survives() -> Iterator[None]:
    """Fail a test that leaves a thread, a running QThread, an active timer or animation."""
    threads = set(threading.enumerate())
    gc.freeze()  # so that gc.get_objects() holds what the test made, and nothing else
    try:
        yield
        deadline = time.monotonic() + GRACE_S
        while found := _new_threads(threads) + _active_qt_objects():
            gc.collect()
            if time.monotonic() > deadline:
                pytest.fail("survived the test: " + "; ".join(found), pytrace=False)
            time.sleep(0.01)
    finally:
        gc.unfreeze()
