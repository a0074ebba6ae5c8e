"""States after lower layers: what a pass hands out, what is kept, what is read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.cache import KVCache
from engine.control import Control
from engine.drafters.metadata import HeadShape
from engine.drafters.protocol import Context, DraftRequest, Proposal
from engine.drafters.trained import make_trained
from engine.loading import load_model, make_drafter
from engine.models.transformer import LowerRows
from engine.prefill import CHUNK, Stopped
from engine.request import RunRequest
from engine.sampling import Sampling
from engine.sequence import Sequence
from engine.session import Session
from engine.trace.events import FinishReason, Round, RunFinished, Settings
from tests.engine.decoding import PROMPT, decode
from tests.engine.drafters.making import made, write_for
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.drafters.protocol import Drafter
    from engine.loading import LoadedModel
    from engine.models.transformer import Transformer

TAPS = (1, 3)
PLANS = ["eager", "packed", pytest.param("compiled", marks=pytest.mark.compiler)]


@pytest.fixture(scope="module")
def deep_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_folder(tmp_path_factory.mktemp("models") / "deep", layers=5)


@pytest.fixture(scope="module")
def deep(deep_folder: Path) -> LoadedModel:
    return load_model(deep_folder, device="cpu", plan="eager", dtype=torch.float64)


def tapped(target: LoadedModel, folder: Path, taps: tuple[int, ...] = TAPS) -> Drafter:
    path = folder / f"tapped-{'-'.join(map(str, taps))}.safetensors"
    write_for(path, target, HeadShape(1, 24, taps))
    return make_trained(f"trained:{path}", target)


def layer_by_layer(model: Transformer, tokens: list[int], layers: tuple[int, ...]) -> torch.Tensor:
    """The states after the last layer and some others, each from a pass that ends there."""
    with torch.inference_mode():
        last = model.forward(tokens, KVCache(model.new_pool()))
        lower = [model.run_lower(tokens, KVCache(model.new_pool()), layer) for layer in layers]
    return torch.cat([last, *lower], dim=-1)


@pytest.mark.parametrize("plan", PLANS)
def test_a_tapped_pass_hands_out_the_states_after_each_layer(
    deep_folder: Path, plan: str, request: pytest.FixtureRequest
) -> None:
    if plan == "compiled":
        load: Callable[[Path], LoadedModel] = request.getfixturevalue("load_compiled")
        model = load(deep_folder).transformer
    else:
        model = load_model(deep_folder, device="cpu", plan=plan).transformer
    cache, plain = KVCache(model.new_pool()), KVCache(model.new_pool())
    with torch.inference_mode():
        for tokens in (PROMPT, [5], [6, 7]):  # a stack that is run in parts is the stack
            states = model.forward(tokens, cache, None, (1, 2, 4))
            last = model.forward(tokens, plain)
            assert torch.equal(states[:, : model.config.width], last)
    text = [*PROMPT, 5, 6, 7]
    expected = layer_by_layer(model, text, (1, 2, 4))[-2:]
    assert float((states - expected).abs().max()) < 1e-3
    assert cache.length == len(text)


def test_lower_rows_count_where_no_tap_lies_within_them(deep: LoadedModel) -> None:
    model = deep.transformer
    with torch.inference_mode():
        expected = model.forward(PROMPT, KVCache(model.new_pool()), None, TAPS)
        for layers in (1, 2, 4):
            cache = KVCache(model.new_pool())
            rows = model.run_lower(PROMPT[:4], cache, layers)
            found = model.forward(PROMPT, cache, LowerRows(rows, layers), TAPS)
            assert float((found - expected).abs().max()) < 1e-12
            spoilt = model.forward(PROMPT, KVCache(model.new_pool()), LowerRows(rows * 2, layers))
            assert float((spoilt - expected[:, : model.config.width]).abs().max()) > 1e-3


def test_states_are_kept_through_a_run_and_right(deep: LoadedModel, tmp_path: Path) -> None:
    drafter = tapped(deep, tmp_path)
    prompt = PROMPT * 23  # near the end of the store's first size
    tokens, _, decoder = decode(deep, drafter, k=4, sampling=Sampling(1.0), count=20, prompt=prompt)
    sequence = decoder.sequence
    kept = sequence.states(TAPS)
    assert kept.shape == (len(prompt) + 19, 3 * 32)
    text = [*prompt, *tokens][:-1]
    assert float((kept - layer_by_layer(deep.transformer, text, TAPS)).abs().max()) < 1e-9
    assert torch.equal(sequence.hidden, kept[:, :32])
    assert torch.equal(sequence.states((3,), 7), kept[7:, [*range(32), *range(64, 96)]])


def test_nothing_more_is_kept_where_no_drafter_asks(deep: LoadedModel, tmp_path: Path) -> None:
    for drafter in (None, made(deep, "head", tmp_path), make_drafter("early:2", deep)):
        _, _, decoder = decode(deep, drafter, k=3, count=8)
        assert decoder.sequence._store.shape[1] == deep.transformer.config.width


def reading(model: Transformer, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the rows of every pass of the target."""
    rows: list[int] = []
    forward = model.forward

    def counted(ids, cache, *rest):  # type: ignore[no-untyped-def]  # a spy
        rows.append(len(ids))
        return forward(ids, cache, *rest)

    monkeypatch.setattr(model, "forward", counted)
    return rows


