"""Is greedy speculative text the plain target's? Every drafter, every k, every prompt.

Knows sessions and comparisons; no command line and no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.comparison import compare
from engine.request import RunRequest
from engine.session import raise_failure
from engine.trace.events import Comparison, Difference, Round, RunStarted, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.session import Session

PROMPTS = (
    "Why is the sky blue?",
    "Write three short sentences about a lighthouse keeper.",
    "Repeat after me: the quick brown fox jumps over the lazy dog. "
    "The quick brown fox jumps over the lazy dog.",
)
DRAFTED = (1, 4, 8)  # values of k


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One speculative run against the plain run of the same prompt."""

    drafter: str
    k: int
    prompt: str
    tokens: int  # emitted by the speculative run
    rounds: int
    accepted: int
    identical: bool
    first_difference: Difference | None = None


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
    max_new_tokens: int = 32,
    on_cell: Callable[[Cell], None] | None = None,
) -> Report:
    """Run the matrix of drafters x k x prompts and compare every text, token for token.

    Parameters
    ----------
    session
        Of the target; it makes the drafters.
    drafters
        As in `Settings.drafter`.
    drafted
        Values of k.
    on_cell
        Called after each run.
    """
    cells: list[Cell] = []
    for prompt in prompts:
        started, plain = _run(
            session, prompt, Settings(drafter="none", k=0, temperature=0.0), max_new_tokens
        )
        plain_ids = _ids(plain)
        tokens = [piece.id for piece in started.prompt_tokens]
        for drafter in drafters:
            for k in drafted:
                settings = Settings(drafter=drafter, k=k, temperature=0.0)
                started, rounds = _run(session, prompt, settings, max_new_tokens)
                verdict = compare(
                    session.target.transformer,
                    session.pool,
                    tokens,
                    _ids(rounds),
                    plain_ids,
                    started.run,
                )
                cell = _cell(prompt, settings, rounds, verdict)
                cells.append(cell)
                if on_cell is not None:
                    on_cell(cell)
    kinds = [cell.first_difference.kind for cell in cells if cell.first_difference is not None]
    return Report(
        target=session.target.info.name,
        plan=session.target.info.plan,
        cells=tuple(cells),
        identical=sum(cell.identical for cell in cells),
        ties=kinds.count("tie"),
        faults=kinds.count("fault"),
    )


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


def _cell(prompt: str, settings: Settings, rounds: list[Round], verdict: Comparison) -> Cell:
    return Cell(
        drafter=settings.drafter,
        k=settings.k,
        prompt=prompt,
        tokens=sum(one.emitted for one in rounds),
        rounds=len(rounds),
        accepted=sum(one.accepted for one in rounds),
        identical=verdict.identical,
        first_difference=verdict.first_difference,
    )
