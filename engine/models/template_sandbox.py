"""A Jinja environment for templates that nobody has read: no code, no loop or text without bound.

On top of Jinja's own sandbox every loop, call, filter, joining and repeating of text is counted
and measured, so that a template can neither hang nor fill the memory. Knows nothing of chats.
"""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, nodes
from jinja2.ext import Extension
from jinja2.nodes import EvalContext
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import generate_lorem_ipsum
from jinja2.visitor import NodeTransformer

from engine.models.template_growth import growth, is_wide_format

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from jinja2.parser import Parser

MOST_STEPS = 1_000_000  # loop turns and calls
MOST_SECONDS = 5.0  # a guard: within the steps, each step is small
MOST_TEXT = 1_000_000  # characters and items in one value, and of the output beyond its input
LARGEST_NUMBER = 100_000  # as an argument: a width, a count


class BoundExceeded(Exception):
    """The template asked for more than it may have."""


class Budget:
    """What one rendering may still use."""

    def __init__(self, text: int = MOST_TEXT) -> None:
        self.text = text
        self._steps = MOST_STEPS
        self._deadline = time.monotonic() + MOST_SECONDS

    def step(self) -> None:
        """Count one turn of a loop, or one call."""
        self._steps -= 1
        if self._steps < 0 or time.monotonic() > self._deadline:
            raise BoundExceeded("it does not come to an end")

    def afford(self, length: int) -> None:
        """Refuse a length that is more than may be."""
        if length > self.text:
            raise BoundExceeded("it makes too much text")

    def measure(self, *values: Any) -> None:
        """Refuse values that hold more text and items, all together, than may be."""
        total = 0
        waiting = [*values]
        while waiting:
            value = waiting.pop()
            total += 1
            if isinstance(value, str | bytes | range):
                total += len(value)
            elif isinstance(value, list | tuple | dict):
                total += len(value)
                self.afford(total)
                waiting.extend(value)
                waiting.extend(value.values() if isinstance(value, dict) else ())
            elif isinstance(value, int):
                total += value.bit_length() // 8
            self.afford(total)


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's immutable sandbox with every way to grow bounded by `budget`."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, **options: Any) -> None:
        self.budget = Budget()
        super().__init__(finalize=self._measured, **options)
        self.add_extension(GenerationMarks)
        for name, function in self.filters.items():
            self.add_filter(name, function)
        self.filters["_each"] = self._each
        self.filters["_measured"] = self._measured

    def add_filter(self, name: str, function: Callable[..., Any]) -> None:
        """Add a filter, counted and measured; a lazy result is made a list, to be measured."""

        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            self._check(name, args, kwargs)
            result = function(*args, **kwargs)
            if hasattr(result, "__next__"):
                result = list(self._each(result))
            return self._measured(result)

        self.filters[name] = guarded

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        template: nodes.Template = _Bounding().visit(super()._parse(source, name, filename))
        template.set_environment(self)
        return template

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call what a template calls, counted and measured."""
        owner = getattr(function, "__self__", None)
        if isinstance(owner, str | bytes):
            self._check(f"str.{function.__name__}", (owner, *args), kwargs)
        else:
            self._check("", args, kwargs)
        if function is generate_lorem_ipsum:
            raise BoundExceeded("it makes too much text")
        return self._measured(super().call(context, function, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute the operators that can make much out of little."""
        self.budget.measure(left, right)
        if operator == "*":
            for many, count in ((left, right), (right, left)):
                if isinstance(many, str | bytes | list | tuple) and isinstance(count, int):
                    self.budget.afford(len(many) * count)
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            self.budget.afford(left.bit_length() * right)
        elif operator == "%" and is_wide_format(left):
            raise BoundExceeded("it makes too much text")
        return self._measured(super().call_binop(context, operator, left, right))

    def _check(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.budget.step()
        own = (Context, EvalContext, Environment)  # what Jinja passes along to some filters
        values = [value for value in args if not isinstance(value, own)]
        self.budget.measure(*values, *kwargs.values())
        for value in (*values, *kwargs.values()):
            if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
                raise BoundExceeded(f"it counts to {value:.3g}")
        self.budget.afford(growth(name, values, kwargs))

    def _each(self, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self.budget.step()
            yield value

    def _measured(self, value: Any) -> Any:
        self.budget.measure(value)
        return value


class _Bounding(NodeTransformer):
    """Puts the counting of loops and the measuring of made values into a parsed template."""

    def _wrapped(self, node: Any, name: str, line: int) -> nodes.Filter:
        return nodes.Filter(node, name, [], [], None, None, lineno=line)

    def _measured(self, node: Any) -> nodes.Node:
        return self._wrapped(self.generic_visit(node), "_measured", node.lineno)

    def visit_For(self, node: nodes.For) -> nodes.Node:
        """Count the turns of a loop."""
        self.generic_visit(node)
        node.iter = self._wrapped(node.iter, "_each", node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        """Measure the parts before they are joined, and the whole."""
        self.generic_visit(node)
        node.nodes = [self._wrapped(part, "_measured", node.lineno) for part in node.nodes]
        return self._wrapped(node, "_measured", node.lineno)

    def visit_AssignBlock(self, node: nodes.AssignBlock) -> nodes.Node:
        """Measure text that is set from a block."""
        self.generic_visit(node)
        node.filter = self._wrapped(node.filter, "_measured", node.lineno)
        return node

    def visit_List(self, node: nodes.List) -> nodes.Node:
        """Measure lists where they are made: one list within another twice, and so on, doubles."""
        return self._measured(node)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:
        """Measure mappings where they are made."""
        return self._measured(node)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        """Measure tuples where they are made; names that are assigned to stay as they are."""
        return self._measured(node) if node.ctx == "load" else node


class GenerationMarks(Extension):
    """Accepts `{% generation %}` around what a model wrote; the marks matter in training only."""

    tags = {"generation"}  # noqa: RUF012 - Jinja's own declaration is a plain set

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Return the body as if the marks were not there."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)
