"""`round-anatomy`: where the time of a round goes, by drafter, and where that of its pass goes.

Phases are the rounds' own times, from whole runs of the session, drafters in turn. Knows sessions,
rounds and limits; prints nothing.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from engine.benchmarks.figures import Spread, spread
from engine.benchmarks.header import Header, header, listed
from engine.benchmarks.host_reads import HostReads
from engine.benchmarks.limits import Limits, measure_limits
from engine.benchmarks.measuring import Progress, silent
from engine.benchmarks.pass_parts import PassParts, measure_parts
from engine.benchmarks.rounds import PROMPT, Timed, run_in_turn, timed_rounds
from engine.benchmarks.work import draft_bytes, work_of
from engine.check.pair import load_drafters
from engine.loading import load_model
from engine.request import RunRequest
from engine.session import Session
from engine.trace.events import Settings
from engine.trace.statistics import statistics

if TYPE_CHECKING:
    from collections.abc import Sequence

PHASES = ("draft", "verify", "accept", "commit", "observe")
_CONTEXT = 128  # positions cached before a pass is taken apart


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a round."""

    name: str
    time: Spread  # over rounds
    share: float  # of the summed wall time, in [0, 1]


class DrafterAnatomy(msgspec.Struct, frozen=True, kw_only=True):
    """Rounds of one drafter."""

    drafter: str
    k: int
    rounds: int
    drafted: float  # tokens a round
    emitted: float  # tokens a round
    wall: Spread  # a round as its consumer waits for it
    parts: tuple[Part, ...]  # the phases, and `python` between them; their shares sum to 1
    # Measured in a run of its own, waiting for the device first; a part of the phases above.
    reads: float  # of tensors by the host, a round
    transfer_ns: float  # of those reads alone, a round
    weights_ns: float  # reading every weight that the round needs once, at the machine's best rate
    over_weights: float  # wall median / weights_ns


class RoundAnatomy(msgspec.Struct, frozen=True, kw_only=True):
    """The report."""

    header: Header
    limits: Limits
    drafters: tuple[DrafterAnatomy, ...]
    passes: tuple[PassParts, ...]


def measure(
    *,
    target: str,
    drafter: Sequence[str],
    k: int = 4,
    temperature: float = 0.0,
    max_new_tokens: int = 48,
    repeats: int = 5,
    prompt: str | None = None,
    device: str | None = None,
    plan: str | None = None,
    progress: Progress = silent,
) -> RoundAnatomy:
    """Load what is named and take its rounds apart."""
    session = Session(load_model(target, device=device, plan=plan, progress=progress))
    names = load_drafters(session, [one for one in drafter if one != "none"], progress=progress)
    specs = [*(["none"] if "none" in drafter else []), *names]
    model = session.target.transformer
    about = header(
        "round-anatomy",
        target=session.target,
        settings={
            "drafters": listed(specs),
            "k": k,
            "temperature": temperature,
            "max_new_tokens": max_new_tokens,
            "repeats": repeats,
        },
    )
    limits = measure_limits(model.plan.device, progress=progress)
    requests = {
        spec: RunRequest(
            prompt=prompt or PROMPT,
            settings=Settings(drafter=spec, k=0 if spec == "none" else k, temperature=temperature),
            max_new_tokens=max_new_tokens,
            probes=False,
        )
        for spec in specs
    }
    runs = run_in_turn(session, requests, repeats, progress)
    rounds = {spec: list(chain.from_iterable(taken)) for spec, taken in runs.items()}
    found = tuple(_anatomy(session, requests[spec], rounds[spec], limits) for spec in specs)
    passes = measure_parts(
        model,
        limits,
        widths=sorted({1, 1 + k}),
        context=min(_CONTEXT, model.config.context_length - k - 1),
        repeats=3 * repeats,
        progress=progress,
    )
    return RoundAnatomy(header=about, limits=limits, drafters=found, passes=passes)


def parts_of(rounds: Sequence[Timed]) -> tuple[Part, ...]:
    """Split rounds into their phases and the Python between them."""
    samples = {name: [getattr(one.record.times, name) for one in rounds] for name in PHASES}
    samples["python"] = [one.between_ns for one in rounds]
    whole = sum(one.wall_ns for one in rounds)
    return tuple(
        Part(name=name, time=spread(taken), share=sum(taken) / whole)
        for name, taken in samples.items()
    )


def _anatomy(
    session: Session, request: RunRequest, rounds: Sequence[Timed], limits: Limits
) -> DrafterAnatomy:
    settings, model = request.settings, session.target.transformer
    figures = statistics([one.record for one in rounds])
    drafted = sum(len(one.record.drafted) for one in rounds) / len(rounds)
    with HostReads() as reads:
        watched = len(timed_rounds(session, request))
    own = draft_bytes(session.drafter(settings.drafter), model)
    read = work_of(model, 1, 0).weight_bytes + own * drafted
    least = 1e9 * read / limits.read_bytes_per_second
    wall = spread([one.wall_ns for one in rounds])
    return DrafterAnatomy(
        drafter=settings.drafter,
        k=settings.k,
        rounds=len(rounds),
        drafted=drafted,
        emitted=figures.emitted / len(rounds),
        wall=wall,
        parts=parts_of(rounds),
        reads=reads.count / watched,
        transfer_ns=reads.ns / watched,
        weights_ns=least,
        over_weights=wall.median_ns / least,
    )
