"""`draftscope warm-up`: build the compiled plan for this processor, once. Loads no torch."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from app.cli.interrupt import Interrupt
from app.cli.progress import ProgressLine
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
        print(_in_words(record))
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


def _in_words(record: Record) -> str:
    chosen = (
        "it is the plan of every model loaded on this CPU from now on"
        if record.worth_it
        else "that is less than a tenth gained, so packed stays the default"
    )
    return (
        f"The compiled plan is built for this processor ({record.compiler}, "
        f"{record.seconds:.1f} s). A pass on one token takes {record.over_packed:.2f} of the "
        f"packed plan's time; {chosen}."
    )
