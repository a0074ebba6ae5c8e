"""The base of every record in a trace: immutable and plain. Knows no record."""

from __future__ import annotations

import msgspec


class Frozen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Base of every record: immutable, keyword-only, defaults left out of the file.

    Plain values make no cycles, so the garbage collector has no need to walk them: with a long run
    in memory it would hold up every thread.
    """
