"""`draftscope train`: make a drafter for a target, here in the terminal or for a window to watch.

Knows lines in and out; how a drafter is made is the engine's.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, TextIO

from app.cli.interrupt import Interrupt
from app.cli.progress import ProgressLine
from engine.errors import DraftscopeError
from engine.training.events import Evaluated, Failed, Preparing, Saved, Stepped, to_line
from engine.training.request import USUAL_TEXT, TrainingRequest

if TYPE_CHECKING:
    import argparse

    from engine.training.events import TrainingEvent

PAUSE, GO, STOP = "pause", "go", "stop"  # words on standard input, one a line
_LOOK_S = 0.2


class Reins:
    """Pause, go on and stop, by words from another thread or by an interrupt."""

    def __init__(self, interrupt: Interrupt) -> None:
        self._interrupt = interrupt
        self._stop = threading.Event()
        self._free = threading.Event()
        self._free.set()

    def stopped(self) -> bool:
        """Return whether the training is to end."""
        return self._stop.is_set() or self._interrupt.asked

    def wait(self) -> None:
        """Return once the training may go on."""
        while not self._free.wait(_LOOK_S) and not self.stopped():
            pass

    def obey(self, word: str) -> None:
        """Do what a word says; others mean nothing."""
        if word == PAUSE:
            self._free.clear()
        elif word == GO:
            self._free.set()
        elif word == STOP:
            self._stop.set()

    def listen(self, stream: TextIO) -> None:
        """Obey words until the stream ends.

        If there were any, whoever wrote them is gone then, and so is the need for the drafter.
        """
        told = False
        for line in stream:
            told = True
            self.obey(line.strip())
        if told:
            self.obey(STOP)


def train(options: argparse.Namespace) -> int:
    """Make the drafter and say how it goes."""
    request = asked_for(options)
    from engine.memory import keep_what_is_freed  # torch is loaded here
    from engine.training.train import train as make

    keep_what_is_freed()
    with Interrupt() as interrupt:
        reins = Reins(interrupt)
        if options.json:
            threading.Thread(target=reins.listen, args=(sys.stdin,), daemon=True).start()
        line = ProgressLine(sys.stderr)
        last: TrainingEvent | None = None
        try:
            for last in make(request, reins):
                if options.json:
                    print(to_line(last), flush=True)
                else:
                    _tell(last, line)
        finally:
            line.close()
    if isinstance(last, Failed):
        if not options.json:
            raise DraftscopeError(last.message)
        return 1
    return 0


def asked_for(options: argparse.Namespace) -> TrainingRequest:
    """Return the request that the words on the command line make."""
    own = options.own_tokens
    if own is None:
        own = 0 if options.corpus else USUAL_TEXT
    usual = TrainingRequest  # of what the other kind is asked for
    return TrainingRequest(
        kind=options.kind,
        target=options.target,
        out=options.out,
        corpora=tuple(options.corpus),
        own_tokens=own,
        vocabulary=options.vocabulary,
        minutes=options.minutes,
        steps=options.steps,
        seed=options.seed,
        resume=options.resume,
        device=options.device,
        layers=getattr(options, "layers", usual.layers),
        width=getattr(options, "width", usual.width),
        blocks=getattr(options, "blocks", usual.blocks),
        begin=options.begin,
        taps=None if getattr(options, "taps", None) is None else tuple(options.taps),
    )


def _tell(event: TrainingEvent, line: ProgressLine) -> None:
    """Say one event for people: a line that is rewritten, and lines that stay."""
    match event:
        case Preparing():
            rate = f" ({event.tokens_per_second:.0f} tokens/s)" if event.tokens_per_second else ""
            line(event.done, event.total, event.what + rate)
        case Stepped():
            left = f"{event.seconds_left / 60:.1f} min left"
            line(event.step, event.steps, f"loss {event.loss:.3f}, {left}")
        case Evaluated():
            line.close()
            best = ", the best so far" if event.best else ""
            print(
                f"step {event.step}: acceptance {_list(event.greedy)}, "
                f"overlap {_list(event.overlap)}, loss {event.loss:.3f}{best}"
            )
        case Saved():
            line.close()
            print(
                f"{event.path}: acceptance by position {_list(event.greedy)} (greedy), overlap "
                f"{_list(event.overlap)} (temperature 1), on text kept from training"
            )
        case Failed():
            pass


def _list(shares: tuple[float, ...]) -> str:
    return " ".join(f"{share:.3f}" for share in shares)
