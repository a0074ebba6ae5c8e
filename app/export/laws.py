"""The laws at a position as a page holds them: a few rows, and the mass that they leave out.

Knows which rows matter most. Knows no round and no HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.viewmodels.numbers import token_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.trace.events import Laws

MAX_ROWS = 6
_DIGITS = 9  # significant; enough that u and the threshold never look alike unless they are


class Labels:
    """Labels of tokens in tables, each written once; a row refers to one by its index."""

    def __init__(self) -> None:
        self._index: dict[bytes, int] = {}
        self.texts: list[str] = []

    def index(self, piece: bytes) -> int:
        """Return the index of a token's label."""
        found = self._index.get(piece)
        if found is None:
            found = self._index[piece] = len(self.texts)
            self.texts.append(token_label(piece))
        return found


# names in the page's data, where each stands thousands of times
SHORT = {"p_target": "p", "q_draft": "q"}


class PageLaws(msgspec.Struct, frozen=True, omit_defaults=True, rename=SHORT):
    """Columns of one length; `rest` is the mass outside the rows, in the columns' order."""

    rows: tuple[int, ...]  # labels
    ids: tuple[int, ...]
    p_target: tuple[float, ...]
    raw: tuple[float, ...]  # p_raw
    q_draft: tuple[float, ...] = ()
    r: tuple[float, ...] = ()  # residual
    rest: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # of the four columns
    overlap: float | None = None


def page_laws(laws: Laws, keep: Sequence[int], labels: Labels) -> PageLaws:
    """Return the rows that matter most; the tokens in `keep` are always among them."""
    columns = (laws.p_target, laws.p_raw, laws.q_draft, laws.residual)
    best = [max(column[i] for column in columns if column) for i in range(len(laws.ids))]
    order = sorted(
        range(len(laws.ids)), key=lambda i: (laws.ids[i] not in keep, -best[i], laws.ids[i])
    )
    rows = sorted(order[:MAX_ROWS])
    dropped = order[MAX_ROWS:]
    rests = (laws.rest_p_target, laws.rest_p_raw, laws.rest_q_draft, laws.rest_residual)
    rest = [
        short(mass + sum(column[i] for i in dropped)) if column else 0.0
        for mass, column in zip(rests, columns, strict=True)
    ]

    def pick(column: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(short(column[i]) for i in rows) if column else ()

    return PageLaws(
        rows=tuple(labels.index(laws.pieces[i]) for i in rows),
        ids=tuple(laws.ids[i] for i in rows),
        p_target=pick(laws.p_target),
        raw=pick(laws.p_raw),
        q_draft=pick(laws.q_draft),
        r=pick(laws.residual),
        rest=(rest[0], rest[1], rest[2], rest[3]),
        overlap=None if laws.overlap is None else short(laws.overlap),
    )


def short(value: float) -> float:
    """Round to the digits that a page keeps."""
    return float(f"{value:.{_DIGITS}g}")
