"""Where the files that come with Draftscope lie. Knows no torch and no Qt.

`assets` stands beside `engine` in a checkout, in an installed wheel and in a frozen program alike,
so one rule finds it and nothing has to be imported or unpacked. What a file means is its reader's
business.
"""

from __future__ import annotations

from pathlib import Path

from engine.errors import DraftscopeError

ROOT = Path(__file__).parent.parent / "assets"


def asset(*parts: str) -> Path:
    """Return the path of a bundled file or folder.

    Parameters
    ----------
    *parts
        Names below `assets`, one a level: `asset("drafters", "head.safetensors")`.

    Raises
    ------
    DraftscopeError
        If the installation lacks it.
    """
    path = ROOT.joinpath(*parts)
    if not path.exists():
        name = "/".join(parts)
        raise DraftscopeError(
            f"The bundled file assets/{name} is missing: install Draftscope again."
        )
    return path
