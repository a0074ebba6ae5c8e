"""Memory straight from the system: zeros that cost nothing until written, given back whole.

Knows bytes and tensors; nothing of what they hold.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # of glibc's malloc.h
_LARGE, _USUAL = 1 << 18, 1 << 25  # bytes; the second is where glibc's own rule ends up
_NEVER = (1 << 31) - 1  # bytes: no temporary of a training is larger


def open_memory(size: int, *, large_pages: bool = False) -> mmap.mmap:
    """Return `size` bytes of zeros; they go when the last one who refers to them does.

    Raises
    ------
    MemoryError
        If the system has no more.
    """
    try:
        if hasattr(mmap, "MAP_ANONYMOUS"):
            memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            memory = mmap.mmap(-1, size)
    except (OSError, OverflowError, ValueError) as error:
        raise MemoryError(f"the system has no {size} bytes more") from error
    if large_pages and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a hint, and some kernels have no large pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def address_of(memory: mmap.mmap) -> int:
    """Return where it begins."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def zeros(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device | str) -> Tensor:
    """Return a tensor of zeros; on a CPU what was never written takes no memory.

    It is an ordinary tensor whoever asks: one made in inference mode could only be written in it.

    Raises
    ------
    MemoryError, RuntimeError
        If there is not enough memory.
    """
    with torch.inference_mode(False):
        if torch.device(device).type != "cpu" or 0 in shape:
            return torch.zeros(shape, dtype=dtype, device=device)
        memory = open_memory(math.prod(shape) * dtype.itemsize)
        return torch.frombuffer(memory, dtype=dtype).view(shape)


@contextmanager
def given_back_at_once() -> Iterator[None]:
    """Let large pieces of memory go back to the system as soon as they are free.

    While weights are read and packed, pieces of many megabytes come and go between others that
    stay; on glibc's heap the gaps between these would be kept. Elsewhere it changes nothing.
    """
    tune = _tuner()
    tune(_MMAP_THRESHOLD, _LARGE)
    try:
        yield
    finally:
        tune(_MMAP_THRESHOLD, _USUAL)


def keep_what_is_freed() -> None:
    """Let this process keep freed memory for its next need, to its end.

    For a program that makes and drops temporaries of many megabytes without pause: the system would
    hand out their pages anew each time. Elsewhere than on glibc it changes nothing.
    """
    tune = _tuner()
    tune(_MMAP_THRESHOLD, _NEVER)
    tune(_TRIM_THRESHOLD, _NEVER)
    tune(_TOP_PAD, _USUAL)


def _tuner() -> Callable[[int, int], object]:
    """Return glibc's `mallopt`, or what does nothing."""
    found = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    return found or (lambda option, value: None)
