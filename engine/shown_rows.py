"""From numbers of a round's laws at some ids to `Laws`: which are shown, in order, what is left.

Computes nothing of a law: its numbers were read already. Knows no tensor, no model and no rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.trace.events import Laws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
        return [
            self._law(judged, piece, row, closed=row == closing) for row in range(len(self.ids))
        ]

    def _law(
        self, judged: Judged, piece: Callable[[int], bytes], row: int, *, closed: bool
    ) -> Laws:
        drafted = row < judged.proposal.length
        places = self._places(row, drafted=drafted, closed=closed)
        values = self._values(judged, row, places, closed=closed)
        kept = {name: _kept(law) for name, law in values.items()}
        # ordered as they are recorded: laws that differ only beyond the digits kept are equal there
        keys = zip(kept["p_target"], kept["p_raw"], places, range(len(places)), strict=True)
        order = sorted((-p_target, -p_raw, token, i) for p_target, p_raw, token, i in keys)
        ids = tuple(token for _, _, token, _ in order)
        fields: dict[str, Any] = {}
        for name, law in kept.items():
            fields[name] = tuple(law[i] for *_, i in order)
            # summed in the order shown, as whoever reads the trace will
            left = 1.0 - sum(values[name][i] for *_, i in order)
            (fields[f"rest_{name}"],) = _kept([max(0.0, left)])
        return Laws(
            ids=ids,
            pieces=tuple(map(piece, ids)),
            entropy_target=self.entropy_target[row],
            entropy_raw=self.entropy_raw[row],
            entropy_draft=self.entropy_draft[row] if drafted and self.entropy_draft else 0.0,
            overlap=self.overlap[row] if drafted else None,
            **fields,
        )

    def _values(
        self, judged: Judged, row: int, places: dict[int, int], *, closed: bool
    ) -> dict[str, list[float]]:
        """Return each law that a row has, at the ids shown."""

        def at(law: list[float]) -> list[float]:
            return [law[place] for place in places.values()]

        laws = {"p_raw": at(self.p_raw[row])}
        if self.p_target is not None:
            laws["p_target"] = at(self.p_target[row])
        else:
            assert judged.target_ids is not None
            laws["p_target"] = _one_hot(places, judged.target_ids[row])
        if row >= judged.proposal.length:
            return laws
        if self.q_draft is not None:
            laws["q_draft"] = at(self.q_draft[row])
        else:
            laws["q_draft"] = _one_hot(places, judged.proposal.tokens[row])
        if closed and self.residual is not None:
            laws["residual"] = at(self.residual)
        elif closed:
            laws["residual"] = _one_hot(places, judged.verdict.closing)
        return laws

    def _places(self, row: int, *, drafted: bool, closed: bool) -> dict[int, int]:
        """Return each id of a row that is shown, and where its numbers stand."""
        ids = self.ids[row]
        middle = len(ids) - self.last
        spans = [(0, middle if drafted else self.always)]
        if closed:
            spans.append((middle, len(ids)))
        places: dict[int, int] = {}
        for begin, end in spans:
            for place in range(begin, end):
                places.setdefault(ids[place], place)
        return places


def _one_hot(ids: Iterable[int], token: int) -> list[float]:
    return [float(other == token) for other in ids]


def _kept(values: Iterable[float]) -> list[float]:
    """Return values as they are recorded: seven digits are what float32 holds.

    The verdict's own numbers are kept in full.
    """
    return [float(f"{value:.7g}") for value in values]
