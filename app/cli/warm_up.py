"""`draftscope warm-up`: build the compiled plan for this processor, once. Loads no torch."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from app.cli.interrupt import Interrupt
from app.cli.progress import ProgressLine
from app.viewmodels.warm_up import built_words
from engine.models.native import build
from engine.models.native.process import BuildCancelled
from engine.models.native.warm_up import warm_up as build_and_try

if TYPE_CHECKING:
    import argparse

    from engine.models.native.build import Record


def warm_up(options: argparse.Namespace) -> int:
    """Build and try the library where that was not done before; say how it did."""
    record = None if options.again else build.tried()
    if record is None:
        record = _build()
    if options.json:
        print(msgspec.json.encode(record).decode())
    else:
        print(built_words(record))
    return 0


def _build() -> Record:
    line = ProgressLine(sys.stderr)
    with Interrupt() as interrupt:
        try:
            return build_and_try(line, lambda: interrupt.asked)
        except BuildCancelled:
            raise KeyboardInterrupt from None
        finally:
            line.close()
