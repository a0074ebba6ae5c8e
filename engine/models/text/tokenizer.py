"""Text to token ids and back, the same for a folder's tokenizer.json and a GGUF file's metadata.

Knows no model and no torch. Spaces are never cleaned up: what is decoded is the tokens' own bytes.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import tokenizers

from engine.errors import DraftscopeError, short
from engine.models.formats.files import read_json, read_json_if_there, read_text
from engine.models.formats.gguf_header import read_header
from engine.models.text.end_tokens import end_tokens_of_folder, end_tokens_of_gguf, token_ids
from engine.models.text.gguf_tokenizer import backend_from_gguf, token_id
from engine.models.text.pieces import piece_decoder
from engine.models.text.streaming import TextStream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_TOKENS = 4_000_000  # a bound for damaged files, far above any vocabulary

_DIFFERENCES_NAMED = 3  # entries of two vocabularies that a refusal shows


class Tokenizer:
    """A vocabulary and how text falls into it.

    Attributes
    ----------
    vocabulary
        V of the tokenizer: one more than the highest id. A model's logits may be wider (padded).
    end_tokens
        Ids that end a text, in rising order.
    bos
        Id that begins a text, if there is one; `encode` puts it only where asked.
    """

    def __init__(
        self,
        backend: tokenizers.Tokenizer,
        *,
        end_tokens: Iterable[int] = (),
        bos: int | None = None,
    ) -> None:
        backend.no_truncation()
        backend.no_padding()
        self._backend = backend
        self.vocabulary = _count(backend)
        # Not of `backend.to_str()`: that walks every id up to the highest.
        described = backend.decoder and json.loads(backend.decoder.__getstate__())
        self._decoder = piece_decoder(described)
        self._pieces: dict[int, bytes] = {}
        added = backend.get_added_tokens_decoder()
        self._special = frozenset(token for token, entry in added.items() if entry.special)
        self._added = {token: entry.content for token, entry in added.items()}
        self.end_tokens = tuple(sorted(token for token in end_tokens if token < self.vocabulary))
        self.bos = bos if bos is not None and bos < self.vocabulary else None

    def encode(self, text: str, *, add_special: bool = False) -> list[int]:
        """Return the ids of a text.

        Parameters
        ----------
        add_special
            Also put what the tokenizer puts around a text (a beginning token, say). Control tokens
            that are written out in the text, as a chat template does, are always recognised.
        """
        # A lone surrogate can be typed or pasted but is no text: it becomes U+FFFD.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        with _sentence("The tokenizer fails on this text"):
            return list(self._backend.encode(text, add_special_tokens=add_special).ids)

    def decode(
        self, ids: Sequence[int], skip_special: bool = True, *, at_start: bool = True
    ) -> str:
        """Return the text of ids, equal to what a stream of them releases in all."""
        stream = self.stream(skip_special=skip_special, at_start=at_start)
        return "".join([*(stream.push(token) for token in ids), stream.flush()])

    def stream(
        self,
        stop_strings: Sequence[str] = (),
        *,
        skip_special: bool = True,
        at_start: bool = True,
    ) -> TextStream:
        """Return a new stream; `TextStream` describes the parameters."""
        return TextStream(self, stop_strings, skip_special=skip_special, at_start=at_start)

    def piece(self, token: int) -> bytes:
        """Return a token's own bytes; none for an id outside the vocabulary."""
        piece = self._pieces.get(token)
        if piece is None:
            raw = self._added.get(token) if self._decoder.byte_level else None  # never in bytes
            piece = raw.encode() if raw is not None else self._decoder.piece(self.entry(token))
            self._pieces[token] = piece
        return piece

    def first_piece(self, token: int) -> bytes:
        """Return a token's bytes where it begins a text."""
        if self._decoder.byte_level:
            return self.piece(token)
        return self._decoder.first_piece(self.entry(token))

    def entry(self, token: int) -> str:
        """Return a token as the vocabulary writes it; empty for an id outside of it."""
        known = 0 <= token < self.vocabulary
        return (self._backend.id_to_token(token) or "") if known else ""

    def is_special(self, token: int) -> bool:
        """Return whether the token is a control token, which is no part of the text."""
        return token in self._special

    def identical_to(self, other: Tokenizer) -> str | None:
        """Compare vocabularies: None if they are the same, else a sentence about the first entries.

        Only with one vocabulary can a drafter's tokens be verified by a target.
        """
        if self._entries == other._entries:
            return None
        pairs = enumerate(zip(self._entries, other._entries, strict=False))
        differing = (
            f"token {token} ({mine!r:.40} and {its!r:.40})"
            for token, (mine, its) in pairs
            if mine != its
        )
        first = list(islice(differing, _DIFFERENCES_NAMED))
        if first:
            return f"The vocabularies differ, first at {', '.join(first)}."
        return (
            f"The vocabularies differ in size: {self.vocabulary} and {other.vocabulary} tokens, "
            f"the first {min(self.vocabulary, other.vocabulary)} of them the same."
        )

    @cached_property
    def _entries(self) -> list[str]:
        return [self.entry(token) for token in range(self.vocabulary)]


