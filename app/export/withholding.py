"""Taking out of a trace what is nobody else's business: the prompt's text, the machine's name.

Knows which events hold them. What was taken out is named in the run's first event, so that no
export shows it as missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.trace.events import RunStarted, SettingsChanged, TokenPiece

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from engine.trace.events import Event, ModelInfo

PROMPT, MACHINE = "prompt", "machine"
_BLANK = TokenPiece(id=0, piece="·".encode())  # how many tokens there were stays true


def without(event: Event, withheld: AbstractSet[str]) -> Event:
    """Return an event without what is withheld.

    Parameters
    ----------
    withheld
        "prompt": its text and its tokens, of which only the number stays. What the text copied of
        it stays where it was copied. "machine": the processor or GPU, threads and versions.
    """
    if isinstance(event, RunStarted) and withheld:
        changes: dict[str, object] = {
            "withheld": tuple(sorted(withheld | frozenset(event.withheld)))
        }
        if PROMPT in withheld:
            changes |= {"prompt": "", "prompt_tokens": (_BLANK,) * len(event.prompt_tokens)}
        if MACHINE in withheld:
            changes |= {
                "machine": "",
                "target": _unplaced(event.target),
                "drafter": None if event.drafter is None else _unplaced(event.drafter),
            }
        return msgspec.structs.replace(event, **changes)
    if isinstance(event, SettingsChanged) and MACHINE in withheld and event.drafter is not None:
        return msgspec.structs.replace(event, drafter=_unplaced(event.drafter))
    return event


def _unplaced(model: ModelInfo) -> ModelInfo:
    return msgspec.structs.replace(model, device="")
