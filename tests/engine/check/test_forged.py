"""A number changed in a trace is named, with its place, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.check.trace import check_trace
from engine.trace.events import (
    ClosingKind,
    Event,
    Fate,
    Laws,
    RunStarted,
)
from tests.engine.check.runs import (
    find,
    found,
    replace,
    rounds_of,
    with_closing,
    with_drafted,
    with_event,
    with_round,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.trace.events import DraftedToken

    Forge = Callable[[list[Event]], list[Event]]


def _with_p(token: DraftedToken, p_target: float) -> DraftedToken:
    chance = min(1.0, p_target / token.q_draft)
    return replace(token, p_target=p_target, acceptance_probability=chance)


DRAFTED: dict[str, tuple[Fate, str, Callable[[DraftedToken], Any]]] = {
    "u of an accepted token": (Fate.ACCEPTED, "uniform", lambda t: replace(t, u=t.u * (1 - 1e-15))),
    "u of a rejected token": (Fate.REJECTED, "uniform", lambda t: replace(t, u=t.u * (1 + 1e-15))),
    "u of a discarded token": (Fate.DISCARDED, "uniform", lambda t: replace(t, u=0.5)),
    "acceptance probability": (
        *(Fate.REJECTED, "acceptance probability"),
        lambda t: replace(t, acceptance_probability=t.acceptance_probability * (1 + 1e-12)),
    ),
    "p_target": (
        *(Fate.REJECTED, "acceptance probability"),
        lambda t: replace(t, p_target=t.p_target * (1 + 1e-12)),
    ),
    "q_draft": (
        *(Fate.REJECTED, "acceptance probability"),
        lambda t: replace(t, q_draft=t.q_draft * (1 + 1e-12)),
    ),
    "a p_target that would have kept the token": (
        *(Fate.REJECTED, "verdict"),
        lambda t: _with_p(t, t.u * t.q_draft * (1 + 1e-12)),
    ),
    "a p_target that would not have kept it": (
        *(Fate.ACCEPTED, "verdict"),
        lambda t: _with_p(t, t.u * t.q_draft * (1 - 1e-12)),
    ),
    "a fate out of order": (Fate.DISCARDED, "fate", lambda t: replace(t, fate=Fate.CUT)),
}


@pytest.mark.parametrize("name", DRAFTED)
def test_a_changed_number_of_a_drafted_token_is_named(bare: list[Event], name: str) -> None:
    fate, kind, change = DRAFTED[name]
    index, place = find(bare, fate)
    where = None if kind == "fate" else place  # the order of fates is the round's
    forged = with_drafted(bare, index, place, change)
    assert found(check_trace(forged)) == [(kind, index, where)]


def _moved(values: tuple[float, ...], by: float) -> tuple[float, ...]:
    """Move mass from the first row to the last: the sum stays."""
    return (values[0] - by, *values[1:-1], values[-1] + by)


LAWS: dict[str, tuple[str, Callable[[Laws], Laws]]] = {
    "a row of p_target": (
        *("law",),
        lambda x: replace(x, p_target=(*x.p_target[:-1], x.p_target[-1] + 1e-4)),
    ),
    "a row of p_raw": ("law", lambda x: replace(x, p_raw=(x.p_raw[0] - 1e-4, *x.p_raw[1:]))),
    "a row of q_draft": (
        *("law",),
        lambda x: replace(x, q_draft=(*x.q_draft[:-1], x.q_draft[-1] + 1e-4)),
    ),
    "the rest of p_target": (
        *("law",),
        lambda x: replace(x, rest_p_target=x.rest_p_target + 1e-4),
    ),
    "the overlap": ("law", lambda x: replace(x, overlap=x.overlap - 0.5)),
    "the entropy of the target": ("law", lambda x: replace(x, entropy_target=9.0)),
    "the entropy of the drafter": ("law", lambda x: replace(x, entropy_draft=-0.1)),
    "rows of the residual that keep their sum": (
        *("residual",),
        lambda x: replace(x, residual=_moved(x.residual, 0.4 * max(x.residual[0], 0.01))),
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_changed_number_of_a_law_is_named(sampled: list[Event], name: str) -> None:
    kind, change = LAWS[name]
    index, place = find(
        sampled,
        Fate.REJECTED,
        also=lambda t: t.laws is not None and t.laws.residual[0] > 0.01 and t.laws.overlap > 0.5,
    )
    forged = with_drafted(sampled, index, place, lambda t: replace(t, laws=change(t.laws)))
    laws = rounds_of(forged)[index].drafted[place].laws
    forged = with_closing(forged, index, lambda t: replace(t, laws=laws))  # they are one record
    assert found(check_trace(forged)) == [(kind, index, place)]


def test_p_target_that_its_row_does_not_hold_is_named(sampled: list[Event]) -> None:
    index, place = find(sampled, Fate.REJECTED)
    forged = with_drafted(sampled, index, place, lambda t: _with_p(t, t.p_target * 0.999))
    assert found(check_trace(forged)) == [("law", index, place)]


def test_rows_that_another_temperature_would_make_are_named(sampled: list[Event]) -> None:
    forged = with_event(
        sampled,
        RunStarted,
        lambda e: replace(e, settings=replace(e.settings, temperature=1.001)),
    )
    findings = check_trace(forged).findings
    assert {finding.kind.value for finding in findings} == {"law"}
    assert all(finding.what.startswith("p_target of token") for finding in findings)
    rows = sum(len(one.drafted) + (one.closing is not None) for one in rounds_of(sampled))
    assert len(findings) > 0.5 * rows  # of the others only the likeliest row is to be seen


def _bonus(events: list[Event]) -> int:
    kinds = {one.index: one.closing.kind for one in rounds_of(events) if one.closing is not None}
    return next(index for index, kind in kinds.items() if kind is ClosingKind.BONUS)


CLOSING: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "u": ("uniform", lambda t: replace(t, u=t.u * (1 - 1e-15))),
    "kind": ("closing token", lambda t: replace(t, kind=ClosingKind.PLAIN)),
    "probability": ("closing token", lambda t: replace(t, probability=t.probability * 1.001)),
    "no u": ("uniform", lambda t: replace(t, u=None)),
}


@pytest.mark.parametrize("name", CLOSING)
def test_a_changed_number_of_a_closing_token_is_named(sampled: list[Event], name: str) -> None:
    kind, change = CLOSING[name]
    index = _bonus(sampled)
    forged = with_closing(sampled, index, change)
    assert found(check_trace(forged)) == [(kind, index, "closing")]


def test_a_token_that_its_uniform_does_not_draw_is_named(sampled: list[Event]) -> None:
    seen = set()
    for one in rounds_of(sampled):
        if one.closing is None or one.closing.laws is None:
            continue
        laws, column = one.closing.laws, "p_target" if one.rejected == 0 else "residual"
        values = list(getattr(laws, column))
        at = laws.ids.index(one.closing.id)
        other = next((i for i, value in enumerate(values) if i != at and value > 0.1), None)
        if other is None:
            continue
        below = sum(x for i, x in zip(laws.ids, values, strict=True) if i < laws.ids[other])
        above = below + values[other] + getattr(laws, f"rest_{column}")
        assert one.closing.u is not None
        if below - 1e-4 < one.closing.u < above + 1e-4:
            continue  # the rows hold too little to say so
        seen.add(column)
        changed = replace(
            one.closing, id=laws.ids[other], piece=laws.pieces[other], probability=values[other]
        )
        forged = with_round(sampled, one.index, lambda r, c=changed: replace(r, closing=c))
        findings = [f for f in check_trace(forged).findings if f.token == "closing"]
        assert [finding.kind.value for finding in findings] == ["draw"]
    assert seen == {"p_target", "residual"}


def test_a_drafted_token_that_its_uniform_does_not_draw_is_named(sampled: list[Event]) -> None:
    forged = with_event(sampled, RunStarted, lambda e: replace(e, seed=e.seed + 1))
    findings = check_trace(forged).findings
    assert {finding.kind.value for finding in findings} == {"uniform", "draw"}
    drafted = [f for f in findings if f.kind.value == "draw" and isinstance(f.token, int)]
    assert len(drafted) > 10


def test_a_row_that_was_cut_above_one_that_was_kept_is_named(sampled: list[Event]) -> None:
    def cut(laws: Laws) -> Laws:
        values = list(laws.p_target)
        mass, values[0] = values[0], 0.0
        return replace(laws, p_target=tuple(values), rest_p_target=laws.rest_p_target + mass)

    index, place = find(
        sampled, Fate.ACCEPTED, also=lambda t: t.laws is not None and t.id != t.laws.ids[0]
    )
    forged = with_drafted(sampled, index, place, lambda t: replace(t, laws=cut(t.laws)))
    findings = [f for f in check_trace(forged).findings if f.what.startswith("p_target of token")]
    assert [finding.follows for finding in findings] == ["more than a kept one"]
    assert (findings[0].round, findings[0].token) == (index, place)


def test_rows_below_min_p_are_named(sampled: list[Event]) -> None:
    forged = with_event(
        sampled, RunStarted, lambda e: replace(e, settings=replace(e.settings, min_p=0.5))
    )
    findings = check_trace(forged).findings
    assert findings
    assert all("below min-p" in finding.follows for finding in findings)
