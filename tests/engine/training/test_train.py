"""From a request to a drafter's file: what happens in order, stops, going on, and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import torch

from engine.benchmarks.drafting_cost import keep_cost
from engine.drafters.file import read_drafter
from engine.drafters.trained import make_trained
from engine.loading import load_model
from engine.training import fit
from engine.training import train as module
from engine.training.checkpoint import Checkpoint
from engine.training.corpus import read_corpus, write_corpus
from engine.training.events import Evaluated, Failed, Preparing, Saved, Stepped
from engine.training.fit import Fit
from engine.training.request import TrainingRequest
from engine.training.train import train
from tests.engine.decoding import decode
from tests.engine.training.toys import FreeReins, toy_corpus, write_toy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.training.events import TrainingEvent

WRITES, READS = "The target writes text", "The target reads the text"


@pytest.fixture(autouse=True)
def small_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "PLACES", 512)
    monkeypatch.setattr(module, "FEWEST_TOKENS", 900)


@pytest.fixture
def request_(toy_folder: Path, tmp_path: Path) -> TrainingRequest:
    """A small model from the target's own text."""
    return TrainingRequest(
        kind="small",
        target=str(toy_folder),
        out=tmp_path / "mine.safetensors",
        own_tokens=1500,
        vocabulary=100,
        steps=4,
        width=16,
        device="cpu",
    )


@pytest.fixture
def ids(request_: TrainingRequest) -> TrainingRequest:
    """The same from a file of ids: no text is written."""
    path = request_.out.with_name("ids.safetensors")
    write_corpus(toy_corpus([40] * 30, kept=(0, 9)), path)
    return replace(request_, corpora=(path,), own_tokens=0)


def made(
    request: TrainingRequest, stop: Callable[[TrainingEvent], bool] = lambda event: False
) -> list[TrainingEvent]:
    """Carry a request out; tell it to stop once an event is the one that is waited for."""
    reins, events = FreeReins(), []
    for event in train(request, reins):
        events.append(event)
        reins.stop = reins.stop or stop(event)
    return events


def failure(request: TrainingRequest) -> str:
    *_, last = made(request)
    assert isinstance(last, Failed)
    return last.message


def left(request: TrainingRequest) -> set[str]:
    return {path.name for path in request.out.parent.iterdir()}


def kinds(events: list[TrainingEvent]) -> list[str]:
    """What happened, each once where it happened again and again."""
    said = [
        event.what if isinstance(event, Preparing) else type(event).__name__ for event in events
    ]
    return [what for place, what in enumerate(said) if place == 0 or said[place - 1] != what]


def no_step(fit: Fit) -> float:
    """Stand for a step, and leave the weights as they are."""
    fit.progress.step += 1
    return 0.0


@pytest.mark.parametrize("kind", ["small", "head"])
def test_a_training_goes_on_from_a_drafter(
    ids: TrainingRequest, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = replace(ids, kind=kind, taps=(1,), steps=40)
    made(asked)
    first = read_drafter(asked.out)
    started: list[Evaluated] = []
    again = replace(asked, out=asked.out.with_name("again.safetensors"), steps=1, taps=None)
    for begin in (None, str(asked.out)):
        events = made(replace(again, begin=begin))
        assert isinstance(events[-1], Saved)
        started.append(next(event for event in events if isinstance(event, Evaluated)))
    fresh, gone_on = started
    assert gone_on.step == 0
    assert gone_on.overlap[0] > fresh.overlap[0] + 0.02
    monkeypatch.setattr(fit, "MEASURED_TOKENS", 1 << 30)
    monkeypatch.setattr(Fit, "_step", no_step)
    same = made(replace(again, begin=str(asked.out)))[-1]
    assert isinstance(same, Saved)
    assert same.overlap == pytest.approx(first.metadata.held_out.overlap, abs=2e-3)
    second = read_drafter(again.out)
    for name, tensor in first.tensors.items():
        assert torch.allclose(second.tensors[name].float(), tensor.float(), rtol=2e-3), name


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("small", {"width": 24}),
        ("small", {"layers": 1}),
        ("small", {"kind": "head", "taps": None}),
        ("head", {"blocks": 1, "taps": ()}),
    ],
)
def test_a_drafter_of_other_sizes_is_nothing_to_go_on_from(
    ids: TrainingRequest, kind: str, change: dict[str, object]
) -> None:
    asked = replace(ids, kind=kind, taps=(1,), steps=1)
    made(asked)
    new = replace(asked, out=asked.out.with_name("new.safetensors"), begin=str(asked.out))
    message = failure(replace(new, **change))  # type: ignore[arg-type]  # of mixed types
    sizes = "head --blocks 1 --taps 1" if kind == "head" else "small --layers 2 --width 16"
    assert message == (
        "mine.safetensors is a drafter of another kind or size than is asked for; ask for "
        f"{sizes}, or leave --from out to begin anew."
    )


