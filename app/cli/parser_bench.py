"""What may be typed after `draftscope bench`. Knows the table of benchmarks; imports none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.cli.bench_table import BENCHMARKS, DEFAULT

if TYPE_CHECKING:
    from app.cli.arguments import Parser


def add_bench(parser: Parser) -> None:
    """Add one parser for each benchmark; options without a name are the default's."""
    parser.description = (
        "Measure on this machine. What is compared is measured in turn, repeated, and printed as "
        "medians with their spread and ratios with a 95 % interval. Times depend on what else the "
        "machine does: believe the ratios. Without NAME the benchmarks are listed; options without "
        f"NAME are those of {DEFAULT}."
    )
    parser.unnamed = DEFAULT
    names = parser.add_subparsers(dest="name", metavar="NAME")
    for one in BENCHMARKS:
        one.options(names.add_parser(one.name, help=one.says, description=f"Measure {one.says}."))
