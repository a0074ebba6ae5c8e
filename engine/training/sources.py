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
    for package, names in _packages():
        found: dict[str, list[Path]] = {}
        for path in names:
            found.setdefault(Source.of(path).shelf, []).append(path)
        for shelf, paths in found.items():
            kept = rng.sample(paths, KEPT) if len(paths) > KEPT else paths
            shelves[shelf].packages[package] = kept
    return shelves


def _packages() -> Iterator[tuple[str, list[Path]]]:
    """Yield packages by name, each with the files that may hold passages, in order."""
    library = Path(sysconfig.get_paths()["stdlib"])
    yield "", sorted(path for path in library.rglob("*.py") if _wanted(path.relative_to(library)))
    by_name = {one.name.lower(): one for one in distributions()}  # the first found is the one used
    for name in sorted(by_name):
        if name == "draftscope":  # its own prompts and texts are measured on
            continue
        files = sorted(str(file) for file in by_name[name].files or () if _wanted(Path(file)))
        yield name, [Path(str(by_name[name].locate_file(file))) for file in files]


def _wanted(path: Path) -> bool:
    """Whether a file's name promises text that somebody wrote."""
    whole = path.as_posix().lower()
    known = path.name == "METADATA" or path.suffix[1:].lower() in _LANGUAGES
    return known and not any(part in whole for part in _JUNK)
