"""The numbers of one token's case, each with how it was obtained. Knows no widget and no bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from app.viewmodels.numbers import probability
from engine.trace.events import ClosingKind, ClosingToken, DraftedToken, Fate

if TYPE_CHECKING:
    from engine.trace.events import Laws


class Reading(NamedTuple):
    """A number with its name, how it was obtained and what it divides by or sums over."""

    name: str
    value: str
    how: Literal["measured", "derived"]
    meaning: str


_FROM = {
    ClosingKind.CORRECTION: "the residual",
    ClosingKind.BONUS: "p_target",
    ClosingKind.PLAIN: "p_target",
}


def readings(
    token: DraftedToken | ClosingToken, *, judged: bool, greedy: bool
) -> tuple[Reading, ...]:
    """Return a token's numbers, as far as they are known at its phase."""
    if isinstance(token, DraftedToken):
        own = _drafted(token, judged=judged, greedy=greedy)
    else:
        own = _closing(token, greedy=greedy)
    return (*own, *(_of_laws(token.laws, judged=judged) if token.laws is not None else ()))


def _drafted(token: DraftedToken, *, judged: bool, greedy: bool) -> list[Reading]:
    found = [
        Reading(
            "q_draft",
            probability(token.q_draft),
            "measured",
            "Probability of this token in the drafter's law, the one it was drawn from.",
        )
    ]
    if not judged:
        return found
    if token.p_target is not None:
        found.insert(
            0,
            Reading(
                "p_target",
                probability(token.p_target),
                "measured",
                "Probability of this token in the target's law after temperature, top-k and top-p, "
                "from the round's one pass.",
            ),
        )
    if token.fate in (Fate.ACCEPTED, Fate.REJECTED) and not greedy:
        if token.acceptance_probability is not None:
            found.append(
                Reading(
                    "threshold",
                    probability(token.acceptance_probability),
                    "derived",
                    "min(1, p_target / q_draft): the chance that this token is kept.",
                )
            )
        if token.u is not None:
            found.append(
                Reading(
                    "u",
                    probability(token.u),
                    "measured",
                    "The uniform on [0, 1) of this test; a function of seed and position.",
                )
            )
    return found


def _closing(token: ClosingToken, *, greedy: bool) -> list[Reading]:
    found = [
        Reading(
            "probability",
            probability(token.probability),
            "measured",
            f"Probability of this token in {_FROM[token.kind]}, the law it was drawn from.",
        )
    ]
    if token.u is not None and not greedy:
        found.append(
            Reading(
                "u",
                probability(token.u),
                "measured",
                "The uniform on [0, 1) of this draw: the token at which the cumulative law, in "
                "order of token ids, passes it.",
            )
        )
    return found


def _of_laws(laws: Laws, *, judged: bool) -> list[Reading]:
    found = []
    if judged and laws.overlap is not None:
        found.append(
            Reading(
                "overlap",
                probability(laws.overlap),
                "derived",
                "Sum of min(p_target, q_draft) over the whole vocabulary: the chance that a token "
                "drafted here is kept.",
            )
        )
    if judged:
        found.append(
            Reading(
                "entropy of p_target",
                f"{laws.entropy_target:.2f} nats",
                "derived",
                "Of the processed law, over the whole vocabulary; "
                f"the raw law's is {laws.entropy_raw:.2f} nats.",
            )
        )
    if laws.q_draft:
        found.append(
            Reading(
                "entropy of q_draft",
                f"{laws.entropy_draft:.2f} nats",
                "derived",
                "Of the drafter's law, over the whole vocabulary.",
            )
        )
    return found
