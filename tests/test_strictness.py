"""The suite's own rules, each broken on purpose in a run of its own and seen to fail."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

BROKEN = """
import threading
import time
import warnings

import pytest


def test_skips_without_declared_reason():
    pytest.skip("does not work on Tuesdays")


def test_skips_with_declared_reason():
    pytest.skip("needs a CUDA device")


@pytest.mark.skip
def test_is_switched_off():
    raise AssertionError


@pytest.mark.xfail(reason="wrong on purpose")
def test_fails_as_expected():
    raise AssertionError


@pytest.mark.xfail(reason="right after all")
def test_passes_unexpectedly():
    pass


def test_leaves_a_thread():
    threading.Thread(target=time.sleep, args=(60,), daemon=True, name="forgotten").start()


def test_ends_its_thread():
    thread = threading.Thread(target=time.sleep, args=(0.05,))
    thread.start()


def test_fails_in_a_thread():
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()


def test_leaves_a_timer(qapp):
    from PySide6.QtCore import QTimer

    timer = QTimer(qapp)
    timer.start(60_000)


def test_stops_its_timer(qapp):
    from PySide6.QtCore import QTimer

    timer = QTimer(qapp)
    timer.start(60_000)
    timer.stop()


def test_deletes_the_widget_of_a_timer(qtbot):
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QWidget

    widget = QWidget()
    qtbot.addWidget(widget)
    QTimer(widget).start(60_000)


kept = []


def test_leaves_a_qthread(qapp):
    from PySide6.QtCore import QThread

    thread = QThread(qapp)
    kept.append(thread)
    thread.setObjectName("adrift")
    thread.start()


def test_ends_its_qthread(qapp):
    kept[0].quit()
    assert kept[0].wait(5000)


def test_prints_a_qt_warning(qapp):
    from PySide6.QtCore import qWarning

    qWarning("something is not right")


def test_raises_a_warning():
    warnings.warn("old ways", DeprecationWarning)


def test_is_sound():
    pass
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """Name of each test in BROKEN -> (outcome, message), under the project's own configuration."""
    folder = tmp_path_factory.mktemp("broken")
    (folder / "test_broken.py").write_text(BROKEN)
    (folder / "test_skipped_module.py").write_text(
        'import pytest\npytest.importorskip("no_such_module_anywhere")\n'
    )
    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", str(folder), "-p", "tests.strictness"),
            *("-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"),
            *("-q", "--continue-on-collection-errors"),
            *("--junitxml", str(folder / "report.xml")),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    found: dict[str, tuple[str, str]] = {}
    for case in ElementTree.parse(folder / "report.xml").iter("testcase"):
        bad = [child for child in case if child.tag in {"failure", "error", "skipped"}]
        name = case.get("name") or ""
        message = " ".join((child.get("message") or "") + (child.text or "") for child in bad)
        found[name] = (bad[0].tag if bad else "passed", message)
    return found


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("test_skips_without_declared_reason", "does not work on Tuesdays"),
        ("test_is_switched_off", "unconditional skip"),
        ("test_passes_unexpectedly", "XPASS(strict)"),
        ("test_leaves_a_thread", "forgotten"),
        ("test_fails_in_a_thread", "ZeroDivisionError"),
        ("test_leaves_a_timer", "active QTimer of 60000 ms"),
        ("test_leaves_a_qthread", "adrift"),
        ("test_prints_a_qt_warning", "something is not right"),
        ("test_raises_a_warning", "old ways"),
    ],
)
def test_broken_rule_fails(outcomes: dict[str, tuple[str, str]], name: str, word: str) -> None:
    outcome, message = outcomes[name]
    assert outcome in {"failure", "error"}
    assert word in message


def test_module_that_skips_itself_fails(outcomes: dict[str, tuple[str, str]]) -> None:
    skipped = [value for name, value in outcomes.items() if "test_skipped_module" in name]
    assert [outcome for outcome, _ in skipped] == ["error"]
    assert "no_such_module_anywhere" in skipped[0][1]


def test_declared_skip_stays_a_skip(outcomes: dict[str, tuple[str, str]]) -> None:
    assert outcomes["test_skips_with_declared_reason"][0] == "skipped"
    assert outcomes["test_fails_as_expected"][0] == "skipped"


@pytest.mark.parametrize(
    "name",
    [
        "test_ends_its_thread",
        "test_stops_its_timer",
        "test_deletes_the_widget_of_a_timer",
        "test_ends_its_qthread",
        "test_is_sound",
    ],
)
def test_clean_test_passes(outcomes: dict[str, tuple[str, str]], name: str) -> None:
    assert outcomes[name] == ("passed", "")
