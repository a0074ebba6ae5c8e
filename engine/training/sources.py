"""Where texts lie on this machine: files of the standard library and of installed packages.

Knows sorts of files by their names, and how many of each are kept in mind. Reads none of them.
"""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from importlib.metadata import Distribution

KEPT = 400  # files of one shelf and one package that are kept in mind: some 100 bytes each
SHELVES = {"python": 0.42, "prose": 0.2, "code": 0.23, "data": 0.15}  # shares of what is drawn
_JUNK = (
    *(
        "test",
        "__pycache__",
        "site-packages",
        "_vendor",
        "fixture",
        "autogen",
        "/licen",
        "/copying",
    ),
    *("entry_points", "top_level", "metatypes", "sbom", ".min."),
)
_LANGUAGES = {
    **{"py": "python", "pyi": "python", "pyx": "cython", "pxd": "cython"},
    **{"c": "c", "h": "cpp", "hpp": "cpp", "cpp": "cpp", "cc": "cpp", "cuh": "cuda", "cu": "cuda"},
    **{"js": "javascript", "ts": "typescript", "css": "css", "html": "html", "qml": "qml"},
    **{"rs": "rust", "go": "go", "java": "java", "rb": "ruby", "sh": "bash", "lua": "lua"},
    **{"f90": "fortran", "f": "fortran", "cmake": "cmake", "sql": "sql", "jinja": "jinja"},
    **{"json": "json", "csv": "csv", "toml": "toml", "yaml": "yaml", "yml": "yaml", "xml": "xml"},
    **{"ini": "ini", "cfg": "ini", "po": "po", "md": "markdown", "rst": "rst", "txt": "text"},
}
_DATA = frozenset({"json", "csv", "toml", "yaml", "xml", "ini", "po"})
_PROSE = frozenset({"markdown", "rst", "text"})


@dataclass(frozen=True)
class Source:
    """A file of text."""

    path: Path
    sort: str  # prose, code or data
    language: str  # as a fence names it

    @classmethod
    def of(cls, path: Path) -> Source:
        """Judge a file by its name; what is unknown is taken for prose."""
        language = _LANGUAGES.get(path.suffix[1:].lower(), "text")
        sort = "prose" if language in _PROSE else "data" if language in _DATA else "code"
        return cls(path, sort, language)

    @property
    def shelf(self) -> str:
        """Where it is drawn from: its sort, and Python by itself."""
        return "python" if self.language == "python" else self.sort


@dataclass
class Shelf:
    """Files of one sort, by package, so that a large package does not crowd out the small ones."""

    weight: float
    packages: dict[str, list[Path]] = field(default_factory=dict)
    uses: dict[Path, int] = field(default_factory=dict)

    def draw(self, rng: random.Random, most: int) -> Source | None:
        """Draw a file that was drawn fewer than `most` times; None once there is none."""
        if not self.packages:
            return None
        names = list(self.packages)
        # a package with a hundred times the files is drawn ten times as often
        (name,) = rng.choices(names, [len(self.packages[one]) ** 0.5 for one in names])
        files = self.packages[name]
        number = rng.randrange(len(files))
        path = files[number]
        self.uses[path] = self.uses.get(path, 0) + 1
        if self.uses[path] >= most:
            files[number] = files[-1]
            files.pop()
            del self.uses[path]
            if not files:
                del self.packages[name]
        return Source.of(path)


def installed(rng: random.Random) -> dict[str, Shelf]:
    """Find the texts of the standard library and of the installed packages, some of each."""
    shelves = {name: Shelf(weight) for name, weight in SHELVES.items()}
    for package, folder, names in _packages():
        found: dict[str, list[str]] = {}
        for name in sorted(filter(_wanted, names)):
            found.setdefault(Source.of(Path(name)).shelf, []).append(name)
        for shelf, ones in found.items():
            kept = rng.sample(ones, KEPT) if len(ones) > KEPT else ones
            shelves[shelf].packages[package] = [folder / name for name in kept]
    return shelves


def _packages() -> Iterator[tuple[str, Path, list[str]]]:
    """Yield packages by name, each with its folder and the files in it, with slashes."""
    library = Path(sysconfig.get_paths()["stdlib"])
    modules = [path.relative_to(library).as_posix() for path in library.rglob("*.py")]
    yield "", library, modules
    by_name: dict[str, Distribution] = {}
    for one in distributions():
        by_name.setdefault(one.name.lower(), one)  # the first found is the one that is imported
    for name in sorted(by_name):
        if name == "draftscope":  # its own prompts and texts are measured on
            continue
        package = by_name[name]
        record = package.read_text("RECORD")
        if record is None:
            files = [file.as_posix() for file in package.files or ()]
        else:  # much faster than `files` where there are tens of thousands
            files = [line.rsplit(",", 2)[0].strip('"') for line in record.splitlines()]
        yield name, Path(str(package.locate_file(""))), files


def _wanted(name: str) -> bool:
    """Whether a file's name promises text that somebody wrote."""
    whole = name.lower()
    known = whole.endswith("/metadata") or whole.rpartition(".")[2] in _LANGUAGES
    return known and not any(part in whole for part in _JUNK)
