"""A target and its drafters, loaded with a line of progress before anything long runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.check.pair import load_drafters
from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.session import Session

if TYPE_CHECKING:
    import argparse

    from app.cli.progress import ProgressLine


def typed(text: str) -> str:
    """Return a prompt as it was typed; a DraftscopeError where the terminal gave no UTF-8."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise DraftscopeError("The prompt is not UTF-8 text: check the terminal's encoding.")
    return text


def load_pair(options: argparse.Namespace, line: ProgressLine) -> tuple[Session, tuple[str, ...]]:
    """Load what the options name; return a session and the drafters' names.

    Raises
    ------
    DraftscopeError
        For a name that is wrong.
    """
    try:
        target = load_model(options.target, device=options.device, plan=options.plan, progress=line)
        session = Session(target)
        return session, load_drafters(session, options.drafter, progress=line)
    finally:
        line.close()
