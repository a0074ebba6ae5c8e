"""How long a filter's, method's or operator's result can get, before it is computed. Pure.

Covers those whose result is a product of their arguments; the others make about as much as they
are given, and are measured afterwards.
"""

from __future__ import annotations

import re
from typing import Any

from engine.models.text.template_budget import inside

# A field of a format that is very wide, or takes its width from elsewhere.
_LONG_WIDTH = re.compile(r"%[^%a-zA-Z]*(\d{5,}|\*)|\{[^{}]*\d{5,}|\{[^{}]*\{")
_WRITTEN = re.compile(r"![ar]|%[^%a-zA-Z]*[ar]")
_WRITTEN_OUT = 12  # characters that one of a value's text can become in its written form
_WIDEST_FIELD = 10_000  # characters, of a width of four digits
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
        A filter's name, `str.` and a method's name, or an operator.
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
        case "%" | "format":
            return _formatted(first, "%", [*values[1:], *named.values()])
        case "str.format" | "str.format_map":
            return _formatted(first, "{", [*values[1:], *named.values()])
        case "str.translate":
            return UNBOUNDED
        case _:
            return 0


def _formatted(text: Any, mark: str, values: list[Any]) -> int:
    """Every field of a format can be as long as all its values together, or as wide as it says."""
    if not isinstance(text, str):
        return 0
    if is_wide_format(text.replace("{{", "")):
        return UNBOUNDED
    longest = 0
    waiting = list(values)
    while waiting:
        own, within = inside(value := waiting.pop())
        longest += 1 + own * (1 if isinstance(value, str) else _WRITTEN_OUT)
        waiting.extend(within)
    if _WRITTEN.search(text):
        longest *= _WRITTEN_OUT
    widest = _WIDEST_FIELD if re.search(r"\d{3,}", text) else 100
    return text.count(mark) * (longest + widest)
