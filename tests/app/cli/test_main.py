from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from app.cli import main as main_module
from app.cli.main import main
from engine.errors import DraftscopeError
from engine.trace import codec
from engine.version import VERSION
from tests.traces import make_trace

ROOT = Path(__file__).parents[3]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Stand in for the window; return what it is asked for."""
    asked: list[dict[str, Any]] = []

    def options(**chosen: Any) -> dict[str, Any]:
        return chosen

    def run(chosen: dict[str, Any]) -> int:
        asked.append(chosen)
        return 0

    compose = ModuleType("app.compose")
    compose.Options = options  # type: ignore[attr-defined]  # a module made here
    compose.run = run  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "app.compose", compose)
    return asked


def test_without_a_command_the_window_opens(opened: list[dict[str, Any]], tmp_path: Path) -> None:
    trace = tmp_path / "session.jsonl"
    trace.touch()
    assert main([]) == main(["--demo"]) == main([str(trace)]) == 0
    assert opened == [
        {"demo": False, "open_path": None},
        {"demo": True, "open_path": None},
        {"demo": False, "open_path": trace},
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["--frobnicate"],
        ["run"],
        ["run", "--prompt", "a", "--prompt-file", "b"],
        ["run", "--prompt", "a", "--k", "-1"],
        ["run", "--prompt", "a", "--k", "1.5"],
        ["run", "--prompt", "a", "--temperature", "nan"],
        ["run", "--prompt", "a", "--temperature", "-0.1"],
        ["run", "--prompt", "a", "--top-p", "1.1"],
        ["run", "--prompt", "a", "--max-new-tokens", "0"],
        ["run", "--prompt", "a", "--plan", "quick"],
        ["models", "bring"],
        ["models", "fetch"],
        ["export"],
        ["export", "only-one"],
    ],
)
def test_wrong_usage_is_exit_code_2_and_said_on_standard_error(
    arguments: list[str], opened: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    (line,) = output.err.splitlines()
    assert line.startswith("draftscope")
    assert line.endswith("--help")
    assert opened == []


@pytest.mark.parametrize("command", [[], ["run"], ["models"], ["models", "fetch"], ["export"]])
def test_help_is_there_for_each_command(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--help"]) == 0
    assert "usage: draftscope" in capsys.readouterr().out


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"draftscope {VERSION}\n"


def test_a_fault_of_the_users_is_one_line_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(arguments: list[str]) -> int:
        raise DraftscopeError("The model is not here yet: fetch it.")

    monkeypatch.setattr(main_module, "_dispatch", fail)
    assert main(["run"]) == 1
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "draftscope: The model is not here yet: fetch it.\n")


def test_an_interrupt_is_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(main_module, "_dispatch", interrupted)
    assert main([]) == 130


def test_export_writes_the_replay_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, page = tmp_path / "t.jsonl", tmp_path / "t.html"
    trace.write_bytes(b"".join(codec.encode(event) for event in make_trace()))
    assert main(["export", str(trace), str(page)]) == 0
    assert page.read_bytes().startswith(b"<!")
    assert str(page) in capsys.readouterr().out
    assert main(["export", str(tmp_path / "none.jsonl"), str(page)]) == 1


@pytest.mark.parametrize("arguments", [["--version"], ["models"], ["run", "--help"]])
def test_what_needs_no_model_and_no_window_loads_neither(arguments: list[str]) -> None:
    script = (
        "import sys; from app.cli.main import main; "
        f"code = main({arguments!r}); "
        "loaded = {name.split('.')[0] for name in sys.modules} & {'torch', 'PySide6', 'scipy'}; "
        "print(code, sorted(loaded), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr.strip() == "0 []"


def test_a_reader_that_leaves_is_no_traceback(tmp_path: Path) -> None:
    script = (
        "import sys; from app.cli import main as m; "
        "m._dispatch = lambda arguments: print('x' * 1_000_000) or 0; sys.exit(m.main([]))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait() == 1
