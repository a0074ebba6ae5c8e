"""Text to token ids and back, the same for a folder's tokenizer.json and a GGUF file's metadata.

Knows no model and no torch. Spaces are never cleaned up: what is decoded is the tokens' own bytes.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import tokenizers

from engine.errors import DraftscopeError
from engine.models.config import end_tokens_of_folder, end_tokens_of_gguf
from engine.models.files import read_json, read_json_if_there
from engine.models.gguf_header import read_header
from engine.models.gguf_tokenizer import backend_from_gguf
from engine.models.pieces import piece_decoder
from engine.models.streaming import TextStream

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


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
        self._decoder = piece_decoder(json.loads(backend.to_str())["decoder"])
        self._pieces: dict[int, bytes] = {}
        added = backend.get_added_tokens_decoder()
        self._special = frozenset(token for token, entry in added.items() if entry.special)
        ids = backend.get_vocab(with_added_tokens=True).values()
        self.vocabulary = max(ids, default=-1) + 1
        self.end_tokens = tuple(sorted(end_tokens))
        self.bos = bos

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
            piece = self._pieces[token] = self._decoder.piece(self.entry(token))
        return piece

    def first_piece(self, token: int) -> bytes:
        """Return a token's bytes where it begins a text."""
        return self._decoder.first_piece(self.entry(token))

    def entry(self, token: int) -> str:
        """Return a token as the vocabulary writes it; empty for an id outside of it."""
        known = 0 <= token < self.vocabulary
        return (self._backend.id_to_token(token) or "") if known else ""

    def is_special(self, token: int) -> bool:
        """Return whether the token is a control token, which is no part of the text."""
        return token in self._special

    def identical_to(self, other: Tokenizer) -> str | None:
        """Compare vocabularies: None if they are the same, else a sentence about the first entry.

        Only with one vocabulary can a drafter's tokens be verified by a target.
        """
        if self._entries == other._entries:
            return None
        pairs = zip(self._entries, other._entries, strict=False)
        for token, (mine, its) in enumerate(pairs):
            if mine != its:
                return f"The vocabularies differ first at token {token}: {mine!r} and {its!r}."
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
    if path.is_dir():
        return _open_folder(path)
    metadata = read_header(path).metadata
    bos = metadata.get("tokenizer.ggml.bos_token_id")
    return Tokenizer(
        backend_from_gguf(metadata, path.name),
        end_tokens=end_tokens_of_gguf(metadata),
        bos=bos if isinstance(bos, int) else None,
    )


def _open_folder(folder: Path) -> Tokenizer:
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise DraftscopeError(_no_tokenizer(folder))
    read_json(path)  # a Git LFS pointer or a torn file has its own sentence
    try:
        backend = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises bare Exception
        raise DraftscopeError(
            f"tokenizer.json in {folder.name} is not understood ({error}). Download it again."
        ) from error
    bos = read_json_if_there(folder / "config.json").get("bos_token_id")
    return Tokenizer(
        backend,
        end_tokens=end_tokens_of_folder(folder),
        bos=bos if isinstance(bos, int) else None,
    )


def _no_tokenizer(folder: Path) -> str:
    if (folder / "tokenizer.model").is_file():
        return (
            f"The folder {folder.name} has only tokenizer.model; tokenizer.json is needed. "
            "Download it, or convert tokenizer.model with transformers."
        )
    return f"The folder {folder.name} has no tokenizer.json. Copy it beside the weights."
