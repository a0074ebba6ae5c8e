"""Looking at a round's laws: the rows worth showing, entropies, overlap. Draws nothing.

Runs after the verdict and outside the round's own time. Knows laws and token pieces; no model, no
cache, no rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from engine.trace.events import Laws

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.judgement import Judged
    from engine.sampling import Sampling

_BLOCK = 128  # ids whose maximum is taken first when looking for the largest


def top_ids(law: Tensor, count: int) -> Tensor:
    """Return the ids of the `count` largest entries of each row; [n, count] from [n, V].

    The largest entries lie in the blocks with the largest maxima, so only those are sorted: a
    pass over V and a small sort instead of a sort over V.
    """
    rows, vocabulary = law.shape
    if vocabulary <= 2 * count * _BLOCK:
        return law.topk(min(count, vocabulary), dim=-1).indices
    whole = vocabulary // _BLOCK
    blocks = law[:, : whole * _BLOCK].view(rows, whole, _BLOCK)
    best = blocks.amax(dim=-1).topk(count, dim=-1).indices
    ids = (best[:, :, None] * _BLOCK + torch.arange(_BLOCK, device=law.device)).flatten(1)
    tail = torch.arange(whole * _BLOCK, vocabulary, device=law.device).expand(rows, -1)
    ids = torch.cat((ids, tail), dim=-1)
    return ids.gather(1, law.gather(1, ids).topk(count, dim=-1).indices)


def entropies(law: Tensor) -> list[float]:
    """Return the entropy of each row in nats; n numbers from [n, V]."""
    logs = law.clamp(min=1e-38).log()  # 0 log 0 = 0, and the logarithm of 0 is slow
    return _entropy_list(-torch.linalg.vecdot(law, logs))


def softmax_entropies(logits: Tensor, law: Tensor) -> list[float]:
    """Return the entropies of law = softmax(logits) without taking V logarithms a row."""
    peak = logits.amax(dim=-1)
    total = peak - law.amax(dim=-1).log()  # log sum exp
    return _entropy_list(total - torch.linalg.vecdot(law, logits))


def _entropy_list(values: Tensor) -> list[float]:
    return [max(0.0, value) for value in values.tolist()]


class Observer:
    """Turns one round's tensors into `Laws`, a row each."""

    def __init__(self, top_n: int, piece: Callable[[int], bytes]) -> None:
        self._top_n = top_n
        self._piece = piece

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
        logits, p_target, q_draft = judged.logits, judged.p_target, judged.proposal.q_draft
        plain = p_target is not None and sampling.changes_nothing
        p_raw = p_target if plain and p_target is not None else torch.softmax(logits, dim=-1)
        raw_entropies = softmax_entropies(logits, p_raw)
        q_support = _on_support(q_draft, judged.proposal.support)
        closing = None if cut else judged.verdict.accepted  # the row that the closing token is of
        shown = self._shown(p_raw, q_support, judged, sampling)
        if closing is not None:
            shown[closing] += self._drawn(judged)
        rows = _Rows([list(dict.fromkeys(ids)) for ids in shown], p_raw, judged, closing)
        if p_target is None:
            target_entropies = [0.0] * len(raw_entropies)
        else:
            target_entropies = raw_entropies if plain else entropies(p_target)
        draft_entropies = None if q_support is None else entropies(q_support)
        overlaps = _overlaps(judged, q_support)
        return [
            Laws(
                pieces=tuple(map(self._piece, rows.ids(row))),
                entropy_target=target_entropies[row],
                entropy_raw=raw_entropies[row],
                entropy_draft=0.0
                if draft_entropies is None or row >= len(draft_entropies)
                else draft_entropies[row],
                overlap=overlaps[row] if row < len(overlaps) else None,
                **rows.columns(row),
            )
            for row in range(logits.shape[0])
        ]

    def _shown(
        self, p_raw: Tensor, q_support: Tensor | None, judged: Judged, sampling: Sampling
    ) -> list[list[int]]:
        """Return the ids to show of each row: the top of each law, and what was drafted.

        Temperature, top-k, top-p and min-p keep the order, so the top of `p_raw` is that of
        `p_target`; bias and penalties do not.
        """
        proposal = judged.proposal
        union: list[list[int]] = top_ids(p_raw, self._top_n).tolist()
        if sampling.adjusts:
            for row, ids in enumerate(_top_of_target(judged, self._top_n)):
                union[row] += ids
        if q_support is not None:
            best = top_ids(q_support, self._top_n)
            best = best if proposal.support is None else proposal.support[best]
            for row, ids in enumerate(best.tolist()):
                union[row] += ids
        for row, token in enumerate(proposal.tokens):
            union[row].append(token)
        return union

    def _drawn(self, judged: Judged) -> list[int]:
        """Return the closing token, and the top of the residual that it came from, if it did."""
        verdict = judged.verdict
        if verdict.residual is None:
            return [verdict.closing]
        return [verdict.closing, *top_ids(verdict.residual[None], self._top_n)[0].tolist()]


