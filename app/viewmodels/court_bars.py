"""The rows of the court: the laws of one token's position side by side.

Knows which laws exist for a kind of token and which are known before its verdict. Knows no pixel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from app.viewmodels.numbers import token_label
from engine.trace.events import ClosingKind, ClosingToken, DraftedToken, Fate

if TYPE_CHECKING:
    from engine.trace.events import Laws, Round

OTHERS = "other tokens"


class Bar(NamedTuple):
    """One row of the laws; None where a law is not known or does not exist.

    Attributes
    ----------
    label
        The token on one line; `OTHERS` for the mass outside the rows.
    role
        "drafted": the token before the court; "drawn": what was drawn in its place; "both": one
        token is both; "rest": the other tokens.
    """

    label: str
    token_id: int | None
    role: Literal["", "drafted", "drawn", "both", "rest"]
    p_target: float | None
    q_draft: float | None
    residual: float | None


def bars_of(
    one: Round, token: DraftedToken | ClosingToken, *, raw: bool, judged: bool
) -> tuple[Bar, ...]:
    """Return the rows of a token's laws; before its verdict the target's law is not known."""
    laws = token.laws
    if laws is None:
        return ()
    drafted_id, drawn_id = _ids(one, token)
    target = laws.p_raw if raw else laws.p_target
    shows_residual = bool(laws.residual) and judged

    def role(token_id: int) -> Literal["", "drafted", "drawn", "both"]:
        if token_id == drafted_id:
            return "both" if token_id == drawn_id else "drafted"
        return "drawn" if token_id == drawn_id else ""

    bars = [
        Bar(
            token_label(laws.pieces[at]),
            token_id,
            role(token_id) if judged or token_id == drafted_id else "",
            target[at] if judged else None,
            laws.q_draft[at] if laws.q_draft else None,
            laws.residual[at] if shows_residual else None,
        )
        for at, token_id in enumerate(laws.ids)
    ]
    if not judged:
        bars.sort(key=lambda bar: -(bar.q_draft or 0.0))
    bars.append(_rest(laws, raw=raw, judged=judged, shows_residual=shows_residual))
    return tuple(bars)


def _ids(one: Round, token: DraftedToken | ClosingToken) -> tuple[int | None, int | None]:
    """Return which id was drafted at a token's position, and which was drawn there instead."""
    if isinstance(token, DraftedToken):
        rejected = token.fate is Fate.REJECTED and one.closing is not None
        return token.id, one.closing.id if rejected and one.closing else None
    if token.kind is ClosingKind.CORRECTION:
        drafted = next((t.id for t in one.drafted if t.fate is Fate.REJECTED), None)
        return drafted, token.id
    return None, token.id


def _rest(laws: Laws, *, raw: bool, judged: bool, shows_residual: bool) -> Bar:
    target = laws.rest_p_raw if raw else laws.rest_p_target
    return Bar(
        OTHERS,
        None,
        "rest",
        target if judged else None,
        laws.rest_q_draft if laws.q_draft else None,
        laws.rest_residual if shows_residual else None,
    )


def with_mass(rest: Bar, left: list[Bar]) -> Bar:
    """Return the last row with the mass of rows that found no place."""

    def total(own: float | None, masses: list[float | None]) -> float | None:
        return None if own is None else own + sum(mass or 0.0 for mass in masses)

    return rest._replace(
        p_target=total(rest.p_target, [bar.p_target for bar in left]),
        q_draft=total(rest.q_draft, [bar.q_draft for bar in left]),
        residual=total(rest.residual, [bar.residual for bar in left]),
    )
