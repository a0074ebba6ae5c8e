"""What reaches the text does not depend on how its tokens fall into rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.emission import Limits, emit
from engine.models.text.streaming import TextStream
from engine.trace.events import FinishReason

if TYPE_CHECKING:
    from collections.abc import Sequence

PIECES = (b"a", b"b", b"ab", b"\n", b"\xf0\x9f", b"\x98\x8a", b" ", b"...", b"", b"\xff", b"<end>")
SPECIAL = END = len(PIECES) - 1
PROMPT = 3


class Vocabulary:
    """A few pieces, halves of characters among them; the last one is a control token."""

    def piece(self, token: int) -> bytes:
        return PIECES[token]

    first_piece = piece

    def is_special(self, token: int) -> bool:
        return token == SPECIAL


class Text(NamedTuple):
    """All that a text ended as."""

    tokens: tuple[int, ...]
    texts: tuple[str, ...]
    tail: str
    reason: FinishReason | None
    stop: str | None

    @property
    def whole(self) -> str:
        return "".join(self.texts) + self.tail


def in_rounds(rounds: Sequence[Sequence[int]], limits: Limits, stops: Sequence[str]) -> Text:
    """Emit rounds until one ends the text, as the decoder does."""
    stream = TextStream(Vocabulary(), stops)
    tokens: list[int] = []
    texts: list[str] = []
    reason = None
    for kept in rounds:
        emission = emit(kept, PROMPT + len(tokens), limits, stream)
        assert emission.cut == (len(emission.tokens) < len(kept))
        assert len(emission.tokens) == len(emission.texts)
        tokens += emission.tokens
        texts += emission.texts
        reason = emission.reason
        if reason is not None:
            break
        assert not emission.cut
    return Text(tuple(tokens), tuple(texts), stream.flush(), reason, stream.stop_string)


@st.composite
def partitions(draw: st.DrawFn, tokens: Sequence[int]) -> list[Sequence[int]]:
    """Cut tokens into rounds of one token or more."""
    ends = sorted(draw(st.sets(st.integers(1, max(1, len(tokens) - 1)))))
    return [
        tokens[start:end]
        for start, end in zip([0, *ends], [*ends, len(tokens)], strict=True)
        if tokens[start:end]
    ]


@settings(max_examples=300)
@given(
    st.data(),
    st.lists(st.integers(0, len(PIECES) - 1), max_size=25),
    st.frozensets(st.integers(0, len(PIECES) - 1), max_size=2),
    st.lists(st.text("ab😊\n .�", min_size=1, max_size=4), max_size=3),
    st.integers(1, 30),
    st.integers(PROMPT + 1, 40),
)
def test_no_length_of_a_draft_changes_text_cut_or_reason(
    data: st.DataObject,
    tokens: list[int],
    ends: frozenset[int],
    stops: list[str],
    limit: int,
    context: int,
) -> None:
    limits = Limits(PROMPT, limit, context, ends)
    one_by_one = in_rounds([[token] for token in tokens], limits, stops)
    assert in_rounds(data.draw(partitions(tokens)), limits, stops) == one_by_one
    assert in_rounds([tokens] if tokens else [], limits, stops) == one_by_one
    kept = b"".join(PIECES[token] for token in one_by_one.tokens if token != SPECIAL)
    text = kept.decode("utf-8", "replace")
    if one_by_one.stop is None:
        assert one_by_one.whole == text
    else:
        assert text.startswith(one_by_one.whole + one_by_one.stop)
    assert len(one_by_one.tokens) <= min(limit, context - PROMPT)


def ends_of(tokens: Sequence[int], limits: Limits, stops: Sequence[str] = ()) -> FinishReason:
    reasons = {
        in_rounds([tokens], limits, stops).reason,
        in_rounds([[token] for token in tokens], limits, stops).reason,
    }
    (reason,) = reasons
    assert reason is not None
    return reason


def test_the_first_of_several_ends_is_the_reason() -> None:
    ends = frozenset([END])
    assert ends_of([0, 1, END], Limits(PROMPT, 3, 99, ends)) is FinishReason.END_TOKEN
    assert ends_of([0, 1, 3], Limits(PROMPT, 3, 99, ends), ["\n"]) is FinishReason.STOP_STRING
    assert ends_of([0, 1, 3], Limits(PROMPT, 2, 99, ends), ["\n"]) is FinishReason.LIMIT
    assert ends_of([0, 1, 3], Limits(PROMPT, 9, PROMPT + 2, ends)) is FinishReason.CONTEXT
    assert ends_of([0, END, 3], Limits(PROMPT, 9, 99, ends), ["\n"]) is FinishReason.END_TOKEN


@pytest.mark.case("B22")
def test_a_stop_inside_a_token_cuts_the_text_and_keeps_the_token() -> None:
    stream = TextStream(Vocabulary(), [".."])
    emission = emit([0, 7, 1], PROMPT, Limits(PROMPT, 9, 99), stream)
    assert PIECES[7] == b"..."
    assert (emission.tokens, emission.texts) == ((0, 7), ("a", ""))
    assert (emission.reason, emission.cut) == (FinishReason.STOP_STRING, True)
    assert stream.flush() == ""


@pytest.mark.case("B27")
@pytest.mark.parametrize("kept", [[END], [END, 0, 1]])
def test_an_end_token_at_once_is_one_token_and_no_text(kept: list[int]) -> None:
    stream = TextStream(Vocabulary())
    emission = emit(kept, PROMPT, Limits(PROMPT, 9, 99, frozenset([END])), stream)
    assert (emission.tokens, emission.texts) == ((END,), ("",))
    assert emission.reason is FinishReason.END_TOKEN
    assert stream.flush() == ""
