"""Early exit: the target's lower layers draft, and the verifying pass goes on from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine import DraftscopeError
from engine.cache import KVCache
from engine.drafters.early import EarlyExitDrafter
from engine.drafters.protocol import Context, DraftRequest
from engine.loading import load_model, make_drafter
from engine.models.blocks import Block
from engine.models.transformer import LowerRows
from engine.prompting import prompt_tokens
from engine.sampling import Sampling
from engine.sequence import Sequence
from engine.trace.events import Fate
from tests.engine.decoding import PROMPT, decode
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.drafters.protocol import Drafter
    from engine.loading import LoadedModel


@pytest.fixture(scope="module")
def deep_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tiny target of four layers."""
    return write_tiny_folder(tmp_path_factory.mktemp("models") / "deep", layers=4)


@pytest.fixture(scope="module", params=["exact", "packed"])
def deep(deep_folder: Path, request: pytest.FixtureRequest) -> LoadedModel:
    """Load it where nothing rounds visibly, and where rows round alike."""
    if request.param == "exact":
        return load_model(deep_folder, device="cpu", plan="eager", dtype=torch.float64)
    return load_model(deep_folder, device="cpu", plan="packed")


def early(target: LoadedModel, layers: int) -> Drafter:
    made = make_drafter(f"early:{layers}", target)
    assert made is not None
    return made


@pytest.mark.parametrize("k", [1, 2, 5, 8])
@pytest.mark.parametrize("layers", [1, 3])
def test_greedy_text_is_the_plain_targets(deep: LoadedModel, layers: int, k: int) -> None:
    plain = decode(deep, None, k=0, count=50)[0]
    tokens, rounds, _ = decode(deep, early(deep, layers), k=k, count=50)
    assert tokens == plain
    for one in rounds:
        assert len(one.drafted) == min(k, len(PROMPT) + 50 - one.position - 1)
    assert all(one.drafter_cache is None for one in rounds)


def test_drafted_tokens_are_those_of_the_cut_model(deep: LoadedModel, deep_folder: Path) -> None:
    # a two-layer model with the same weights, by itself
    target = deep.transformer
    sequence = Sequence(target, target.new_pool(), PROMPT)
    sequence.prefill()
    with torch.inference_mode():
        context = Context(sequence.tokens, sequence.hidden, sequence.cache)
        drafted = early(deep, 2).propose(context, DraftRequest(4, Sampling(), [])).tokens
        expected, cache = [], KVCache(target.new_pool())
        tokens = list(PROMPT)
        for _ in range(4):
            rows = target.run_lower(tokens, cache, 2)
            expected.append(int(target.logits(rows[-1:])[0].argmax()))
            tokens.append(expected[-1])
    assert list(drafted) == expected
    assert sequence.cache.length == len(PROMPT) - 1  # nothing was counted


def test_logits_after_every_round_equal_a_fresh_prefill(deep: LoadedModel) -> None:
    # the lower layers hold rows of rejected drafts past the length: they must never be seen
    target = deep.transformer
    emitted, rounds, decoder = decode(
        deep, early(deep, 1), k=6, sampling=Sampling(1.0), count=60, seed=4
    )
    assert {token.fate for one in rounds for token in one.drafted} >= {Fate.REJECTED, Fate.ACCEPTED}
    sequence = decoder.sequence
    with torch.inference_mode():
        ours = target.logits(target.forward(sequence.tokens[-1:], sequence.cache))[-1]
        fresh = KVCache(target.new_pool())
        expected = target.logits(target.forward([*PROMPT, *emitted], fresh))[-1]
    if target.plan.rounds_alike:
        assert torch.equal(ours, expected)
    else:
        assert float((ours - expected).abs().max()) < 1e-9


def test_layers_that_drafting_has_run_are_not_run_again_where_rows_round_alike(
    deep_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: dict[int, int] = {}
    call = Block.__call__

    def counted(self: Block, x: torch.Tensor, *rest: object) -> torch.Tensor:
        rows[self.index] = rows.get(self.index, 0) + x.shape[0]
        return call(self, x, *rest)  # type: ignore[arg-type]  # passed on as they are

    passes = {}
    for plan in ("packed", "eager"):
        target = load_model(deep_folder, device="cpu", plan=plan)
        monkeypatch.setattr(target.transformer.plan, "width", lambda n: n, raising=False)
        rows.clear()
        with monkeypatch.context() as patch:
            patch.setattr(Block, "__call__", counted)
            _, rounds, _ = decode(target, early(target, 2), k=3, count=20)
        prompt = len(PROMPT) - 1
        verified = sum(1 + len(one.drafted) for one in rounds)
        drafted = sum(len(one.drafted) for one in rounds)
        assert rows[2] == rows[3] == prompt + verified
        assert rows[0] == rows[1]
        passes[plan] = rows[0] - prompt - verified, drafted
    # alike: each token goes through the lower layers once; else drafting comes on top
    assert passes["packed"][0] == 0
    assert passes["eager"][0] == passes["eager"][1] > 0


def test_sampled_laws_are_the_cut_models(deep: LoadedModel) -> None:
    target = deep.transformer
    sampling = Sampling(0.8, top_p=0.9)
    drafter = early(deep, 3)
    assert isinstance(drafter, EarlyExitDrafter)
    sequence = Sequence(target, target.new_pool(), PROMPT)
    sequence.prefill()
    with torch.inference_mode():
        context = Context(sequence.tokens, sequence.hidden, sequence.cache)
        proposal = drafter.propose(context, DraftRequest(3, sampling, [0.2, 0.6, 0.9]))
    assert proposal.q_draft is not None
    torch.testing.assert_close(
        proposal.q_draft.sum(dim=-1), torch.ones(3, dtype=proposal.q_draft.dtype)
    )
    for place, token in enumerate(proposal.tokens):
        assert proposal.q_draft[place, token] > 0
    assert (proposal.lower is not None) == target.plan.rounds_alike
    if proposal.lower is not None:
        assert isinstance(proposal.lower, LowerRows)
        assert proposal.lower.rows.shape == (3, target.config.width)


@pytest.mark.parametrize("layers", ["", "0", "4", "x", "-1", "99", "1.5", "²"])
def test_a_number_of_layers_that_the_target_has_not_is_refused(
    deep: LoadedModel, layers: str
) -> None:
    with pytest.raises(DraftscopeError, match="1 to 3, for example early:3"):
        make_drafter(f"early:{layers}", deep)


def test_what_it_is_made_of_is_said(deep: LoadedModel) -> None:
    info = early(deep, 3).info
    assert (info.kind, info.layers, info.name) == ("early", 3, "first 3 of 4 layers")
    assert deep.info.parameters > info.parameters > early(deep, 1).info.parameters
    assert "no weights of its own" in info.notes[0]


@pytest.mark.model
def test_greedy_text_of_the_default_model_is_the_plain_targets(smollm2: LoadedModel) -> None:
    prompt = prompt_tokens(smollm2, "Why is the sky blue?", raw=False)
    plain = decode(smollm2, None, k=0, count=24, prompt=prompt)[0]
    assert decode(smollm2, early(smollm2, 10), k=3, count=24, prompt=prompt)[0] == plain
