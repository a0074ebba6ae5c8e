"""Random templates that are mostly valid: what the sandbox has to bound is what they reach for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

NAMES = ("messages", "x", "y", "ns", "ns.x", "m", "i", "messages[0].content", "loop.index", "none")
LITERALS = (
    *("'a'", "''", "'{}'", "'{0}{0}'", "'%s'", "'%s' * 99", "'a' * 900", "'ab' * 90000", "[1]"),
    *("{}", "{'a': x}", "[x, x]", "(x, y)", "0", "1", "-1", "7", "99999", "10 ** 9", "2.5", "true"),
)
OPERATORS = ("+", "*", "~", "%", "-", "**", "//", "==", "in", "and", "or", "<")
FILTERS = (
    *(
        "string",
        "list",
        "length",
        "trim",
        "upper",
        "tojson",
        "join(x)",
        "join('ab' * 900)",
        "first",
    ),
    *(
        "replace('a', x)",
        "replace('', 'ab')",
        "map('string')",
        "map(attribute='role')",
        "sum",
        "int",
    ),
    *(
        "batch(3)",
        "slice(3)",
        "sort",
        "unique",
        "reverse",
        "indent(9)",
        "center(9999)",
        "default(x)",
    ),
    *(
        "format(x, y)",
        "wordwrap(3)",
        "items",
        "dictsort",
        "groupby('role')",
        "select",
        "last",
        "max",
    ),
    *("selectattr('role')", "reject('none')", "round(9)", "abs", "escape", "urlencode", "title"),
)
METHODS = (
    *(
        "upper()",
        "split('a')",
        "join(x)",
        "replace('a', x)",
        "format(x, y, a=x)",
        "strip()",
        "keys()",
    ),
    *(
        "items()",
        "values()",
        "get('role')",
        "ljust(9999)",
        "zfill(9999)",
        "expandtabs(999)",
        "count('a')",
    ),
    *("splitlines()", "partition('a')", "translate(x)", "encode()", "append(x)", "format_map(x)"),
)
CALLS = (
    *("range(9)", "range(99999)", "dict(a=x)", "namespace(x=x)", "f(x)", "f(f)", "cycler(x, y)"),
    *("caller()", "loop(x)", "strftime_now('%Y')", "raise_exception(x)", "lipsum(9)", "joiner(x)"),
    *("self.a()", "loop.cycle(x, y)", "x.__class__", "messages.__len__()", "f.__globals__"),
)


def expression(draw: random.Random, depth: int = 3) -> str:
    """Draw an expression of bounded depth."""
    if depth == 0:
        return draw.choice(draw.choice((NAMES, LITERALS)))
    inner = expression(draw, depth - 1)
    match draw.randrange(9):
        case 0 | 1:
            return f"({inner} {draw.choice(OPERATORS)} {expression(draw, depth - 1)})"
        case 2 | 3:
            return f"({inner} | {draw.choice(FILTERS)})"
        case 4:
            return f"({inner}).{draw.choice(METHODS)}"
        case 5:
            return f"({inner})[{draw.choice(('0', '-1', '1:', '::-1', 'x', ':9'))}]"
        case 6:
            return draw.choice(CALLS)
        case 7:
            return f"({inner} if {draw.choice(NAMES)} else {expression(draw, depth - 1)})"
        case _:
            return f"[{inner}, {expression(draw, depth - 1)}]"


def statement(draw: random.Random, depth: int) -> str:
    """Draw a statement with what it contains."""
    made = expression(draw)
    if depth == 0:
        return draw.choice(
            (f"{{{{ {made} }}}}", f"{{% set x = {made} %}}", f"{{% set ns.x = {made} %}}", "text")
        )
    body = "".join(statement(draw, depth - 1) for _ in range(draw.choice((1, 2, 3))))
    match draw.randrange(9):
        case 0 | 1:
            many = draw.choice(("messages", "range(30)", "range(99999)", "x", made))
            return f"{{% for m in {many} %}}{body}{{% endfor %}}"
        case 2:
            return f"{{% if {made} %}}{body}{{% else %}}{made}{{% endif %}}"
        case 3:
            return f"{{% set x %}}{body}{{% endset %}}"
        case 4:
            return f"{{% macro f(y) %}}{body}{{% endmacro %}}{{{{ f({made}) }}}}"
        case 5:
            return f"{{% filter {draw.choice(FILTERS)} %}}{body}{{% endfilter %}}"
        case 6:
            return f"{{% call f({made}) %}}{body}{{% endcall %}}"
        case 7:
            return f"{{% for m in {made} recursive %}}{body}{{{{ loop(m) }}}}{{% endfor %}}"
        case _:
            return f"{{% for i in range(40) %}}{{% set ns.x = {made} %}}{{% endfor %}}{body}"


def random_template(draw: random.Random) -> str:
    """Draw a template that defines what its parts use."""
    begin = "{% set ns = namespace(x='a') %}{% set x = 'a' %}{% set y = messages %}"
    begin += "{% macro f(y) %}{{ y }}{% endmacro %}"
    return begin + "".join(
        statement(draw, draw.choice((1, 2, 3))) for _ in range(draw.choice((1, 3)))
    )
