"""Settings survive crashes, garbage and other versions; every declared default is allowed."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.settings import DECLARED, MOST_RECENT, VERSION, Settings


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def test_every_default_is_allowed_and_explained() -> None:
    assert [item.name for item in DECLARED if not item.accepts(item.default)] == []
    assert [item.name for item in DECLARED if not item.help] == []
    assert len({item.name for item in DECLARED}) == len(DECLARED)


def test_values_survive_a_restart(path: Path) -> None:
    first = Settings(path)
    first["decode.k"] = 7
    first["decode.seed"] = 2**32 + 5
    first["decode.temperature"] = 1
    first.save()
    second = Settings(path)
    assert (second["decode.k"], second["decode.seed"]) == (7, 2**32 + 5)
    assert second["decode.temperature"] == 1
    assert second.notice == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("decode.k", 17),
        ("decode.k", True),
        ("decode.k", "4"),
        ("decode.raw", 1),
        ("decode.top_p", float("nan")),
        ("view.theme", "sepia"),
        ("files.recent", [1]),
        ("window.geometry", ["a"]),
    ],
)
def test_wrong_value_is_refused(path: Path, name: str, value: object) -> None:
    settings = Settings(path)
    with pytest.raises(ValueError, match=name):
        settings[name] = value  # type: ignore[assignment]  # wrong on purpose


@pytest.mark.case("E13")
@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b'{"version": 99}']
)
def test_garbage_gives_defaults_and_keeps_a_backup(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    settings = Settings(path)
    assert settings["decode.k"] == 3
    assert "backup" in settings.notice
    assert path.with_suffix(".backup.json").read_bytes() == content
    settings.save()
    assert Settings(path).notice == ""


def test_one_bad_value_leaves_the_others(path: Path) -> None:
    values = {"decode.k": "many", "decode.limit": 9, "gone.setting": 1}
    path.write_text(json.dumps({"version": VERSION, "values": values}))
    settings = Settings(path)
    assert settings["decode.k"] == 3
    assert settings["decode.limit"] == 9


def test_recent_files_are_unique_and_bounded(path: Path, tmp_path: Path) -> None:
    settings = Settings(path)
    for number in range(MOST_RECENT + 3):
        settings.remember_file(tmp_path / f"{number}.jsonl")
    settings.remember_file(tmp_path / "5.jsonl")
    recent = settings["files.recent"]
    assert len(recent) == MOST_RECENT
    assert Path(recent[0]).name == "5.jsonl"
    assert len(set(recent)) == len(recent)


def test_returned_list_is_a_copy(path: Path) -> None:
    settings = Settings(path)
    settings["files.recent"].append("x")
    assert settings["files.recent"] == []


@pytest.mark.case("E13")
def test_kill_during_save_leaves_old_or_new(path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from app.settings import Settings\n"
        "s = Settings(Path(sys.argv[1])); print('ready', flush=True)\n"
        "n = 0\n"
        "while True:\n"
        "    n += 1; s['decode.limit'] = n; s['decode.prompt'] = 'x' * 20000; s.save()\n"
    )
    for attempt in range(12):
        writer = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(0.005 + 0.003 * attempt)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        if path.exists():
            assert Settings(path).notice == ""
            assert Settings(path)["decode.limit"] >= 1
