"""Arguments that name a tiny pair of models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


def write_pair(folder: Path) -> list[str]:
    """Write a tiny target and a drafter near it; return what names them on the command line."""
    target = write_tiny_folder(folder / "target")
    drafter = write_tiny_folder(folder / "drafter", noise=0.1)
    names = ["--target", str(target), "--drafter", f"model:{drafter}", "ngram"]
    return [*names, "--plan", "eager", "--device", "cpu"]
