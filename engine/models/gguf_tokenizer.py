"""The tokenizer in a GGUF file's metadata: byte-level BPE with its pre-tokenizer named.

GGUF names a way to split text rather than describing it; a name that is not in the table here is
refused, since a wrong split gives other ids without any error. Knows no files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Token types of the format; normal and byte tokens need no mark.
_UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED = 2, 3, 4, 5

_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def _gpt2() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def _smollm() -> pre_tokenizers.PreTokenizer:
    digits = pre_tokenizers.Digits(individual_digits=True)
    return pre_tokenizers.Sequence([digits, _gpt2()])


def _split(digits: str) -> pre_tokenizers.PreTokenizer:
    pattern = Regex("|".join((_CONTRACTIONS, _WORDS, digits, _REST)))
    split = pre_tokenizers.Split(pattern, behavior="isolated")
    whole = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([split, whole])


# Names as in llama.cpp's vocabulary code; splits as in the models' own tokenizer.json.
PRE_TOKENIZERS: dict[str, Callable[[], pre_tokenizers.PreTokenizer]] = {
    "smollm": _smollm,
    "gpt-2": _gpt2,
    "llama-bpe": lambda: _split(r"\p{N}{1,3}"),
    "qwen2": lambda: _split(r"\p{N}"),
}


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
    if kind != "gpt2":
        named = f"a tokenizer of kind {kind}" if kind else "no tokenizer"
        raise DraftscopeError(
            f"{source} has {named}; byte-level BPE (gpt2) is supported. "
            "Open the model's Hugging Face folder instead."
        )
    pre = metadata.get("tokenizer.ggml.pre")
    if pre not in PRE_TOKENIZERS:
        raise DraftscopeError(
            f"{source} splits text by the pre-tokenizer {pre}, which is not supported. "
            f"Supported are {', '.join(PRE_TOKENIZERS)}."
        )
    tokens, types = _vocabulary(metadata, source)
    vocabulary = {text: token for token, text in enumerate(tokens)}
    if len(vocabulary) != len(tokens):
        raise _damaged(source, "the same token twice")
    backend = Tokenizer(_model(metadata, vocabulary, source, whole_words=pre == "llama-bpe"))
    backend.pre_tokenizer = PRE_TOKENIZERS[pre]()
    backend.decoder = decoders.ByteLevel()
    if pre == "qwen2":
        backend.normalizer = normalizers.NFC()
    for text, number in zip(tokens, types, strict=True):
        if number in (_UNKNOWN, _CONTROL):
            backend.add_special_tokens([AddedToken(text, normalized=False, special=True)])
        elif number == _USER_DEFINED:
            backend.add_tokens([AddedToken(text, normalized=False)])
    _add_beginning(backend, metadata, tokens, default=pre == "llama-bpe")
    return backend


def _vocabulary(metadata: Mapping[str, Any], source: str) -> tuple[list[str], list[int]]:
    """Return tokens and their types, without the unused ones that only pad the end."""
    tokens = metadata.get("tokenizer.ggml.tokens")
    if not isinstance(tokens, list) or not tokens or not _all(tokens, str):
        raise _damaged(source, "no list of tokens")
    types = metadata.get("tokenizer.ggml.token_type", [1] * len(tokens))
    if not isinstance(types, list) or len(types) != len(tokens):
        raise _damaged(source, "a list of token types that does not fit its tokens")
    used = len(tokens)
    while used and types[used - 1] == _UNUSED:
        used -= 1
    return tokens[:used], types[:used]


def _model(
    metadata: Mapping[str, Any], vocabulary: dict[str, int], source: str, *, whole_words: bool
) -> models.BPE:
    listed = metadata.get("tokenizer.ggml.merges")
    if not isinstance(listed, list) or not _all(listed, str):
        raise _damaged(source, "no list of merges")
    merges: list[tuple[str, str]] = []
    for merge in listed:
        split = merge.find(" ", 1)
        left, right = merge[:split], merge[split + 1 :]
        if split < 0 or not {left, right, left + right} <= vocabulary.keys():
            raise _damaged(source, f"the merge {merge!r:.60} of tokens that it does not list")
        merges.append((left, right))
    return models.BPE(vocab=vocabulary, merges=merges, ignore_merges=whole_words)


def _add_beginning(
    backend: Tokenizer, metadata: Mapping[str, Any], tokens: list[str], *, default: bool
) -> None:
    bos = metadata.get("tokenizer.ggml.bos_token_id")
    wanted = metadata.get("tokenizer.ggml.add_bos_token", default)
    if wanted and isinstance(bos, int) and 0 <= bos < len(tokens):
        text = tokens[bos]
        backend.post_processor = processors.TemplateProcessing(
            single=[text, "$A"], special_tokens=[(text, bos)]
        )


def _all(values: list[Any], kind: type) -> bool:
    return all(isinstance(value, kind) for value in values)


def _damaged(source: str, what: str) -> DraftscopeError:
    return DraftscopeError(f"The tokenizer in {source} is damaged: it has {what}.")
