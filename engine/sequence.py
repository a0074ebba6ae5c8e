"""One text under the target: its tokens, its cache and the target's states. No rule, no drafter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.cache import KVCache
from engine.models.network import NOTHING, Kept, Passed
from engine.models.settling import settle
from engine.penalties import Seen
from engine.prefill import feed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch import Tensor

    from engine.cache import PagePool
    from engine.models.network import Ids, Wish
    from engine.models.transformer import LowerRows, Transformer
    from engine.sampling import Sampling


class Sequence:
    """Holds invariant 1: between rounds `cache.length == len(tokens) - 1`.

    The last token is not in the cache: it is what the next pass feeds first.
    """

    def __init__(
        self,
        model: Transformer,
        pool: PagePool,
        prompt: Iterable[int],
        taps: Iterable[int] = (),
    ) -> None:
        """Take the prompt's tokens, at least one.

        `taps` are numbers of layers, from 1, whose states are kept beside the last one; others may
        be asked for later.
        """
        self.model = model
        self.cache = KVCache(pool)
        self._tokens = list(prompt)
        self._prompt_length = len(self._tokens)
        self._seen: Seen | None = None
        self._taps = tuple(sorted(set(taps)))
        self._store = self._new_store()
        self._placed: Tensor | None = None  # rows of a pass that stand in the store already

    @property
    def tokens(self) -> list[int]:
        """Prompt and emitted tokens; not to be changed from outside."""
        return self._tokens

    @property
    def hidden(self) -> Tensor:
        """[cache.length, D]: the target's states of cached tokens, before its final norm."""
        return self.last(self._store[: self.cache.length])

    def last(self, states: Tensor) -> Tensor:
        """Return the states after the last layer, of the rows of a pass; [n, D]."""
        return states[:, : self.model.config.width]

    def states(
        self,
        taps: tuple[int, ...],
        begin: int = 0,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Tensor:
        """Return the states of cached tokens after the last layer, then after each of `taps`.

        Where they were not kept the target reads the text again, and they are kept from now on.

        Parameters
        ----------
        taps
            Numbers of layers, from 1 and rising.
        begin
            The first token whose states are asked for.
        stopped
            Polled before each chunk of what has to be read again.

        Returns
        -------
        Tensor
            [cache.length - begin, (1 + taps) D].

        Raises
        ------
        Stopped
            When stopped while reading; what was kept before is kept.
        """
        if not set(taps) <= set(self._taps):
            self._widen(tuple(sorted({*taps, *self._taps})), stopped)
        rows = self._store[begin : self.cache.length]
        if taps == self._taps:
            return rows
        width = self.model.config.width
        places = [0, *(1 + self._taps.index(tap) for tap in taps)]
        return torch.cat([rows[:, at * width : (at + 1) * width] for at in places], dim=-1)

    def forward(self, ids: Ids, lower: LowerRows | None = None) -> Tensor:
        """Run a pass over tokens that follow what is cached; states [n, (1 + taps) D]."""
        if not self._taps:
            return self.model.forward(ids, self.cache, lower)
        return self.model.forward(ids, self.cache, lower, self._taps)

    def run(self, ids: Ids, lower: LowerRows | None = None, wish: Wish = NOTHING) -> Passed:
        """Run a pass as `forward` does and score its rows, at once where the plan can."""
        whole = self.model.whole
        if whole is None or lower is not None:
            states = self.forward(ids, lower)
            return Passed(states, self.model.logits(self.last(states)))
        begin = self.cache.length
        self._make_room(begin + len(ids))
        self._placed = self._store[begin : begin + len(ids)]  # the pass's rows, if it is committed
        kept = Kept(self._placed, self._taps)
        return whole.score(ids, self.cache, last=len(ids), wish=wish, kept=kept)

    def seen_by(self, sampling: Sampling) -> Seen | None:
        """Return what prompt and output hold, for penalties; None where there are none.

        It is counted from the first time that it is asked for.
        """
        if not sampling.remembers:
            return None
        if self._seen is None:
            prompt, output = (
                self._tokens[: self._prompt_length],
                self._tokens[self._prompt_length :],
            )
            self._seen = Seen(self.model.vocabulary, self.model.plan.device, prompt)
            self._seen.extend(output)
        return self._seen

    def prefill(
        self,
        stopped: Callable[[], bool] = lambda: False,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Read every token but the last, as `feed` does. Raises `Stopped` when stopped."""
        waiting = self._tokens[self.cache.length : -1]
        if not waiting:
            return
        with torch.inference_mode():
            feed(
                _Tapped(self.model, self._taps),
                waiting,
                self.cache,
                stopped=stopped,
                sink=self._keep,
                progress=progress,
            )
        self.cache.truncate(self.cache.length)  # give back what padding held
        settle(self.model.plan.device)  # the prompt's time is not the first round's

    def commit(self, tokens: tuple[int, ...], states: Tensor) -> None:
        """Add emitted tokens; drop cached rows that no longer stand.

        `states` are the rows of the pass, the first of them that of the last token before it.
        """
        self._tokens.extend(tokens)
        if self._seen is not None:
            self._seen.extend(tokens)
        self.cache.truncate(len(self._tokens) - 1)
        if states is not self._placed:
            self._keep(states[: len(tokens)])

    def rewind(self, length: int) -> None:
        """Drop every token from `length` on, with what is cached of them.

        What follows is decoded as if they had never been there.

        Raises
        ------
        ValueError
            If `length` is not from 1 to the number of tokens.
        """
        if not 1 <= length <= len(self._tokens):
            raise ValueError(f"cannot rewind a text of {len(self._tokens)} tokens to {length}")
        del self._tokens[length:]
        self._prompt_length = min(self._prompt_length, length)
        self._seen = None
        self.restore()

    def restore(self) -> None:
        """Make invariant 1 true after an interrupted round."""
        self.cache.truncate(min(self.cache.length, len(self._tokens) - 1))

    def close(self) -> None:
        """Give the cache back."""
        self.cache.close()

    def _keep(self, rows: Tensor) -> None:
        """Store the states of the newest cached tokens."""
        end = self.cache.length
        self._make_room(end)
        self._store[end - rows.shape[0] : end] = rows

    def _make_room(self, end: int) -> None:
        """Let the store hold so many states."""
        if end > self._store.shape[0]:
            grown = self._store.new_empty(2 * end, self._store.shape[1])
            grown[: self._store.shape[0]] = self._store
            self._store, self._placed = grown, None

    def _new_store(self) -> Tensor:
        model, plan = self.model, self.model.plan
        width = (1 + len(self._taps)) * model.config.width
        rows = max(256, len(self._tokens))
        return torch.empty(rows, width, dtype=plan.dtype, device=plan.device)

    def _widen(self, taps: tuple[int, ...], stopped: Callable[[], bool]) -> None:
        """Read all cached tokens again, for the states after more layers."""
        again = KVCache(self.cache.pool)
        rows: list[Tensor] = []
        waiting = self._tokens[: self.cache.length]
        try:
            if waiting:
                with torch.inference_mode():
                    feed(
                        _Tapped(self.model, taps), waiting, again, stopped=stopped, sink=rows.append
                    )
        finally:
            again.close()
        self._taps, self._placed = taps, None
        kept, self._store = self.hidden, self._new_store()
        width = kept.shape[1]
        if rows:
            self._store[: len(waiting)] = torch.cat(rows)
            self._store[: len(waiting), :width] = kept  # as they were verified


@dataclass(frozen=True)
class _Tapped:
    """A model whose passes give the states after some layers too."""

    model: Transformer
    taps: tuple[int, ...]

    def forward(self, ids: Ids, cache: KVCache) -> Tensor:
        if not self.taps:
            return self.model.forward(ids, cache)
        return self.model.forward(ids, cache, None, self.taps)
