"""From what another program counted to the figures that follow from it. Knows no program.

What the program did not tell stays None: draft yield is no acceptance, and an interval of a log no
time of decoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.trace.figures import ImportedFigures, PositionFigures, ratio

if TYPE_CHECKING:
    from engine.trace.imported import Imported


def imported_figures(event: Imported) -> ImportedFigures:
    """Return what follows from these counts."""
    drafts, accepted = event.drafts, event.accepted
    per_draft = None if drafts is None or accepted is None else accepted + drafts
    rate = event.tokens_per_second
    if rate is None and event.emitted is not None:
        rate = ratio(1e9 * event.emitted, event.decode_ns)
    ns_per_token = ratio(event.decode_ns, event.emitted)
    return ImportedFigures(
        program=event.program,
        rounds=event.rounds,
        drafts=drafts,
        drafted=event.drafted,
        tested=event.tested,
        accepted=accepted,
        rejected=event.rejected,
        discarded=event.discarded,
        emitted=event.emitted,
        prompt_tokens=event.prompt_tokens,
        decode_ns=event.decode_ns,
        prefill_ns=event.prefill_ns,
        first_token_ns=event.first_token_ns,
        acceptance=ratio(accepted, event.tested),
        draft_yield=ratio(accepted, event.drafted),
        tokens_per_pass=ratio(event.emitted, event.rounds),
        tokens_per_draft=ratio(per_draft, drafts),
        tokens_per_second=rate,
        stated_rate=event.tokens_per_second is not None,
        ms_per_token=None if ns_per_token is None else ns_per_token / 1e6,
        positions=_positions(event),
        accepted_lengths=event.accepted_lengths,
        stated=event.stated,
        missing=event.missing,
    )


def _positions(event: Imported) -> tuple[PositionFigures, ...]:
    if not event.tested_by_position:
        return ()
    # At least those that were tested were drafted there: more, no program tells.
    return tuple(
        PositionFigures(
            drafted=tested, tested=tested, accepted=kept, acceptance=ratio(kept, tested)
        )
        for tested, kept in zip(event.tested_by_position, event.accepted_by_position, strict=True)
    )
