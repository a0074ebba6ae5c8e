"""Making a drafter, from a request to its file: text, states, fitting, held-out figures.

Yields what happens. Knows the order of things; how each is done is other files'. No window and no
command line.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

import torch

from engine.drafters import metadata as described
from engine.drafters.file import write_drafter
from engine.drafters.names import HEAD
from engine.errors import DraftscopeError, out_of_memory
from engine.training.beginning import begun, begun_words, check_alike, shape_of, weights_digest
from engine.training.checkpoint import Checkpoint
from engine.training.corpus import joined
from engine.training.events import Failed, Preparing, Saved
from engine.training.fit import Budget, Fit, Text
from engine.training.head_model import HeadModel
from engine.training.opened import open_target
from engine.training.request import STEPS_AHEAD
from engine.training.small_model import SmallModel
from engine.training.states import compute_states, state_files
from engine.training.text import IDS, given_text, own_text
from engine.training.vocabulary import Scored, commonest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from torch import Tensor

    from engine.drafters.file import DrafterFile
    from engine.training.corpus import Corpus
    from engine.training.events import TrainingEvent
    from engine.training.opened import OpenedTarget
    from engine.training.request import TrainingRequest
    from engine.training.states import States
    from engine.training.trainable import Trainable

LICENCE = "that of the target, from which it was made"
FEWEST_TOKENS = 2_000  # of text: below that there is nothing to learn and nothing to measure on
_START_TOKENS = 20_000  # of the corpus, that start values are taken from
_PREFIX = 64  # ids at a row's beginning that are compared with those of others
_ALIKE = 8  # rows that have to begin alike before it is taken for a template


class Reins(Protocol):
    """How a training is held."""

    def stopped(self) -> bool:
        """Return whether it is to end, and keep the best."""
        ...

    def wait(self) -> None:
        """Return once it may go on."""
        ...


def train(request: TrainingRequest, reins: Reins) -> Iterator[TrainingEvent]:
    """Make a drafter and yield what happens; the last event is Saved or Failed.

    A stop keeps the best so far, and all that is needed to go on.
    """
    try:
        request.check()
        yield from _Training(request, reins).events()
    except DraftscopeError as error:
        yield Failed(str(error))
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        yield Failed("The memory ran out; train on less text, or make a smaller drafter.")
    except OSError as error:
        yield Failed(
            f"A file beside {request.out.name} cannot be used: {error.strerror or error}. Choose "
            "another place."
        )


class _Training:
    """One request being carried out."""

    def __init__(self, request: TrainingRequest, reins: Reins) -> None:
        self._request = request
        self._reins = reins
        self._kept = Checkpoint.beside(request.out)
        self._begin: DrafterFile | None = None  # whose weights are gone on from
        self._taps: tuple[int, ...] = ()  # known once the target is

    def events(self) -> Iterator[TrainingEvent]:
        request = self._request
        torch.manual_seed(request.seed)
        yield Preparing("Opening the target", 0, 1, 0.0)
        target = open_target(request.target, request.device)
        config = target.model.config
        request.check_target(target.name, config.layers, config.width)
        self._begin = begun(request, target)
        shape = None if self._begin is None else self._begin.metadata.shape
        self._taps = request.taps_of(config.layers)
        if request.taps is None and isinstance(shape, described.HeadShape):
            self._taps = shape.taps
        check_alike(request, self._taps, config, self._begin)
        given = given_text(target, request.corpora)
        self._kept.begin(self._asked(target), request.resume)
        if request.own_tokens:
            texts = tuple(path for path in request.corpora if path.suffix != IDS)
            wanted = request.own_tokens
            yield from own_text(target, wanted, texts, request.seed, self._kept.text, self._held)
            given += given_text(target, (self._kept.text,) if self._kept.text.is_file() else ())
        self._go_on()
        corpus = _enough(given)
        width = config.width * (1 + len(self._taps))
        states = state_files(self._kept.states, corpus.tokens.numel(), width)
        yield from self._states(target, corpus, states)
        self._go_on()
        yield from self._fit(target, corpus, states)

    def _states(self, target: OpenedTarget, corpus: Corpus, states: States) -> Iterator[Preparing]:
        """Compute what is missing of the target's states."""
        done = self._kept.finished_rows()
        rows = [row for row in range(corpus.rows) if row not in done]
        lengths, total = corpus.lengths(), corpus.tokens.numel()
        before = seen = total - sum(lengths[row] for row in rows)
        begin, said = time.monotonic(), 0.0
        for batch in compute_states(target.model, corpus, rows, self._taps, states):
            self._kept.finish_rows(batch)
            seen += sum(lengths[row] for row in batch)
            now = time.monotonic()
            if seen == total or now - said >= 1.0:
                said, rate = now, (seen - before) / max(1e-3, now - begin)
                yield Preparing("The target reads the text", seen, total, rate)
            if self._held():
                return

    def _fit(self, target: OpenedTarget, corpus: Corpus, states: States) -> Iterator[TrainingEvent]:
        request, vocabulary = self._request, target.tokenizer.vocabulary
        places = corpus.places(corpus.trained)
        ids = commonest(
            corpus.tokens[places], states.choices[places], vocabulary, request.vocabulary
        )
        text = Text(corpus, states, _shared_prefix(corpus))
        _check_lengths(text)
        drafter = _made(request, target, corpus, self._taps)
        if self._begin is not None:
            drafter.take(self._begin.tensors)
        fit = Fit(
            drafter,
            Scored(target.model, ids),
            text,
            Budget(request.minutes * 60, request.steps),
            unroll=STEPS_AHEAD if request.kind == HEAD else 1,
            seed=request.seed,
            device=target.device,
        )
        kept = self._kept.load()
        if kept is not None:
            fit.restore(kept)
        yield from fit.run(self._held, lambda: self._kept.save(fit.state()))
        self._kept.save(fit.state())
        yield Preparing("Measuring on text that was kept for it", 0, 1, 0.0)
        found = fit.held_out()
        held_out = described.HeldOut(found.greedy(), found.overlaps(), found.places[0])
        write_drafter(
            request.out,
            self._metadata(target, corpus, fit, held_out),
            {**drafter.tensors(), "vocabulary": ids},
        )
        if not self._reins.stopped():
            self._kept.remove()
        best = fit.progress.best_step
        yield Saved(str(request.out), best, held_out.greedy, held_out.overlap)

    def _metadata(
        self, target: OpenedTarget, corpus: Corpus, fit: Fit, held_out: described.HeldOut
    ) -> described.DrafterMetadata:
        request, progress = self._request, fit.progress
        tokens = Counter[str]()
        lengths = corpus.lengths()
        for row in corpus.trained:
            tokens[corpus.kinds[row]] += lengths[row]
        return described.DrafterMetadata(
            kind=request.kind,
            name=request.out.stem,
            target=target.name,
            fingerprint=target.fingerprint,
            shape=fit.drafter.shape,
            corpus=tuple(described.Portion(kind, n) for kind, n in tokens.most_common() if n),
            trained=described.Trained(
                progress.tokens,
                progress.step,
                progress.seconds,
                request.seed,
                str(target.device),
                begun_words(self._begin),
            ),
            held_out=held_out,
            licence=LICENCE,
        )

    def _asked(self, target: OpenedTarget) -> dict[str, Any]:
        """Return what a checkpoint is for; how long to go on may change."""
        free = {"out", "resume", "minutes", "steps", "device", "target", "corpora", "begin"}
        asked = {name: value for name, value in asdict(self._request).items() if name not in free}
        corpora = [(path.name, _digest(path)) for path in self._request.corpora]
        return {
            **asked,
            "corpora": corpora,
            "from": None if self._begin is None else weights_digest(self._begin),
            "target": target.fingerprint.weights,
        }

    def _held(self) -> bool:
        """Wait while the training is paused; return whether it is to end."""
        self._reins.wait()
        return self._reins.stopped()

    def _go_on(self) -> None:
        if self._held():
            raise DraftscopeError(
                "The training was stopped before there was a drafter; go on with --resume."
            )


