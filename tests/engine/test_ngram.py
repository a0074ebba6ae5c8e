"""Drafting by look-up: where it copies from, where it stops, what it remembers."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.drafters.ngram import NgramDrafter
from engine.drafters.protocol import Context, DraftRequest, Proposal
from engine.sampling import Sampling

NOTHING = torch.empty(0, 1)


def propose(drafter: NgramDrafter, tokens: list[int], k: int = 4) -> Proposal:
    return drafter.propose(Context(tokens, NOTHING), DraftRequest(k, Sampling(), []))


def test_it_copies_what_followed_the_latest_earlier_occurrence() -> None:
    proposal = propose(NgramDrafter(), [1, 2, 7, 1, 2, 8, 9, 1, 2])
    assert proposal.tokens == (8, 9, 1, 2)
    assert proposal.q_draft is None  # one-hot
    assert proposal.match is not None
    assert (proposal.match.start, proposal.match.length) == (5, 2)


def test_longer_matches_win() -> None:
    proposal = propose(NgramDrafter(), [5, 1, 2, 7, 6, 1, 2, 8, 5, 1, 2])
    assert proposal.tokens[0] == 7
    assert proposal.match is not None
    assert proposal.match.length == 3


@pytest.mark.case("A26")
def test_no_match_proposes_nothing() -> None:
    # never a placeholder token
    for tokens in ([], [1], [1, 2, 3]):
        assert propose(NgramDrafter(), tokens).tokens == ()


@pytest.mark.case("A25")
def test_an_end_token_is_never_copied() -> None:
    ids = [9, 8, 7, 51, 0, 5, 6, 4, 3, 51]
    assert propose(NgramDrafter({0}, longest=1, shortest=1), ids).tokens == ()
    assert propose(NgramDrafter(longest=1, shortest=1), ids).tokens == (0, 5, 6, 4)


def test_a_source_that_the_text_follows_is_gone_on_with() -> None:
    drafter = NgramDrafter()
    text = [1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2]
    first = propose(drafter, text, k=2)
    assert first.tokens == (3, 4)
    text += [3, 4, 5]  # both accepted, and the bonus is the source's next token
    drafter.observe(text)
    second = propose(drafter, text, k=2)
    assert second.tokens == (6, 7)
    assert second.match is not None
    assert (second.match.start, second.match.length) == (5, 5)


def test_a_source_that_the_text_left_is_forgotten() -> None:
    drafter = NgramDrafter()
    text = [1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2]
    propose(drafter, text, k=2)
    text += [3, 9]
    drafter.observe(text)
    assert propose(drafter, text).tokens == ()


def test_a_new_sequence_knows_nothing_of_the_last() -> None:
    drafter = NgramDrafter()
    propose(drafter, [1, 2, 3, 1, 2])
    drafter.begin()
    assert propose(drafter, [1, 2]).tokens == ()
    propose(drafter, [1, 2, 3, 1, 2])
    drafter.begin()
    assert propose(drafter, [5, 6, 7, 8, 9]).tokens == ()  # nor where it was copied from


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(0, 6))
def test_a_proposal_is_a_stretch_of_the_text_after_the_same_n_gram(
    tokens: list[int], k: int
) -> None:
    proposal = propose(NgramDrafter(), tokens, k)
    assert len(proposal.tokens) <= k
    match = proposal.match
    if match is not None:
        assert list(proposal.tokens) == tokens[match.start : match.start + len(proposal.tokens)]
        before = tokens[match.start - match.length : match.start]
        assert before == tokens[len(tokens) - match.length :]
