"""What drafter is to be trained, as the dialog holds it, and as `draftscope train` is asked.

Knows what may be asked and in which words it is refused. Knows no widget, no process and no torch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.drafters.names import BUNDLED, HEAD, SMALL

if TYPE_CHECKING:
    from collections.abc import Collection

HEAD_DIM = 64  # a small model's width is that of whole attention heads
MOST_LAYERS, MOST_WIDTH = 12, 2048
MOST_TOKENS = 100_000_000
MOST_MINUTES = 10_000
ENDING, CHECKPOINT, PLAN = ".safetensors", ".checkpoint", ".plan.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class TrainingPlan(msgspec.Struct, frozen=True):
    """Everything that a training is asked with.

    Attributes
    ----------
    own_tokens
        How much text the target writes to train on; 0: none.
    files
        The user's own text, as paths.
    """

    target: str
    name: str = "my-head"
    kind: str = HEAD
    layers: int = 2  # of a small model
    width: int = 384  # of a small model
    own_tokens: int = 200_000
    files: tuple[str, ...] = ()
    minutes: int = 30

    def arguments(self, out: Path, *, resume: bool = False) -> list[str]:
        """Return what `draftscope` is called with."""
        words = ["train", self.kind, "--target", self.target]
        if self.kind == SMALL:
            words += ["--layers", str(self.layers), "--width", str(self.width)]
        if self.own_tokens:
            words += ["--self", str(self.own_tokens)]
        if self.files:
            words += ["--corpus", *self.files]
        words += ["--minutes", str(self.minutes), "--out", str(out), "--json"]
        return [*words, "--resume"] if resume else words

    def problem(self, taken: Collection[str] = ()) -> str:
        """Say in one sentence why this cannot be trained, or ""."""
        return self._name_problem(taken) or self._text_problem()

    def _name_problem(self, taken: Collection[str]) -> str:
        if not self.name:
            return "Give the drafter a name."
        if _NAME.fullmatch(self.name) is None:
            return "A name has up to 64 letters, digits, - and _, and begins with one of the first."
        if self.name.lower() in {name.lower() for name in (*taken, *BUNDLED)}:
            return f"The name {self.name} is taken; choose another."
        return ""

    def _text_problem(self) -> str:
        if not self.own_tokens and not self.files:
            return "There is nothing to train on: let the target write text, or add files."
        gone = next((path for path in self.files if not Path(path).is_file()), None)
        if gone is not None:
            return f"There is no file “{Path(gone).name}” any more; remove it from the list."
        if self.kind == SMALL and self.width % HEAD_DIM:
            return f"The width of a small model is a multiple of {HEAD_DIM}."
        return ""


@dataclass(frozen=True)
class Place:
    """Where a drafter of this name is made, and what lies beside it meanwhile."""

    folder: Path
    name: str

    @property
    def out(self) -> Path:
        """The drafter's file."""
        return self.folder / f"{self.name}{ENDING}"

    @property
    def checkpoint(self) -> Path:
        """From which a training goes on."""
        return self.folder / f"{self.name}{CHECKPOINT}"

    @property
    def plan(self) -> Path:
        """What the training was asked with."""
        return self.folder / f"{self.name}{PLAN}"

    def files(self) -> set[Path]:
        """Return what is there under this name; a name has no dot, so no other has any of it."""
        try:
            found = list(self.folder.iterdir())
        except OSError:
            return set()
        return {path for path in found if path.name.lstrip(".").startswith(f"{self.name}.")}


def read_plan(place: Place) -> TrainingPlan | None:
    """Return what an unfinished training was asked with, if that can be read."""
    try:
        return msgspec.json.decode(place.plan.read_bytes(), type=TrainingPlan)
    except (OSError, msgspec.DecodeError):
        return None


def unfinished(folder: Path) -> list[str]:
    """Name the drafters whose training can go on, the latest first."""
    try:
        found = [path for path in folder.iterdir() if path.suffix == CHECKPOINT]
        found.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return []
    return [path.stem for path in found if _NAME.fullmatch(path.stem)]


def free_name(kind: str, taken: Collection[str]) -> str:
    """Return a name that no drafter has."""
    first = f"my-{kind}"
    names = (first, *(f"{first}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name.lower() not in {one.lower() for one in taken})
