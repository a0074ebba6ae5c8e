"""`draftscope export`: from a saved session to something to take along. No engine, no window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.export.html import export_html

if TYPE_CHECKING:
    import argparse


def export(options: argparse.Namespace) -> int:
    """Write what was asked for and say where it is."""
    export_html(options.trace, options.out)
    print(f"{options.out} is ready: open it in any browser, also without a network.")
    return 0
