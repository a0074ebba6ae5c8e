"""The counts of a run that another program made: whether they can stand together.

Knows sums and what cannot be more than what. What the program did not tell is not looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.check.findings import Kind
from engine.trace.imported import contradictions

if TYPE_CHECKING:
    from engine.check.findings import Ledger
    from engine.trace.events import RunStarted
    from engine.trace.imported import Imported


def check_imported(event: Imported, started: RunStarted, ledger: Ledger) -> None:
    """Check that counts do not contradict each other, and that the start does not know more."""
    found = contradictions(event)
    ledger.holds(Kind.STATISTICS, "imported counts", not found, len(found), "no contradiction")
    for what, recorded, follows in found:
        ledger.holds(Kind.STATISTICS, f"{what}, imported", False, recorded, follows)
    # What is named as missing must not be there all the same.
    for name, value in (("prompt", started.prompt), ("machine", started.machine)):
        if name in event.missing:
            ledger.equal(Kind.ORDER, f"{name}, named as missing", value, "")
    for name in ("drafted", "accepted", "rejected", "discarded", "emitted", "rounds", "drafts"):
        value = getattr(event, name)
        if name in event.missing:
            ledger.holds(Kind.ORDER, f"{name}, named as missing", value is None, value, "nothing")
