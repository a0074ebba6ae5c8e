"""A Jinja environment for templates that nobody has read: no code, no loop or text without bound.

On top of Jinja's own sandbox every loop, call, filter, joining and repeating of text is counted
and measured, so that a template can neither hang nor fill the memory. Knows nothing of chats.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, nodes, pass_context
from jinja2.ext import Extension
from jinja2.nodes import EvalContext
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import generate_lorem_ipsum
from jinja2.visitor import NodeTransformer

from engine.models.text.template_budget import BoundExceeded, Budget
from engine.models.text.template_growth import growth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from jinja2.parser import Parser

LARGEST_NUMBER = 100_000  # as an argument: a width, a count
MOST_PARTS = 30_000  # of the template's text; compiling one takes 0.1 ms
# Made for web pages, slow on texts that were made to be, or not the same twice.
_LEFT_OUT = ("urlize", "striptags", "xmlattr", "pprint", "random")


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's immutable sandbox with every way to grow bounded by `budget`."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, **options: Any) -> None:
        self.budget = Budget()
        super().__init__(**options)
        self.add_extension(GenerationMarks)
        for name in _LEFT_OUT:
            del self.filters[name]
        for name, function in self.filters.items():
            self.add_filter(name, function)
        self.filters["_each"] = self._each
        self.filters["_made"] = self._made
        self.filters["_written"] = self._written

    def add_filter(self, name: str, function: Callable[..., Any]) -> None:
        """Add a filter, counted and measured; a lazy result is made a list, to be measured."""

        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            self._check(name, args, kwargs)
            result = function(*args, **kwargs)
            if hasattr(result, "__next__"):
                result = list(self._each(result))
            return self._made(result)

        self.filters[name] = guarded

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        for count, _ in enumerate(self.lex(source)):
            if count >= MOST_PARTS:
                raise BoundExceeded(f"it has more than {MOST_PARTS} parts")
        template: nodes.Template = _Bounding().visit(super()._parse(source, name, filename))
        template.set_environment(self)
        return template

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call what a template calls, counted and measured."""
        origin = getattr(function, "__wrapped__", function)  # Jinja wraps `str.format`
        owner = getattr(origin, "__self__", None)
        if isinstance(owner, str | bytes):
            self._check(f"str.{origin.__name__}", (owner, *args), kwargs)
        else:
            self._check("", args, kwargs)
        if function is generate_lorem_ipsum:
            raise BoundExceeded("it makes too much text")
        return self._made(super().call(context, function, *args, **kwargs))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute the operators that can make much out of little."""
        self.budget.measure(left, right)
        if operator == "*":
            for many, count in ((left, right), (right, left)):
                if isinstance(many, str | bytes | list | tuple) and isinstance(count, int):
                    self.budget.afford(len(many) * count)
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            self.budget.afford(left.bit_length() * right)
        elif operator == "%":
            self.budget.afford(growth("%", [left, right], {}))
        return self._made(super().call_binop(context, operator, left, right))

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

    def _made(self, value: Any) -> Any:
        self.budget.make(value)
        return value

    @pass_context  # so that it is never folded into a constant
    def _written(self, context: Context, value: Any) -> str:
        """Turn a value into text; what is written counts even where it is not yet the output."""
        self.budget.measure(value)
        text = str(value)
        self.budget.make(text)
        return text


class _Bounding(NodeTransformer):
    """Puts the counting of loops, and of all that is made and written, into a parsed template."""

    def _wrapped(self, node: Any, name: str, line: int) -> nodes.Filter:
        return nodes.Filter(node, name, [], [], None, None, lineno=line)

    def _made(self, node: Any) -> nodes.Node:
        return self._wrapped(self.generic_visit(node), "_made", node.lineno)

    def visit_For(self, node: nodes.For) -> nodes.Node:
        """Count the turns of a loop."""
        self.generic_visit(node)
        node.iter = self._wrapped(node.iter, "_each", node.lineno)
        return node

    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        """Count all that is written: text in a loop within a block is joined only at its end."""
        self.generic_visit(node)
        node.nodes = [self._wrapped(part, "_written", node.lineno) for part in node.nodes]
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        """Count the parts before they are joined, and the whole."""
        self.generic_visit(node)
        node.nodes = [self._wrapped(part, "_written", node.lineno) for part in node.nodes]
        return self._wrapped(node, "_made", node.lineno)

    def visit_AssignBlock(self, node: nodes.AssignBlock) -> nodes.Node:
        """Measure text that is set from a block."""
        self.generic_visit(node)
        node.filter = self._wrapped(node.filter, "_made", node.lineno)
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        """Count slices, which are copies; an item is no copy."""
        return self._made(node) if isinstance(node.arg, nodes.Slice) else self.generic_visit(node)

    def visit_List(self, node: nodes.List) -> nodes.Node:
        """Count lists where they are made: one list within another twice, and so on, doubles."""
        return self._made(node)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:
        """Count mappings where they are made."""
        return self._made(node)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        """Count tuples where they are made; names that are assigned to stay as they are."""
        return self._made(node) if node.ctx == "load" else node


class GenerationMarks(Extension):
    """Accepts `{% generation %}` around what a model wrote; the marks matter in training only."""

    tags = {"generation"}  # noqa: RUF012 - Jinja's own declaration is a plain set

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Return the body as if the marks were not there."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)
