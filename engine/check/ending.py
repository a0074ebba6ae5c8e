"""Where a text must end, and what is said of it after its end: reason, baseline, comparison.

Knows limits and end tokens; no rule and no law. What a stop string does is known by its readings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.check.findings import Kind
from engine.trace.events import FinishReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.check.findings import Ledger
    from engine.check.record import Record
    from engine.check.text import TextReadings
    from engine.trace.events import Baseline, Comparison, Round, RunFinished

_BROKEN_OFF = (FinishReason.CANCELLED, FinishReason.ERROR)


def check_end_of_round(
    one: Round, record: Record, texts: TextReadings | None, ledger: Ledger
) -> None:
    """Check, before it is committed, that nothing in a round stands after an end of the text.

    `texts` have been read up to this round; None if they cannot be followed.
    """
    ids, before = one.emitted_ids, len(record.tokens)
    for count, token in enumerate(ids, start=1):
        reason = _reason(token, before + count, record)
        if reason is None:
            continue
        record.end = reason
        what = f"tokens emitted after {token}, which ends the text ({reason})"
        ledger.equal(Kind.ENDING, what, len(ids) - count, 0)
        break
    stops = bool(record.started.stop_strings)
    if record.end is None and stops:
        may_have = texts is None or texts.may_have_stopped
        must_have = texts is not None and texts.must_have_stopped
        if must_have or (may_have and one.closing is None):
            record.end = FinishReason.STOP_STRING
    if one.closing is None:
        true = record.end is not None
        ledger.holds(Kind.ENDING, "closing token", true, None, "one: nothing ended the text")


def _reason(token: int, position: int, record: Record) -> FinishReason | None:
    """Say why a text of `position` tokens ends with this one; stops are found by the text."""
    if token in record.started.end_tokens:
        return FinishReason.END_TOKEN
    if position < record.longest:
        return None
    limit = len(record.started.prompt_tokens) + record.started.max_new_tokens
    return FinishReason.LIMIT if position >= limit else FinishReason.CONTEXT


def check_finish(
    event: RunFinished, record: Record, texts: TextReadings | None, ledger: Ledger
) -> None:
    """Check the reason that a run gives for its end."""
    reason = event.reason
    if reason is FinishReason.STOP_STRING:
        may_have = bool(record.started.stop_strings) and (texts is None or texts.may_have_stopped)
        true = may_have and record.end is not FinishReason.END_TOKEN
        ledger.holds(Kind.ENDING, "reason", true, reason, record.end or "no stop string")
    elif record.end is not None:
        ledger.equal(Kind.ENDING, "reason", reason, record.end)
    else:
        true = reason in _BROKEN_OFF
        ledger.holds(Kind.ENDING, "reason", true, reason, "the text goes on")
    if reason is FinishReason.ERROR:
        ledger.holds(Kind.ENDING, "message", bool(event.message), "none", "what went wrong")


def check_baseline(baseline: Baseline, text: str | None, record: Record, ledger: Ledger) -> None:
    """Check the plain run's own end, and its text where its ids are the run's.

    `text` is the run's; None if it does not follow from the tokens.
    """
    ids, ends = baseline.token_ids, record.started.end_tokens
    ledger.holds(
        Kind.ENDING,
        "tokens of the baseline",
        len(ids) <= record.started.max_new_tokens,
        len(ids),
        f"at most {record.started.max_new_tokens}",
    )
    early = sum(token in ends for token in ids[:-1])
    ledger.equal(Kind.ENDING, "end tokens within the baseline", early, 0)
    if text is not None and baseline.complete and list(ids) == record.emitted:
        ledger.equal(Kind.TEXT, "text of the baseline", baseline.text, text)


def check_comparison(
    comparison: Comparison, baseline: Baseline | None, record: Record, ledger: Ledger
) -> None:
    """Check that a comparison says of two texts what they are."""
    kind = Kind.COMPARISON
    whole = baseline is not None and baseline.complete
    if not ledger.holds(kind, "comparison", whole, "one", "none without a whole baseline"):
        return
    assert baseline is not None
    if not ledger.holds(
        kind, "comparison", record.one_greedy_law, "one", "none: only one greedy law compares"
    ):
        return
    spoken, found = record.emitted, comparison.first_difference
    index = _first_difference(spoken, baseline.token_ids)
    ledger.equal(kind, "identical", comparison.identical, index is None)
    recorded = None if found is None else found.position
    if not ledger.equal(kind, "position of the first difference", recorded, index):
        return
    if found is None or index is None:
        return
    ids = [_at(spoken, index), _at(baseline.token_ids, index)]
    ledger.equal(kind, "id in the run", found.speculative_id, ids[0])
    ledger.equal(kind, "id in the baseline", found.plain_id, ids[1])
    if None in ids or found.speculative_logit is None or found.plain_logit is None:
        ledger.equal(kind, "kind of a difference without both logits", found.kind, "fault")


def _first_difference(one: Sequence[int], other: Sequence[int]) -> int | None:
    for index in range(max(len(one), len(other))):
        if _at(one, index) != _at(other, index):
            return index
    return None


def _at(ids: Sequence[int], index: int) -> int | None:
    return ids[index] if index < len(ids) else None
