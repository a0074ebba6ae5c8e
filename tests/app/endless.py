"""A run that goes on until somebody ends it, in the whole program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.viewmodels.prompt import PromptState
from tests.app.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from app.compose import Program


def begin_without_end(program: Program, model: Path) -> None:
    """Begin to decode with a look-up, as it comes, and return once there are a few rounds."""
    state = PromptState(
        prompt="a b c a b c",
        raw=True,
        target=str(model),
        drafter="ngram",
        temperature=0.0,
        limit=100_000,
    )
    program.deeds.set_speed(None)
    program.desk.run(state.target, state.request)
    wait_until(lambda: len(program.desk.document.rounds) > 3)
