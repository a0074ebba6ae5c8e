"""The numbers of one token's case, each with how it was obtained. Knows no widget and no bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.viewmodels.numbers import probability
from app.viewmodels.readings import DASH, How, Reading
from engine.trace.events import ClosingKind, ClosingToken, DraftedToken, Fate

if TYPE_CHECKING:
    from engine.trace.events import Laws

_FROM = {
    ClosingKind.CORRECTION: "the residual",
    ClosingKind.BONUS: "p_target",
    ClosingKind.PLAIN: "p_target",
}


def readings(
    token: DraftedToken | ClosingToken, *, judged: bool, greedy: bool, target_law: str
) -> tuple[Reading, ...]:
    """Return a token's numbers, as far as they are known at its phase.

    Parameters
    ----------
    judged
        Whether its verdict has fallen in the picture.
    greedy
        Whether the target takes its argmax.
    target_law
        What p_target went through, as `settings_words.law_words` says it.
    """
    if isinstance(token, DraftedToken):
        own = _drafted(token, judged=judged, greedy=greedy, target_law=target_law)
    else:
        own = _closing(token, greedy=greedy, target_law=target_law)
    return (*own, *(_of_laws(token.laws, judged=judged) if token.laws is not None else ()))


def _reading(
    name: str, value: float | None, how: How, detail: str, definition: str, unit: str = ""
) -> Reading:
    text = DASH if value is None else f"{value:.2f}" if unit else probability(value)
    return Reading(name, text, unit, how, detail, definition)


def _drafted(token: DraftedToken, *, judged: bool, greedy: bool, target_law: str) -> list[Reading]:
    found = [
        _reading(
            "p_target",
            token.p_target if judged else None,
            How.MEASURED,
            "of this token" if judged else "known after the pass",
            f"Probability of this token in the target's law {target_law}, from the round's one "
            "pass.",
        ),
        _reading(
            "q_draft",
            token.q_draft,
            How.MEASURED,
            "of this token",
            "Probability of this token in the drafter's law, the one it was drawn from.",
        ),
    ]
    if judged and token.fate in (Fate.ACCEPTED, Fate.REJECTED) and not greedy:
        found.append(
            _reading(
                "threshold",
                token.acceptance_probability,
                How.DERIVED,
                "p_target / q_draft, at most 1",
                "min(1, p_target / q_draft): the chance that this token is kept.",
            )
        )
        found.append(
            _reading(
                "u",
                token.u,
                How.MEASURED,
                "uniform on [0, 1)",
                "The uniform of this test; a function of seed, position and purpose.",
            )
        )
    return found


def _closing(token: ClosingToken, *, greedy: bool, target_law: str) -> list[Reading]:
    law = _FROM[token.kind]
    through = f" {target_law}" if law == "p_target" else ""
    found = [
        _reading(
            "probability",
            token.probability,
            How.MEASURED,
            f"of this token in {law}",
            f"Probability of this token in {law}{through}, the law it was drawn from.",
        )
    ]
    if token.u is not None and not greedy:
        found.append(
            _reading(
                "u",
                token.u,
                How.MEASURED,
                "uniform on [0, 1)",
                "The uniform of this draw: it picks the token at which the cumulative sum of "
                f"{law}, in the order of token ids, passes it.",
            )
        )
    return found


def _of_laws(laws: Laws, *, judged: bool) -> list[Reading]:
    found = []
    if judged and laws.overlap is not None:
        found.append(
            _reading(
                "overlap",
                laws.overlap,
                How.DERIVED,
                "sum of min(p_target, q_draft)",
                "Summed over the whole vocabulary: the chance that a token drafted here is kept.",
            )
        )
    if judged:
        found.append(
            _reading(
                "entropy, target",
                laws.entropy_target,
                How.DERIVED,
                "of p_target",
                "Of the processed law, over the whole vocabulary. "
                f"The raw law's is {laws.entropy_raw:.2f} nats.",
                "nats",
            )
        )
    if laws.q_draft:
        found.append(
            _reading(
                "entropy, draft",
                laws.entropy_draft,
                How.DERIVED,
                "of q_draft",
                "Of the drafter's law, over the whole vocabulary.",
                "nats",
            )
        )
    return found
