"""The compiled plan on a CUDA device: passes of few rows are recorded once and replayed.

Weights and products are the eager plan's. What a pass costs on a GPU besides is its host's work,
some thirty launches a layer: a recorded graph is launched at once. Widths and lengths come in
steps, so that few graphs are needed; wider passes (prompts) run the same body without a graph.
Knows shapes and recordings; neither how a graph is captured nor what a layer computes.

Scoring is left to run as it is: three launches that a graph would turn into two. None of this was
measured on a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import torch

from engine.bounds import MOST_DRAFTED
from engine.cache import BLOCK, KVCache, PagePool
from engine.models.plans.cuda_recorder import CudaRecorder
from engine.models.plans.eager import EagerPlan
from engine.models.plans.recordings import Recordings, Shape
from engine.models.plans.widths import alike, padded
from engine.models.static_pass import StaticPass, attends_alike, context_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.models.blocks import Block
    from engine.models.plans.protocol import Stack
    from engine.models.rotary import Rotary

WIDTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16)  # that graphs are recorded for
NARROW = 4  # rows: if only wider passes round alike, padding to them would cost too much
STEP, LONG_STEP = 8, 64  # wider passes are padded to multiples of these, up to 64 rows and past


@dataclass
class GraphPlan(EagerPlan):
    """Plain matrix products in one float type, their passes replayed from recordings."""

    name: str = "compiled"
    recordings: Recordings = field(default_factory=lambda: Recordings(None))
    widths: tuple[int, ...] = WIDTHS
    reasons: tuple[str, ...] = ()  # for the type, where it is not the usual one
    _first: GraphStack | None = None

    @classmethod
    def on(cls, device: torch.device, dtype: torch.dtype | None = None) -> GraphPlan:
        """Return the plan for a CUDA device, in bfloat16 if it can and no other type is asked."""
        reasons: tuple[str, ...] = ()
        if dtype is None:
            dtype, reasons = _usual_type(device)
        return cls(device, dtype, recordings=Recordings(CudaRecorder(device)), reasons=reasons)

    @property
    def description(self) -> str:
        """Say in which type products are computed, and whether they are recorded."""
        kind = str(self.dtype).removeprefix("torch.")
        return f"{kind}, recorded graphs" if self.recordings.recorder is not None else kind

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of it, in sentences."""
        note = self.recordings.note
        return self.reasons if note is None else (*self.reasons, note)

    def stack(self, blocks: Sequence[Block], rotary: Rotary) -> Stack:
        """Run layers by recordings, where their shape has come before."""
        made = GraphStack(blocks, rotary, self.recordings, self.device, self.dtype)
        if self._first is None:
            self._first = made
        return made

    def width(self, rows: int) -> int:
        """Return the next width that graphs are recorded for, or a round number for a prompt."""
        return _padded(rows, self.widths)

    def calibrate(self, run: Callable[[int], Tensor]) -> None:
        """Record only widths that round alike, if narrow ones do; try whether recording works.

        `rounds_alike` then holds for every pass of a round: all widths that up to `MOST_DRAFTED`
        drafted tokens and one more are padded to were tried, recorded or not. Prompts are wider and
        were not tried: no row of theirs is handed from one pass to another.
        """
        first = self._first
        assert first is not None, "layers are made ready before widths are measured"
        found = alike(run, sorted({*WIDTHS, *_of_rounds(WIDTHS)}))
        narrow = tuple(width for width in found if width in WIDTHS)
        used = _of_rounds(narrow)
        if min(used) <= NARROW and used <= set(found) and first.attends_alike(sorted(used)):
            self.widths, self.rounds_alike = narrow, True
        first.try_recording()


class GraphStack:
    """Layers whose passes are recorded and replayed, by shape."""

    def __init__(
        self,
        blocks: Sequence[Block],
        rotary: Rotary,
        recordings: Recordings,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self._blocks = list(blocks)
        self._rotary = rotary
        self._recordings = recordings
        self._name = recordings.new_stack()
        # ordinary tensors, whoever asks: those of inference mode could only be written in it
        with torch.inference_mode(False):
            self._position = torch.zeros(1, dtype=torch.int64, device=device)
            width = self._blocks[0].attention_norm.shape[0]
            self._inputs = {
                rows: torch.zeros(rows, width, dtype=dtype, device=device) for rows in WIDTHS
            }

    def run(self, x: Tensor, cache: KVCache, layers: slice, ahead: int = 0) -> Tensor:
        """Run some of the layers; [n, D] from [n, D]."""
        rows, first = x.shape[0], cache.length + ahead
        cache.reserve(ahead + rows)
        chosen = range(len(self._blocks))[layers]
        shape = Shape(self._name, chosen, rows, context_blocks(first, rows), cache.start)
        self._position.fill_(first)
        if rows in self._inputs and self._recordings.due(shape, cache.pool):
            self._inputs[rows].copy_(x)
            make = partial(self._recorded, shape, cache)
            found = self._recordings.replay(shape, cache.pool, make)
            if found is not None:
                return found
        return self._pass(shape, cache)(x, self._position)

    def attends_alike(self, widths: Sequence[int]) -> bool:
        """Whether a row's attention does not hang on the width and the length of its pass."""
        return attends_alike(self._blocks, widths, self._inputs[1])

    def try_recording(self) -> None:
        """Record a pass of one row through the first layer; give up if that gives other numbers."""
        block, input_ = self._blocks[0], self._inputs[1]
        pool = PagePool(
            block.index + 1,
            block.kv_heads,
            block.head_dim,
            pages=1,
            dtype=input_.dtype,
            device=input_.device,
        )
        cache = KVCache(pool)
        cache.reserve(1)
        input_.fill_(1)
        self._position.fill_(0)
        shape = Shape(self._name, range(1), 1, 1, cache.start)
        body = self._recorded(shape, cache)
        recording = self._recordings.record(body)
        if recording is None:
            return
        recording.replay()
        if not torch.allclose(recording.output, body(), atol=1e-2, rtol=1e-2):
            self._recordings.give_up("a replayed pass gave other numbers than the pass itself.")

    def _pass(self, shape: Shape, cache: KVCache) -> StaticPass:
        blocks = [self._blocks[index] for index in shape.layers]
        turns = self._rotary.tables(shape.blocks * BLOCK)
        return StaticPass(blocks, cache, turns, shape.rows, shape.blocks)

    def _recorded(self, shape: Shape, cache: KVCache) -> Callable[[], Tensor]:
        """Return the body that is recorded: the pass on tensors that stay where they are."""
        return partial(self._pass(shape, cache), self._inputs[shape.rows], self._position)


def _padded(rows: int, widths: Sequence[int]) -> int:
    return padded(rows, widths, STEP if rows <= LONG_STEP else LONG_STEP)


def _of_rounds(widths: Sequence[int]) -> set[int]:
    """Return the widths of all passes that a round can have, where these are recorded."""
    return {_padded(rows, widths) for rows in range(1, MOST_DRAFTED + 2)}


def _usual_type(device: torch.device) -> tuple[torch.dtype, tuple[str, ...]]:
    """Return the type of a device's products, and a sentence where it is not bfloat16."""
    with torch.cuda.device(device):
        if torch.cuda.is_bf16_supported(including_emulation=False):
            return torch.bfloat16, ()
    # not float16: activations of models trained in bfloat16 may pass what it can hold
    return torch.float32, ("This GPU cannot multiply bfloat16, so its passes are in float32.",)
