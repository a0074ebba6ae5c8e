"""Single values of a model's configuration, with errors that name them. Knows no model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 2**53  # whole numbers beyond it are of damaged files; as floats they would not be whole


def integer(values: Mapping[str, Any], key: str, default: int | None = None) -> int:
    """Return a whole number; the default where the key is absent or null.

    Raises
    ------
    DraftscopeError
        If it is something else, or absent without a default.
    """
    given = values.get(key)
    if given is None and default is not None:
        return default
    if isinstance(given, bool) or not isinstance(given, int) or not -MOST < given < MOST:
        raise _wrong(key, given, "a whole number")
    return given


def number(values: Mapping[str, Any], key: str, default: float | None = None) -> float:
    """Return a positive, finite number; the default where the key is absent or null.

    Raises
    ------
    DraftscopeError
        If it is something else, or absent without a default.
    """
    given = values.get(key)
    if given is None and default is not None:
        return default
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise _wrong(key, given, "a positive number")
    if not 0 < given <= sys.float_info.max:
        raise _wrong(key, given, "a positive number")
    return float(given)


def flag(values: Mapping[str, Any], key: str, default: bool = False) -> bool:
    """Return true or false; the default where the key is absent or null.

    Raises
    ------
    DraftscopeError
        If it is something else.
    """
    given = values.get(key)
    if given is None:
        return default
    if not isinstance(given, bool):
        raise _wrong(key, given, "true or false")
    return given


def _wrong(key: str, given: object, wanted: str) -> DraftscopeError:
    if given is None:
        return DraftscopeError(
            f"The model's configuration does not give {key}. Download the model again."
        )
    return DraftscopeError(
        f"The model's configuration gives {key} as {given!r:.80}, which should be {wanted}. "
        "Download the model again."
    )
