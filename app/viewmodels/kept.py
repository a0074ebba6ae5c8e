"""Sequences whose items are not all there: each is fetched or made when it is asked for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class Kept(Sequence[T], Generic[T]):
    """A sequence whose items are fetched one by one; equal to any other of the same items."""

    @abstractmethod
    def _one(self, index: int) -> T:
        """Return an item; past the end raise an IndexError, as a list does."""

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return self._many(range(len(self))[index])
        if index < 0:
            index += len(self)
        if index < 0:
            raise IndexError("index out of range")
        return self._one(index)

    def _many(self, wanted: range) -> list[T]:
        return [self._one(index) for index in wanted]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        same = (one == two for one, two in zip(self, other, strict=True))
        return len(self) == len(other) and all(same)

    __hash__ = None  # type: ignore[assignment]  # it grows
