"""Building the compiled plan once: what is kept, and what a failure or a cancel leaves."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import engine.models.native.trial as trial_module
from app.cli.main import main
from engine import DraftscopeError
from engine.models.native import build, process
from engine.models.native import warm_up as warm_up_module
from engine.models.native.build import Record
from engine.models.native.library import Library
from engine.models.native.process import BuildCancelled
from engine.models.native.warm_up import warm_up
from engine.models.plans.compiled import CompiledLinear

if TYPE_CHECKING:
    import torch

PYTHON = sys.executable  # which some tests replace
RECORD = Record(over_packed=0.6, difference=1e-5, compiler="g++", seconds=4.0)


@pytest.fixture
def folder() -> Path:
    """Where libraries are kept in this test."""
    return Path(os.environ["DRAFTSCOPE_DATA"]) / "kernels"


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!{PYTHON}\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*")) if folder.is_dir() else []


@pytest.fixture
def copying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that writes some bytes where it is told to, on a machine that may build."""
    text = "import sys\nopen(sys.argv[sys.argv.index('-o') + 1], 'wb').write(b'built')"
    monkeypatch.setenv("CXX", str(program(tmp_path / "compiler", text)))
    monkeypatch.setattr(build, "hindrance", lambda: None)


@pytest.mark.compiler
def test_a_real_library_is_built_tried_in_another_process_and_kept(folder: Path) -> None:
    said: list[tuple[int, int, str]] = []
    record = warm_up(lambda *step: said.append(step))
    assert record.difference < 1e-3
    assert record.over_packed > 0
    assert build.tried() == record
    assert left(folder) == sorted([build.library_path().name, build.record_path().name])
    assert [step[0] for step in said] == [0, 1, 2, 3]
    assert {step[1] for step in said} == {3}


@pytest.mark.usefixtures("copying")
def test_a_kept_library_is_found_again_and_not_built_twice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warm_up_module, "_try", lambda *_: RECORD)
    assert main(["warm-up"]) == 0
    first = capsys.readouterr().out
    assert "takes 0.60 of the packed plan's time; it is the plan of every model" in first
    monkeypatch.setattr(warm_up_module, "_try", lambda *_: pytest.fail("built twice"))
    assert main(["warm-up"]) == 0
    assert capsys.readouterr().out == first
    with pytest.raises(pytest.fail.Exception):
        main(["warm-up", "--again"])


@pytest.mark.usefixtures("copying")
def test_a_library_that_gains_too_little_is_kept_but_said_to_be_no_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = Record(over_packed=0.95, difference=0.0, compiler="g++", seconds=1.0)
    monkeypatch.setattr(warm_up_module, "_try", lambda *_: slow)
    assert main(["warm-up"]) == 0
    assert "less than a tenth gained, so packed stays the default" in capsys.readouterr().out


@pytest.mark.usefixtures("copying")
def test_wrong_numbers_are_never_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for difference in ("0.5", "null"):
        said = f'{{"over_packed": 0.1, "difference": {difference}}}'
        monkeypatch.setattr(
            warm_up_module.sys, "executable", str(program(folder.parent / "t", f"print({said!r})"))
        )
        with pytest.raises(DraftscopeError, match="failed its trial on this machine"):
            warm_up()
        assert left(folder) == []
    assert build.tried() is None


@pytest.mark.usefixtures("copying")
def test_a_library_that_ends_its_process_is_never_kept(folder: Path) -> None:
    with pytest.raises(DraftscopeError, match=r"failed its trial .*stays on packed"):
        warm_up()  # "built" is no library: the trial cannot load it
    assert left(folder) == []


