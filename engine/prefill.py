"""Reading many tokens into a cache, in chunks. Scores nothing; knows no rule and no text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from engine.cache import KVCache
    from engine.models.network import Ids

CHUNK = 128  # tokens a pass: bounds the memory of a long prompt and the wait for a stop


class Stopped(Exception):  # a wish that was granted, not an error
    """A stop was asked for in the middle of a prefill; the cache holds the chunks done."""


class Reader(Protocol):
    """Whatever reads tokens into a cache: a target, a small model."""

    def forward(self, ids: Ids, cache: KVCache, /) -> Tensor:
        """Run n tokens that follow what is cached; return their states, [n, D]."""
        ...


def feed(
    model: Reader,
    tokens: Ids,
    cache: KVCache,
    *,
    stopped: Callable[[], bool] = lambda: False,
    sink: Callable[[Tensor], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Tensor:
    """Run tokens that follow what is cached, chunk after chunk.

    Parameters
    ----------
    model, tokens, cache
        At least one token; they stand at `cache.length` and on.
    stopped
        Polled before each chunk.
    sink
        Receives the hidden rows [n, D] of every chunk, in order.
    progress
        Called with (tokens read, tokens in all) before each chunk, where there is more than one.

    Returns
    -------
    Tensor
        [n, D], hidden rows of the last chunk; its last row is that of the last token.

    Raises
    ------
    Stopped
        If `stopped()` became true before the end.
    """
    if not len(tokens):
        raise DraftscopeError("There is nothing to read: the prompt has no tokens. Type a prompt.")
    hidden: Tensor | None = None
    for begin in range(0, len(tokens), CHUNK):
        if stopped():
            raise Stopped
        if progress is not None and len(tokens) > CHUNK:
            progress(begin, len(tokens))
        hidden = model.forward(tokens[begin : begin + CHUNK], cache)
        if sink is not None:
            sink(hidden)
    assert hidden is not None
    return hidden
