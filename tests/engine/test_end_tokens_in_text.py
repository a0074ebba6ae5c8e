"""The token that ends a text is kept in the trace and is no part of the text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine import RunRequest, Session, Settings, check_trace, text_of
from engine.trace.text import emitted_ids_of

if TYPE_CHECKING:
    from engine.loading import LoadedModel

REQUEST = RunRequest(
    prompt="hello",
    settings=Settings(drafter="ngram", k=3, temperature=0.0),
    max_new_tokens=24,
    probes=False,
)


def test_an_end_token_is_no_part_of_the_text_whatever_its_tokenizer_calls_it(
    exact_target: LoadedModel,
) -> None:
    # an ordinary token of the vocabulary, declared to end the text
    ids = emitted_ids_of(Session(exact_target).run(REQUEST))
    end = next(token for token in ids[4:] if token not in ids[:4])
    ending = replace(exact_target, end_tokens=frozenset({end}))
    events = list(Session(ending).run(replace(REQUEST, baseline=True)))
    cut = ids.index(end)
    assert emitted_ids_of(events) == ids[: cut + 1]  # the token itself is kept
    assert text_of(events) == exact_target.tokenizer.decode(ids[:cut])
    assert exact_target.tokenizer.decode([end])  # which would have shown
    assert check_trace(events).findings == ()


def test_an_end_token_that_is_to_be_ignored_is_text_as_any_other(
    exact_target: LoadedModel,
) -> None:
    ids = emitted_ids_of(Session(exact_target).run(REQUEST))
    ending = replace(exact_target, end_tokens=frozenset({ids[5]}))
    events = list(Session(ending).run(replace(REQUEST, ignore_end_tokens=True)))
    assert emitted_ids_of(events) == ids
    assert text_of(events) == exact_target.tokenizer.decode(ids)
