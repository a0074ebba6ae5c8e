"""`articles`: the experiment of the articles behind this project, on a target of one's own.

Beginnings gone on with by every drafter at every k, and prompts of several kinds, each beside the
plain target; what a cost model predicts, beside what was measured; and the models alone. Knows what
is measured; `articles_work` runs it, `articles_rows` makes the figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.benchmarks.articles_alone import Alone  # noqa: TC001  reports are read back by it
from engine.benchmarks.articles_best import Best, best_of
from engine.benchmarks.articles_model import CostModel  # noqa: TC001  likewise read back
from engine.benchmarks.articles_rows import Cell, Row
from engine.benchmarks.articles_texts import begin_texts, kind_texts
from engine.benchmarks.articles_work import Work
from engine.benchmarks.header import Header, header, listed
from engine.benchmarks.measuring import Progress, silent
from engine.drafters.names import EARLY, LOOKUP_FIRST, usual_exit
from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.drafters.protocol import Drafter

USUAL = ("small-2", "small-4", "head", "ngram+head")  # what comes with Draftscope


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything measured in one call."""

    header: Header
    rows: tuple[Row, ...]  # on the beginnings
    best: tuple[Best, ...]
    models: tuple[CostModel, ...]  # behind the predictions by position
    kinds: tuple[Row, ...]  # each drafter at its best, by kind of prompt
    alone: tuple[Alone, ...]
    left_out: tuple[str, ...]  # drafters that are not here, and why


def measure(
    *,
    target: str,
    drafter: Sequence[str] | None = None,
    k: Sequence[int],
    temperature: Sequence[float] = (0.0, 1.0),
    confidence: Sequence[float] = (),
    tokens: int = 200,
    beginnings: int = 8,
    prompts: int = 6,
    repeats: int = 1,
    device: str | None = None,
    plan: str | None = None,
    progress: Progress = silent,
) -> Report:
    """Load what is named, and measure it.

    Parameters
    ----------
    drafter
        None: the look-up, early exit, the trained ones and the head behind a look-up, as far as
        they are there.
    confidence
        At which drafts of the largest k stop; none for a look-up.
    beginnings, prompts
        How many: in all, and of each kind. Without beginnings every k is tried on the kinds.

    Raises
    ------
    DraftscopeError
        If a drafter that was asked for is not there.
    """
    session = Session(load_model(target, device=device, plan=plan, progress=progress))
    names, left_out = choose_drafters(session, drafter, progress)
    counts = {"tokens": tokens, "beginnings": beginnings, "prompts": prompts, "repeats": repeats}
    lists = {"drafters": names, "k": k, "temperatures": temperature, "stops": confidence}
    settings = {name: listed(values) for name, values in lists.items()}
    about = header("articles", target=session.target, settings={**settings, **counts})
    cells = [cell for name in names for cell in ways(session, name, k, temperature, confidence)]
    begun, asked = begin_texts(session.target.tokenizer, beginnings), kind_texts(prompts)
    work = Work(session.target, tokens, repeats, progress)
    rows, models = work.sweep(cells, begun)
    chosen = best_of(rows)
    kinds, more = work.kinds([one.cell for one in chosen] or cells, asked)
    return Report(
        header=about,
        rows=rows,
        best=chosen,
        models=(*models, *more),
        kinds=kinds,
        alone=work.alone(by_themselves(session, names), chosen, begun),
        left_out=left_out,
    )


def choose_drafters(
    session: Session, specs: Sequence[str] | None, progress: Progress = silent
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the drafters' names, and a line for each of the usual ones that is not there.

    Raises
    ------
    DraftscopeError
        If one that was asked for is not there.
    """
    if specs is not None:
        for spec in specs:
            session.drafter(spec, progress=progress)
        return tuple(dict.fromkeys(specs)), ()
    layers = session.target.info.layers
    early = (f"{EARLY}{usual_exit(layers)}",) if layers > 1 else ()
    names, left_out = [], []
    for spec in ("ngram", *early, *USUAL):
        try:
            session.drafter(spec, progress=progress)
        except DraftscopeError as reason:
            left_out.append(f"{spec}: {reason}")
        else:
            names.append(spec)
    return tuple(names), tuple(left_out)


def lawful(session: Session, names: Sequence[str]) -> dict[str, Drafter]:
    """Return the drafters that draw from a law, by name: a look-up copies."""
    made = ((name, session.drafter(name)) for name in names)
    return {name: one for name, one in made if one is not None and one.info.kind != "ngram"}


def by_themselves(session: Session, names: Sequence[str]) -> dict[str, Drafter]:
    """Return the drafters that are models of their own: not those behind a look-up."""
    found = lawful(session, names)
    return {name: one for name, one in found.items() if not name.startswith(LOOKUP_FIRST)}


def ways(
    session: Session,
    name: str,
    drafted: Sequence[int],
    temperatures: Sequence[float],
    confidence: Sequence[float],
) -> tuple[Cell, ...]:
    """Return what is measured of a drafter: each k, and the largest with each stop."""
    stops = confidence if lawful(session, [name]) else ()
    found: list[Cell] = []
    for heat in dict.fromkeys(temperatures):
        found += [Cell(name, k, heat) for k in dict.fromkeys(drafted)]
        found += [Cell(name, max(drafted), heat, stop) for stop in dict.fromkeys(stops)]
    return tuple(found)
