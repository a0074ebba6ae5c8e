"""A look-up before another drafter: who drafts where, and that nothing else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.drafters.lookup_first import SHORTEST, LookupFirstDrafter
from engine.errors import DraftscopeError
from engine.loading import make_drafter
from engine.sampling import Sampling
from tests.engine.decoding import decode
from tests.engine.drafters.making import SHAPES, made

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel


@pytest.fixture(params=SHAPES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_text_is_the_plain_targets(exact_target: LoadedModel, kind: str, tmp_path: Path) -> None:
    drafter = LookupFirstDrafter(made(exact_target, kind, tmp_path))
    plain = decode(exact_target, None, k=0, count=60)[0]
    assert decode(exact_target, drafter, k=4, count=60)[0] == plain


def test_a_long_match_is_copied_and_all_else_is_drafted(
    exact_target: LoadedModel, tmp_path: Path
) -> None:
    drafter = LookupFirstDrafter(made(exact_target, "head", tmp_path))
    _, rounds, _ = decode(exact_target, drafter, k=4, sampling=Sampling(1.0), count=80, seed=3)
    copied = [one for one in rounds if one.match is not None]
    drafted = [one for one in rounds if one.match is None and one.drafted]
    assert drafted
    assert all(one.match is None or one.match.length >= SHORTEST for one in copied)
    greedy = decode(exact_target, drafter, k=4, count=200)[1]  # a tiny model soon repeats itself
    assert any(one.match is not None for one in greedy)


def test_a_copied_token_has_a_one_hot_law_and_a_drafted_one_its_drafters(
    exact_target: LoadedModel, tmp_path: Path
) -> None:
    drafter = LookupFirstDrafter(made(exact_target, "head", tmp_path))
    laws = []
    propose = drafter.propose

    def watched(context, request):  # type: ignore[no-untyped-def]  # a spy
        proposal = propose(context, request)
        laws.append((proposal.match is not None, proposal.q_draft is None))
        return proposal

    drafter.propose = watched  # type: ignore[method-assign]  # a spy
    # so cold that the text repeats itself, and yet drawn
    decode(exact_target, drafter, k=3, sampling=Sampling(0.05), count=200, seed=3)
    assert {copied for copied, _ in laws} == {True, False}
    assert all(copied == one_hot for copied, one_hot in laws)


def test_the_other_drafters_cache_stays_right_while_it_rests(
    exact_target: LoadedModel, kind: str, tmp_path: Path
) -> None:
    both = LookupFirstDrafter(made(exact_target, kind, tmp_path))
    alone = made(exact_target, kind, tmp_path)
    for drafter in (both, alone):
        drafter.begin()
    pairs = []
    for drafter in (both, alone):
        _, rounds, _ = decode(exact_target, drafter, k=3, count=200)
        drafted = [one for one in rounds if one.match is None and len(one.drafted) == 3]
        pairs.append({one.position: [token.id for token in one.drafted] for one in drafted})
    shared = pairs[0].keys() & pairs[1].keys()
    assert shared
    assert all(pairs[0][place] == pairs[1][place] for place in shared)


@pytest.mark.parametrize("behind", ["ngram", "none", "", "ngram+early:1"])
def test_what_cannot_stand_behind_a_look_up_is_refused(
    exact_target: LoadedModel, behind: str
) -> None:
    with pytest.raises(DraftscopeError, match=r"goes before a drafter of another kind|no drafter"):
        make_drafter(f"ngram+{behind}", exact_target)


def test_early_exit_may_stand_behind_a_look_up(exact_target: LoadedModel) -> None:
    drafter = make_drafter("ngram+early:1", exact_target)
    assert drafter is not None
    assert drafter.spec == "ngram+early:1"
    plain = decode(exact_target, None, k=0, count=40)[0]
    assert decode(exact_target, drafter, k=3, count=40)[0] == plain