def open_tokenizer(path: str | Path) -> Tokenizer:
    """Open the tokenizer of a Hugging Face folder or of a .gguf file.

    Raises
    ------
    DraftscopeError
        A sentence for what is missing, damaged or not supported.
    """
    path = Path(path)
    if os.path.isdir(path):
        return _open_folder(path)
    metadata = read_header(path).metadata
    with _sentence(f"The tokenizer in {path.name} is not understood"):
        backend = backend_from_gguf(metadata, path.name)
    return Tokenizer(
        backend, end_tokens=end_tokens_of_gguf(metadata), bos=token_id(metadata, "bos")
    )


def _open_folder(folder: Path) -> Tokenizer:
    path = folder / "tokenizer.json"
    if not os.path.lexists(path):
        raise DraftscopeError(_no_tokenizer(folder))
    read_json(path)  # a Git LFS pointer or a torn file has its own sentence
    with _sentence(f"tokenizer.json in {folder.name} is not understood"):
        backend = tokenizers.Tokenizer.from_str(read_text(path))
    begins = token_ids(read_json_if_there(folder / "config.json").get("bos_token_id"))
    return Tokenizer(backend, end_tokens=end_tokens_of_folder(folder), bos=next(iter(begins), None))


def _no_tokenizer(folder: Path) -> str:
    for other in ("tokenizer.model", "vocab.json", "tekken.json"):
        if os.path.isfile(folder / other):
            return (
                f"The folder {folder.name} has only {other}; tokenizer.json is needed. "
                f"Download it, or convert {other} with transformers."
            )
    return f"The folder {folder.name} has no tokenizer.json. Copy it beside the weights."


def _count(backend: tokenizers.Tokenizer) -> int:
    """Return one more than the highest id; refuse ids that cannot be, or that two entries share."""
    own = backend.get_vocab(with_added_tokens=False).values()
    ids = backend.get_vocab(with_added_tokens=True).values()
    vocabulary = max(ids, default=-1) + 1
    if vocabulary > MOST_TOKENS:
        raise DraftscopeError(
            f"The tokenizer has the id {vocabulary - 1}; ids up to {MOST_TOKENS - 1} are "
            "supported. Download it again."
        )
    if len(set(own)) != len(own):
        raise DraftscopeError(
            "The tokenizer gives two of its entries one id, so text would be ambiguous. "
            "Download it again."
        )
    return vocabulary


@contextmanager
def _sentence(what: str) -> Iterator[None]:
    """Turn whatever the package raises into a sentence; it raises bare Exception and panics."""
    try:
        yield
    except DraftscopeError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise DraftscopeError(f"{what} ({short(str(error))}). Download it again.") from error
