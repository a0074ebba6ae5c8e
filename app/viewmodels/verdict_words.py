"""Every verdict in words, with the rule and the numbers that decided it.

Leviathan et al. 2023, Alg. 1: a drafted token is kept while u < min(1, p_target / q_draft), with u
uniform on [0, 1). Greedy: while it is the target's argmax. Knows no widget and no bar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.viewmodels.numbers import count, probability, quoted
from engine.trace.events import ClosingKind, ClosingToken, DraftedToken, Fate

if TYPE_CHECKING:
    from engine.trace.events import Round

THRESHOLD = "min(1, p_target / q_draft)"


def drafted_words(one: Round, slot: int, *, greedy: bool) -> str:
    """Say why a drafted token was kept or not; `greedy` is the target's."""
    token = one.drafted[slot]
    match token.fate:
        case Fate.DISCARDED:
            return (
                f"Never tested: {_rejected(one)} before it in this round was rejected, so what "
                "was drafted after that is discarded."
            )
        case Fate.CUT:
            return (
                "Never tested: the text ended before it, at a stop or the limit. It is neither "
                "rejected nor discarded and counts in no figure."
            )
        case Fate.ACCEPTED:
            if greedy or token.u is None:
                return "Kept because it is the target's argmax (greedy; the lowest id wins a tie)."
            return f"Kept because u = {_compared(token, '<')}."
        case Fate.REJECTED:
            if greedy or token.u is None:
                better = f", {quoted(one.closing.piece)} is" if one.closing is not None else ""
                return f"Rejected because it is not the target's argmax{better} (greedy)."
            return f"Rejected because u = {_compared(token, '≥')}."


def closing_words(one: Round, *, greedy: bool, short: str = "") -> str:
    """Say where the closing token came from.

    Parameters
    ----------
    greedy
        Whether the target takes its argmax.
    short
        Why fewer than k tokens were drafted, as `draft_ends.why_short` says it.
    """
    token = one.closing
    if token is None:
        return "No closing token: a stop or the limit ended the text inside this round's draft."
    drawn = "It is the target's argmax" if greedy else f"Drawn{_with_u(token)} from p_target"
    match token.kind:
        case ClosingKind.CORRECTION:
            if greedy:
                return f"It is the target's argmax, in place of the rejected {_rejected(one)}."
            return (
                f"Drawn{_with_u(token)} from the residual max(0, p_target − q_draft), "
                f"renormalised, after {_rejected(one)} was rejected."
            )
        case ClosingKind.BONUS:
            every = (
                "the drafted token was"
                if len(one.drafted) == 1
                else (f"all {len(one.drafted)} drafted tokens were")
            )
            return f"{drawn}: {every} accepted, and the same pass scored one position more."
        case ClosingKind.PLAIN:
            return f"{drawn}: {_nothing(one, short)}, so it is neither bonus nor correction."


def _nothing(one: Round, short: str) -> str:
    """Say why a plain round has no draft."""
    if one.k == 0:
        return "k is 0 in this round"
    return f"nothing was drafted, since {short}" if short else "nothing was drafted in this round"


def one_hot_words(one: Round, token: DraftedToken, *, greedy: bool) -> str:
    """Say why `q_draft` has all its mass on one token, or "" if it has not.

    `greedy` is the drafter's: its temperature need not be the target's.
    """
    if token.q_draft < 1.0:
        return ""
    if one.match is not None:
        return (
            "q_draft is one-hot: the n-gram look-up copies, it draws nothing. It found the last "
            f"{count(one.match.length, 'token')} earlier in the text and copied what followed "
            f"(from token {one.match.start + 1}). So the threshold is p_target itself."
        )
    if greedy:
        tested = " So the threshold is p_target itself." if token.u is not None else ""
        return f"q_draft is one-hot: at temperature 0 the drafter takes its own argmax.{tested}"
    return "q_draft is one-hot here: the threshold is p_target itself."


def threshold_words(token: DraftedToken) -> str:
    """Say what a threshold at its end means for a token that was tested, else ""."""
    if token.u is None or token.fate not in (Fate.ACCEPTED, Fate.REJECTED):
        return ""
    if token.acceptance_probability == 1.0:
        return "The ratio p_target / q_draft is not below 1 here, so every u on [0, 1) is under it."
    if token.acceptance_probability == 0.0:
        return "p_target is 0 here, so no u is below the threshold."
    return ""


def _compared(token: DraftedToken, sign: str) -> str:
    """Write u against the threshold with digits enough to tell them apart."""
    u, threshold = token.u or 0.0, token.acceptance_probability or 0.0
    left, right = probability(u), probability(threshold)
    digits = 4
    while left == right and u != threshold:
        left, right = f"{u:.{digits}g}", f"{threshold:.{digits}g}"
        digits += 1
    return f"{left} {sign} {THRESHOLD} = {right}"


def _with_u(token: ClosingToken) -> str:
    return "" if token.u is None else f" with u = {probability(token.u)}"


def _rejected(one: Round) -> str:
    for token in one.drafted:
        if token.fate is Fate.REJECTED:
            return quoted(token.piece)
    return "a token"
