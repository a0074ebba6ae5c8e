"""Attention of one new token of each of many sequences: torch's, or a built library's.

Knows queries, and keys and values as a cache of many sequences keeps them; no layer and no model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

import torch
from torch.nn import functional

from engine.models.native import build
from engine.models.native.library import Library, Many

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

STEP = 32  # positions: attention reads a cache up to the next multiple of it
GROUP = 16  # sequences that attend together
_TAKEN = (torch.float32, torch.bfloat16)  # types of keys and values that the library reads


class Attention(Protocol):
    """What attends, from the places of one step on."""

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, window: int | None) -> Tensor:
        """Let each sequence's new token see itself and what came before; [B, heads head_dim].

        Parameters
        ----------
        queries
            [B, heads, head_dim] float32.
        keys, values
            [B, kv_heads, P, head_dim], the new token's among them.
        window
            Positions that a token sees, itself one of them; None for all before it.
        """
        ...


def attention_of(device: torch.device, factors: torch.dtype) -> Callable[[Tensor, int], Attention]:
    """Return what makes an attention of tokens' places [B] and P; by the library if it is built.

    Parameters
    ----------
    factors
        Type of keys and values.
    """
    library = None
    if device.type == "cpu" and factors in _TAKEN:
        library = _library()
    if library is None:
        return TorchAttention
    return partial(LibraryAttention, library)


def _library() -> Library | None:
    """Return this machine's library if it was built and tried."""
    if build.tried() is None:
        return None
    try:
        return Library(build.library_path())
    except OSError:  # built by another machine: torch serves
        return None


class LibraryAttention:
    """Every sequence by itself, as far as it reaches."""

    def __init__(self, library: Library, positions: Tensor, room: int) -> None:
        del room  # it is that of the keys
        self._library = library
        self._positions = positions.to(torch.int64).contiguous()

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, window: int | None) -> Tensor:
        """Attend by the library."""
        sequences, heads, head_dim = queries.shape
        rows = queries.float().contiguous()
        mixed = rows.new_empty(sequences, heads * head_dim)
        for side in (keys, values):
            assert side.is_contiguous(), "a layer of the cache is read where it lies"
            assert side.dtype == keys.dtype, "keys and values are of one type"
            assert side.dtype in _TAKEN, "only these types are read"
        many = Many(
            *(sequences, heads, keys.shape[1], head_dim, keys.shape[2], window or 0),
            *(rows.data_ptr(), keys.data_ptr(), values.data_ptr()),
            *(self._positions.data_ptr(), mixed.data_ptr()),
        )
        half = keys.dtype == torch.bfloat16
        self._library.attend(many, half=half, threads=torch.get_num_threads())
        return mixed


class TorchAttention:
    """Neighbours together: quickest where they stand at like places."""

    def __init__(self, positions: Tensor, room: int) -> None:
        self._groups = [_Group.of(positions, at, room) for at in range(0, len(positions), GROUP)]

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, window: int | None) -> Tensor:
        """Attend group by group."""
        sequences, heads, head_dim = queries.shape
        grouped = queries.view(sequences, keys.shape[1], -1, head_dim).to(keys.dtype)
        mixed = torch.cat(
            [
                functional.scaled_dot_product_attention(
                    grouped[group.rows],
                    keys[group.rows, :, : group.reach],
                    values[group.rows, :, : group.reach],
                    attn_mask=group.mask(window, keys.dtype),
                )
                for group in self._groups
            ]
        )
        return mixed.reshape(sequences, heads * head_dim).to(queries.dtype)


@dataclass
class _Group:
    """Neighbours in a cache, which attend together as far as the longest of them reaches."""

    rows: slice
    reach: int  # positions that are read
    positions: Tensor  # [n], where each one stands
    masks: dict[int | None, Tensor]

    @classmethod
    def of(cls, positions: Tensor, begin: int, room: int) -> _Group:
        some = positions[begin : begin + GROUP]
        reach = min(room, -(-(int(some.max()) + 1) // STEP) * STEP)
        return cls(slice(begin, begin + GROUP), reach, some, {})

    def mask(self, window: int | None, dtype: torch.dtype) -> Tensor:
        """[n, 1, 1, reach], 0 or -inf."""
        if window not in self.masks:
            place = torch.arange(self.reach, device=self.positions.device)
            hidden = place[None, :] > self.positions[:, None]
            if window is not None:
                hidden |= place[None, :] <= self.positions[:, None] - window
            mask = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
            self.masks[window] = mask.masked_fill_(hidden, float("-inf"))[:, None, None]
        return self.masks[window]
