"""One run of a session, from its tokens to its last event. No window, no file, no loading."""

from __future__ import annotations

import secrets
import time
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import torch
from msgspec import structs

from engine.bounds import MOST_DRAFTED
from engine.comparison import compare
from engine.decoder import Choice, Decoder
from engine.drafters.protocol import Context
from engine.emission import Limits
from engine.errors import DraftscopeError, out_of_memory
from engine.loading import LoadingCancelled, machine
from engine.models.settling import settle
from engine.models.text.streaming import TextStream
from engine.plain import Prober, run_baseline
from engine.prefill import Stopped
from engine.prompting import prompt_tokens
from engine.sampling import Sampling
from engine.sequence import Sequence
from engine.trace.events import (
    SCHEMA_VERSION,
    FinishReason,
    PrefillFinished,
    RunFinished,
    RunStarted,
    SettingsChanged,
    TokenPiece,
)
from engine.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from engine.cache import PagePool
    from engine.control import Control
    from engine.drafters.protocol import Drafter
    from engine.loading import LoadedModel, Progress
    from engine.request import RunRequest
    from engine.trace.events import Event, Settings


def check_settings(settings: Settings, vocabulary: int) -> Sampling:
    """Return the target's sampling of valid settings; a DraftscopeError names what is wrong."""
    if not 0 <= settings.k <= MOST_DRAFTED:
        raise DraftscopeError(f"k is {settings.k}; choose a number from 0 to {MOST_DRAFTED}.")
    if not 0 <= settings.k_min <= MOST_DRAFTED:
        raise DraftscopeError(
            f"The least number drafted is {settings.k_min}; choose a number from 0 to "
            f"{MOST_DRAFTED}."
        )
    if not 0.0 <= settings.confidence <= 1.0:
        raise DraftscopeError(
            f"The confidence is {settings.confidence}; choose a probability (0 switches it off)."
        )
    for token, _ in settings.logit_bias:
        if token >= vocabulary:
            raise DraftscopeError(
                f"The logit bias names token {token}, and the target's last one is "
                f"{vocabulary - 1}; choose an id of its vocabulary."
            )
    Sampling.of_drafter(settings)
    return Sampling.of(settings)


def _traced(settings: Settings, drafter: Drafter | None) -> Settings:
    """Return settings as a trace keeps them: a drafter's name and not where its file lies."""
    return settings if drafter is None else structs.replace(settings, drafter=drafter.spec)


def _failure(error: Exception) -> str:
    if out_of_memory(error):
        return (
            "The memory ran out; the session so far is kept. "
            "Use a shorter prompt, a smaller limit or a smaller model."
        )
    return f"The engine failed ({type(error).__name__}: {error}); the session so far is kept."


