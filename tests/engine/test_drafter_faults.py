"""What drafters do wrong elsewhere: fillers, tokens nobody verifies, foreign ids, leftovers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from scipy import stats

import engine.decoder as decoder_module
from engine import DraftscopeError, RunRequest, Session, Settings
from engine.control import Control
from engine.drafters.drafting import Draft
from engine.drafters.ngram import NgramDrafter
from engine.drafters.protocol import Context, DraftRequest, Proposal
from engine.loading import make_drafter
from engine.sampling import Sampling
from engine.trace.events import ClosingKind, DraftEnd, Fate, Round
from engine.trace.statistics import statistics
from tests.engine.decoding import Scripted, decode
from tests.engine.one_token import output_law
from tests.engine.table_model import counting, same_everywhere, table_drafter, table_target
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel
    from engine.trace.events import Event

CONTEXT = Context([0], torch.empty(1, 1))


def rounds_of(events: list[Event]) -> list[Round]:
    return [event for event in events if isinstance(event, Round)]


@pytest.mark.case("A26")
@pytest.mark.parametrize("prompt", [[1, 2, 3], [1]])
def test_no_match_is_a_plain_round_and_counts_in_no_acceptance(
    exact_target: LoadedModel, prompt: list[int]
) -> None:
    target = table_target(exact_target, counting(50))
    drafter = NgramDrafter(longest=3, shortest=min(3, len(prompt)))
    tokens, rounds, _ = decode(target, drafter, count=20, prompt=prompt)
    assert tokens == list(range(prompt[-1] + 1, prompt[-1] + 21))
    for one in rounds:
        assert not one.drafted
        assert one.match is None
        assert one.closing is not None
        assert one.closing.kind is ClosingKind.PLAIN
    figures = statistics(rounds)
    assert (figures.tested, figures.drafted, figures.acceptance) == (0, 0, None)
    _, others, _ = decode(target, table_drafter(counting(50)), k=2, count=9, prompt=prompt)
    alone, together = statistics(others), statistics([*others, *rounds])
    assert together.tested == alone.tested > 0
    assert together.acceptance == alone.acceptance == 1.0


@pytest.mark.case("A26")
def test_an_empty_text_has_no_match_and_is_no_prompt(exact_target: LoadedModel) -> None:
    proposal = NgramDrafter(longest=3).propose(
        Context([], torch.empty(0, 1)), DraftRequest(4, Sampling(), [])
    )
    assert proposal.tokens == ()
    settings = Settings(drafter="ngram", k=4, temperature=0.0)
    with pytest.raises(DraftscopeError, match="empty"):
        Session(exact_target).run(RunRequest(prompt="", raw=True, settings=settings))


@pytest.mark.case("A28")
@pytest.mark.parametrize("k", [1, 3])
def test_the_first_token_that_was_looked_up_is_verified_too(
    exact_target: LoadedModel, k: int
) -> None:
    target = table_target(exact_target, counting(50))
    tokens, rounds, _ = decode(target, NgramDrafter(), k=k, count=4, prompt=[1, 1, 1])
    assert [token.id for token in rounds[0].drafted] == [1] * min(k, 1)
    assert rounds[0].drafted[0].fate is Fate.REJECTED
    assert tokens == [2, 3, 4, 5]


def foreign(folder: Path, change: str) -> Path:
    """A model beside the tiny one whose ids mean something else."""
    write_tiny_folder(folder)
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    if change == "order":
        tokenizer["model"]["vocab"] = {token: 255 - i for token, i in vocabulary.items()}
    else:
        tokenizer["added_tokens"] = tokenizer["added_tokens"][:1]
    path.write_text(json.dumps(tokenizer), encoding="utf-8")
    return folder


@pytest.mark.case("A40")
@pytest.mark.parametrize(
    ("change", "words"), [("order", "differ, first at token 0"), ("size", "differ in size")]
)
def test_a_drafter_with_another_tokenizer_is_refused_in_a_sentence(
    exact_target: LoadedModel, tmp_path: Path, change: str, words: str
) -> None:
    spec = f"model:{foreign(tmp_path / 'foreign', change)}"
    with pytest.raises(DraftscopeError, match=rf"cannot draft for .*{words}"):
        make_drafter(spec, exact_target)
    session = Session(exact_target)
    settings = Settings(drafter=spec, k=3, temperature=0.0)
    with pytest.raises(DraftscopeError, match=words):
        list(session.run(RunRequest(prompt="hello", settings=settings)))
    assert session.pool.pages_held == 0
    # and the session goes on with another drafter
    settings = Settings(drafter="ngram", k=3, temperature=0.0)
    assert rounds_of(list(session.run(RunRequest(prompt="hello", settings=settings))))


@pytest.mark.case("A46")
@pytest.mark.parametrize("spec", ["model:table", "ngram", "none"])
def test_an_id_without_mass_never_fills_a_text(exact_target: LoadedModel, spec: str) -> None:
    # the drafter proposes it often, and the prompt is made of it; no seed is asked for
    target = table_target(exact_target, same_everywhere([0.0, 0.5, 0.3, 0.2]))
    session = Session(target)
    session.add_drafter("model:table", table_drafter(same_everywhere([0.4, 0.2, 0.2, 0.2])))
    settings = Settings(drafter=spec, k=0 if spec == "none" else 4, temperature=1.0)
    request = RunRequest(
        prompt="!!!!", raw=True, settings=settings, max_new_tokens=1000, probes=False
    )
    rounds = rounds_of(list(session.run(request)))
    tokens = [token for one in rounds for token in one.emitted_ids]
    assert len(tokens) == 1000
    assert set(tokens) == {1, 2, 3}
    fillers = [token for one in rounds for token in one.drafted if token.id == 0]
    assert fillers or spec == "none"
    assert not any(token.fate is Fate.ACCEPTED for token in fillers)


@pytest.mark.case("A54")
@pytest.mark.parametrize("kind", ["model", "ngram"])
def test_a_second_session_drafts_as_the_first_began(
    exact_target: LoadedModel, near_folder: Path, kind: str
) -> None:
    # k falls and rises with what the drafter is sure of, and was changed by hand in between
    spec = f"model:{near_folder}" if kind == "model" else "ngram"
    settings = Settings(drafter=spec, k=6, temperature=1.0, k_min=1, confidence=0.35)
    request = RunRequest(prompt="hello hello", settings=settings, max_new_tokens=60, seed=4)
    session, control = Session(exact_target), Control()
    first: list[Event] = []
    for event in session.run(request, control):
        first.append(event)
        if isinstance(event, Round) and event.index == 4:
            control.change_settings(Settings(drafter=spec, k=1, temperature=0.3))
    again = list(session.run(request))
    fresh = list(Session(exact_target).run(request))

    def drafted(events: list[Event]) -> list[list[int]]:
        return [[token.id for token in one.drafted] for one in rounds_of(events)]

    assert {one.k for one in rounds_of(first)} == {6, 1}
    assert drafted(again) == drafted(fresh)
    assert drafted(again)[:4] == drafted(first)[:4]
    for one in rounds_of(again):
        assert one.k == 6
        assert len(one.drafted) <= 6
        assert len(one.drafted) >= 1 or one.draft_end in (DraftEnd.NO_MATCH, DraftEnd.LIMIT)
    assert len({len(one.drafted) for one in rounds_of(again)}) >= 3


SUPPORT = [6, 1, 3, 0]
MASSES = [0.1, 0.2, 0.3, 0.4]  # by the drafter's own columns
PERMUTATION = [3, 7, 0, 5, 1, 6, 2, 4]
EIGHT = [0.05, 0.1, 0.15, 0.2, 0.02, 0.08, 0.25, 0.15]
TARGET = torch.tensor([0.25, 0.05, 0.1, 0.2, 0.1, 0.05, 0.15, 0.1], dtype=torch.float64)


def columns(masses: list[float]) -> torch.Tensor:
    return torch.tensor([masses], dtype=torch.float64).log()


def mid(masses: list[float], column: int) -> float:
    """A uniform that draws this column."""
    return sum(masses[:column]) + masses[column] / 2


@pytest.mark.case("A59")
@pytest.mark.parametrize(("ids", "masses"), [(SUPPORT, MASSES), (PERMUTATION, EIGHT)])
def test_a_reduced_or_reordered_vocabulary_is_scored_at_the_targets_ids(
    ids: list[int], masses: list[float]
) -> None:
    uniforms = [mid(masses, column) for column in range(len(ids))]
    request = DraftRequest(len(ids), Sampling(1.0), uniforms)
    draft = Draft(CONTEXT, request, 8, torch.tensor(ids))
    for _ in ids:
        draft.extend(columns(masses))
    proposal = draft.proposal()
    assert list(proposal.tokens) == ids
    assert proposal.q_draft is not None
    law = dict(zip(ids, masses, strict=True))
    for row, token in zip(proposal.q_draft, proposal.tokens, strict=True):
        assert row.tolist() == pytest.approx([law.get(i, 0.0) for i in range(8)])
        assert float(row[token]) == pytest.approx(law[token])
        assert output_law(TARGET, row).tolist() == pytest.approx(TARGET.tolist())
    greedy = Draft(CONTEXT, DraftRequest(1, Sampling()), 8, torch.tensor(ids))
    assert greedy.extend(columns(masses)) == ids[int(np.argmax(masses))]


class Reduced(Scripted):
    """Draws from the reduced vocabulary; `wrong` scores tokens at the drafter's own columns."""

    def __init__(self, *, wrong: bool = False) -> None:
        super().__init__([])
        self._wrong = wrong

    def propose(self, context: Context, request: DraftRequest) -> Proposal:
        draft = Draft(context, request, 8, torch.tensor(SUPPORT))
        while not draft.full:
            draft.extend(columns(MASSES))
        if not self._wrong:
            return draft.proposal()
        law = torch.tensor([[*MASSES, 0.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
        return Proposal(tuple(draft.tokens), law.expand(len(draft.tokens), 8))


@pytest.mark.case("A59")
def test_a_text_drafted_from_a_reduced_vocabulary_follows_the_target(
    exact_target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder_module, "Observer", lambda *_: None)
    target = table_target(exact_target, same_everywhere(TARGET.tolist()))
    tokens, _, _ = decode(target, Reduced(), k=2, sampling=Sampling(1.0), count=3000, prompt=[0])
    counts = np.bincount(tokens, minlength=8)
    assert stats.chisquare(counts, 3000 * TARGET.numpy()).pvalue > 1e-3


@pytest.mark.case("A59")
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_drafted_token_without_mass_in_its_own_law_is_refused(
    exact_target: LoadedModel, temperature: float
) -> None:
    # the drafter's temperature is its own, so its law is there at temperature 0 as well
    target = table_target(exact_target, same_everywhere(TARGET.tolist()))
    with pytest.raises(DraftscopeError, match=r"drafted token 6 .* has no mass in its own law"):
        decode(
            target,
            Reduced(wrong=True),
            k=2,
            sampling=Sampling(temperature),
            drafter_sampling=Sampling(1.0),
            count=200,
            prompt=[0],
        )
