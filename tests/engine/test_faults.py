"""What goes wrong around a run is said in a sentence, at the right moment, and leaks nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

import engine.loading as loading
from engine import DraftscopeError, LoadingCancelled, RunRequest, Session, Settings, generate
from engine.benchmarks.decoding import bench
from engine.check.greedy import check_greedy
from engine.control import Control
from engine.drafters.protocol import DraftRequest, Proposal
from engine.loading import choose_device, load_model, make_drafter
from engine.sequence import Sequence
from engine.trace.events import FinishReason, Round, RunFinished
from tests.engine.decoding import Scripted

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel
    from engine.trace.events import Event

GREEDY = Settings(drafter="ngram", k=3, temperature=0.0)
SAMPLED = Settings(drafter="broken", k=3, temperature=1.0)


@pytest.fixture
def session(exact_target: LoadedModel) -> Session:
    return Session(exact_target)


def break_logits(monkeypatch: pytest.MonkeyPatch, target: LoadedModel, after: int) -> None:
    """Let the target score with NaN after some passes."""
    logits = target.transformer.logits
    passes = [0]

    def broken(hidden: torch.Tensor) -> torch.Tensor:
        passes[0] += 1
        return logits(hidden) * (torch.nan if passes[0] > after else 1.0)

    monkeypatch.setattr(target.transformer, "logits", broken)


def finished(events: list[Event]) -> RunFinished:
    assert isinstance(events[-1], RunFinished)
    return events[-1]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_logits_that_are_no_numbers_end_the_run_with_a_sentence(
    session: Session, monkeypatch: pytest.MonkeyPatch, temperature: float
) -> None:
    break_logits(monkeypatch, session.target, after=3)
    settings = Settings(drafter="none", k=0, temperature=temperature)
    request = RunRequest(prompt="hello", settings=settings, probes=False, top_n=0)
    events = list(session.run(request))
    assert sum(isinstance(event, Round) for event in events) == 3
    assert finished(events).reason is FinishReason.ERROR
    assert "not finite" in finished(events).message
    assert session.pool.pages_held == 0


def test_a_drafters_broken_law_ends_the_run_with_a_sentence(session: Session) -> None:
    class Broken(Scripted):
        def propose(self, context: object, request: DraftRequest) -> Proposal:
            law = torch.full((request.k, session.target.info.vocabulary), torch.nan)
            return Proposal((7,) * request.k, law)

    session.add_drafter("broken", Broken([]))
    events = list(session.run(RunRequest(prompt="hello", settings=SAMPLED)))
    assert finished(events).reason is FinishReason.ERROR
    assert "drafter's law is broken" in finished(events).message


def test_whoever_watches_rounds_alone_gets_the_fault_raised(
    exact_target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_logits(monkeypatch, exact_target, after=4)
    rounds = []
    with pytest.raises(DraftscopeError, match="not finite"):  # noqa: PT012  # the rounds before it count
        for one in generate(exact_target, None, "hello"):
            rounds.append(one)
    assert rounds
    with pytest.raises(DraftscopeError, match="not finite"):
        check_greedy(Session(exact_target), ("ngram",), drafted=(1,), prompts=("hello",))
    with pytest.raises(DraftscopeError, match="not finite"):
        bench(Session(exact_target), ("ngram",), drafted=(1,), prompts=("hello",))


@pytest.mark.parametrize(
    ("changes", "word"),
    [({"stop_strings": ("x", "")}, "stop string is empty"), ({"top_n": -1}, "rows kept")],
)
def test_what_cannot_be_run_is_refused_before_anything_is_held(
    session: Session, changes: dict[str, object], word: str
) -> None:
    with pytest.raises(DraftscopeError, match=word):
        session.run(RunRequest(prompt="hello", settings=GREEDY, **changes))  # type: ignore[arg-type]  # tests vary any field


def test_a_prompt_with_a_token_beyond_the_weights_is_refused(
    exact_target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_target.tokenizer, "encode", lambda *_, **__: [3, 272])
    with pytest.raises(DraftscopeError, match="no weights for"):
        Session(exact_target).run(RunRequest(prompt="hello", settings=GREEDY))


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA"), MemoryError()])
def test_memory_that_runs_out_in_a_run_is_named(
    session: Session, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    events: list[Event] = []
    monkeypatch.setattr(Sequence, "commit", fail)
    with pytest.raises(type(error)):
        events.extend(session.run(RunRequest(prompt="hello", settings=GREEDY)))
    assert session.pool.pages_held == 0
    run = session.run(RunRequest(prompt="hello", settings=GREEDY))
    with pytest.raises(type(error)):  # noqa: PT012  # the events before it count
        for event in run:
            events.append(event)
    assert finished(events).message.startswith("The memory ran out")


def test_memory_that_runs_out_while_loading_is_a_sentence(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried ...")

    monkeypatch.setattr(loading, "Transformer", fail)
    with pytest.raises(DraftscopeError, match="does not fit into the memory of cpu"):
        load_model(tiny_folder, device="cpu")


def test_loading_can_be_cancelled_before_every_layer(tiny_folder: Path) -> None:
    for at in range(3):  # before the first layer, the second, and after the last
        asked = iter([False] * (at + 1) + [True] * 9)
        done: list[int] = []

        def cancelled(asked: object = asked) -> bool:
            return next(asked)  # type: ignore[call-overload,no-any-return]  # an iterator of bools

        def note(layer: int, total: int, what: str, done: list[int] = done) -> None:
            done.append(layer)

        with pytest.raises(LoadingCancelled):
            load_model(tiny_folder, device="cpu", cancelled=cancelled, progress=note)
        assert len(done) == at + 1


def test_a_stop_ends_the_loading_of_a_drafter(exact_target: LoadedModel, near_folder: Path) -> None:
    spec = f"model:{near_folder}"
    control = Control()
    control.stop()
    settings = Settings(drafter=spec, k=3, temperature=0.0)
    with pytest.raises(LoadingCancelled):
        list(Session(exact_target).run(RunRequest(prompt="hello", settings=settings), control))
    session, control = Session(exact_target), Control()
    events: list[Event] = []

    def make(*_: object, cancelled: object, **__: object) -> None:
        control.stop()
        make_drafter(spec, exact_target, cancelled=cancelled)  # type: ignore[arg-type]  # passed on

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.session.make_drafter", make)
        session.add_drafter("ngram", make_drafter("ngram", exact_target))
        for event in session.run(RunRequest(prompt="hello", settings=GREEDY), control):
            events.append(event)
            if isinstance(event, Round) and event.index == 1:
                control.change_settings(settings)
    assert finished(events).reason is FinishReason.CANCELLED
    assert session.pool.pages_held == 0


def test_a_drafter_of_another_vocabulary_is_refused(
    exact_target: LoadedModel, near_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a sentence, never a shape
    other = "The vocabularies differ, first at token 3 ('a' and 'b')."
    monkeypatch.setattr(exact_target.tokenizer, "identical_to", lambda _: other)
    with pytest.raises(DraftscopeError, match=r"cannot draft for .* differ, first at token 3"):
        make_drafter(f"model:{near_folder}", exact_target)


@pytest.mark.parametrize("name", ["meta", "hpu", "xla", "nonsense", "", "cpu:x", "cuda:99"])
def test_a_device_that_is_not_there_is_one_sentence(name: str) -> None:
    with pytest.raises(DraftscopeError, match="is not available here"):
        choose_device(name)