def test_a_training_never_writes_over_what_it_goes_on_from(ids: TrainingRequest) -> None:
    made(replace(ids, steps=1))
    before = ids.out.read_bytes()
    assert "give the new drafter another name" in failure(replace(ids, begin=str(ids.out)))
    assert ids.out.read_bytes() == before


def test_a_training_that_went_on_from_a_drafter_can_be_resumed(ids: TrainingRequest) -> None:
    first = replace(ids, steps=2)
    made(first)
    new = replace(first, out=ids.out.with_name("new.safetensors"), begin=str(ids.out), steps=30)
    stopped = made(new, lambda event: isinstance(event, Stepped))
    assert isinstance(stopped[-1], Saved)
    keep_cost(f"trained:{ids.out}", 0.123)  # the file is another now, its weights are not
    through = made(replace(new, resume=True))
    assert isinstance(through[-1], Saved)
    begun = read_drafter(new.out).metadata.trained.begun
    assert begun.startswith("mine, weights ")
    assert read_drafter(ids.out).metadata.trained.begun == ""
    made(replace(first, seed=9))
    made(new, lambda event: isinstance(event, Stepped))
    made(replace(first, seed=10))
    assert "was begun with another from" in failure(replace(new, resume=True))


def test_what_a_checkpoint_does_not_know_of_is_no_reason_to_refuse_it(ids: TrainingRequest) -> None:
    made(replace(ids, steps=30), lambda event: isinstance(event, Stepped))
    asked = Checkpoint.beside(ids.out).folder / "asked.json"
    kept = json.loads(asked.read_text())
    assert kept.pop("from") is None  # as those from before there was such a choice
    asked.write_text(json.dumps(kept))
    assert isinstance(made(replace(ids, steps=30, resume=True))[-1], Saved)
    made(replace(ids, steps=30), lambda event: isinstance(event, Stepped))
    asked.write_text("{")
    assert "was begun with another" in failure(replace(ids, steps=30, resume=True))


def test_a_drafter_of_another_target_is_nothing_to_go_on_from(
    ids: TrainingRequest, tmp_path: Path
) -> None:
    made(replace(ids, steps=1))
    other = write_toy(tmp_path / "other", layers=3)
    wanted = replace(ids, target=str(other), begin=str(ids.out))
    assert "cannot draft for" in failure(replace(wanted, out=tmp_path / "new.safetensors"))
    assert "There is no drafter's file" in failure(replace(ids, begin="nowhere.safetensors"))


@pytest.mark.parametrize("kind", ["small", "head"])
def test_a_request_ends_in_a_file_that_drafts(
    request_: TrainingRequest, toy_folder: Path, kind: str
) -> None:
    asked = replace(request_, kind=kind, taps=(1,))
    events = made(asked)
    told = kinds(events)
    assert told[:4] == ["Opening the target", WRITES, READS, "Evaluated"]
    assert told[-2:] == ["Measuring on text that was kept for it", "Saved"]
    assert set(told[4:-2]) == {"Evaluated", "Stepped"}
    last = events[-1]
    assert isinstance(last, Saved)
    assert last.path == str(asked.out)
    assert left(asked) == {"mine.safetensors"}

    file = read_drafter(asked.out)
    metadata, ids = file.metadata, file.tensors["vocabulary"]
    assert (metadata.kind, metadata.name, metadata.target) == (kind, "mine", "toy")
    assert len(ids) == 100
    assert metadata.held_out.greedy == last.greedy
    assert metadata.held_out.overlap == last.overlap
    assert metadata.held_out.tokens > 20
    assert metadata.trained.steps == 4
    assert {portion.kind for portion in metadata.corpus} <= {"made-up", "toy"}
    assert sum(portion.tokens for portion in metadata.corpus) > 1200

    target = load_model(toy_folder, device="cpu", plan="eager")
    drafter = make_trained(f"trained:{asked.out}", target)
    plain, *_ = decode(target, None, k=0, count=20)
    tokens, rounds, _ = decode(target, drafter, k=3, count=20)
    assert tokens == plain
    assert len(rounds[0].drafted) == 3


