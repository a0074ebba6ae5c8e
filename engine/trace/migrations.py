"""What older schema versions of a trace are turned into, one version at a time. Knows no file.

A step takes the plain object of one line, as JSON gives it, and returns the object that the next
version would have written. Steps stay for good: a session that someone saved opens in every later
Draftscope. There is no step yet: every trace that was ever written has version 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Line = dict[str, Any]

STEPS: Mapping[int, Callable[[Line], Line]] = {}
"""By the version that a step starts from."""


def known(schema: int, current: int, steps: Mapping[int, Callable[[Line], Line]] = STEPS) -> bool:
    """Return whether steps lead from a version to the current one."""
    return all(version in steps for version in range(schema, current))


def migrated(
    line: Line, schema: int, current: int, steps: Mapping[int, Callable[[Line], Line]] = STEPS
) -> Line:
    """Return a line's object as the current version would have written it."""
    for version in range(schema, current):
        line = steps[version](line)
    if line.get("type") == "run_started":
        line["schema"] = current
    return line
