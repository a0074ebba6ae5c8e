"""Tiny loaded models and the default model, loaded once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.loading import LoadedModel, load_model
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tiny target."""
    return write_tiny_folder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def near_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a model near the tiny target: it drafts well, but not always."""
    return write_tiny_folder(tmp_path_factory.mktemp("models") / "near", noise=0.12)


@pytest.fixture(scope="session")
def exact_target(tiny_folder: Path) -> LoadedModel:
    """Load the tiny target in float64, where nothing rounds visibly."""
    return load_model(tiny_folder, device="cpu", plan="eager", dtype=torch.float64)


@pytest.fixture(scope="session")
def tiny_target(tiny_folder: Path) -> LoadedModel:
    """Load the tiny target in float32."""
    return load_model(tiny_folder, device="cpu", plan="eager")


@pytest.fixture(scope="session")
def smollm2(default_model_path: Path) -> LoadedModel:
    """Load the default model under the plan that its users get."""
    return load_model(default_model_path, device="cpu")


@pytest.fixture(scope="session")
def smollm2_eager(default_model_path: Path) -> LoadedModel:
    """Load the default model under the reference plan."""
    return load_model(default_model_path, device="cpu", plan="eager")
