"""`articles` on a tiny model: what is run, beside what, and what is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from engine import DraftscopeError, RunRequest, Session, Settings, load_model
from engine.benchmarks import articles_runs, articles_texts
from engine.benchmarks.articles import Report, choose_drafters, measure, ways
from engine.benchmarks.articles_rows import Cell, emitted_ids
from engine.benchmarks.articles_runs import Bench
from engine.benchmarks.articles_texts import Text, begin_texts, kind_texts, repeated_texts
from engine.benchmarks.kinds import Beginning, KindPrompt
from engine.drafters.small import SmallModelDrafter
from engine.trace.events import Round
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from engine.loading import LoadedModel
    from engine.trace.events import Event

LONG = "A text of more than thirty-two bytes, each of which is a token here."


@pytest.fixture
def target(tmp_path: Path) -> LoadedModel:
    folder = write_tiny_folder(tmp_path / "target", endless=True)
    return load_model(folder, device="cpu", plan="eager")


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two beginnings, and two prompts of each of two kinds."""
    prompts = tuple(
        KindPrompt(id=f"{kind}-{i}", kind=kind, prompt=f"{kind} {i}?", subject="")
        for i in range(2)
        for kind in ("story", "list")
    )
    begun = tuple(Beginning(id=str(i), kind="prose", text=f"{i} {LONG}", subject="") for i in "ab")
    monkeypatch.setattr(articles_texts.bundled, "kinds", lambda: prompts)
    monkeypatch.setattr(articles_texts.bundled, "beginnings", lambda: begun)


def itself(target: LoadedModel) -> SmallModelDrafter:
    """A drafter with the target's own weights."""
    vocabulary = target.transformer.vocabulary
    return SmallModelDrafter(target.transformer, target.info, "model:itself", vocabulary)


def short(folder: Path, **changes: object) -> Report:
    options = {
        "target": str(folder), "drafter": ["ngram", "early:1"], "k": [1, 3], "temperature": [0.0],
        "tokens": 12, "device": "cpu", "plan": "eager",
    }  # fmt: skip
    return measure(**options | changes)  # type: ignore[arg-type]  # of mixed types


@pytest.mark.usefixtures("bundled")
def test_beginnings_have_thirty_two_tokens_and_prompts_stand_kind_by_kind(
    target: LoadedModel,
) -> None:
    begun = begin_texts(target.tokenizer, 8)
    assert [text.prompt for text in begun] == [f"{i} {LONG}"[:32] for i in "ab"]
    assert all(text.raw for text in begun)
    asked = kind_texts(1)
    assert [(text.kind, text.prompt, text.raw) for text in asked] == [
        ("story", "story 0?", False),
        ("list", "list 0?", False),
    ]
    assert [text.kind for text in kind_texts(9)] == ["story", "story", "list", "list"]


def test_every_repeat_has_seeds_of_its_own() -> None:
    text = Text("list", "a", raw=False, seed=3)
    found = repeated_texts([text], 3)
    assert found[0] == text
    assert len({one.seed for one in found}) == 3


@pytest.mark.usefixtures("bundled")
def test_all_parts_are_measured_and_the_report_is_read_back(tmp_path: Path) -> None:
    folder = write_tiny_folder(tmp_path / "target", endless=True)
    said: list[tuple[int, int, str]] = []
    report = short(
        folder,
        temperature=[0.0, 1.0],
        confidence=[0.5],
        prompts=1,
        progress=lambda *one: said.append(one),
    )
    cells = [row.cell for row in report.rows]
    assert cells[:2] == [Cell("ngram", 1, 0.0), Cell("ngram", 3, 0.0)]
    early = [Cell("early:1", 1, 0.0), Cell("early:1", 3, 0.0), Cell("early:1", 3, 0.0, 0.5)]
    assert cells[4:7] == early  # a look-up has no law to be unsure by
    assert all(row.runs == 2 for row in report.rows)
    for row in report.rows:
        again = row.repetition
        assert row.tokens + (again.tokens if again else 0) == 2 * 12
        assert row.identical == (2 if row.temperature == 0.0 else None)
        assert (row.overlap is not None) == (row.temperature > 0.0 and row.drafted > 0)
        assert row.plain_tokens_per_second > 0
    assert {one.cell for one in report.best} <= set(cells)
    assert {row.texts for row in report.kinds} == {"story", "list", "all kinds"}
    assert {row.cell for row in report.kinds} == {one.cell for one in report.best}
    whole = [row.tokens for row in report.kinds if row.texts == "all kinds"]
    parts = [row.tokens for row in report.kinds if row.texts != "all kinds"]
    assert sum(whole) == sum(parts)
    assert [(one.model, one.texts) for one in report.alone] == [
        ("target", "held-out"),
        ("early:1", "held-out"),
        ("target", "the target's own"),
        ("early:1", "the target's own"),
    ]
    assert {what for *_, what in said} >= {"early:1, temperature 1", "the models alone"}
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report


@pytest.mark.usefixtures("bundled")
def test_without_beginnings_every_k_is_tried_on_the_prompts(tmp_path: Path) -> None:
    folder = write_tiny_folder(tmp_path / "target", endless=True)
    report = short(folder, beginnings=0, prompts=1)
    assert (report.rows, report.best, report.alone) == ((), (), ())
    whole = [row.cell for row in report.kinds if row.texts == "all kinds"]
    assert whole == [Cell(name, k, 0.0) for name in ("ngram", "early:1") for k in (1, 3)]


