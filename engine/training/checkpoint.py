"""What is left of a training that ended before its time, so that it can go on.

A folder beside the drafter's file: the target's own text, its states along all text, and where the
fitting stood. Knows files; no model.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from engine.errors import DraftscopeError
from engine.training.states import DONE

if TYPE_CHECKING:
    from pathlib import Path

ENDING = ".checkpoint"


@dataclass(frozen=True)
class Checkpoint:
    """The folder of one training."""

    folder: Path

    @classmethod
    def beside(cls, out: Path) -> Checkpoint:
        """Return the one of a drafter's file."""
        return cls(out.with_suffix(ENDING))

    @property
    def text(self) -> Path:
        """Where the target's own text is kept."""
        return self.folder / "text.safetensors"

    @property
    def states(self) -> Path:
        """The folder of the target's states."""
        return self.folder / "states"

    def begin(self, asked: dict[str, Any], resume: bool) -> None:
        """Make the folder, or go on in it.

        Parameters
        ----------
        asked
            What the drafter is to be; a training goes on only towards the same one.

        Raises
        ------
        DraftscopeError
            If there is nothing to go on from, or it was for another drafter.
        """
        wanted = json.loads(json.dumps(asked))
        if not resume:
            self._clear()
        elif not (self.folder / "asked.json").is_file():
            raise DraftscopeError(
                f"There is no training to go on with at {self.folder.name}; leave --resume out to "
                "begin one."
            )
        elif parts := self._apart(wanted):
            raise DraftscopeError(
                f"The training at {self.folder.name} was begun with another {' and '.join(parts)}; "
                "ask for the same, or leave --resume out to begin anew."
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "asked.json").write_text(json.dumps(wanted), encoding="utf-8")
        except OSError as error:
            raise DraftscopeError(
                f"{self.folder.name} cannot be written: {error.strerror}. Choose another place."
            ) from error

    def finished_rows(self) -> set[int]:
        """Return the rows whose states are there."""
        path = self.states / DONE
        text = path.read_text(encoding="ascii", errors="replace") if path.is_file() else ""
        whole = text[: text.rfind("\n") + 1]  # the last number of a torn line may be torn itself
        return {int(row) for row in whole.split() if row.isdecimal()}

    def finish_rows(self, rows: list[int]) -> None:
        """Note rows whose states are there."""
        with (self.states / DONE).open("a", encoding="ascii") as file:
            file.write(" ".join(map(str, rows)) + "\n")

    def save(self, state: dict[str, Any]) -> None:
        """Keep where the fitting stands, in the place of what was kept once it is whole.

        Raises
        ------
        DraftscopeError
            If it cannot be written; what was kept before is kept.
        """
        partial = self.folder / "fit.partial"
        try:
            torch.save(state, partial)
            partial.replace(self.folder / "fit.pt")
        except (OSError, RuntimeError) as error:  # torch's writer raises the latter on a full disk
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
            raise DraftscopeError(
                f"{self.folder.name} cannot be written; make room, and go on with --resume."
            ) from error

    def load(self) -> dict[str, Any] | None:
        """Return where the fitting stood; None if it had not begun.

        Raises
        ------
        DraftscopeError
            If the file is damaged.
        """
        path = self.folder / "fit.pt"
        if not path.is_file():
            return None
        try:
            found: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:  # whatever a torn file makes of torch's reader
            raise DraftscopeError(
                f"{self.folder.name} is damaged ({type(error).__name__}); leave --resume out to "
                "begin anew."
            ) from error
        return found

    def remove(self) -> None:
        """Leave nothing."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _clear(self) -> None:
        """Remove what an earlier training left; refuse to remove what is no training's."""
        if not self.folder.is_dir():
            return
        if any(self.folder.iterdir()) and not (self.folder / "asked.json").is_file():
            raise DraftscopeError(
                f"{self.folder.name} is in the way and is of no training; move it, or choose "
                "another name for the drafter."
            )
        shutil.rmtree(self.folder, ignore_errors=True)

    def _apart(self, wanted: dict[str, Any]) -> list[str]:
        """Return the names of what was asked for otherwise; all of them if that is not known."""
        kept = self._asked()
        if not kept:
            return list(wanted)
        return [name for name in wanted if kept.get(name) != wanted[name]]

    def _asked(self) -> dict[str, Any]:
        try:
            found = json.loads((self.folder / "asked.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
