"""`draftscope check`: which promise is to be checked. Each check is a module of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def check(options: argparse.Namespace) -> int:
    """Run the check that was asked for; return 0, or 1 if something does not hold."""
    if options.kind == "trace":  # needs neither a model nor torch
        from app.cli.check_trace import check as check_trace

        return check_trace(options)
    if options.kind == "law":
        from app.cli.check_law import check as check_law

        return check_law(options)
    from app.cli.check_greedy import check as check_greedy

    return check_greedy(options)
