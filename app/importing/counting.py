"""Which counts follow exactly from those that a program told. Knows the rule; no program.

A round with a draft ends in one rejection unless all of the draft was accepted, so a program that
tells each round, or drafts of one length by position, has told which tokens were tested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def of_one_length(
    drafts: int, drafted: int, accepted_by_position: Sequence[int]
) -> dict[str, object]:
    """Return what follows where every draft had as many tokens as there are positions.

    Parameters
    ----------
    drafts
        Rounds with a draft.
    accepted_by_position
        [i] = rounds in which the token at position i was accepted.

    Returns
    -------
    dict
        Fields of `Imported`; empty where drafts were shorter: the token that was tested last is
        not known then.
    """
    k, kept = len(accepted_by_position), list(accepted_by_position)
    if not k or not drafts or drafted != drafts * k:
        return {}
    reached = [drafts, *kept]  # [i] = rounds in which all before position i were accepted
    accepted, rejected = sum(kept), drafts - kept[-1]
    lengths = [reached[i] - reached[i + 1] for i in range(k)] + [kept[-1]]
    return {
        "rejected": rejected,
        "discarded": drafted - accepted - rejected,
        "tested_by_position": tuple(reached[:k]),
        "accepted_lengths": tuple(lengths),
    }


def of_rounds(rounds: Sequence[tuple[int, int, int]]) -> dict[str, object]:
    """Return what follows from each round's drafted, accepted and cut tokens.

    Returns
    -------
    dict
        Fields of `Imported`.
    """
    most = max((drafted - cut for drafted, _, cut in rounds), default=0)
    tested, kept = [0] * most, [0] * most
    lengths = [0] * (most + 1)
    rejected = discarded = 0
    for drafted, accepted, cut in rounds:
        counted = drafted - cut
        refused = accepted < counted
        rejected += refused
        discarded += counted - accepted - refused
        for place in range(accepted + refused):
            tested[place] += 1
            kept[place] += place < accepted
        if drafted and not cut:
            lengths[accepted] += 1
    return {
        "rounds": len(rounds),
        "drafts": sum(drafted > cut for drafted, _, cut in rounds),
        "drafted": sum(drafted - cut for drafted, _, cut in rounds),
        "accepted": sum(accepted for _, accepted, _ in rounds),
        "rejected": rejected,
        "discarded": discarded,
        "tested_by_position": tuple(tested),
        "accepted_by_position": tuple(kept),
        "accepted_lengths": tuple(lengths) if any(lengths) else (),
    }
