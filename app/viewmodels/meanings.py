"""What each fate means, in one sentence: the glossary's, for legend, tooltips and the court."""

from __future__ import annotations

MEANINGS: dict[str, str] = {
    "prompt": "Given, not generated.",
    "pending": "Drafted, not tested yet.",
    "accepted": "A drafted token that was kept: u < min(1, p_target / q_draft), "
    "or greedy the target's argmax.",
    "rejected": "The first drafted token of its round that was not kept.",
    "discarded": "Drafted after the rejected one: never tested.",
    "cut": "Drafted past a stop or the limit: neither tested nor discarded, and in no figure.",
    "correction": "Drawn from the residual after a rejection.",
    "bonus": "Drawn from the target after every drafted token was accepted.",
    "plain": "The token of a round with no draft.",
}
