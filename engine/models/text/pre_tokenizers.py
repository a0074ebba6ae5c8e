"""How text is split before merging, by the names that GGUF files give. Knows no vocabulary.

GGUF names a way to split text rather than describing it. The names are those of llama.cpp's
vocabulary code, the splits those of the models' own tokenizer.json. A name that is not in the table
is refused elsewhere: a wrong split gives other ids without any error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenizers import Regex, pre_tokenizers

if TYPE_CHECKING:
    from collections.abc import Callable

_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|" + _SPACES
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


@dataclass(frozen=True)
class PreTokenizer:
    """A way to split, and what models with that split have in common.

    Attributes
    ----------
    make
        Makes the splitter.
    whole_words
        Whether a word that is a token is taken whole, whatever the merges say.
    begins
        Whether a text begins with the beginning token where the file does not say.
    composes
        Whether text is brought to Unicode's composed form (NFC) first.
    """

    make: Callable[[], pre_tokenizers.PreTokenizer]
    whole_words: bool = False
    begins: bool = False
    composes: bool = False


def _gpt2() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def _digits() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), _gpt2()])


def _one_pattern(*alternatives: str) -> pre_tokenizers.PreTokenizer:
    split = pre_tokenizers.Split(Regex("|".join(alternatives)), behavior="isolated")
    return pre_tokenizers.Sequence([split, _bytes()])


def _bytes() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def _llama3() -> pre_tokenizers.PreTokenizer:
    return _one_pattern(_CONTRACTIONS, _WORDS, r"\p{N}{1,3}", _REST)


def _qwen2() -> pre_tokenizers.PreTokenizer:
    return _one_pattern(_CONTRACTIONS, _WORDS, r"\p{N}", _REST)


def _tekken() -> pre_tokenizers.PreTokenizer:
    begin = r"[^\r\n\p{L}\p{N}]?"
    return _one_pattern(
        f"{begin}{_UPPER}*{_LOWER}+",
        f"{begin}{_UPPER}+{_LOWER}*",
        r"\p{N}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        _SPACES,
    )


def _deepseek_coder() -> pre_tokenizers.PreTokenizer:
    # The last range is written with escapes: U+4E00 to U+9FA5, U+0800 to U+4E00, U+AC00 to U+D7FF.
    patterns = (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+")
    splits = [pre_tokenizers.Split(Regex(pattern), behavior="isolated") for pattern in patterns]
    return pre_tokenizers.Sequence(
        [*splits, pre_tokenizers.Digits(individual_digits=True), _bytes()]
    )


_LLAMA3 = PreTokenizer(_llama3, whole_words=True, begins=True)

PRE_TOKENIZERS: dict[str, PreTokenizer] = {
    "smollm": PreTokenizer(_digits),
    "gpt-2": PreTokenizer(_gpt2),
    "llama-bpe": _LLAMA3,
    "llama3": _LLAMA3,
    "llama-v3": _LLAMA3,
    "qwen2": PreTokenizer(_qwen2, composes=True),
    "deepseek-r1-qwen": PreTokenizer(_qwen2),
    "tekken": PreTokenizer(_tekken, whole_words=True, begins=True),
    "deepseek-coder": PreTokenizer(_deepseek_coder),
    "starcoder": PreTokenizer(_digits),
    "refact": PreTokenizer(_digits),
}
