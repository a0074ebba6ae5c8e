"""Draftscope's engine: exact, fast speculative decoding, without a window.

Five lines from a prompt to rounds::

    import engine
    target = engine.load_model("smollm2-135m")
    drafter = engine.make_drafter("ngram", target)
    for round in engine.generate(target, drafter, "Why is the sky blue?", k=4):
        print("".join(round.texts), end="")

Names are imported when they are first used, so that `engine.trace` loads without torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.control import Control
    from engine.errors import DraftscopeError
    from engine.loading import LoadedModel, LoadingCancelled, load_model, make_drafter
    from engine.request import RunRequest
    from engine.session import Session, generate
    from engine.trace.events import Round, Settings

_HOME = {
    "Control": "engine.control",
    "DraftscopeError": "engine.errors",
    "LoadedModel": "engine.loading",
    "LoadingCancelled": "engine.loading",
    "Round": "engine.trace.events",
    "RunRequest": "engine.request",
    "Session": "engine.session",
    "Settings": "engine.trace.events",
    "generate": "engine.session",
    "load_model": "engine.loading",
    "make_drafter": "engine.loading",
}

__all__ = [
    "Control",
    "DraftscopeError",
    "LoadedModel",
    "LoadingCancelled",
    "Round",
    "RunRequest",
    "Session",
    "Settings",
    "generate",
    "load_model",
    "make_drafter",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