def test_prepared_tokens_rise_to_their_total(request_: TrainingRequest) -> None:
    events = made(request_)
    for what in (WRITES, READS):
        said = [one for one in events if isinstance(one, Preparing) and one.what == what]
        done = [one.done for one in said]
        assert done == sorted(done)
        assert done[-1] == said[-1].total
    steps = [one.step for one in events if isinstance(one, Stepped)]
    assert steps == sorted(steps)
    assert steps[-1] == 4


def stops_at(what: str) -> Callable[[TrainingEvent], bool]:
    return lambda event: isinstance(event, Preparing) and event.what == what


@pytest.mark.parametrize("what", [WRITES, READS])
def test_a_stop_before_there_is_a_drafter_is_told_and_can_be_gone_on_with(
    request_: TrainingRequest, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr("engine.training.states.TOGETHER", 300)
    *_, last = made(request_, stops_at(what))
    assert isinstance(last, Failed)
    assert "go on with --resume" in last.message
    assert left(request_) == {"mine.checkpoint"}
    kept = read_corpus(request_.out.parent / "mine.checkpoint" / "text.safetensors", 258)
    first = kept.row(0).clone()

    read: list[list[int]] = []
    compute = module.compute_states

    def watched(model, corpus, rows, taps, states):  # type: ignore[no-untyped-def]  # a spy
        read.append(list(rows))
        assert torch.equal(corpus.row(0), first)  # what was written goes on
        return compute(model, corpus, rows, taps, states)

    monkeypatch.setattr(module, "compute_states", watched)
    events = made(replace(request_, resume=True))
    assert isinstance(events[-1], Saved)
    assert left(request_) == {"mine.safetensors"}
    assert (WRITES in kinds(events)) == (what == WRITES)
    assert (0 in read[0]) == (what == WRITES) or len(read[0]) < kept.rows


def test_a_stop_while_fitting_keeps_the_best_and_what_is_needed_to_go_on(
    ids: TrainingRequest,
) -> None:
    asked = replace(ids, steps=1000)
    events = made(asked, lambda event: isinstance(event, Evaluated))
    assert isinstance(events[-1], Saved)
    assert left(asked) == {"ids.safetensors", "mine.safetensors", "mine.checkpoint"}
    assert read_drafter(asked.out).metadata.trained.steps < 1000
    again = made(replace(asked, resume=True, steps=5))
    assert isinstance(again[-1], Saved)
    assert READS not in kinds(again)
    assert read_drafter(asked.out).metadata.trained.steps == 5
    assert left(asked) == {"ids.safetensors", "mine.safetensors"}


def test_a_training_gone_on_with_makes_the_drafter_of_one_that_ran_through(
    ids: TrainingRequest,
) -> None:
    through = replace(ids, out=ids.out.with_name("through.safetensors"), steps=6)
    made(through)
    halted = replace(ids, steps=6)
    made(halted, lambda event: isinstance(event, Evaluated) and event.step == 3)
    made(replace(halted, resume=True))
    one, other = read_drafter(through.out), read_drafter(halted.out)
    assert one.metadata.held_out == other.metadata.held_out
    assert all(torch.equal(one.tensors[name], other.tensors[name]) for name in one.tensors)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "head"}, "begun with another kind;"),
        ({"width": 24, "seed": 3}, "begun with another seed and width;"),
        ({"vocabulary": 50}, "begun with another vocabulary;"),
    ],
)
def test_going_on_towards_another_drafter_is_refused(
    ids: TrainingRequest, changes: dict[str, object], words: str
) -> None:
    made(replace(ids, steps=1000), lambda event: isinstance(event, Evaluated))
    message = failure(replace(ids, resume=True, **changes))  # type: ignore[arg-type]
    assert words in message
    assert "mine.checkpoint" in left(ids)


def test_going_on_with_other_text_of_the_same_name_is_refused(ids: TrainingRequest) -> None:
    made(replace(ids, steps=1000), lambda event: isinstance(event, Evaluated))
    write_corpus(toy_corpus([40] * 30, seed=5), ids.corpora[0])
    assert "begun with another corpora;" in failure(replace(ids, resume=True))


def test_going_on_with_nothing_is_refused(ids: TrainingRequest) -> None:
    message = failure(replace(ids, resume=True))
    assert "no training to go on with at mine.checkpoint; leave --resume out" in message


