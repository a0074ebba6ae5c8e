"""`draftscope schema`: what a line of a session may hold, as JSON Schema. No engine, no window."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from engine.trace.schema import published

if TYPE_CHECKING:
    import argparse


def schema(options: argparse.Namespace) -> int:
    """Print the published schema as it is."""
    sys.stdout.write(published().decode())
    return 0
