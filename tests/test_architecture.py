"""The shape of the program: who may know whom, where things lie, what a wheel carries."""

from __future__ import annotations

import ast
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*(ROOT / "app").rglob("*.py"), *(ROOT / "engine").rglob("*.py")])
PAGES = sorted(path for suffix in ("html", "css", "js") for path in ROOT.glob(f"app/**/*.{suffix}"))

MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 60


def run_python(code: str, *, path: Path = ROOT) -> str:
    """Run code in a fresh interpreter that finds `app` and `engine` below `path`."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=path,
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def submodules(package: str) -> list[str]:
    """Name the package and every module in it."""
    folder = ROOT.joinpath(*package.split("."))
    files = [path.relative_to(ROOT).with_suffix("") for path in folder.rglob("*.py")]
    return sorted({".".join(path.parts).removesuffix(".__init__") for path in files})


def tracked(*paths: str) -> list[str]:
    """Paths of the checkout that belong to the project, with slashes."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--", *paths],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for path in listed.stdout.split("\0") if path]


# Who may know whom


@pytest.mark.parametrize(
    ("packages", "forbidden"),
    [
        (["engine"], ["torch", "PySide6", "numpy"]),
        (["engine.trace"], ["torch", "PySide6"]),
        (["app.export"], ["torch", "PySide6"]),
        (["app.viewmodels"], ["torch", "PySide6"]),
        (["app.painting", "app.views"], ["torch"]),
    ],
    ids=lambda names: "+".join(names),
)
def test_import_leaves_out(packages: list[str], forbidden: list[str]) -> None:
    modules = [
        name
        for package in packages
        for name in ([package] if package == "engine" else submodules(package))
    ]
    assert modules
    code = f"import sys, {', '.join(modules)}; print(*sorted(set({forbidden}) & set(sys.modules)))"
    assert run_python(code).split() == []


@pytest.mark.parametrize("module", ["app.cli.main", "app.compose"])
def test_start_imports_no_torch(module: str) -> None:
    assert run_python(f"import sys, {module}; print('torch' in sys.modules)").strip() == "False"


def test_import_contracts_hold() -> None:
    command = "from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    run_python(f"import sys; {command}")


def test_no_contract_is_lost() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = configuration["tool"]["importlinter"]["contracts"]
    rules = {
        (source, target)
        for contract in contracts
        for source in contract["source_modules"]
        for target in contract["forbidden_modules"]
    }
    needed = {
        ("engine", "PySide6"),
        ("engine", "app"),
        ("engine.trace", "torch"),
        *(
            (f"app.{package}", target)
            for package in ("views", "viewmodels")
            for target in ("torch", "app.worker")
        ),
        *(("app.export", target) for target in ("torch", "app.worker", "app.views")),
    }
    assert needed <= rules
    # engine/__init__ names them for the type checker alone
    lazy = {"engine -> engine.loading", "engine -> engine.session"}
    assert all(set(contract.get("ignore_imports", ())) <= lazy for contract in contracts)
    assert not any(contract.get("allow_indirect_imports") for contract in contracts)


def imported() -> set[str]:
    """Name the outermost packages that the program imports, wherever the import stands."""
    names: set[str] = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.split(".")[0])
    return names - set(sys.stdlib_module_names) - {"app", "engine"}


def test_dependencies_are_what_is_imported() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = configuration["project"]["dependencies"]
    declared = {re.split(r"[<>=!~;\[ ]", line)[0].lower() for line in wanted}
    homes = packages_distributions()
    names = {name: homes[name][0].lower().replace("_", "-") for name in imported()}
    with_qt = {"shiboken6"}  # comes with PySide6
    assert {name for name in names.values() if name not in with_qt} == declared


# Where things lie


def test_top_level_holds_nothing_else() -> None:
    assert {path.split("/")[0] for path in tracked()} <= {
        *("app", "engine", "assets", "tests", "packaging", ".ci", ".gitignore"),
        *("pyproject.toml", "Makefile", "LICENSE"),
        *(
            "README.md",
            "ARCHITECTURE.md",
            "BENCHMARKS.md",
            "DECISIONS.md",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
        ),
        "ENGINE.md",
    }


def test_packaging_folder_is_no_package() -> None:
    # It would shadow the library of that name for every program started from the checkout.
    assert not (ROOT / "packaging" / "__init__.py").exists()


