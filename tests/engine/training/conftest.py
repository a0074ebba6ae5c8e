"""Toy targets, and a machine that multiplies float32 fastest, whatever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.training.opened import OpenedTarget, open_target
from tests.engine.training.toys import toy_openings, write_toy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session", autouse=True)
def float32_factors() -> Iterator[None]:
    """Which type is fastest is measured: it must not decide a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.models.plans.batched.fastest_factors", lambda device: torch.float32)
        patch.setattr("engine.training.text.mixed_openings", toy_openings)
        yield


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a toy target with a chat template."""
    return write_toy(tmp_path_factory.mktemp("toys") / "toy")


@pytest.fixture(scope="session")
def toy(toy_folder: Path) -> OpenedTarget:
    """Open the toy target as training does."""
    return open_target(str(toy_folder), "cpu")


@pytest.fixture(scope="session")
def deep_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a target of four layers."""
    return write_toy(tmp_path_factory.mktemp("toys") / "deep", layers=4)


@pytest.fixture(scope="session")
def deep(deep_folder: Path) -> OpenedTarget:
    """Open the deeper target."""
    return open_target(str(deep_folder), "cpu")
