"""Draftscope's engine: exact, fast speculative decoding, without a window.

Five lines from a prompt to rounds::

    import engine
    target = engine.load_model("smollm2-135m")
    drafter = engine.make_drafter("ngram", target)
    for round in engine.generate(target, drafter, "Why is the sky blue?", k=4):
        print("".join(round.texts), end="")

ENGINE.md has an example for each name below. Names are imported when they are first used, so that
`engine.trace` loads without torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.acceptance import Verdict, accept, accept_greedy, residual_law
    from engine.check.greedy import check_greedy
    from engine.check.law import check_law
    from engine.check.trace import check_trace
    from engine.control import Control
    from engine.drafters.protocol import Context, Drafter, DraftRequest, Proposal
    from engine.errors import DraftscopeError
    from engine.loading import LoadedModel, LoadingCancelled, load_model, make_drafter
    from engine.request import Observation, RunRequest
    from engine.sampling import Sampling, draw, probabilities
    from engine.session import Session, generate
    from engine.trace.events import Event, Fate, ModelInfo, Round, Settings
    from engine.trace.figures import Figures
    from engine.trace.journal import Journal
    from engine.trace.reader import TraceReader, read_trace
    from engine.trace.statistics import statistics
    from engine.trace.text import text_of
    from engine.uniforms import Purpose, uniform

_HOME = {
    "Context": "engine.drafters.protocol",
    "Control": "engine.control",
    "DraftRequest": "engine.drafters.protocol",
    "Drafter": "engine.drafters.protocol",
    "DraftscopeError": "engine.errors",
    "Event": "engine.trace.events",
    "Fate": "engine.trace.events",
    "Figures": "engine.trace.figures",
    "Journal": "engine.trace.journal",
    "LoadedModel": "engine.loading",
    "LoadingCancelled": "engine.loading",
    "ModelInfo": "engine.trace.events",
    "Observation": "engine.request",
    "Proposal": "engine.drafters.protocol",
    "Purpose": "engine.uniforms",
    "Round": "engine.trace.events",
    "RunRequest": "engine.request",
    "Sampling": "engine.sampling",
    "Session": "engine.session",
    "Settings": "engine.trace.events",
    "TraceReader": "engine.trace.reader",
    "Verdict": "engine.acceptance",
    "accept": "engine.acceptance",
    "accept_greedy": "engine.acceptance",
    "check_greedy": "engine.check.greedy",
    "check_law": "engine.check.law",
    "check_trace": "engine.check.trace",
    "draw": "engine.sampling",
    "generate": "engine.session",
    "load_model": "engine.loading",
    "make_drafter": "engine.loading",
    "probabilities": "engine.sampling",
    "read_trace": "engine.trace.reader",
    "residual_law": "engine.acceptance",
    "statistics": "engine.trace.statistics",
    "text_of": "engine.trace.text",
    "uniform": "engine.uniforms",
}

__all__ = [
    "Context",
    "Control",
    "DraftRequest",
    "Drafter",
    "DraftscopeError",
    "Event",
    "Fate",
    "Figures",
    "Journal",
    "LoadedModel",
    "LoadingCancelled",
    "ModelInfo",
    "Observation",
    "Proposal",
    "Purpose",
    "Round",
    "RunRequest",
    "Sampling",
    "Session",
    "Settings",
    "TraceReader",
    "Verdict",
    "accept",
    "accept_greedy",
    "check_greedy",
    "check_law",
    "check_trace",
    "draw",
    "generate",
    "load_model",
    "make_drafter",
    "probabilities",
    "read_trace",
    "residual_law",
    "statistics",
    "text_of",
    "uniform",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