def _made(
    request: TrainingRequest, target: OpenedTarget, corpus: Corpus, taps: tuple[int, ...]
) -> Trainable:
    """Return the drafter with its start values."""
    shape = shape_of(request, taps, target.model.config)
    if isinstance(shape, described.HeadShape):
        head = HeadModel(target.model, shape)
        head.start(_some_rows(corpus, target.device))
        return head
    small = SmallModel(target.model, shape)
    places = corpus.places(corpus.trained)[:_START_TOKENS]
    small.start(corpus.tokens[places].long().to(target.device))
    return small


def _enough(given: Sequence[Corpus]) -> Corpus:
    """Put all text together; refuse it if there is too little to train or to measure on."""
    corpus = joined(given) if given else None
    if corpus is None or corpus.tokens.numel() < FEWEST_TOKENS:
        raise DraftscopeError(
            f"There are fewer than {FEWEST_TOKENS} tokens of text to train on; give more files "
            "(--corpus) or let the target write more (--self)."
        )
    if not (corpus.validation and corpus.trained):
        kept = "all" if corpus.validation else "none"
        raise DraftscopeError(
            f"Of the {corpus.rows} texts {kept} are kept for measuring or the same as one that is, "
            "and some have to be and some not; give more files (--corpus) or let the target write "
            "more (--self)."
        )
    return corpus


def _check_lengths(text: Text) -> None:
    """Refuse text that is too short to train a draft on, or to measure one."""
    corpus, lengths = text.corpus, text.corpus.lengths()
    for rows, what in ((corpus.validation, "measured on"), (corpus.trained, "trained on")):
        if not any(lengths[row] - text.prefix > STEPS_AHEAD for row in rows):
            raise DraftscopeError(
                f"The texts to be {what} are too short for a draft; give more files (--corpus) or "
                "let the target write more (--self)."
            )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _some_rows(corpus: Corpus, device: torch.device) -> list[Tensor]:
    """Return texts from all over the corpus, some ten thousand tokens in all."""
    lengths = corpus.lengths()
    rows = [row for row in corpus.trained if lengths[row] > 1]
    stride = max(1, corpus.tokens.numel() // _START_TOKENS)
    return [corpus.row(row).long().to(device) for row in rows[::stride]]


def _shared_prefix(corpus: Corpus) -> int:
    """Return how many first ids most texts share: the chat template's own words.

    Laws there are always the same, and a draft never begins there.
    """
    heads = [tuple(corpus.row(row)[:_PREFIX].tolist()) for row in range(corpus.rows)]
    most = min(_PREFIX, sorted(corpus.lengths())[corpus.rows // 2] // 2)
    for shared in range(most):
        beginnings = Counter(head[: shared + 1] for head in heads if len(head) > shared)
        common = beginnings.most_common(1)[0][1] if beginnings else 0
        if common < max(_ALIKE, corpus.rows / 2):
            return shared
    return most
