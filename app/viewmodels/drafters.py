"""Which drafters can be chosen, each with its size, cost and acceptance, in words.

Knows what a file says of its drafter, as plain values. Knows no file, no Qt and no torch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.viewmodels.prompt import drafter_label, early_layers
from engine.drafters.names import EARLY, HEAD, LOOKUP_FIRST, MODEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.viewmodels.document import Document
    from app.viewmodels.models import ModelChoice

OTHER_TARGET = "made for another target"
_UNTRAINED = {
    "none": "every round is the target's alone",
    "ngram": "copies what followed the same tokens; no weights",
}
_EARLY = "the target itself, cut short; no weights of its own"


@dataclass(frozen=True)
class TrainedDrafter:
    """A trained drafter as its file tells of it.

    Attributes
    ----------
    size
        Bytes of the file.
    parameters
        Numbers that were trained.
    greedy, overlap
        On held-out text, by position in the draft; `tokens` places were looked at.
    c
        Time per drafted token over that of a one-token pass, where it was measured.
    target, made_for
        The target's name, and the hashes by which it is known.
    problem
        A sentence where the file cannot be used.
    """

    spec: str
    size: int = 0
    parameters: int = 0
    greedy: tuple[float, ...] = ()
    overlap: tuple[float, ...] = ()
    tokens: int = 0
    c: float | None = None
    target: str = ""
    made_for: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class DrafterChoice:
    """One row of the list.

    Attributes
    ----------
    detail
        A line below the title.
    tip
        How each number was obtained.
    usable
        Whether it can draft for the target in memory, as far as that is known.
    """

    spec: str
    title: str
    detail: str
    tip: str
    usable: bool = True


def drafter_choices(
    trained: Sequence[TrainedDrafter],
    models: Sequence[ModelChoice],
    *,
    early: str = EARLY,
    made_for: tuple[str, ...] = (),
    costs: Mapping[str, float] | None = None,
) -> list[DrafterChoice]:
    """Return every drafter that can be chosen: none, look-up, trained ones, early exit, models.

    Parameters
    ----------
    early
        The early exit on offer; without a number of layers that is asked for beside it.
    made_for
        The hashes of the target in memory, if that is the one chosen; else empty.
    costs
        c of drafters, as the run on show measured it.
    """
    measured = costs or {}
    rows = [_untrained(spec, words, measured) for spec, words in _UNTRAINED.items()]
    offered = [_trained(one, made_for, measured) for one in trained]
    rows += [_looked_up_first(row, measured) for row in offered if row.spec == HEAD]
    rows += offered
    rows.append(_untrained(early, _EARLY, measured))
    for choice in models:
        spec = f"{MODEL}{choice.name}"
        rows.append(_untrained(spec, choice.detail, measured))
    return rows


def measured_costs(document: Document) -> dict[str, float]:
    """Return c of the drafter of the run on show, by its name; empty if several drafted."""
    if document.started is None:
        return {}
    settings = (document.started.settings, *(change.settings for change in document.changes))
    names = {one.drafter for one in settings if one.k}
    c = document.figures_at(len(document.rounds)).c
    return {names.pop(): c} if len(names) == 1 and c is not None else {}


def _untrained(spec: str, words: str, costs: Mapping[str, float]) -> DrafterChoice:
    title = "early exit" if spec == EARLY else drafter_label(spec)
    c, how = _cost(_measured(spec, costs), None)
    detail = f"{words} · {c}" if c else words
    return DrafterChoice(spec, title, detail, f"{title}: {words}.\n{how}".rstrip())


def _measured(spec: str, costs: Mapping[str, float]) -> float | None:
    if spec == EARLY:  # whichever number of layers was run
        return next((c for name, c in costs.items() if early_layers(name)), None)
    return costs.get(spec)


def _trained(
    one: TrainedDrafter, made_for: tuple[str, ...], costs: Mapping[str, float]
) -> DrafterChoice:
    title = drafter_label(one.spec)
    if one.problem:
        return DrafterChoice(one.spec, title, one.problem, f"{title}: {one.problem}", usable=False)
    c, how_c = _cost(costs.get(one.spec), one.c)
    accepted, how_accepted = _accepted(one)
    fits = not made_for or one.made_for == made_for
    weight = (f"{one.size / 1e6:.1f} MB", f"{one.parameters / 1e6:.1f} M parameters")
    numbers = (accepted, c, *weight)  # a narrow panel cuts the end off
    detail = " · ".join(part for part in numbers if part)
    tip = [
        f"{title}, trained for {one.target}.",
        how_accepted,
        how_c,
        f"{weight[0]}: its file. {weight[1]}: numbers that were trained, the target's not counted.",
    ]
    if not fits:
        detail = f"{OTHER_TARGET}: {one.target}"
        tip.insert(0, f"It cannot draft for this target: it was {OTHER_TARGET}.")
    return DrafterChoice(one.spec, title, detail, "\n".join(part for part in tip if part), fits)


def _looked_up_first(head: DrafterChoice, costs: Mapping[str, float]) -> DrafterChoice:
    """Return the choice of a drafter behind a look-up."""
    spec = f"{LOOKUP_FIRST}{head.spec}"
    title = drafter_label(spec)
    if not head.usable:
        return replace(head, spec=spec, title=title)
    c, how = _cost(costs.get(spec), None)
    detail = " · ".join(part for part in ("copies what comes again, else drafts", c) if part)
    tip = (
        f"{title}: copies where the last few tokens stood before, and drafts everywhere else.",
        *((how,) if how else ()),
        head.tip,
    )
    return DrafterChoice(spec, title, detail, "\n".join(tip))


def _cost(measured: float | None, held: float | None) -> tuple[str, str]:
    """Return c and how it was obtained: that of the run on show, here and now, else its file's."""
    value = measured if measured is not None else held
    if value is None:
        return "", ""
    source = "measured by the run on show" if measured is not None else "as its file says"
    meaning = "time per drafted token / time of a one-token pass"
    return f"c {value:.2g}", f"c {value:.2g}: {meaning}, {source}."


def _accepted(one: TrainedDrafter) -> tuple[str, str]:
    """Return the share accepted at the first position, and how it was obtained."""
    if not one.greedy:
        return "", ""
    shares = ", ".join(f"{100 * share:.0f}" for share in one.greedy)
    words = (
        f"{100 * one.greedy[0]:.0f} % accepted: greedy, at the first position of a draft, over "
        f"{one.tokens:,} places of held-out text, measured when it was made. By position: {shares}."
    )
    if one.overlap:
        words += f" Overlap with the target at temperature 1: {100 * one.overlap[0]:.0f} %."
    return f"{100 * one.greedy[0]:.0f} % accepted", words