def test_a_usual_drafter_that_is_not_there_is_left_out_with_a_line(
    target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drafter(self: Session, spec: str, **_: object) -> None:
        if spec in ("small-2", "head", "ngram+head"):
            raise DraftscopeError(f"No file of {spec}.")

    monkeypatch.setattr(Session, "drafter", drafter)
    names, left_out = choose_drafters(Session(target), None)
    assert names == ("ngram", "early:1", "small-4")
    assert left_out[:2] == ("small-2: No file of small-2.", "head: No file of head.")
    assert left_out[2].startswith("ngram+head: ")
    with pytest.raises(DraftscopeError, match="No file of head"):
        choose_drafters(Session(target), ["ngram", "head"])


def test_a_drafter_behind_a_look_up_is_measured_but_not_by_itself(tmp_path: Path) -> None:
    folder = write_tiny_folder(tmp_path / "target", endless=True)
    report = short(folder, drafter=("ngram+early:1", "early:1"), beginnings=1, prompts=1)
    assert {row.cell.drafter for row in report.rows} == {"ngram+early:1", "early:1"}
    assert {one.model for one in report.alone} == {"target", "early:1"}


def test_a_drafter_is_measured_at_each_k_and_the_largest_with_each_stop(
    target: LoadedModel,
) -> None:
    session = Session(target)
    found = ways(session, "early:1", [1, 2, 2], [1.0], [0.3, 0.6])
    assert found == (
        *(Cell("early:1", k, 1.0) for k in (1, 2)),
        *(Cell("early:1", 2, 1.0, stop) for stop in (0.3, 0.6)),
    )
    assert ways(session, "ngram", [1], [0.0], [0.3]) == (Cell("ngram", 1, 0.0),)


def test_cells_are_decoded_beside_one_plain_run_as_far_as_they_fit(
    target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside: list[int] = []
    in_step = articles_runs.in_step

    def watched(runs: list[object]) -> object:
        beside.append(len(runs))
        return in_step(runs)  # type: ignore[arg-type]  # passed on as they are

    monkeypatch.setattr(articles_runs, "in_step", watched)
    monkeypatch.setitem(articles_runs.TOGETHER, "cpu", 2)
    cells = [Cell("ngram", k, 0.0) for k in (1, 2, 3)]
    found = Bench(target, cells).decode(Text("list", "abcabcabc", raw=True, seed=0), 10)
    assert beside == [3, 2]  # two cells and a plain run, then one and another
    assert list(found) == cells
    for taken in found.values():
        assert emitted_ids(taken.rounds) == emitted_ids(taken.plain)
        assert taken.verdict == "identical"
        assert all(one.drafter == "none" for one in taken.plain)
        assert len(taken.plain) == 10


def test_a_greedy_text_that_differs_gets_a_verdict(
    target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_step = articles_runs.in_step

    def shortened(runs: list[object]) -> object:
        plain, own = in_step(runs)  # type: ignore[arg-type]  # passed on as they are
        return [plain[:-1], own]

    monkeypatch.setattr(articles_runs, "in_step", shortened)
    cell = Cell("ngram", 2, 0.0)
    found = Bench(target, [cell]).decode(Text("list", "abcabcabc", raw=True, seed=0), 6)
    assert found[cell].verdict == "fault"


def test_texts_are_decoded_in_step(target: LoadedModel) -> None:
    order: list[tuple[int, int]] = []  # who went on, and how many tokens it had by then
    had = [0, 0]

    class Watched(Session):
        def run(self, request: RunRequest, *_: object, **__: object) -> Generator[Event]:
            for event in super().run(request):
                if isinstance(event, Round):
                    order.append((request.seed, had[request.seed]))
                    had[request.seed] += event.emitted
                yield event

    same = "model:itself"  # always accepted: four tokens a round
    runs = []
    for seed, settings in enumerate(
        (
            Settings(drafter="none", k=0, temperature=0.0),
            Settings(drafter=same, k=3, temperature=0.0),
        )
    ):
        session = Watched(target)
        session.add_drafter(same, itself(target))
        request = RunRequest(
            prompt="ab", raw=True, settings=settings, seed=seed, max_new_tokens=16, probes=False
        )
        runs.append((session, request))
    plain, own = articles_runs.in_step(runs)
    assert (len(plain), len(own)) == (16, 4)
    reached = {0: 0, 1: 0}
    for who, tokens in order:
        reached[who] = tokens
        other = reached[1 - who]
        assert tokens <= other + 4  # nobody runs ahead by more than a round
    assert [who for who, _ in order].count(0) == 16
    assert order[-3][0] == 0  # the plain run ends beside the other, not long after it


def test_a_sampled_text_is_set_beside_as_much_plain_text(
    target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_step = articles_runs.in_step

    def ended(runs: list[object]) -> object:
        plain, own = in_step(runs)  # type: ignore[arg-type]  # passed on as they are
        return [plain, own[:3]]

    monkeypatch.setattr(articles_runs, "in_step", ended)
    cell = Cell("ngram", 2, 1.0)
    found = Bench(target, [cell]).decode(Text("list", "abcabcabc", raw=True, seed=0), 12)
    assert len(found[cell].plain) == len(emitted_ids(found[cell].rounds)) < 12
