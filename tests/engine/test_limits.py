"""Where a text ends: end tokens, stop strings and limits cut a round as they cut plain decoding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from engine import DraftscopeError, RunRequest, Session, Settings
from engine.drafters.ngram import NgramDrafter
from engine.emission import Limits, emit
from engine.models.text.streaming import TextStream
from engine.trace.events import (
    Baseline,
    ClosingKind,
    Comparison,
    DraftEnd,
    Fate,
    FinishReason,
    Round,
    RunFinished,
)
from tests.engine.decoding import Scripted, decode
from tests.engine.table_model import TableModel, counting, table_drafter, table_target

if TYPE_CHECKING:
    from engine.loading import LoadedModel
    from engine.trace.events import Event

PROMPT_TEXT = "hello hello"  # 11 tokens as a raw prompt, as many as the scripted drafter counts
SIZE = 100


def run(target: LoadedModel, script: list[int], k: int, **changes: object) -> list[Event]:
    """A greedy run with a drafter that proposes the script."""
    session = Session(target)
    session.add_drafter("scripted", Scripted(script))
    settings = Settings(drafter="scripted" if k else "none", k=k, temperature=0.0)
    request = RunRequest(
        prompt=PROMPT_TEXT,
        raw=True,
        settings=settings,
        probes=False,
        **{"max_new_tokens": 24, **changes},  # type: ignore[arg-type]  # tests vary any field
    )
    return list(session.run(request))


def rounds_of(events: list[Event]) -> list[Round]:
    return [event for event in events if isinstance(event, Round)]


def ids_of(events: list[Event]) -> list[int]:
    return [token for one in rounds_of(events) for token in one.emitted_ids]


def finished(events: list[Event]) -> RunFinished:
    (last,) = [event for event in events if isinstance(event, RunFinished)]
    return last


def streamed(events: list[Event]) -> str:
    """All text that a viewer was given, in order."""
    return "".join(text for one in rounds_of(events) for text in one.texts) + finished(events).tail


@pytest.fixture(scope="module")
def plain(exact_target: LoadedModel) -> list[int]:
    """The plain target's greedy text; its first three tokens differ."""
    ids = ids_of(run(exact_target, [], 0))
    assert len(set(ids[:3])) == 3
    assert len(ids) == 24
    return ids


@pytest.mark.case("A17")
def test_an_end_token_in_the_middle_of_an_accepted_run_ends_the_text_there(
    exact_target: LoadedModel, plain: list[int]
) -> None:
    ending = replace(exact_target, end_tokens=frozenset({plain[2]}))
    alone = run(ending, [], 0)
    drafted = run(ending, plain, 5)
    assert ids_of(drafted) == ids_of(alone) == plain[:3]
    assert isinstance(drafted[-1], RunFinished)
    assert finished(drafted).reason is FinishReason.END_TOKEN
    assert streamed(drafted) == streamed(alone)
    (one,) = rounds_of(drafted)
    assert [token.fate for token in one.drafted] == [Fate.ACCEPTED] * 3 + [Fate.CUT] * 2
    assert one.closing is None
    assert len(one.texts) == 3


@pytest.mark.case("A18")
def test_an_ignored_end_token_ends_nothing(exact_target: LoadedModel, plain: list[int]) -> None:
    ending = replace(exact_target, end_tokens=frozenset({plain[2]}))
    for k in (0, 5):
        events = run(ending, plain, k, ignore_end_tokens=True)
        assert ids_of(events) == plain
        assert finished(events).reason is FinishReason.LIMIT
    cut = run(ending, plain, 5)  # and otherwise no matching draft behind it is emitted
    assert ids_of(cut) == plain[:3]


def wrong_at(plain: list[int], place: int) -> list[int]:
    """A script that is right but for one token."""
    return [(token + (i == place)) % 250 for i, token in enumerate(plain)]


@pytest.mark.case("A01", "A61")
@pytest.mark.parametrize(
    ("place", "arises"),
    [
        (0, "plain"),
        (0, "correction"),
        (0, "accepted"),
        (2, "plain"),
        (2, "correction"),
        (2, "accepted"),
        (2, "bonus"),
    ],
)
def test_an_end_token_is_kept_and_counted_however_it_arises(
    exact_target: LoadedModel, plain: list[int], place: int, arises: str
) -> None:
    # place 0 is the first token after the prompt
    script = {"plain": [], "correction": wrong_at(plain, place)}.get(arises, plain)
    k = place if arises == "bonus" else 5
    ending = replace(exact_target, end_tokens=frozenset({plain[place]}))
    events = run(ending, script, k, baseline=True)
    assert ids_of(events) == plain[: place + 1]
    assert finished(events).reason is FinishReason.END_TOKEN
    baseline, comparison = events[-2:]
    assert isinstance(baseline, Baseline)
    assert list(baseline.token_ids) == ids_of(events)  # one token list and count
    assert isinstance(comparison, Comparison)
    assert comparison.identical
    last = rounds_of(events)[-1]
    if arises == "accepted":
        assert last.closing is None  # nothing is drawn again behind it
        assert last.drafted[place].fate is Fate.ACCEPTED
    else:
        assert last.closing is not None
        assert last.closing.kind is ClosingKind(arises)
        assert last.closing.id == plain[place]


