"""Which trained drafters there are: those that come with Draftscope, and the user's own.

Knows where they lie and what their headers say. Loads no torch and reads no tensor; `trained`
makes one run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.assets import ROOT, asset
from engine.drafters.header import read_drafter_header
from engine.drafters.names import ANYWHERE, BUNDLED, HEAD, QUICKEST, TRAINED
from engine.errors import DraftscopeError, short, short_path
from engine.models.formats.files import valid_text
from engine.models.registry import data_folder

if TYPE_CHECKING:
    from engine.drafters.metadata import HeldOut
    from engine.models.fingerprint import Fingerprint

ENDING = ".safetensors"
FOLDER = "drafters"  # in the assets and in the user's data folder


@dataclass(frozen=True)
class DrafterEntry:
    """One row of the list of trained drafters.

    Attributes
    ----------
    spec
        What `make_drafter` and settings take.
    kind
        "head" or "small"; empty where the file cannot be read.
    size
        Bytes of the file.
    parameters
        Numbers that were trained.
    target, fingerprint
        What it was trained for.
    problem
        A sentence where the file is missing or cannot be used; else empty.
    """

    spec: str
    title: str
    path: Path
    kind: str = ""
    size: int = 0
    parameters: int = 0
    held_out: HeldOut | None = None
    target: str = ""
    fingerprint: Fingerprint | None = None
    problem: str = ""

    @property
    def bundled(self) -> bool:
        """Whether it came with Draftscope."""
        return self.spec in BUNDLED

    def fits(self, fingerprint: Fingerprint) -> bool:
        """Whether it was trained for the target of this fingerprint."""
        return self.fingerprint == fingerprint


def drafters_folder() -> Path:
    """Return the folder of the user's own drafters; it may not exist yet."""
    return data_folder() / FOLDER


def list_drafters() -> list[DrafterEntry]:
    """Return the bundled drafters, then those in the user's folder; what is wrong has a problem."""
    return [*map(_bundled, BUNDLED), *(_entry(spec_of(path), path) for path in _own())]


def spec_of(path: str | os.PathLike[str]) -> str:
    """Return how settings and traces name a drafter's file: never with its folder."""
    return f"{TRAINED}{valid_text(Path(path).stem)}"


def usual_drafter(fingerprint: Fingerprint) -> str:
    """Return the quickest drafter that a target of this fingerprint has without training one."""
    return QUICKEST if _bundled(HEAD).fits(fingerprint) else ANYWHERE


def find_drafter(spec: str) -> Path:
    """Return the file of a trained drafter.

    Parameters
    ----------
    spec
        A bundled name, or "trained:" and the name of one in the user's folder or a path.

    Raises
    ------
    DraftscopeError
        If there is no such file, with those that there are.
    """
    if spec in BUNDLED:
        return asset(FOLDER, f"{spec}{ENDING}")
    wanted = spec.removeprefix(TRAINED)
    own = drafters_folder() / f"{wanted}{ENDING}"
    plain = wanted == os.path.basename(wanted) and not wanted.endswith(ENDING)
    if plain and os.path.isfile(own):
        return own
    path = Path(os.path.expanduser(wanted))
    if wanted and os.path.isfile(path):
        return path.absolute()
    if not plain:
        raise DraftscopeError(f"There is no drafter's file {short_path(wanted)}. Check the path.")
    names = [one.stem for one in _own()]
    there = f"There are: {short(', '.join(names), 200)}." if names else "There is none yet."
    raise DraftscopeError(
        f"No drafter called {short(wanted)!r} was trained here. {there} "
        "Train one with `draftscope train`, or give a file's path."
    )


def _bundled(name: str) -> DrafterEntry:
    return _entry(name, ROOT / FOLDER / f"{name}{ENDING}")


def _own() -> list[Path]:
    try:
        found = sorted(drafters_folder().iterdir())
    except OSError:  # not there yet, or not to be read: then nothing is offered from it
        return []
    return [path for path in found if path.name[0] != "." and path.suffix == ENDING]


def _entry(spec: str, path: Path) -> DrafterEntry:
    title = spec.removeprefix(TRAINED)
    try:
        if not os.path.lexists(path):
            raise DraftscopeError(f"{path.name} is missing from this installation.")
        header = read_drafter_header(path)
    except DraftscopeError as error:
        return DrafterEntry(spec, title, path, problem=str(error))
    metadata = header.metadata
    return DrafterEntry(
        spec,
        title,
        path,
        kind=metadata.kind,
        size=header.size,
        parameters=header.parameters,
        held_out=metadata.held_out,
        target=metadata.target,
        fingerprint=metadata.fingerprint,
    )
