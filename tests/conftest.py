"""Fixtures that the whole suite shares. Strictness and isolation are plugins of their own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["tests.isolation", "tests.strictness"]

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# No deadline: two cores are shared by everything. The same examples in every run of a CI machine.
settings.register_profile("draftscope", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("draftscope")


def _chromium() -> str | None:
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip by name what this machine cannot run."""
    if item.get_closest_marker("browser") and _chromium() is None:
        pytest.skip("needs headless Chromium")
    if item.get_closest_marker("compiler"):
        from engine.models.native.build import hindrance

        if hindrance() is not None:
            pytest.skip("needs a C++ compiler and an x86 CPU with AVX2")
    if item.get_closest_marker("gpu"):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("needs a CUDA device")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium that can be started with --headless; for tests marked `browser`."""
    path = _chromium()
    if path is None:
        pytest.skip("needs headless Chromium")
    return path


@pytest.fixture(scope="session")
def default_model_path() -> Path:
    """Path of the default model's GGUF in the user's own data folder. Read it; write nothing."""
    from engine.errors import DraftscopeError
    from engine.models.registry import resolve
    from tests.isolation import real_data_folder

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DRAFTSCOPE_DATA", str(real_data_folder()))
        try:
            return resolve("smollm2-135m")
        except DraftscopeError as error:
            pytest.fail(f"the default model is missing: run make test, which fetches it ({error})")


@pytest.fixture
def data_with_model(default_model_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Own data folder of the test, in which the default model is found by its name."""
    from tests.isolation import real_data_folder

    data = Path(os.environ["DRAFTSCOPE_DATA"])
    inside = default_model_path.relative_to(real_data_folder())
    link = data / inside
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(default_model_path)
    return data