def test_a_damaged_checkpoint_is_told(ids: TrainingRequest) -> None:
    made(replace(ids, steps=1000), lambda event: isinstance(event, Evaluated))
    (ids.out.parent / "mine.checkpoint" / "fit.pt").write_bytes(b"no checkpoint")
    assert "mine.checkpoint is damaged" in failure(replace(ids, resume=True))


def test_a_folder_of_that_name_that_is_no_trainings_is_left_alone(ids: TrainingRequest) -> None:
    folder = ids.out.parent / "mine.checkpoint"
    folder.mkdir()
    (folder / "diary").write_text("dear")
    assert "is in the way and is of no training" in failure(ids)
    assert (folder / "diary").read_text() == "dear"


def test_too_little_text_is_refused(ids: TrainingRequest) -> None:
    write_corpus(toy_corpus([40] * 4), ids.corpora[0])
    assert "fewer than 900 tokens of text to train on; give more files" in failure(ids)


@pytest.mark.parametrize(("kept", "word"), [((), "none are kept"), (range(30), "all are kept")])
def test_text_without_a_part_to_measure_or_to_train_on_is_refused(
    ids: TrainingRequest, kept: tuple[int, ...], word: str
) -> None:
    write_corpus(toy_corpus([40] * 30, kept=kept), ids.corpora[0])
    assert f"Of the 30 texts {word} for measuring" in failure(ids)


def test_text_that_is_too_short_to_measure_a_draft_on_is_refused(ids: TrainingRequest) -> None:
    write_corpus(toy_corpus([3, *[40] * 29], kept=(0,)), ids.corpora[0])
    assert "texts to be measured on are too short for a draft" in failure(ids)
    write_corpus(toy_corpus([1000, *[2] * 29], kept=(0,)), ids.corpora[0])
    assert "texts to be trained on are too short for a draft" in failure(ids)


@pytest.mark.parametrize("name", ["gone.txt", "gone.safetensors"])
def test_missing_files_are_told_before_anything_is_made(ids: TrainingRequest, name: str) -> None:
    asked = replace(ids, corpora=(ids.out.with_name(name),))
    assert name in failure(asked)
    assert left(asked) == {"ids.safetensors"}


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00binary", b"x"])
def test_files_that_hold_no_text_are_told(ids: TrainingRequest, content: bytes) -> None:
    path = ids.out.with_name("notes.txt")
    path.write_bytes(content)
    assert "notes.txt" in failure(replace(ids, corpora=(path,)))


def test_a_users_text_is_cut_into_rows_and_trained_on(ids: TrainingRequest) -> None:
    path = ids.out.with_name("notes.txt")
    path.write_text("The mill stands by the river. " * 60, encoding="utf-8")
    events = made(replace(ids, corpora=(path,)))
    assert isinstance(events[-1], Saved)
    assert {one.kind for one in read_drafter(ids.out).metadata.corpus} == {"file"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"target": "nobody-knows-it"}, "nobody-knows-it"),
        ({"device": "abacus"}, "The device 'abacus' is not available"),
        ({"width": 40}, "wider than toy, whose width is 32"),
        ({"kind": "head", "blocks": 2}, "no smaller than toy"),
        ({"kind": "head", "taps": (2,)}, "cannot read layer 2"),
    ],
)
def test_what_cannot_be_carried_out_is_one_sentence(
    ids: TrainingRequest, changes: dict[str, object], words: str
) -> None:
    assert words in failure(replace(ids, **changes))  # type: ignore[arg-type]


def test_a_file_that_cannot_be_written_leaves_what_can_be_gone_on_with(
    ids: TrainingRequest,
) -> None:
    ids.out.mkdir()  # in the way of the file
    assert "mine.safetensors cannot be written" in failure(ids)
    assert left(ids) == {"ids.safetensors", "mine.safetensors", "mine.checkpoint"}
    ids.out.rmdir()
    assert isinstance(made(replace(ids, resume=True))[-1], Saved)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "cannot be used: No space left on device"),
        (MemoryError(), "The memory ran out"),
    ],
)
def test_a_machine_that_has_no_more_is_one_sentence(
    ids: TrainingRequest, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def full(*_: object) -> None:
        raise error

    monkeypatch.setattr(module, "compute_states", full)
    assert words in failure(ids)


def test_a_checkpoint_that_cannot_be_written_keeps_the_one_before(
    ids: TrainingRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise RuntimeError("PytorchStreamWriter failed writing file")

    monkeypatch.setattr("torch.save", full)
    assert "mine.checkpoint cannot be written; make room" in failure(ids)
    assert not list((ids.out.parent / "mine.checkpoint").glob("*.partial"))
