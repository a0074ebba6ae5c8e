"""The tokenizer in a GGUF file's metadata: byte-level BPE, or SentencePiece of the Llama 2 kind.

What is not understood is refused by name rather than guessed. Knows no files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, processors

from engine.errors import DraftscopeError, short
from engine.models.text.pre_tokenizers import PRE_TOKENIZERS
from engine.models.text.sentence_pieces import sentence_piece_backend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Token types of the format; normal, unused and byte tokens need no mark.
_UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED = 2, 3, 4, 5
_FOLDER = "Open the model's Hugging Face folder instead."


def backend_from_gguf(metadata: Mapping[str, Any], source: str) -> Tokenizer:
    """Build the tokenizer that the metadata describes.

    Parameters
    ----------
    source
        The file's name, for messages.

    Raises
    ------
    DraftscopeError
        If there is no tokenizer, it is of another kind, or its lists do not fit together.
    """
    kind = metadata.get("tokenizer.ggml.model")
    if kind not in ("gpt2", "llama"):
        named = f"a tokenizer of kind {short(kind)}" if kind else "no tokenizer"
        raise DraftscopeError(
            f"{source} has {named}; byte-level BPE (gpt2) and SentencePiece (llama) are "
            f"supported. {_FOLDER}"
        )
    tokens, types = _vocabulary(metadata, source)
    if kind == "llama":
        backend = _sentence_pieces(metadata, tokens, types, source)
        begins = True
    else:
        backend, begins = _byte_level(metadata, tokens, source)
    marked = list(zip(tokens, types, strict=True))
    backend.add_special_tokens(
        [
            AddedToken(text, normalized=False, special=True)
            for text, number in marked
            if number in (_UNKNOWN, _CONTROL)
        ]
    )
    backend.add_tokens(
        [AddedToken(text, normalized=False) for text, number in marked if number == _USER_DEFINED]
    )
    _add_around(backend, metadata, tokens, source, begins=begins)
    return backend


def token_id(metadata: Mapping[str, Any], name: str) -> int | None:
    """Return the id of a named token (bos, eos, ...), None where it is absent or is no token."""
    given = metadata.get(f"tokenizer.ggml.{name}_token_id")
    tokens = metadata.get("tokenizer.ggml.tokens")
    known = type(given) is int and isinstance(tokens, list) and 0 <= given < len(tokens)
    return given if known else None


def _byte_level(
    metadata: Mapping[str, Any], tokens: list[str], source: str
) -> tuple[Tokenizer, bool]:
    pre = metadata.get("tokenizer.ggml.pre")
    known = PRE_TOKENIZERS.get(pre) if isinstance(pre, str) else None
    if known is None:
        raise DraftscopeError(
            f"{source} splits text by the pre-tokenizer {short(pre)}, which is not supported. "
            f"Supported are {', '.join(PRE_TOKENIZERS)}. {_FOLDER}"
        )
    vocabulary = {text: token for token, text in enumerate(tokens)}
    merges = _merges(metadata, vocabulary, source)
    backend = Tokenizer(
        models.BPE(vocab=vocabulary, merges=merges, ignore_merges=known.whole_words)
    )
    backend.pre_tokenizer = known.make()
    backend.decoder = decoders.ByteLevel()
    if known.composes:
        backend.normalizer = normalizers.NFC()
    return backend, known.begins


def _sentence_pieces(
    metadata: Mapping[str, Any], tokens: list[str], types: list[int], source: str
) -> Tokenizer:
    scores = metadata.get("tokenizer.ggml.scores")
    if not isinstance(scores, list) or not all(type(score) in (float, int) for score in scores):
        raise _damaged(source, "no list of scores")
    if len(scores) < len(tokens):
        raise _damaged(source, "a list of scores that does not fit its tokens")
    prefix = _flag(metadata, "add_space_prefix", True, source)
    return sentence_piece_backend(tokens, scores[: len(tokens)], types, source, prefix=prefix)


def _vocabulary(metadata: Mapping[str, Any], source: str) -> tuple[list[str], list[int]]:
    """Return tokens and their types, without the unused ones that only pad the end."""
    tokens = metadata.get("tokenizer.ggml.tokens")
    texts = isinstance(tokens, list) and all(isinstance(text, str) for text in tokens)
    if not texts or not tokens:
        raise _damaged(source, "no list of tokens")
    types = metadata.get("tokenizer.ggml.token_type", [1] * len(tokens))
    whole = isinstance(types, list) and all(type(number) is int for number in types)
    if not whole or len(types) != len(tokens):
        raise _damaged(source, "a list of token types that does not fit its tokens")
    used = len(tokens)
    while used and types[used - 1] == _UNUSED:
        used -= 1
    if not used:
        raise _damaged(source, "no token that is used")
    if len(set(tokens[:used])) != used:
        raise _damaged(source, "the same token twice")
    return tokens[:used], types[:used]


def _merges(
    metadata: Mapping[str, Any], vocabulary: Mapping[str, int], source: str
) -> list[tuple[str, str]]:
    listed = metadata.get("tokenizer.ggml.merges")
    if not isinstance(listed, list) or not all(isinstance(merge, str) for merge in listed):
        raise _damaged(source, "no list of merges")
    merges: dict[tuple[str, str], None] = {}
    for merge in listed:
        split = merge.find(" ", 1)
        left, right = merge[:split], merge[split + 1 :]
        if split < 0 or not {left, right, left + right} <= vocabulary.keys():
            raise _damaged(source, f"the merge {merge!r:.60} of tokens that it does not list")
        if (left, right) in merges:
            raise _damaged(source, f"the merge {merge!r:.60} twice")
        merges[left, right] = None
    return list(merges)


def _add_around(
    backend: Tokenizer,
    metadata: Mapping[str, Any],
    tokens: Sequence[str],
    source: str,
    *,
    begins: bool,
) -> None:
    """Let texts begin and end with the tokens that the file asks for."""
    around: dict[str, int] = {}
    for name, default in (("bos", begins), ("eos", False)):
        if not _flag(metadata, f"add_{name}_token", default, source):
            continue
        token = token_id(metadata, name)
        if token is not None and token < len(tokens):
            around[name] = token
        elif f"tokenizer.ggml.add_{name}_token" in metadata:
            raise _damaged(source, f"no token to add as {name}, which it asks for")
    if around:
        backend.post_processor = processors.TemplateProcessing(
            single=[name for name in ("bos", "$A", "eos") if name == "$A" or name in around],
            special_tokens=[
                {"id": name, "ids": [token], "tokens": [tokens[token]]}
                for name, token in around.items()
            ],
        )


def _flag(metadata: Mapping[str, Any], name: str, default: bool, source: str) -> bool:
    given = metadata.get(f"tokenizer.ggml.{name}", default)
    if not isinstance(given, bool):
        raise _damaged(source, f"{name} as {given!r:.40}, which should be true or false")
    return given


def _damaged(source: str, what: str) -> DraftscopeError:
    return DraftscopeError(f"The tokenizer in {source} is damaged: it has {what}.")
