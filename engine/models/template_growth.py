"""How long a filter's or method's result can get, before it is computed. Pure.

Covers those whose result is a product of their arguments; the others make about as much as they
are given, and are measured afterwards.
"""

from __future__ import annotations

import re
from typing import Any

_LONG_WIDTH = re.compile(r"\d{5,}|\*")
_WIDEST_JSON_INDENT = 16
UNBOUNDED = 1 << 62


def size(value: Any) -> int:
    """Return a value's own length; 1 for a value without one."""
    return len(value) if hasattr(value, "__len__") else 1


def is_wide_format(text: Any) -> bool:
    """Return whether a format string asks for a very wide field, or takes its width elsewhere."""
    return isinstance(text, str) and _LONG_WIDTH.search(text) is not None


def growth(name: str, values: list[Any], named: dict[str, Any]) -> int:
    """Return an upper estimate of the result's length beyond its input; 0 where it is no product.

    Parameters
    ----------
    name
        A filter's name, or `str.` and a method's name.
    values, named
        The arguments; of a method the text itself first.
    """

    def argument(position: int, key: str, default: Any) -> Any:
        return values[position] if len(values) > position else named.get(key, default)

    first = values[0] if values else ""
    match name:
        case "replace" | "str.replace":
            old, new = str(argument(1, "old", "")), str(argument(2, "new", ""))
            return str(first).count(old) * len(new)
        case "join":
            return size(first) * len(str(argument(1, "d", "")))
        case "str.join":
            return size(argument(1, "", "")) * len(first)
        case "indent":
            width = argument(1, "width", 4)
            return (str(first).count("\n") + 1) * (width if isinstance(width, int) else size(width))
        case "wordwrap":
            return len(str(first)) * size(argument(3, "wrapstring", None))
        case "str.expandtabs":
            tabs = argument(1, "tabsize", 8)
            return first.count("\t") * (tabs if isinstance(tabs, int) else 1)
        case "tojson":
            indent = argument(1, "indent", None)
            wide = indent if isinstance(indent, int) else size(indent or "")
            return UNBOUNDED if wide > _WIDEST_JSON_INDENT else 0
        case "sum":  # adding up lists copies them again and again
            return UNBOUNDED if not isinstance(argument(2, "start", 0), int | float) else 0
        case "format" | "str.format" | "str.format_map":
            return UNBOUNDED if is_wide_format(first) else 0
        case "str.translate":
            return UNBOUNDED
        case _:
            return 0
