"""Looking at a round's laws: the rows worth showing, entropies, overlap. Draws nothing.

Runs after the verdict and outside the round's own time. Knows laws and token pieces; no model, no
cache, no rule. What is seen is read in one transfer, so that a device can look while the host goes
on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch.nn import functional

from engine.models.settling import uploaded
from engine.packet import Packet
from engine.scans import TorchScans
from engine.shown_rows import Candidates

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from engine.judgement import Judged
    from engine.sampling import Sampling
    from engine.scans import Described, Scans
    from engine.trace.events import Laws


@dataclass(frozen=True)
class Look:
    """What was seen of a round, on its device until it is read."""

    judged: Judged
    packet: Packet
    always: int  # as in Candidates
    last: int


class Observer:
    """Turns one round's tensors into `Laws`, a row each."""

    def __init__(
        self, top_n: int, piece: Callable[[int], bytes], scans: Scans | None = None
    ) -> None:
        self._top_n = top_n
        self._piece = piece
        self._scans = scans or TorchScans()
        self._memory: dict[str, Tensor] = {}

    def observe(self, judged: Judged, sampling: Sampling, *, cut: bool = False) -> list[Laws]:
        """Describe every row of a pass.

        Parameters
        ----------
        judged
            The round's logits, laws and verdict.
        sampling
            What `p_target` was made with.
        cut
            Whether the text ended before the closing token: then nothing was rejected.

        Returns
        -------
        list of Laws
            k+1 of them; row `accepted` carries the residual if a token was rejected.
        """
        return self.laws(self._look(judged, sampling, queued=False, cut=cut), cut=cut)

    def look(self, judged: Judged, sampling: Sampling) -> Look:
        """Queue on the device all that is to be seen of a round; nothing is read."""
        return self._look(judged, sampling, queued=True, cut=False)

    def _look(self, judged: Judged, sampling: Sampling, *, queued: bool, cut: bool) -> Look:
        """Look at a round; where reading is free it is done on the way, which is quicker."""
        logits, p_target, q_draft = judged.logits, judged.p_target, judged.proposal.q_draft
        plain = p_target is not None and sampling.changes_nothing
        seen = self._scans.look(
            logits,
            self._top_n,
            law=p_target if plain else None,
            out=None if plain else self._scratch("p_raw", logits),
        )
        p_raw = seen.law
        q_support = _on_support(q_draft, judged.proposal.support)
        target, draft = self._shaped(judged, sampling), self._drafted(q_support)
        tops = self._tops(seen.top, target, draft, judged, sampling)
        ids, always, last = _joined(tops, judged) if queued else _read(tops, judged, cut=cut)
        parts = {"ids": ids, "p_raw": p_raw.gather(1, ids)}
        parts["entropy_raw"] = seen.entropies
        if p_target is not None and target is not None:
            parts["p_target"] = p_target.gather(1, ids)
            parts["entropy_target"] = target.entropies
        if q_draft is not None and q_support is not None and draft is not None:
            parts["q_draft"] = q_draft.gather(1, ids[: judged.proposal.length])
            parts["entropy_draft"] = draft.entropies
            parts["overlap"] = _overlaps(judged, q_draft, q_support)
        residual = judged.verdict.residual
        if residual is not None:
            parts["residual"] = residual[ids[judged.verdict.accepted]]
        return Look(judged, Packet.of(parts) if queued else Packet(parts), always, last)

    def laws(self, look: Look, *, cut: bool) -> list[Laws]:
        """Read what was seen."""
        judged, numbers = look.judged, look.packet.read()
        rows = judged.logits.shape[0]
        width = len(numbers["ids"]) // rows

        def table(name: str) -> list[list[float]]:
            flat = numbers[name]
            return [flat[begin : begin + width] for begin in range(0, len(flat), width)]

        p_raw = table("p_raw")
        greedy = judged.p_target is None
        p_target, entropy_target = p_raw, numbers["entropy_raw"]  # of a law that nothing shapes
        if "p_target" in numbers:
            p_target, entropy_target = table("p_target"), numbers["entropy_target"]
        overlap = numbers.get("overlap", judged.verdict.p_target)  # of laws one-hot at the drafted
        found = Candidates(
            ids=[list(map(int, row)) for row in table("ids")],
            always=look.always,
            last=look.last,
            p_raw=p_raw,
            p_target=None if greedy else p_target,
            q_draft=table("q_draft") if "q_draft" in numbers else None,
            residual=numbers.get("residual"),
            entropy_raw=_not_negative(numbers["entropy_raw"]),
            entropy_target=[0.0] * rows if greedy else _not_negative(entropy_target),
            entropy_draft=_not_negative(numbers.get("entropy_draft", [])),
            overlap=[min(1.0, value) for value in overlap],
        )
        return found.laws(judged, self._piece, cut=cut)

    def _scratch(self, name: str, like: Tensor) -> Tensor:
        """Return memory of this shape, the same in every round: it holds nothing beyond a look."""
        kept = self._memory.get(name)
        fits = kept is not None and kept.dtype == like.dtype and kept.shape[1] == like.shape[1]
        if kept is None or not fits or kept.shape[0] < like.shape[0]:
            kept = self._memory[name] = torch.empty_like(like)
        return kept[: like.shape[0]]

    def _shaped(self, judged: Judged, sampling: Sampling) -> Described | None:
        """Describe `p_target` where it is no plain softmax; None where it is, and if greedy."""
        law = judged.p_target
        if law is None or sampling.changes_nothing:
            return None
        return self._scans.describe(law, self._top_n, out=self._scratch("logs", law))

    def _drafted(self, q_support: Tensor | None) -> Described | None:
        return None if q_support is None else self._scans.describe(q_support, self._top_n)

    def _tops(
        self,
        raw: Tensor,
        target: Described | None,
        draft: Described | None,
        judged: Judged,
        sampling: Sampling,
    ) -> _Tops:
        """Gather the top of each law.

        Temperature, top-k, top-p and min-p keep the order, so the top of `p_raw` is that of
        `p_target`; bias and penalties do not. One-hot laws are known already.
        """
        support, residual = judged.proposal.support, judged.verdict.residual
        drafted = None if draft is None else draft.top
        return _Tops(
            raw,
            target.top if target is not None and sampling.adjusts else None,
            drafted if drafted is None or support is None else support[drafted],
            None if residual is None else self._scans.top(residual[None], self._top_n)[0],
        )


