"""How panels name a token to one another. Knows no event and no Qt."""

from __future__ import annotations

from typing import NamedTuple

PROMPT_ROUND = -1
CLOSING_SLOT = -1


class TokenRef(NamedTuple):
    """A token of a session, by its place.

    Attributes
    ----------
    round
        Index of its round; `PROMPT_ROUND` for a token of the prompt.
    slot
        Index among the drafted tokens, `CLOSING_SLOT` for the token that closes the round; for the
        prompt, the index among the prompt's tokens.
    """

    round: int
    slot: int

    @property
    def in_prompt(self) -> bool:
        """Whether the token belongs to the prompt."""
        return self.round == PROMPT_ROUND

    @property
    def is_closing(self) -> bool:
        """Whether the token is the closing token of its round."""
        return self.round != PROMPT_ROUND and self.slot == CLOSING_SLOT
