"""Keeps tests away from the user's own files, the network and each other's settings.

A pytest plugin, loaded by conftest. Everything is set when this module is imported, before
anything reads it. The folder where the user's models really are is remembered first: tests read
the default model there and write nothing.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import platformdirs
import pytest

REAL_DATA = "DRAFTSCOPE_TEST_REAL_DATA"  # inherited by the workers of pytest-xdist


def _isolate_session() -> Path:
    """Point every folder of the user at an empty one, and remember where the models are."""
    data = os.environ.get("DRAFTSCOPE_DATA") or platformdirs.user_data_dir("draftscope")
    os.environ.setdefault(REAL_DATA, data)
    home = Path(tempfile.mkdtemp(prefix="draftscope-tests-"))
    for variable, name in (
        ("DRAFTSCOPE_DATA", "data"),
        ("DRAFTSCOPE_CONFIG", "config"),
        ("XDG_DATA_HOME", "xdg-data"),
        ("XDG_CONFIG_HOME", "xdg-config"),
        ("XDG_STATE_HOME", "xdg-state"),
        ("XDG_CACHE_HOME", "xdg-cache"),
    ):
        folder = home / name
        folder.mkdir()
        os.environ[variable] = str(folder)
    cores = os.cpu_count() or 1
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores // workers)))
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_OFFLINE"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    return home


SESSION_HOME = _isolate_session()


def real_data_folder() -> Path:
    """Return the user's own data folder, where `make test` put the default model."""
    return Path(os.environ[REAL_DATA])


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test its own empty data and configuration folders."""
    home = tmp_path_factory.mktemp("home")
    for variable, name in (
        ("DRAFTSCOPE_DATA", "data"),
        ("DRAFTSCOPE_CONFIG", "config"),
        ("XDG_DATA_HOME", "xdg-data"),
        ("XDG_CONFIG_HOME", "xdg-config"),
        ("XDG_STATE_HOME", "xdg-state"),
    ):
        (home / name).mkdir()
        monkeypatch.setenv(variable, str(home / name))


def pytest_unconfigure() -> None:
    """Remove the session's folders."""
    import shutil

    shutil.rmtree(SESSION_HOME, ignore_errors=True)
