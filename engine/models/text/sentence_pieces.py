"""SentencePiece vocabularies of the Llama 2 kind, from the tokens and scores of a GGUF file.

SentencePiece joins the two neighbours whose joint token has the highest score, again and again.
`tokenizers` joins by a list of merges, so the list is made from the scores. Knows no files.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tokenizers import Tokenizer, decoders, models, normalizers

from engine.errors import DraftscopeError, short

if TYPE_CHECKING:
    from collections.abc import Sequence

SPACE = "▁"
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
LONGEST_PIECE = 256  # characters; SentencePiece's own default is 16
_NORMAL, _UNUSED = 1, 5


def sentence_piece_backend(
    tokens: Sequence[str],
    scores: Sequence[float],
    types: Sequence[int],
    source: str,
    *,
    prefix: bool,
) -> Tokenizer:
    """Build a tokenizer that joins by score, with bytes for what the vocabulary lacks.

    Parameters
    ----------
    tokens, scores, types
        One of each for every id, as the GGUF file lists them.
    source
        The file's name, for messages.
    prefix
        Whether text begins with a space that decoding takes off again.

    Raises
    ------
    DraftscopeError
        If a byte is not in the vocabulary, or the scores do not decide what is joined first.
    """
    vocabulary = {text: token for token, text in enumerate(tokens)}
    missing = next((text for text in BYTES if text not in vocabulary), None)
    if missing is not None:
        raise DraftscopeError(
            f"The tokenizer in {source} is not supported: it lacks the byte token {missing}, "
            "without which text can be lost. Open the model's Hugging Face folder instead."
        )
    merges = _merges(tokens, scores, types, source)
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, byte_fallback=True))
    marks: list[normalizers.Normalizer] = [normalizers.Replace(" ", SPACE)]
    steps: list[decoders.Decoder] = [
        decoders.Replace(SPACE, " "),
        decoders.ByteFallback(),
        decoders.Fuse(),
    ]
    if prefix:
        marks.insert(0, normalizers.Prepend(SPACE))
        steps.append(decoders.Strip(" ", 1, 0))
    backend.normalizer = normalizers.Sequence(marks)
    backend.decoder = decoders.Sequence(steps)
    return backend


def _merges(
    tokens: Sequence[str], scores: Sequence[float], types: Sequence[int], source: str
) -> list[tuple[str, str]]:
    """Return every pair of tokens that joins into one, the best joint token first.

    A token that can be made of several pairs has them in the order of transformers' converter:
    the folder of the same model then gives the same ids.
    """
    listed = zip(tokens, scores, types, strict=True)
    pieces = {text: score for text, score, kind in listed if kind in (_NORMAL, _UNUSED)}
    made: list[tuple[float, str, str]] = []
    owner: dict[float, str] = {}
    for text, score in pieces.items():
        if len(text) > LONGEST_PIECE:
            raise _damaged(source, f"a token of {len(text)} characters")
        halves = [(text[:at], text[at:]) for at in range(1, len(text))]
        pairs = [pair for pair in halves if pair[0] in pieces and pair[1] in pieces]
        if pairs and not math.isfinite(score):
            raise _damaged(source, f"the score {score} for the token {short(text, 40)!r}")
        if pairs and owner.setdefault(score, text) != text:
            both = f"{short(owner[score], 40)!r} and {short(text, 40)!r}"
            raise DraftscopeError(
                f"The tokenizer in {source} is not supported: its tokens {both} have one score, "
                "which leaves open what is joined first. "
                "Open the model's Hugging Face folder instead."
            )
        made.extend((score, left, right) for left, right in pairs)
    made.sort(key=lambda merge: (merge[0], len(merge[1])), reverse=True)
    return [(left, right) for _, left, right in made]


def _damaged(source: str, what: str) -> DraftscopeError:
    return DraftscopeError(f"The tokenizer in {source} is damaged: it has {what}.")
