"""`draftscope models`: what there is and where, and bringing one here. No torch."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from app.cli.interrupt import Interrupt
from app.cli.progress import ProgressLine
from engine.models import registry
from engine.models.fetch import FetchCancelled, fetch

if TYPE_CHECKING:
    import argparse


def models(options: argparse.Namespace) -> int:
    """List the models, or fetch one."""
    return _fetch(options.name) if options.action == "fetch" else _list()


def _list() -> int:
    entries = registry.list_models()
    width = max(len(entry.name) for entry in entries)
    for entry in entries:
        state = str(entry.path) if entry.present else f"draftscope models fetch {entry.name}"
        licence = f", {entry.licence}" if entry.licence else ""
        print(f"{entry.name:<{width}}  {'here  ' if entry.present else 'absent'}  {state}")
        print(f"{'':<{width}}          {entry.title}, {entry.size / 1e6:.0f} MB{licence}")
    print(f"Models live in {registry.models_folder()}")
    return 0


def _fetch(name: str) -> int:
    line = ProgressLine(sys.stderr, in_bytes=True)
    with Interrupt() as interrupt:
        try:
            path = fetch(name, line, lambda: interrupt.asked)
        except FetchCancelled:
            raise KeyboardInterrupt from None
        finally:
            line.close()
    print(f"{name} is here: {path}")
    return 0