def test_a_painter_is_closed_whatever_happens() -> None:
    # one that a fault leaves open takes the program down with it, past every handler
    for path in sorted((ROOT / "app").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        entered = [item.context_expr for node in ast.walk(tree) if isinstance(node, ast.With)
                   for item in node.items]  # fmt: skip
        made = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "QPainter"
        ]
        assert all(node in entered for node in made), path


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_file_holds_one_idea(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MAX_FILE_LINES
    if not text.strip():
        return  # an empty __init__
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a module says what it knows and what it does not"
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    lengths = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions}
    assert {name: lines for name, lines in lengths.items() if lines >= MAX_FUNCTION_LINES} == {}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_laws_have_full_names(path: Path) -> None:
    # A bare p or q means opposite things in the field's codebases.
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert names & {"p", "q"} == set()


def comments(path: Path) -> list[str]:
    """List the comments of a Python file."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_suppression_carries_its_reason(path: Path) -> None:
    pattern = re.compile(r"(type: ignore(\[[\w, -]+\])?|noqa(: *[A-Z]+[0-9]+(, *[A-Z]+[0-9]+)*)?)")
    bare = [text for text in comments(path) if pattern.search(text)]
    bare = [text for text in bare if len(re.findall(r"[A-Za-z]+", pattern.sub("", text))) < 2]
    assert bare == []


def test_nothing_is_left_for_later() -> None:
    words = re.compile(r"\b(TODO|FIXME|XXX|raise NotImplementedError)\b")
    files = [*SOURCES, *PAGES]
    found = [path for path in files if words.search(path.read_text(encoding="utf-8"))]
    assert found == []


HEX_COLOUR = re.compile(r"(?<![&\w.])#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")


@pytest.mark.parametrize(
    "path",
    [path for path in [*SOURCES, *PAGES] if path != ROOT / "app" / "theme.py"],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_colours_come_from_the_theme(path: Path) -> None:
    assert HEX_COLOUR.findall(path.read_text(encoding="utf-8")) == []


def test_theme_is_where_the_colours_are() -> None:
    assert HEX_COLOUR.search((ROOT / "app" / "theme.py").read_text(encoding="utf-8"))


# What a wheel carries


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the project's own files, without network, and unpack it."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in tracked("app", "engine", "assets", "pyproject.toml", "README.md", "LICENSE"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    out = tmp_path_factory.mktemp("wheel")
    run_python(
        f"from setuptools import build_meta; build_meta.build_wheel({str(out)!r})", path=copy
    )
    (built,) = out.glob("draftscope-*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(out / "unpacked")
    return out / "unpacked"


def test_wheel_carries_every_file_of_the_packages(wheel: Path) -> None:
    unpacked = {path.relative_to(wheel).as_posix() for path in wheel.rglob("*") if path.is_file()}
    left_out = (":!assets/screenshots", ":!assets/corpus", ":!assets/results")
    needed = tracked("app", "engine", "assets", *left_out)
    assert set(needed) - unpacked == set()
    assert "assets/drafters/head.safetensors" in unpacked
    assert any(name.startswith("assets/fonts/") and name.endswith(".ttf") for name in unpacked)
    assert any(name.startswith("app/export/") and name.endswith(".html") for name in unpacked)
    from engine.models.native.build import SOURCES

    assert {f"engine/models/native/{name}" for name in SOURCES} <= set(unpacked)


def test_wheel_carries_nothing_else(wheel: Path) -> None:
    tops = {path.name for path in wheel.iterdir()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {"app", "engine", "assets"}
    assert not (wheel / "assets" / "screenshots").exists()
    assert not (wheel / "assets" / "corpus").exists()
    assert not (wheel / "assets" / "results").exists()


def test_wheel_finds_its_own_assets(wheel: Path) -> None:
    code = """
from app.assets import asset_path
from engine.assets import asset
print(asset_path("drafters/head.safetensors"))
print(asset("drafters", "head.safetensors"))
"""
    expected = str(wheel / "assets" / "drafters" / "head.safetensors")
    assert run_python(code, path=wheel).splitlines() == [expected, expected]


def test_missing_asset_is_named() -> None:
    from engine.assets import asset
    from engine.errors import DraftscopeError

    with pytest.raises(DraftscopeError, match="assets/drafters/nothing-here"):
        asset("drafters", "nothing-here")
