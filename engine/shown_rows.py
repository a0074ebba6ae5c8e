"""From numbers of a round's laws at some ids to `Laws`: which are shown, in order, what is left.

Computes nothing of a law: its numbers were read already. Knows no tensor, no model and no rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.trace.events import Laws

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.judgement import Judged

    Rows = list[list[float]]


@dataclass(frozen=True)
class Candidates:
    """Ids that may be shown, and every law there; a row each for k+1 rows. Ids may repeat."""

    ids: list[list[int]]
    always: int  # columns of ids that may be shown in each row; the next ones in drafted rows
    last: int  # and the last so many in the row of the closing token
    p_raw: Rows
    p_target: Rows | None  # None if greedy: one-hot at the target's argmax
    q_draft: Rows | None  # k rows; None: one-hot at the drafted tokens
    residual: list[float] | None  # at the ids of the closing token's row; None: one-hot at it
    entropy_raw: list[float]
    entropy_target: list[float]
    entropy_draft: list[float]  # k of them, or none where q_draft is one-hot
    overlap: list[float]  # k of them

    def laws(self, judged: Judged, piece: Callable[[int], bytes], *, cut: bool) -> list[Laws]:
        """Return k+1 laws; the closing token's row has the residual, if a token was rejected.

        Where the text was `cut` before the closing token, nothing was rejected.
        """
        closing = None if cut else judged.verdict.accepted
        raw = _Table(self.p_raw)
        target: _Table | None = raw  # where nothing shapes the law, it is one table
        if self.p_target is not self.p_raw:
            target = None if self.p_target is None else _Table(self.p_target)
        draft = None if self.q_draft is None else _Table(self.q_draft)
        left = None if self.residual is None else _Table([self.residual])
        tokens, laws = judged.proposal.tokens, []
        for row in range(len(self.ids)):
            drafted, closed = row < len(tokens), row == closing
            ids, columns = self._chosen(row, drafted=drafted, closed=closed)
            shown = {"p_raw": raw.law(row, ids, columns)}
            if target is not None:
                shown["p_target"] = target.law(row, ids, columns)
            else:
                assert judged.target_ids is not None
                shown["p_target"] = _one_hot(ids, judged.target_ids[row])
            if drafted and draft is not None:
                shown["q_draft"] = draft.law(row, ids, columns)
            elif drafted:
                shown["q_draft"] = _one_hot(ids, tokens[row])
            if drafted and closed and left is not None:
                shown["residual"] = left.law(0, ids, columns)
            elif drafted and closed:
                shown["residual"] = _one_hot(ids, judged.verdict.closing)
            laws.append(self._laws(row, shown, piece, drafted=drafted))
        return laws

    def _chosen(self, row: int, *, drafted: bool, closed: bool) -> tuple[list[int], list[slice]]:
        """Return the ids of a row that are shown, and the columns that they stand in."""
        ids = self.ids[row]
        middle = len(ids) - self.last
        columns = [slice(middle if drafted else self.always)]
        if closed:
            columns.append(slice(middle, None))
        return [token for part in columns for token in ids[part]], columns

    def _laws(
        self, row: int, shown: dict[str, _Law], piece: Callable[[int], bytes], *, drafted: bool
    ) -> Laws:
        # ordered as they are recorded: laws that differ only beyond the digits kept are equal there
        target, raw = shown["p_target"].kept, shown["p_raw"].kept
        ids = tuple(sorted(raw, key=lambda token: (-target[token], -raw[token], token)))
        fields: dict[str, Any] = {}
        for name, law in shown.items():
            fields[name] = tuple([law.kept[token] for token in ids])
            rest = max(0.0, 1.0 - sum([law.full[token] for token in ids]))
            (fields[f"rest_{name}"],) = _kept([rest])
        return Laws(
            ids=ids,
            pieces=tuple(map(piece, ids)),
            entropy_target=self.entropy_target[row],
            entropy_raw=self.entropy_raw[row],
            entropy_draft=self.entropy_draft[row] if drafted and self.entropy_draft else 0.0,
            overlap=self.overlap[row] if drafted else None,
            **fields,
        )


class _Law(NamedTuple):
    """One law at the ids shown."""

    full: dict[int, float]
    kept: dict[int, float]  # as recorded


class _Table:
    """One law's numbers by row and column, in full and as they are recorded."""

    def __init__(self, rows: Rows) -> None:
        self._full = rows
        width = len(rows[0])
        kept = _kept([value for row in rows for value in row])
        self._kept = [kept[begin : begin + width] for begin in range(0, len(kept), width)]

    def law(self, row: int, ids: list[int], columns: list[slice]) -> _Law:
        """Return the law of a row; an id that stands there twice has one number."""
        full, kept = self._full[row], self._kept[row]
        return _Law(
            dict(zip(ids, [value for part in columns for value in full[part]], strict=True)),
            dict(zip(ids, [value for part in columns for value in kept[part]], strict=True)),
        )


def _one_hot(ids: list[int], token: int) -> _Law:
    law = dict.fromkeys(ids, 0.0)
    if token in law:
        law[token] = 1.0
    return _Law(law, law)


def _kept(values: list[float]) -> list[float]:
    """Return values as they are recorded: seven digits are what float32 holds.

    The verdict's own numbers are kept in full. All in one piece, since this is most of the work.
    """
    return list(map(float, ("%.7g " * len(values) % tuple(values)).split()))