@pytest.mark.case("A23")
def test_a_drafted_end_token_that_the_target_rejects_ends_nothing(
    exact_target: LoadedModel, plain: list[int]
) -> None:
    end = next(token for token in range(250) if token not in plain)
    script = [*plain[:1], end, *plain[2:]]
    ending = replace(exact_target, end_tokens=frozenset({end}))
    events = run(ending, script, 3)
    first, *others = rounds_of(events)
    assert first.drafted[1].id == end
    assert first.drafted[1].fate is Fate.REJECTED
    assert any(one.drafted for one in others)  # drafting started again
    assert ids_of(events) == plain
    assert [type(event) for event in events].index(RunFinished) == len(events) - 1
    assert finished(events).reason is FinishReason.LIMIT


@pytest.mark.case("A20")
@pytest.mark.parametrize("k", range(1, 9))
def test_no_draft_leads_past_the_limit(exact_target: LoadedModel, k: int) -> None:
    target = table_target(exact_target, counting(SIZE))
    for count in range(1, k + 3):
        tokens, rounds, decoder = decode(
            target, table_drafter(counting(SIZE)), k=k, count=count, prompt=[0]
        )
        assert tokens == list(range(1, count + 1))
        assert decoder.reason is FinishReason.LIMIT
        assert sum(one.emitted for one in rounds) == count
        assert all(token.fate is Fate.ACCEPTED for one in rounds for token in one.drafted)


@pytest.mark.case("A20")
def test_a_limit_of_one_token_gives_one_of_a_whole_accepted_draft(
    exact_target: LoadedModel,
) -> None:
    limits = Limits(3, 1, 99)
    emission = emit([5, 6, 7, 8, 9], 3, limits, TextStream(exact_target.tokenizer))
    assert emission.tokens == (5,)
    assert (emission.reason, emission.cut) == (FinishReason.LIMIT, True)


@pytest.mark.case("A20")
@pytest.mark.parametrize("k", [0, 1, 8])
def test_a_limit_of_no_tokens_is_refused(exact_target: LoadedModel, k: int) -> None:
    with pytest.raises(DraftscopeError, match="at least 1"):
        run(exact_target, [], k, max_new_tokens=0)


@pytest.mark.case("A22")
@pytest.mark.parametrize(
    ("kept", "ends", "limit", "expected", "reason"),
    [
        ([0, 5, 0, 7, 43, 5], {0}, 99, [0], FinishReason.END_TOKEN),
        ([4, 5, 43, 7, 43, 5], {42, 43, 44}, 2, [4, 5], FinishReason.LIMIT),
        ([4, 5, 43, 7, 43, 5], {42, 43, 44}, 3, [4, 5, 43], FinishReason.END_TOKEN),
    ],
)
def test_the_first_end_inside_a_step_of_many_tokens_counts(
    exact_target: LoadedModel,
    kept: list[int],
    ends: set[int],
    limit: int,
    expected: list[int],
    reason: FinishReason,
) -> None:
    limits = Limits(3, limit, 999, frozenset(ends))
    emission = emit(kept, 3, limits, TextStream(exact_target.tokenizer))
    assert list(emission.tokens) == expected
    assert (emission.reason, emission.cut) == (reason, True)


@pytest.mark.case("A22")
def test_the_first_end_inside_an_accepted_draft_counts(exact_target: LoadedModel) -> None:
    # the same through rounds: 10 counts on, and 13 and 15 end the text, or the limit does
    target = table_target(exact_target, counting(SIZE))
    for count, expected, reason in (
        (20, [11, 12, 13], FinishReason.END_TOKEN),
        (2, [11, 12], FinishReason.LIMIT),
    ):
        tokens, _, decoder = decode(
            target,
            table_drafter(counting(SIZE)),
            k=6,
            count=count,
            ends=frozenset({13, 15}),
            prompt=[10],
        )
        assert tokens == expected
        assert decoder.reason is reason


@pytest.mark.case("A25")
def test_an_end_token_of_the_prompt_is_not_copied_into_the_text(exact_target: LoadedModel) -> None:
    ids = [9, 8, 7, 51, 0, 5, 6, 4, 3, 51]
    target = table_target(exact_target, counting(SIZE))
    drafter = NgramDrafter({0}, longest=1, shortest=1)
    tokens, rounds, _ = decode(target, drafter, count=2, ends=frozenset({0}), prompt=ids)
    assert not rounds[0].drafted
    assert rounds[0].draft_end is DraftEnd.NO_MATCH
    assert tokens == [52, 53]


@pytest.mark.case("A01", "A55")
def test_no_more_is_drafted_than_the_limit_leaves_room_for(exact_target: LoadedModel) -> None:
    target = table_target(exact_target, counting(SIZE))
    drafter = table_drafter(counting(SIZE))
    tokens, rounds, _ = decode(target, drafter, k=8, count=2, prompt=[0])
    assert tokens == [1, 2]
    (one,) = rounds
    assert len(one.drafted) == 1  # and the bonus
    assert one.draft_end is DraftEnd.LIMIT
    model = drafter._model
    assert isinstance(model, TableModel)
    assert [ids for _, ids in model.fed] == [[0]]  # a pass for each token that can be used
    tokens, rounds, _ = decode(target, drafter, k=8, count=1, prompt=[0])
    assert [(len(one.drafted), one.draft_end) for one in rounds] == [(0, DraftEnd.LIMIT)]
    tokens, rounds, _ = decode(target, drafter, k=4, count=7, prompt=[0])
    assert [len(one.drafted) for one in rounds] == [4, 1]
