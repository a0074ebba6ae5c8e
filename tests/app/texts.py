"""Runs whose tokens are given pieces of bytes, with the texts that the engine's stream releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.models.text.streaming import TextStream
from engine.trace.events import (
    SCHEMA_VERSION,
    CacheSpan,
    ClosingKind,
    ClosingToken,
    DraftedToken,
    Event,
    Fate,
    FinishReason,
    ModelInfo,
    Round,
    RoundTimes,
    RunFinished,
    RunStarted,
    Settings,
    TokenPiece,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    Piece = bytes | str

RUN = "run"
MARKUP = ("<b>x</b>", "&lt;", "<img src=x>", "a<b")
_SPAN = CacheSpan(
    before=9, peak=14, after=10, pages_before=1, pages_peak=1, pages_after=1, page_size=16
)
_TIMES = RoundTimes(draft=3_000_000, verify=20_000_000, accept=300_000, commit=100_000)


class Vocabulary:
    """Token i is the i-th piece; end tokens are no part of the text."""

    def __init__(self, pieces: Sequence[bytes], ends: Sequence[int]) -> None:
        self._pieces, self._ends = pieces, ends

    def piece(self, token: int) -> bytes:
        return self._pieces[token]

    first_piece = piece

    def is_special(self, token: int) -> bool:
        return token in self._ends


def _coded(piece: Piece) -> bytes:
    return piece.encode() if isinstance(piece, str) else piece


def run_of(
    *rounds: Sequence[Piece],
    prompt: Sequence[Piece] = (),
    stops: Sequence[str] = (),
    end: str | None = None,
    reason: FinishReason = FinishReason.LIMIT,
) -> list[Event]:
    """Return a run of these rounds: drafted tokens that were kept, then the closing one.

    A round of one piece is a plain one. A stop string or the piece `end` ends the run in its round:
    drafted tokens after it are cut, and there is no closing token after it.
    """
    pieces = [_coded(piece) for one in rounds for piece in one]
    ends = [token for token, piece in enumerate(pieces) if piece == (end or "\0").encode()]
    stream = TextStream(Vocabulary(pieces, ends), stops)
    given = tuple(TokenPiece(id=9_000 + i, piece=_coded(p)) for i, p in enumerate(prompt))
    events: list[Event] = [_started(given, stops, ends)]
    first = 0
    for index, one in enumerate(rounds):
        if stream.stopped or any(token < first for token in ends):
            raise ValueError("a round comes after the end of its run")
        tokens = range(first, first + len(one))
        events.append(_round(index, len(given) + first, tokens, pieces, ends, stream))
        first += len(one)
    if ends:
        reason = FinishReason.END_TOKEN
    if stream.stopped:
        reason = FinishReason.STOP_STRING
    return [*events, RunFinished(run=RUN, reason=reason, tail=stream.flush())]


def _round(
    index: int,
    position: int,
    tokens: Sequence[int],
    pieces: Sequence[bytes],
    ends: Sequence[int],
    stream: TextStream,
) -> Round:
    drafted: list[DraftedToken] = []
    closing, texts, over = None, [], False
    for token in tokens:
        if not over:
            texts.append(stream.push(token))
        if token != tokens[-1]:
            drafted.append(_drafted(token, pieces[token], Fate.CUT if over else Fate.ACCEPTED))
        elif not over:
            kind = ClosingKind.BONUS if drafted else ClosingKind.PLAIN
            closing = ClosingToken(id=token, piece=pieces[token], kind=kind, probability=0.5)
        over = over or stream.stopped or token in ends
    return Round(
        run=RUN,
        index=index,
        position=position,
        drafter="ngram",
        k=len(drafted),
        drafted=tuple(drafted),
        closing=closing,
        texts=tuple(texts),
        times=_TIMES,
        target_cache=_SPAN,
    )


def _drafted(token: int, piece: bytes, fate: Fate) -> DraftedToken:
    return DraftedToken(
        id=token,
        piece=piece,
        q_draft=0.5,
        p_target=0.5,
        fate=fate,
        acceptance_probability=1.0,
        u=0.25 if fate is Fate.ACCEPTED else None,
    )


def _started(given: tuple[TokenPiece, ...], stops: Sequence[str], ends: Sequence[int]) -> Event:
    return RunStarted(
        schema=SCHEMA_VERSION,
        run=RUN,
        version="0.1.0",
        started_at="2025-01-01T12:00:00+00:00",
        prompt=b"".join(token.piece for token in given).decode("utf-8", "replace"),
        raw=True,
        prompt_tokens=given,
        settings=Settings(drafter="ngram", k=4, temperature=1.0),
        seed=0,
        max_new_tokens=100_000,
        target=ModelInfo(name="tiny-target", kind="target", vocabulary=10_000, device="cpu"),
        drafter=ModelInfo(name="ngram", kind="ngram"),
        end_tokens=tuple(ends),
        stop_strings=tuple(stops),
        machine="simulated, 2 threads",
    )
