"""Is greedy speculative text the plain target's? Every drafter, every k, every prompt, every law.

Knows sessions and comparisons; no command line and no file.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import msgspec

from engine.comparison import first_gap
from engine.request import RunRequest
from engine.sampling import Sampling
from engine.session import raise_failure
from engine.trace.events import Difference, Round, RunStarted, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.comparison import Gap
    from engine.session import Session

PROMPTS = (
    "Why is the sky blue?",
    "Write three short sentences about a lighthouse keeper.",
    "Repeat after me: the quick brown fox jumps over the lazy dog. "
    "The quick brown fox jumps over the lazy dog.",
)
DRAFTED = (1, 4, 8)  # values of k
PLAIN = Settings(drafter="none", k=0, temperature=0.0)
PENALISED = Settings(
    drafter="none",
    k=0,
    temperature=0.0,
    repetition_penalty=1.2,
    presence_penalty=0.3,
    frequency_penalty=0.3,
)
LAWS = (("plain", PLAIN), ("penalised", PENALISED))


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One speculative run against the plain run of the same prompt under the same law."""

    drafter: str
    k: int
    law: str  # a name of `LAWS`
    settings: Settings
    prompt: str
    tokens: int  # emitted by the speculative run
    rounds: int
    accepted: int
    identical: bool
    first_difference: Difference | None = None
    rounding: float | None = None  # how far apart passes of several widths round there, in logits


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The whole matrix. A tie is the kernels' doing; a fault is ours."""

    target: str
    plan: str
    cells: tuple[Cell, ...]
    identical: int
    ties: int
    faults: int


def check_greedy(
    session: Session,
    drafters: Sequence[str],
    *,
    drafted: Sequence[int] = DRAFTED,
    prompts: Sequence[str] = PROMPTS,
    laws: Sequence[tuple[str, Settings]] = LAWS[:1],
    max_new_tokens: int = 32,
    on_cell: Callable[[Cell], None] | None = None,
    on_progress: Callable[[int, int, str], None] | None = None,
) -> Report:
    """Run the matrix of prompts x laws x drafters x k; compare every text, token for token.

    Parameters
    ----------
    session
        Of the target; it makes the drafters.
    drafters
        As in `Settings.drafter`.
    drafted
        Values of k.
    laws
        Names, and greedy settings whose drafter and k are replaced. Those with penalties get a
        bias against the token that the prompt's plain text begins with, so that it tells too.
    max_new_tokens
        Where each text ends at the latest.
    on_cell, on_progress
        Called after each run; the latter with runs done, runs in all and what is run.
    """
    cells: list[Cell] = []
    total = len(prompts) * len(laws) * len(drafters) * len(drafted)
    model, pool = session.target.transformer, session.pool
    for prompt, (name, law) in product(prompts, laws):
        biased = _biased(session, prompt, law)
        started, plain = _run(session, prompt, biased, max_new_tokens)
        tokens = [piece.id for piece in started.prompt_tokens]
        for drafter, k in product(drafters, drafted):
            settings = msgspec.structs.replace(biased, drafter=drafter, k=k)
            _, rounds = _run(session, prompt, settings, max_new_tokens)
            sampling = Sampling.of(settings)
            gap = first_gap(model, pool, tokens, _ids(rounds), _ids(plain), sampling)
            cells.append(_cell(prompt, name, settings, rounds, gap))
            if on_cell is not None:
                on_cell(cells[-1])
            if on_progress is not None:
                on_progress(len(cells), total, "Comparing texts")
    kinds = [cell.first_difference.kind for cell in cells if cell.first_difference is not None]
    return Report(
        target=session.target.info.name,
        plan=session.target.info.plan,
        cells=tuple(cells),
        identical=sum(cell.identical for cell in cells),
        ties=kinds.count("tie"),
        faults=kinds.count("fault"),
    )


def _biased(session: Session, prompt: str, law: Settings) -> Settings:
    """Return a law with penalties with a bias too, against what the plain text begins with."""
    if not Sampling.of(law).remembers:
        return law
    _, first = _run(session, prompt, PLAIN, 1)
    return msgspec.structs.replace(law, logit_bias=((_ids(first)[0], -2.0),))


def _run(
    session: Session, prompt: str, settings: Settings, max_new_tokens: int
) -> tuple[RunStarted, list[Round]]:
    request = RunRequest(
        prompt=prompt, settings=settings, max_new_tokens=max_new_tokens, probes=False, top_n=0
    )
    events = list(session.run(request))
    raise_failure(events[-1])
    started = events[0]
    assert isinstance(started, RunStarted)
    return started, [event for event in events if isinstance(event, Round)]


def _ids(rounds: list[Round]) -> list[int]:
    return [token for one in rounds for token in one.emitted_ids]


def _cell(prompt: str, law: str, settings: Settings, rounds: list[Round], gap: Gap | None) -> Cell:
    return Cell(
        drafter=settings.drafter,
        k=settings.k,
        law=law,
        settings=settings,
        prompt=prompt,
        tokens=sum(one.emitted for one in rounds),
        rounds=len(rounds),
        accepted=sum(one.accepted for one in rounds),
        identical=gap is None,
        first_difference=None if gap is None else gap.difference,
        rounding=None if gap is None else gap.rounding,
    )