def test_states_that_were_not_kept_are_read_again_once_and_outside_of_rounds(
    deep: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, control = Session(deep), Control()
    for name, taps in (("one", TAPS), ("other", (2,))):
        session.add_drafter(name, tapped(deep, tmp_path, taps))
    session.add_drafter("head", made(deep, "head", tmp_path))
    order = ["none", "one", "head", "one", "early:4", "other", "one", "ngram"]
    settings = [Settings(drafter=name, k=3, temperature=0.0) for name in order]
    asked = RunRequest(prompt="hello hello", settings=settings[0], max_new_tokens=50, probes=False)
    plain = [i for e in session.run(asked) if isinstance(e, Round) for i in e.emitted_ids]
    rows, found, lengths = reading(deep.transformer, monkeypatch), [], {}
    for event in session.run(asked, control):
        if isinstance(event, Round):
            found += event.emitted_ids
            assert rows.pop() == 1 + len(event.drafted)  # its own pass is the last
            if rows:  # what came before: the prompt, or the text read again
                lengths[event.index] = sum(rows)
                assert sum(rows) == event.position - 1
                rows.clear()
            turn = (event.index + 1) // 2
            if event.index % 2 and turn < len(settings):
                control.change_settings(settings[turn])
    assert found == plain
    # the prompt; the switch to "one"; the switch to "other", whose layer was not kept
    assert sorted(lengths) == [0, 2, 10]


def test_the_prompt_is_read_once_where_the_first_drafter_asks(
    deep: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(deep)
    session.add_drafter("one", tapped(deep, tmp_path))
    settings = Settings(drafter="one", k=2, temperature=0.0)
    rows = reading(deep.transformer, monkeypatch)
    request = RunRequest(prompt="hello" * 60, raw=True, settings=settings, max_new_tokens=4)
    rounds = [one for one in session.run(request) if isinstance(one, Round)]
    assert sum(rows) == 299 + sum(1 + len(one.drafted) for one in rounds)


def test_a_draft_right_after_prefill_needs_no_preparing(deep: LoadedModel, tmp_path: Path) -> None:
    # neither kept nor prepared: the same draft, only later
    drafts = []
    for taps in ((), TAPS):
        drafter, model = tapped(deep, tmp_path), deep.transformer
        sequence = Sequence(model, model.new_pool(), PROMPT, taps)
        sequence.prefill()
        with torch.inference_mode():
            context = Context(sequence.tokens, sequence.hidden, sequence.cache, sequence=sequence)
            drafts.append(drafter.propose(context, DraftRequest(3, Sampling(1.0), [0.3] * 3)))
    assert drafts[0].tokens == drafts[1].tokens
    assert float((drafts[0].q_draft - drafts[1].q_draft).abs().max()) < 1e-9


@pytest.mark.parametrize("kind", ["head", "tapped head", "small"])
def test_a_stop_inside_of_preparing_leaves_all_as_it_was(
    exact_target: LoadedModel, tmp_path: Path, kind: str
) -> None:
    model = exact_target.transformer
    tokens = (PROMPT * 30)[: 2 * CHUNK + 40]
    sequence = Sequence(model, model.new_pool(), tokens)
    sequence.prefill()
    held = sequence.cache.pool.pages_held
    drafter, fresh = (made(exact_target, kind, tmp_path) for _ in range(2))
    context = Context(sequence.tokens, sequence.hidden, sequence.cache, sequence=sequence)
    asked = 0

    def stopped() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    with torch.inference_mode(), pytest.raises(Stopped):
        drafter.prepare(context, stopped)
    assert asked == 3
    drafter.observe(sequence.tokens)
    assert drafter.cache is not None
    assert drafter.cache.length <= len(tokens) - 1
    assert sequence.cache.pool.pages_held == held
    request = DraftRequest(4, Sampling(1.0), [0.4] * 4)
    with torch.inference_mode():
        fresh.prepare(context, lambda: False)
        one, other = drafter.propose(context, request), fresh.propose(context, request)
    assert one.tokens == other.tokens
    assert float((one.q_draft - other.q_draft).abs().max()) < 1e-9


@pytest.mark.parametrize("kind", ["head", "tapped head", "small"])
def test_a_stop_inside_of_prefill_ends_the_run_and_the_next_one_is_whole(
    exact_target: LoadedModel, tmp_path: Path, kind: str
) -> None:
    session, control = Session(exact_target), Control()
    session.add_drafter("made", made(exact_target, kind, tmp_path))
    settings = Settings(drafter="made", k=3, temperature=0.0)
    request = RunRequest(prompt="hello" * 70, raw=True, settings=settings, max_new_tokens=12)
    expected = [one for one in session.run(request) if isinstance(one, Round)]
    calls = []

    def stop(done: int, total: int, what: str) -> None:
        calls.append(done)
        if done:
            control.stop()

    last = list(session.run(request, control, progress=stop))[-1]
    assert isinstance(last, RunFinished)
    assert last.reason is FinishReason.CANCELLED
    assert max(calls) == CHUNK
    assert session.pool.pages_held == 0
    again = [one for one in session.run(request) if isinstance(one, Round)]
    assert [one.emitted_ids for one in again] == [one.emitted_ids for one in expected]
    assert [one.drafter_cache for one in again] == [one.drafter_cache for one in expected]


@pytest.mark.parametrize("kind", ["head", "tapped head", "small"])
def test_a_text_that_is_taken_back_takes_slots_back(
    exact_target: LoadedModel, tmp_path: Path, kind: str
) -> None:
    model = exact_target.transformer
    used, fresh = (made(exact_target, kind, tmp_path) for _ in range(2))
    sequence = Sequence(model, model.new_pool(), [*PROMPT, 110, 111, 112])
    request = DraftRequest(3, Sampling(1.0), [0.6] * 3)

    def draft(drafter: Drafter) -> Proposal:
        with torch.inference_mode():
            context = Context(sequence.tokens, sequence.hidden, sequence.cache, sequence=sequence)
            proposal = drafter.propose(context, request)
        assert isinstance(proposal, Proposal)
        return proposal

    sequence.prefill()
    draft(used)
    sequence.rewind(len(PROMPT) - 2)
    used.observe(sequence.tokens)
    sequence.tokens.extend([120, 121])
    sequence.prefill()
    one, other = draft(used), draft(fresh)
    assert one.tokens == other.tokens
    assert one.q_draft is not None
    assert other.q_draft is not None
    assert float((one.q_draft - other.q_draft).abs().max()) < 1e-9