class _Tops(NamedTuple):
    """The most probable ids of each law."""

    raw: Tensor  # [k+1, n]
    target: Tensor | None  # [k+1, n], where that is another order
    draft: Tensor | None  # [k, n]
    residual: Tensor | None  # [n], of the row of the closing token


def _joined(tops: _Tops, judged: Judged) -> tuple[Tensor, int, int]:
    """Return the ids that may be shown, [k+1, n], with `always` and `last` of `Candidates`.

    Of each row the top of each law, and what was drafted; then the closing token, and the top of
    the residual that it came from, if it did. Nothing is read.
    """
    rows = tops.raw.shape[0]
    argmaxes = judged.target_ids or ()
    known = [*judged.proposal.tokens, 0, judged.verdict.closing, *argmaxes]
    sent = uploaded(known, torch.long, tops.raw.device)
    columns = [tops.raw]
    if tops.target is not None:
        columns.append(tops.target)
    if argmaxes:
        columns.append(sent[rows + 1 :, None])
    always = sum(column.shape[1] for column in columns)
    if tops.draft is not None:
        columns.append(functional.pad(tops.draft, (0, 0, 0, 1)))  # no draft in the last row
    columns.append(sent[:rows, None])
    last = sent[rows : rows + 1]
    if tops.residual is not None:
        last = torch.cat((last, tops.residual))
    columns.append(last.expand(rows, -1))
    return torch.cat(columns, dim=-1), always, last.shape[0]


def _read(tops: _Tops, judged: Judged, *, cut: bool) -> tuple[Tensor, int, int]:
    """Return the same ids, each once in its row, as the host finds them; `last` is 0.

    Rows are filled up with their first id. With `cut`, no closing token was reached.
    """
    shown: list[list[int]] = tops.raw.tolist()
    for top in (tops.target, tops.draft):
        for row, ids in enumerate(() if top is None else top.tolist()):
            shown[row] += ids
    for known in (judged.target_ids or (), judged.proposal.tokens):
        for row, token in enumerate(known):
            shown[row].append(token)
    if not cut:
        closing = shown[judged.verdict.accepted]
        closing.append(judged.verdict.closing)
        closing += [] if tops.residual is None else tops.residual.tolist()
    unique = [list(dict.fromkeys(ids)) for ids in shown]
    width = max(map(len, unique))
    filled = [ids + ids[:1] * (width - len(ids)) for ids in unique]
    return torch.tensor(filled, device=tops.raw.device), width, 0


def _not_negative(values: list[float]) -> list[float]:
    return [max(0.0, value) for value in values]


def _on_support(law: Tensor | None, support: Tensor | None) -> Tensor | None:
    """Return the columns of a law that can hold mass."""
    return law if law is None or support is None else law.index_select(1, support)


def _overlaps(judged: Judged, q_draft: Tensor, q_support: Tensor) -> Tensor:
    """Return sum(min(p_target, q_draft)) of each drafted row: its probability of acceptance."""
    k = q_draft.shape[0]
    if judged.p_target is None:  # one-hot at the target's argmax
        assert judged.target_ids is not None
        best = uploaded(judged.target_ids[:k], torch.long, q_draft.device)
        return q_draft.gather(1, best[:, None])[:, 0]
    p_support = _on_support(judged.p_target[:k], judged.proposal.support)
    assert p_support is not None
    return torch.minimum(p_support, q_support).sum(dim=-1)
