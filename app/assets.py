"""The bundled files by the names that the window and the exports use. Knows no Qt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.assets import asset

if TYPE_CHECKING:
    from pathlib import Path


def asset_path(name: str) -> Path:
    """Return the path of a bundled file, named below `assets` with slashes: `"icons/a.svg"`.

    Raises
    ------
    engine.errors.DraftscopeError
        If the installation lacks it.
    """
    return asset(*name.split("/"))
