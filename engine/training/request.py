"""What a training is asked for. Knows no torch and no model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.drafters.names import HEAD, SMALL
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from pathlib import Path

VOCABULARY = 8192  # ids that a drafter scores
USUAL_TEXT = 200_000  # tokens of the target's own text, where nothing else is asked for
USUAL_MINUTES = 15.0
STEPS_AHEAD = 3  # steps of a draft that a head is unrolled over


@dataclass(frozen=True)
class TrainingRequest:
    """A drafter to be made.

    Attributes
    ----------
    corpora
        Files to train on: corpora of ids (.safetensors), else text.
    own_tokens
        How much text the target is to write itself, in tokens; 0 for none.
    taps
        Layers of the target that a head reads beside the last one; None for the usual ones, or for
        those of `begin`.
    begin
        A trained drafter of the same sizes, as `find_drafter` takes it, whose weights are the
        start values.
    minutes, steps
        When the fitting ends: after so much time, or after so many steps if they are given.
    """

    kind: str  # "head" or "small"
    target: str  # as `load_model` takes it
    out: Path
    corpora: tuple[Path, ...] = ()
    own_tokens: int = USUAL_TEXT
    vocabulary: int = VOCABULARY
    minutes: float = USUAL_MINUTES
    steps: int | None = None
    seed: int = 0
    resume: bool = False
    device: str | None = None
    layers: int = 2  # of a small model
    width: int = 384  # of a small model
    blocks: int = 1  # of a head
    taps: tuple[int, ...] | None = None  # of a head: see `taps_of`
    begin: str | None = None

    def check(self) -> None:
        """Refuse what cannot be made.

        Raises
        ------
        DraftscopeError
            In one sentence.
        """
        if self.kind not in (HEAD, SMALL):
            raise DraftscopeError(
                f"There is no drafter of the kind {self.kind!r}; choose head or small."
            )
        if self.out.suffix != ".safetensors":
            raise DraftscopeError(
                f"A drafter's file ends in .safetensors, and {self.out.name} does not; choose "
                f"{self.out.with_suffix('.safetensors').name}."
            )
        if not self.out.parent.is_dir():
            raise DraftscopeError(
                f"There is no folder {self.out.parent} to write to; make it first."
            )
        if not self.corpora and self.own_tokens < 1:
            raise DraftscopeError(
                "There is nothing to train on; give files (--corpus) or let the target write "
                "(--self)."
            )
        if self.vocabulary < 2:
            raise DraftscopeError(
                f"A drafter that scores {self.vocabulary} ids cannot draft; choose 2 or more."
            )
        if self.steps is None and not self.minutes > 0:
            raise DraftscopeError(
                f"A training of {self.minutes:g} minutes ends before it begins; choose more."
            )
        if self.steps is not None and self.steps < 1:
            raise DraftscopeError(
                f"A training of {self.steps} steps ends before it begins; choose more."
            )
        self._check_sizes()

    def _check_sizes(self) -> None:
        if self.kind == SMALL and (self.layers < 1 or self.width < 8 or self.width % 8):
            raise DraftscopeError(
                f"A small model of {self.layers} layers and width {self.width} cannot be made; "
                "choose 1 layer or more, and a width that is a multiple of 8."
            )
        if self.kind == HEAD and self.blocks < 1:
            raise DraftscopeError(
                f"A head of {self.blocks} blocks cannot be made; choose 1 or more."
            )
        taps = self.taps or ()
        rising = all(first < second for first, second in pairwise(taps))
        if self.kind == HEAD and not (rising and all(tap >= 1 for tap in taps)):
            raise DraftscopeError(
                f"A head cannot read the layers {' '.join(map(str, taps))}; name layers from "
                "1, each once and in rising order."
            )
        if not 0 <= self.seed < 1 << 63:
            raise DraftscopeError(f"The seed {self.seed} is out of range; choose one from 0.")

    def taps_of(self, layers: int) -> tuple[int, ...]:
        """Return which layers of a target of so many are read beside the last one.

        Usually those after a third and two thirds of them (Li et al. 2025, "EAGLE-3").
        """
        if self.kind != HEAD:
            return ()
        if self.taps is not None:
            return self.taps
        return tuple(sorted({layers // 3, 2 * layers // 3} - {0}))

    def check_target(self, name: str, layers: int, width: int) -> None:
        """Refuse what cannot be made for a target of so many layers and this width.

        Raises
        ------
        DraftscopeError
            In one sentence.
        """
        if self.kind == SMALL and self.width > width:
            raise DraftscopeError(
                f"A small model of width {self.width} is wider than {name}, whose width is "
                f"{width}; choose that or less."
            )
        if self.kind == HEAD and self.blocks >= layers:
            raise DraftscopeError(
                f"A head of {self.blocks} blocks is no smaller than {name}, which has {layers} "
                "layers; choose fewer."
            )
        if self.kind == HEAD and self.taps and self.taps[-1] >= layers:
            raise DraftscopeError(
                f"A head cannot read layer {self.taps[-1]} beside the last one: {name} has "
                f"{layers}; choose lower ones."
            )
