"""Tiny loaded models and the default model, loaded once."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from engine.loading import LoadedModel, load_model
from engine.models.native import build
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tiny target."""
    return write_tiny_folder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def near_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a model near the tiny target: it drafts well, but not always."""
    return write_tiny_folder(tmp_path_factory.mktemp("models") / "near", noise=0.12)


@pytest.fixture(scope="session")
def built_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the library of the compiled plan; for tests marked `compiler`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DRAFTSCOPE_DATA", str(tmp_path_factory.mktemp("library")))
        build.install(build.build(), build.Record(over_packed=0.5, difference=0.0))
        return build.library_path()


@pytest.fixture(scope="session")
def avx2_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the library with no more instructions than every processor that can run it has."""
    plain = tmp_path_factory.mktemp("plain") / "pass.so"
    flags = [flag for flag in build.FLAGS if flag != "-march=native"]
    source = Path(build.__file__).with_name(build.SOURCES[0])
    command = [build.compiler(), *flags, "-mavx2", "-mfma", "-mf16c", str(source), "-o", str(plain)]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    return plain


@pytest.fixture(scope="session")
def load_compiled(built_library: Path) -> Callable[[Path], LoadedModel]:
    """Return a function that loads a model under the compiled plan."""

    def load(path: Path) -> LoadedModel:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DRAFTSCOPE_DATA", str(built_library.parents[1]))
            return load_model(path, device="cpu", plan="compiled")

    return load


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
