"""Fixtures of the window's tests: a tiny model, and a desk that is closed after each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication

    from app.compose import Program
    from app.desk import Desk


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_folder(tmp_path_factory.mktemp("models") / "tiny", endless=True)


@pytest.fixture(scope="session")
def tiny_drafter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_folder(
        tmp_path_factory.mktemp("models") / "tiny-drafter", seed=1, endless=True
    )


@pytest.fixture
def desk(qapp: QApplication) -> Iterator[Desk]:
    from app.desk import Desk

    made = Desk()
    yield made
    assert made.close()


@pytest.fixture
def program(qapp: QApplication) -> Iterator[Program]:
    """The whole program on a window of its own, closed after the test."""
    from app.compose import Options, Program

    made = Program(qapp, Options())
    yield made
    assert made.close()
    made.window.deleteLater()