class Run:
    """Checks a request, then yields its events."""

    def __init__(
        self,
        target: LoadedModel,
        pool: PagePool,
        drafter: Callable[[str, Callable[[], bool]], Drafter | None],
        request: RunRequest,
        control: Control,
        progress: Progress | None = None,
    ) -> None:
        self._target = target
        self._pool = pool
        self._drafter_named = drafter
        self._request = request
        self._control = control
        self._progress = progress
        self._id = secrets.token_hex(8)
        self._settings = request.settings
        self._sampling = self._checked(request.settings)
        if request.max_new_tokens < 1:
            raise DraftscopeError("The limit of new tokens must be at least 1.")
        if request.top_n < 0:
            raise DraftscopeError(
                f"The number of rows kept of each law is {request.top_n}; choose 0 (none) or more."
            )
        self._prompt = prompt_tokens(target, request.prompt, raw=request.raw)
        ends = frozenset[int]() if request.ignore_end_tokens else target.end_tokens
        self._limits = Limits(
            len(self._prompt), request.max_new_tokens, target.info.context_length, ends
        )
        self._begun: list[Drafter] = []
        self._comparable = self._sampling.greedy  # one greedy law in every round so far
        self._text = self._stream()  # made now: an empty stop string is refused before any event

    def _checked(self, settings: Settings) -> Sampling:
        return check_settings(settings, self._target.transformer.vocabulary)

    def events(self) -> Generator[Event, None, None]:
        """Yield the run's events in their order."""
        drafter = self._begin_drafter(self._settings.drafter)
        yield self._started(drafter)
        taps = getattr(drafter, "taps", ())  # of drafters that read lower states
        sequence = Sequence(self._target.transformer, self._pool, self._prompt, taps)
        stream = self._text
        reason, message = FinishReason.CANCELLED, ""
        try:
            yield self._prefill(sequence)
            self._prepare(drafter, sequence)
            decoder = Decoder(
                sequence,
                self._target.tokenizer,
                stream,
                Choice.of(self._settings, drafter),
                self._limits,
                run=self._id,
                seed=self._request.seed,
                top_n=self._request.top_n,
            )
            yield from self._rounds(decoder)
            reason = decoder.reason or reason
        except (Stopped, LoadingCancelled):
            pass
        except DraftscopeError as error:
            reason, message = FinishReason.ERROR, str(error)
        except Exception as error:
            message = _failure(error)
            yield RunFinished(
                run=self._id, reason=FinishReason.ERROR, tail=stream.flush(), message=message
            )
            raise
        finally:
            emitted = sequence.tokens[len(self._prompt) :]
            sequence.close()
        yield RunFinished(run=self._id, reason=reason, tail=stream.flush(), message=message)
        if self._request.baseline and reason not in (FinishReason.CANCELLED, FinishReason.ERROR):
            yield from self._compare(emitted)

    def _stream(self) -> TextStream:
        """Return a stream for the text; a raw prompt is gone on with, an answer begins a text."""
        request = self._request
        tokenizer = self._target.tokenizer
        stops, ends = request.stop_strings, self._limits.end_tokens
        return TextStream(tokenizer, stops, silent=ends, at_start=not request.raw)

    def _started(self, drafter: Drafter | None) -> RunStarted:
        request, piece = self._request, self._target.tokenizer.piece
        return RunStarted(
            schema=SCHEMA_VERSION,
            run=self._id,
            version=VERSION,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            prompt=request.prompt,
            raw=request.raw,
            prompt_tokens=tuple(TokenPiece(id=token, piece=piece(token)) for token in self._prompt),
            settings=_traced(self._settings, drafter),
            seed=request.seed,
            max_new_tokens=request.max_new_tokens,
            target=self._target.info,
            drafter=None if drafter is None else drafter.info,
            end_tokens=tuple(sorted(self._limits.end_tokens)),
            stop_strings=request.stop_strings,
            top_n=request.top_n,
            machine=machine(self._target.transformer.plan.device),
        )

    def _prefill(self, sequence: Sequence) -> PrefillFinished:
        begin = time.perf_counter_ns()
        sequence.prefill(lambda: self._control.stopped, self._reading)
        took = time.perf_counter_ns() - begin
        return PrefillFinished(run=self._id, ns=took, tokens=sequence.cache.length)

    def _reading(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total, "Reading the prompt")

    def _rounds(self, decoder: Decoder) -> Iterator[Event]:
        """Yield rounds, and between them what was measured or changed, until stopped."""
        prober = Prober()
        index = 0
        with closing(decoder.rounds()) as rounds:
            while decoder.reason is None:
                decoder.paced = self._control.wait_for_turn(index)
                decoder.disturbed = self._control.disturbed()
                if self._control.stopped:
                    return
                yield from self._changes(decoder, index)
                one = next(rounds)
                yield one
                index += 1
                prober.round_took(one.times.round, one.times.verify)
                if self._request.probes and decoder.reason is None and prober.due():
                    sampling = decoder.choice.sampling
                    yield prober.probe(decoder.sequence, sampling, self._id, one.index)

    def _changes(self, decoder: Decoder, index: int) -> Iterator[Event]:
        """Take up changed settings, if they are valid; say what held from which round on."""
        settings = self._control.take_settings()
        if settings is None or settings == self._settings:
            return
        sampling = self._checked(settings)
        changed = settings.drafter != self._settings.drafter
        drafter = decoder.choice.drafter
        if changed:
            drafter = self._begin_drafter(settings.drafter)
            self._prepare(drafter, decoder.sequence)
        self._settings = settings
        self._comparable = self._comparable and sampling == self._sampling
        decoder.choice = Choice.of(settings, drafter)
        info = drafter.info if changed and drafter is not None else None
        yield SettingsChanged(
            run=self._id, before_round=index, settings=_traced(settings, drafter), drafter=info
        )

    def _begin_drafter(self, spec: str) -> Drafter | None:
        """Return a drafter that knows nothing of earlier runs."""
        drafter = self._drafter_named(spec, lambda: self._control.stopped)
        if drafter is not None and all(drafter is not other for other in self._begun):
            drafter.begin()
            self._begun.append(drafter)
        return drafter

    def _prepare(self, drafter: Drafter | None, sequence: Sequence) -> None:
        """Let the drafter read what is there, outside any round's time."""
        if drafter is not None:
            context = Context(sequence.tokens, sequence.hidden, sequence.cache, sequence=sequence)
            drafter.observe(sequence.tokens)
            with torch.inference_mode():
                drafter.prepare(context, lambda: self._control.stopped)
            settle(self._target.transformer.plan.device)

    def _compare(self, emitted: list[int]) -> Iterator[Event]:
        baseline = run_baseline(
            self._target,
            self._pool,
            self._prompt,
            self._sampling,
            self._limits,
            run=self._id,
            seed=self._request.seed,
            stream=self._stream(),
            stopped=lambda: self._control.stopped,
        )
        yield baseline
        if self._comparable and baseline.complete:  # else the texts need not be one
            model = self._target.transformer
            texts = (self._prompt, emitted, baseline.token_ids)
            yield compare(model, self._pool, *texts, self._id, self._sampling)
