"""From numbers of a round's laws at some ids to `Laws`: which are shown, in order, what is left.

Computes nothing of a law: its numbers were read already. Knows no tensor, no model and no rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.trace.events import Laws

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.judgement import Judged

    Rows = list[list[float]]
    _Law = tuple[list[float], list[float]]  # by column: in full, and as recorded


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
        raw = _Table.of(self.p_raw)
        target: _Table | None = raw  # where nothing shapes the law, it is one table
        if self.p_target is not self.p_raw:
            target = None if self.p_target is None else _Table.of(self.p_target)
        draft = None if self.q_draft is None else _Table.of(self.q_draft)
        left = None if self.residual is None else _Table.of([self.residual])
        tokens, best, laws = judged.proposal.tokens, judged.target_ids, []
        for row, ids in enumerate(self.ids):
            drafted, closed = row < len(tokens), row == closing
            shown = {"p_raw": raw.row(row)}
            shown["p_target"] = target.row(row) if target else _one_hot(ids, best, row)
            if drafted:
                shown["q_draft"] = draft.row(row) if draft else _one_hot(ids, tokens, row)
            if drafted and closed:
                drawn = (judged.verdict.closing,)
                shown["residual"] = left.row(0) if left else _one_hot(ids, drawn, 0)
            columns = self._columns(ids, drafted=drafted, closed=closed)
            laws.append(self._laws(row, shown, columns, piece, drafted=drafted))
        return laws

    def _columns(self, ids: list[int], *, drafted: bool, closed: bool) -> list[int]:
        """Return the columns of a row that are shown: one for each id."""
        middle = len(ids) - self.last
        columns = list(range(middle if drafted else self.always))
        if closed:
            columns += range(middle, len(ids))
        return list({ids[column]: column for column in columns}.values())

    def _laws(
        self,
        row: int,
        shown: dict[str, _Law],
        columns: list[int],
        piece: Callable[[int], bytes],
        *,
        drafted: bool,
    ) -> Laws:
        # ordered as they are recorded: laws that differ only beyond the digits kept are equal there
        target, raw, ids = shown["p_target"][1], shown["p_raw"][1], self.ids[row]
        columns.sort(key=lambda column: (-target[column], -raw[column], ids[column]))
        fields: dict[str, Any] = {}
        for name, (full, kept) in shown.items():
            fields[name] = tuple([kept[column] for column in columns])
            rest = max(0.0, 1.0 - sum([full[column] for column in columns]))
            fields[f"rest_{name}"] = float(f"{rest:.7g}")
        in_order = tuple([ids[column] for column in columns])
        return Laws(
            ids=in_order,
            pieces=tuple(map(piece, in_order)),
            entropy_target=self.entropy_target[row],
            entropy_raw=self.entropy_raw[row],
            entropy_draft=self.entropy_draft[row] if drafted and self.entropy_draft else 0.0,
            overlap=self.overlap[row] if drafted else None,
            **fields,
        )


class _Table(NamedTuple):
    """One law's numbers by row and column, in full and as they are recorded."""

    full: Rows
    kept: Rows

    @classmethod
    def of(cls, rows: Rows) -> _Table:
        """Round to seven digits, which is what float32 holds; the verdict's own stay in full.

        All in one piece, since this is most of the work.
        """
        width, flat = len(rows[0]), [value for row in rows for value in row]
        kept = list(map(float, ("%.7g " * len(flat) % tuple(flat)).split()))
        return cls(rows, [kept[begin : begin + width] for begin in range(0, len(kept), width)])

    def row(self, row: int) -> _Law:
        """Return one row."""
        return self.full[row], self.kept[row]


def _one_hot(ids: list[int], tokens: Sequence[int] | None, row: int) -> _Law:
    assert tokens is not None, "a target without a law is greedy, and its argmax known"
    token = tokens[row]
    law = [1.0 if other == token else 0.0 for other in ids]
    return law, law