class _Rows:
    """The shown ids of each row with every law's values there, read in one gather a law."""

    def __init__(
        self, shown: list[list[int]], p_raw: Tensor, judged: Judged, closing: int | None
    ) -> None:
        self._judged = judged
        self._closing = closing
        longest = max(map(len, shown))
        padded = [ids + ids[:1] * (longest - len(ids)) for ids in shown]
        index = torch.tensor(padded, device=p_raw.device)
        self._raw: list[list[float]] = p_raw.gather(1, index).tolist()
        self._target = _gathered(judged.p_target, index) or _argmaxes(judged, padded)
        self._draft = _gathered(judged.proposal.q_draft, index[: len(judged.proposal.tokens)])
        self._residual = _gathered(
            None if judged.verdict.residual is None else judged.verdict.residual[None],
            index[judged.verdict.accepted :][:1],
        )
        # ordered as they are recorded: laws that differ only beyond the digits kept are equal there
        columns = zip(shown, map(_kept, self._target), map(_kept, self._raw), strict=True)
        self._order = [_falling(*column) for column in columns]
        self._ids = [[ids[i] for i in order] for ids, order in zip(shown, self._order, strict=True)]

    def ids(self, row: int) -> list[int]:
        """Return the row's ids, most probable under p_target first, then under p_raw."""
        return self._ids[row]

    def columns(self, row: int) -> dict[str, Any]:
        """Return the fields of `Laws` that are columns over the ids, and the mass outside."""
        judged, ids = self._judged, tuple(self._ids[row])
        drafted = row < len(judged.proposal.tokens)
        rejected = drafted and row == self._closing
        fields: dict[str, Any] = {"ids": ids}
        laws = [("p_raw", self._picked(self._raw, row))]
        laws.append(("p_target", self._picked(self._target, row)))
        if drafted:
            token = judged.proposal.tokens[row]  # a law that is not there is one-hot
            laws.append(("q_draft", self._picked(self._draft, row) or _one_hot(ids, token)))
        if rejected:
            left = None
            if self._residual is not None:
                left = tuple(self._residual[0][i] for i in self._order[row])
            laws.append(("residual", left or _one_hot(ids, judged.verdict.closing)))
        for name, values in laws:
            fields[name] = tuple(_kept(values))
            (fields[f"rest_{name}"],) = _kept([max(0.0, 1.0 - sum(values))])
        return fields

    def _picked(self, law: list[list[float]] | None, row: int) -> tuple[float, ...]:
        return () if law is None else tuple(law[row][i] for i in self._order[row])


def _kept(values: Sequence[float]) -> list[float]:
    """Return values as they are recorded: seven digits are what float32 holds.

    The verdict's own numbers are kept in full.
    """
    return [float(f"{value:.7g}") for value in values]


def _falling(ids: list[int], p_target: list[float], p_raw: list[float]) -> list[int]:
    """Return the order of a row's ids: most probable first, by the law that is drawn from."""
    return sorted(range(len(ids)), key=lambda i: (-p_target[i], -p_raw[i], ids[i]))


def _top_of_target(judged: Judged, count: int) -> list[list[int]]:
    """Return the ids of the largest entries of each row of p_target."""
    if judged.p_target is None:
        assert judged.target_ids is not None
        return [[token] for token in judged.target_ids]
    top: list[list[int]] = top_ids(judged.p_target, count).tolist()
    return top


def _argmaxes(judged: Judged, shown: list[list[int]]) -> list[list[float]]:
    """Return p_target of a greedy target at the ids shown: one-hot at its argmax."""
    assert judged.target_ids is not None
    pairs = zip(shown, judged.target_ids, strict=True)
    return [[float(other == token) for other in ids] for ids, token in pairs]


def _gathered(law: Tensor | None, index: Tensor) -> list[list[float]] | None:
    if law is None:
        return None
    values: list[list[float]] = law.gather(1, index).tolist()
    return values


def _one_hot(ids: tuple[int, ...], token: int) -> tuple[float, ...]:
    return tuple(float(other == token) for other in ids)


def _on_support(law: Tensor | None, support: Tensor | None) -> Tensor | None:
    """Return the columns of a law that can hold mass."""
    return law if law is None or support is None else law.index_select(1, support)


def _overlaps(judged: Judged, q_support: Tensor | None) -> list[float]:
    """Return sum(min(p_target, q_draft)) of each drafted row: its probability of acceptance."""
    if q_support is None:  # one-hot at the drafted token
        return list(judged.verdict.p_target)
    if judged.p_target is None:  # one-hot at the target's argmax
        assert judged.target_ids is not None
        assert judged.proposal.q_draft is not None
        best = torch.tensor(judged.target_ids[: q_support.shape[0]], device=q_support.device)
        at_best: list[float] = judged.proposal.q_draft.gather(1, best[:, None])[:, 0].tolist()
        return at_best
    p_support = _on_support(judged.p_target[: q_support.shape[0]], judged.proposal.support)
    assert p_support is not None
    sums = torch.minimum(p_support, q_support).sum(dim=-1)
    return [min(1.0, value) for value in sums.tolist()]