def test_a_failing_compiler_is_named_with_its_reason(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import sys\nprint('pass.cpp:1: error: no such header', file=sys.stderr)\nsys.exit(1)"
    monkeypatch.setenv("CXX", str(program(tmp_path / "bad++", text)))
    monkeypatch.setattr(build, "hindrance", lambda: None)
    with pytest.raises(DraftscopeError, match=r"bad\+\+ could not build .*no such header"):
        warm_up()
    assert left(folder) == []


def test_cancelled_while_compiling_nothing_is_left(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", str(program(tmp_path / "slow", "import time\ntime.sleep(60)")))
    monkeypatch.setattr(build, "hindrance", lambda: None)
    with pytest.raises(BuildCancelled):
        warm_up(cancelled=lambda: True)
    assert left(folder) == []


@pytest.mark.usefixtures("copying")
def test_cancelled_while_it_is_tried_nothing_is_left(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trying: list[int] = []
    monkeypatch.setattr(
        warm_up_module.sys,
        "executable",
        str(program(folder.parent / "slow", "import time\ntime.sleep(60)")),
    )
    with pytest.raises(BuildCancelled):
        warm_up(lambda done, *_: trying.append(done), lambda: 1 in trying)
    assert left(folder) == []


def test_without_a_compiler_it_says_so_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(build.sys, "platform", "linux")
    monkeypatch.setattr(build.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(build, "_processor", lambda: "avx2 fma f16c")
    assert main(["warm-up"]) == 1
    assert "There is no C++ compiler" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("system", "processor", "sentence"),
    [
        ("darwin", "x86_64", "needs Linux on x86"),
        ("linux", "aarch64", "needs Linux on x86"),
        ("linux", "x86_64", "lacks avx2, f16c"),
    ],
)
def test_other_machines_stay_on_packed(
    monkeypatch: pytest.MonkeyPatch, system: str, processor: str, sentence: str
) -> None:
    monkeypatch.setattr(build.sys, "platform", system)
    monkeypatch.setattr(build.platform, "machine", lambda: processor)
    monkeypatch.setattr(build, "_processor", lambda: "Some model sse2 fma")
    reason = build.hindrance()
    assert reason is not None
    assert sentence in reason
    assert "stays on the packed plan" in reason
    with pytest.raises(DraftscopeError, match="stays on the packed plan"):
        build.build()


def test_another_processor_or_source_has_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    first = build.library_path()
    assert first == build.library_path()
    monkeypatch.setattr(build, "_processor", lambda: "another")
    second = build.library_path()
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-g"))
    assert len({first, second, build.library_path()}) == 3


def test_finding_a_library_loads_no_torch() -> None:
    import subprocess

    code = (
        "import sys; from engine.models.native.build import tried; tried(); "
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.usefixtures("copying")
def test_a_trial_that_hangs_is_ended_and_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = program(folder.parent / "slow", "import time\ntime.sleep(60)")
    monkeypatch.setattr(warm_up_module.sys, "executable", str(slow))
    monkeypatch.setattr(process.run, "__defaults__", (None, 0.2))
    built = folder / "x.building"
    folder.mkdir()
    built.write_bytes(b"")
    with pytest.raises(DraftscopeError, match=r"failed its trial .*did not end within"):
        warm_up_module._try(built, lambda: False)


def test_a_compiler_that_is_no_program_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "c++x"
    broken.write_text("no program")
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", str(broken))
    monkeypatch.setattr(build, "hindrance", lambda: None)
    with pytest.raises(DraftscopeError, match=r"c\+\+x could not build the compiled plan"):
        warm_up()
    assert left(folder) == []


@pytest.mark.usefixtures("copying")
def test_a_folder_that_cannot_be_written_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up_module, "_try", lambda *_: RECORD)
    folder.mkdir()
    build.record_path().mkdir()  # in the way of the record
    with pytest.raises(DraftscopeError, match=r"cannot be kept in .*DRAFTSCOPE_DATA"):
        warm_up()
    assert [name for name in left(folder) if name.endswith((".writing", ".building"))] == []


@pytest.mark.usefixtures("copying")
def test_what_a_killed_build_left_is_swept_and_what_is_under_way_is_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir()
    old, new = folder / "old.building", folder / "new.building"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    monkeypatch.setattr(warm_up_module, "_try", lambda *_: RECORD)
    warm_up()
    assert not old.exists()
    assert new.exists()


@pytest.mark.compiler
def test_a_relative_data_folder_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRAFTSCOPE_DATA", "here")
    record = warm_up()
    assert build.tried() == record
    assert (tmp_path / "here" / "kernels").is_dir()


@pytest.mark.compiler
@pytest.mark.parametrize("broken", [float("nan"), float("inf"), 1.0])
def test_a_trial_finds_a_library_that_computes_something_else(
    built_library: Path, monkeypatch: pytest.MonkeyPatch, broken: float
) -> None:
    honest = CompiledLinear.normed

    def normed(self: object, x: torch.Tensor, *others: object) -> torch.Tensor:
        return honest(self, x, *others) + broken  # type: ignore[arg-type]  # as it came

    monkeypatch.setattr(CompiledLinear, "normed", normed)
    record = trial_module.trial(Library(built_library))
    assert not record.difference <= warm_up_module.LARGEST_DIFFERENCE
