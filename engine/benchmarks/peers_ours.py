"""Our side of `peers`: a session's greedy runs, timed as the other side is, and the small model.

Where no small model of the target's vocabulary is named, one is cut from the target itself: its
first layers with its norm and its head, as a model of its own with its own cache. It is a poor
drafter, but the same one on both sides. Knows sessions and checkpoints; no other library.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from engine.benchmarks.peers_timing import Arrivals
from engine.benchmarks.peers_transformers import Weights
from engine.drafters.small import SmallModelDrafter
from engine.errors import DraftscopeError
from engine.models.layout import count_parameters
from engine.models.plans.choice import choose_plan
from engine.models.transformer import Transformer
from engine.request import Observation, RunRequest
from engine.session import raise_failure
from engine.trace.events import Round, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.benchmarks.peers_timing import Decoded
    from engine.loading import LoadedModel
    from engine.models.formats.weights import Checkpoint
    from engine.models.plans.protocol import Plan
    from engine.session import Session

    Progress = Callable[[int, int, str], None]


def decode(
    session: Session, prompt: str, drafter: str, k: int, limit: int, *, raw: bool = False
) -> Decoded:
    """Decode one text greedily, without observation, probes or a baseline; read it as it comes.

    Parameters
    ----------
    drafter
        As in `Settings.drafter`; "none" for plain rounds.
    k
        Tokens drafted a round.
    limit
        New tokens at most.

    Raises
    ------
    DraftscopeError
        For a request that cannot be run, and for a fault in the middle of one.
    """
    settings = Settings(drafter=drafter, k=0 if drafter == "none" else k, temperature=0.0)
    request = RunRequest(
        prompt=prompt,
        settings=settings,
        raw=raw,
        max_new_tokens=limit,
        probes=False,
        top_n=Observation.off,
    )
    arrivals = Arrivals()
    rounds_ns = 0
    event = None
    for event in session.run(request):
        if isinstance(event, Round):
            arrivals.put(list(event.emitted_ids))
            rounds_ns += event.times.round if event.index else 0
    raise_failure(event)
    return arrivals.decoded(rounds_ns)


def weights_of(checkpoint: Checkpoint, target: LoadedModel) -> Weights:
    """Return the target's weights as its plan keeps them."""
    model = target.transformer
    return Weights(checkpoint.config, model.vocabulary, checkpoint.tensor, model.plan)


def cut(weights: Weights, layers: int) -> Weights:
    """Return the first layers of a model, with its norm and its head, as a model.

    Raises
    ------
    DraftscopeError
        If that leaves nothing, or everything.
    """
    config = weights.config
    if not 1 <= layers < config.layers:
        raise DraftscopeError(
            f"A small model of {layers} layers cannot be cut from {config.layers}; choose 1 to "
            f"{config.layers - 1}."
        )
    windowed = tuple(index for index in config.windowed if index < layers)
    return replace(weights, config=replace(config, layers=layers, windowed=windowed))


def small_drafter(
    weights: Weights, target: LoadedModel, spec: str, progress: Progress | None = None
) -> SmallModelDrafter:
    """Make a drafter of our own from what `cut` returns, under the target's plan."""
    config, plan = weights.config, _own(weights.plan)

    def report(done: int, total: int) -> None:
        if progress is not None:
            progress(done, total, f"Loading {spec.removeprefix('model:')}")

    model = Transformer(
        config, weights.tensor, plan, vocabulary=weights.vocabulary, progress=report
    )
    info = structs.replace(
        target.info,
        name=spec.removeprefix("model:"),
        kind="model",
        parameters=count_parameters(config),
        layers=config.layers,
        notes=("It is cut from the target; it was trained for nothing of its own.",),
    )
    return SmallModelDrafter(model, info, spec, target.info.vocabulary)


def _own(plan: Plan) -> Plan:
    """Return another plan of the same kind: each learns from its own model."""
    return choose_plan(plan.name, plan.device, plan.dtype if plan.name == "eager" else None)
