"""What a drafter's file says of itself: kind, target, sizes, training, held-out figures.

The texts of a safetensors file's `__metadata__`. Knows no torch, no tensor and no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from engine.drafters.names import HEAD, SMALL
from engine.errors import DraftscopeError, short
from engine.models.fingerprint import Fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = "draftscope-drafter-1"
MOST_LAYERS = 64  # a bound for damaged files, far above any drafter
LARGEST_SIZE = 1 << 20


class HeadShape(msgspec.Struct, frozen=True):
    """Sizes of a head; the rest are its target's."""

    blocks: int
    inner: int  # of each block's MLP
    taps: tuple[int, ...] = ()  # layers of the target, from 1, whose states it reads too; rising


class SmallShape(msgspec.Struct, frozen=True):
    """Sizes of a small model that shares the target's tables."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    inner: int
    rope_base: float
    context: int  # tokens that it reads at most


Shape: TypeAlias = HeadShape | SmallShape


class Portion(msgspec.Struct, frozen=True):
    """A part of the text that a drafter was trained on."""

    kind: str
    tokens: int


class Trained(msgspec.Struct, frozen=True):
    """How it was made."""

    tokens: int  # seen in all, but for what `begun` had seen
    steps: int
    seconds: float
    seed: int
    device: str
    begun: str = ""  # the drafter that it went on from, and of its weights' hash the beginning


class HeldOut(msgspec.Struct, frozen=True):
    """What it is worth on text that training never saw, by position in the draft."""

    greedy: tuple[float, ...]  # share whose token i is the target's argmax, all before being so
    overlap: tuple[float, ...]  # mean of sum(min(p_target, q_draft)) at temperature 1
    tokens: int  # how many places were looked at
    c: float | None = None  # time per drafted token over time of a one-token pass


class DrafterMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a drafter's file says of itself."""

    kind: str  # "head" or "small"
    name: str
    target: str
    fingerprint: Fingerprint  # of the target
    shape: Shape
    corpus: tuple[Portion, ...] = ()
    trained: Trained
    held_out: HeldOut
    licence: str = ""

    def __post_init__(self) -> None:
        if self.kind not in _SHAPES or type(self.shape) is not _SHAPES[self.kind]:
            raise ValueError(f"a drafter of kind {self.kind!r} has no {type(self.shape).__name__}")

    def encode(self) -> dict[str, str]:
        """Return the texts of a file's `__metadata__`."""
        texts = {"format": FORMAT, "kind": self.kind, "name": self.name, "target": self.target}
        for part in _PARTS:
            texts[part] = msgspec.json.encode(getattr(self, part)).decode()
        return {**texts, "licence": self.licence}


_SHAPES: dict[str, type[Shape]] = {HEAD: HeadShape, SMALL: SmallShape}
_PARTS: dict[str, Any] = {
    "fingerprint": Fingerprint,
    "shape": None,  # by the kind
    "corpus": tuple[Portion, ...],
    "trained": Trained,
    "held_out": HeldOut,
}


def decode(texts: Mapping[str, str], file: str) -> DrafterMetadata:
    """Return what the texts of a file's `__metadata__` say.

    Raises
    ------
    DraftscopeError
        One sentence, naming the file, for what is no drafter, one of another version, or damaged.
    """
    for part, text in texts.items():
        if any("\ud800" <= character <= "\udfff" for character in text):  # escaped, in JSON
            raise damaged(file, f"its {short(part, 40)} is no Unicode text")
    version, kind = texts.get("format"), texts.get("kind", "")
    if version is None:
        raise DraftscopeError(
            f"{file} is no drafter: it does not say what it drafts for. Choose a file that "
            "`draftscope train` has made."
        )
    if version != FORMAT:
        raise DraftscopeError(
            f"{file} is of the format {short(version, 40)!r}, and this version reads {FORMAT!r}. "
            "Train it again, or use the version of Draftscope that made it."
        )
    if kind not in _SHAPES:
        raise DraftscopeError(
            f"{file} holds a drafter of the kind {short(kind, 40)!r}, which this version does not "
            "know. Use the version of Draftscope that made it."
        )
    values: dict[str, Any] = {}
    for part, wanted in _PARTS.items():
        try:
            values[part] = msgspec.json.decode(texts.get(part, ""), type=wanted or _SHAPES[kind])
        except msgspec.DecodeError as error:  # a ValidationError is one
            raise damaged(file, f"its {part.replace('_', ' ')} cannot be read ({error})") from None
    try:
        _check_shape(values["shape"])
    except ValueError as error:
        raise damaged(file, str(error)) from None
    return DrafterMetadata(
        kind=kind,
        name=texts.get("name") or kind,
        target=texts.get("target", ""),
        licence=texts.get("licence", ""),
        **values,
    )


def damaged(file: str, what: str) -> DraftscopeError:
    """Say that a file is no whole drafter."""
    return DraftscopeError(f"{file} is damaged: {short(what, 200)}. Fetch or train it again.")


def _check_shape(shape: Shape) -> None:
    """Raise a ValueError for sizes that no drafter has."""
    layers = shape.blocks if isinstance(shape, HeadShape) else shape.layers
    sizes = [getattr(shape, name) for name in shape.__struct_fields__]
    counts = [size for size in sizes if isinstance(size, int)]
    if not 1 <= layers <= MOST_LAYERS or not all(1 <= size <= LARGEST_SIZE for size in counts):
        raise ValueError(f"its shape has sizes that no drafter has ({shape})")
    if isinstance(shape, HeadShape):
        taps = shape.taps
        if list(taps) != sorted(set(taps)) or (taps and not 1 <= taps[0] <= taps[-1] <= 4096):
            raise ValueError(f"its taps are {list(taps)}, and must be numbers of layers that rise")
    elif shape.heads % shape.kv_heads or shape.head_dim % 2 or not 1 < shape.rope_base < 1e12:
        raise ValueError(f"its shape is inconsistent ({shape})")
