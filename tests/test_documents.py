"""What the documents say about the code is so: the map is whole, the tests named exist."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "DECISIONS.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "ENGINE.md",
)
EMPTY = 3  # lines; an __init__ that holds a sentence needs no entry


def test_code_map_has_every_file() -> None:
    files = [
        path.relative_to(ROOT).as_posix()
        for top in ("app", "engine", "packaging")
        for path in (ROOT / top).rglob("*.py")
        if path.name != "__init__.py" or path.read_text(encoding="utf-8").count("\n") > EMPTY
    ]
    assert [name for name in files if f"`{name}`" not in ARCHITECTURE] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_path_that_is_named_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    named = re.findall(r"`((?:app|engine|tests|assets|packaging)/[\w./-]+)`", text)
    named += re.findall(r"\]\((?!https?:)([\w./-]+)\)", text)
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_each_invariant_names_a_test_that_exists() -> None:
    section = ARCHITECTURE.split("## Invariants")[1].split("\n## ")[0]
    invariants = re.split(r"\n(?=\d+\. )", section)[1:]
    assert len(invariants) == 10
    for invariant in invariants:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", invariant)
        assert named, invariant
        for path, function in named:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            names = {
                node.name
                for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef | ast.ClassDef)
            }
            assert function in names, f"{path}::{function}"


def test_make_help_lists_what_the_documents_use() -> None:
    command = ["make", "--no-print-directory", "help"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    targets = set(re.findall(r"^make ([a-z]+)", listed.stdout, flags=re.MULTILINE))
    assert {"run", "test", "lint", "screenshots", "demos", "bench", "help", "clean"} == targets
    for name in DOCUMENTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert set(re.findall(r"`make ([a-z]+)", text)) <= targets


def test_readme_commands_are_understood() -> None:
    from app.cli.parser import command_parser

    block = README.split("## On the command line")[1].split("```")[1]
    lines = block.replace("\\\n", " ").splitlines()
    commands = [line.split("#")[0] for line in lines if line.startswith("draftscope ")]
    assert len(commands) >= 5
    for command in commands:
        command_parser().parse_args(shlex.split(command)[1:])


@pytest.mark.model
def test_readme_python_runs(
    data_with_model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = README.split("```python")[1].split("```")[0]
    assert sum(bool(line) for line in code.splitlines()) == 5
    shorter = code.replace("k=2", "k=2, max_new_tokens=8")
    assert shorter != code
    exec(compile(shorter, "README.md", "exec"), {})
    assert "accepted:" in capsys.readouterr().out
