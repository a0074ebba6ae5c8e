"""What a target is made to write: its own greedy text, its law, its ends, and no repetition."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import torch

from engine.check.fit import chi_square
from engine.loading import LoadedModel, load_model
from engine.repetition import repeated, where_repeated
from engine.training.answers import Prompt, answer
from tests.engine.decoding import decode
from tests.engine.training.toys import random_model
from tests.tiny_model import tiny_config

if TYPE_CHECKING:
    from pathlib import Path

    from engine.training.answers import Answer
    from engine.training.batched import BatchedTransformer
    from engine.training.opened import OpenedTarget

NONE: frozenset[int] = frozenset()


def answers(
    model: BatchedTransformer,
    prompts: list[Prompt],
    ends: frozenset[int] = NONE,
    seed: int = 0,
    **sizes: int,
) -> list[Answer]:
    generator = torch.Generator().manual_seed(seed)
    return list(answer(model, iter(prompts), ends, generator, **sizes))


def prompt(*tokens: int, heat: float = 0.0, limit: int = 20, tag: object = None) -> Prompt:
    return Prompt(tokens, heat, limit, tag)


def varied(count: int, heat: float = 0.0, limit: int = 20) -> list[Prompt]:
    """Prompts of many lengths, each tagged with its number."""
    return [
        prompt(*((7 * i + 11 * j) % 256 for j in range(1 + i % 9)), heat=heat, limit=limit, tag=i)
        for i in range(count)
    ]


@pytest.fixture(scope="module")
def plain(toy_folder: Path) -> LoadedModel:
    return load_model(toy_folder, device="cpu", plan="eager")


@pytest.fixture(scope="module")
def small() -> BatchedTransformer:
    """Eight ids, so that a law can be counted."""
    return random_model(replace(tiny_config(), vocabulary=8))


@pytest.mark.parametrize("places", [1, 3, 40])
def test_greedy_answers_are_the_targets_own_text(
    toy: OpenedTarget, plain: LoadedModel, places: int
) -> None:
    prompts = varied(14, limit=30)
    found = answers(toy.model, prompts, sequences=places, longest=64)
    assert sorted(one.prompt.tag for one in found) == list(range(14))  # type: ignore[type-var]
    for one in found:
        expected, _, _ = decode(plain, None, k=0, count=30, prompt=list(one.prompt.tokens))
        where = where_repeated(expected)
        assert list(one.drawn) == expected[:where]
        assert one.repeats == (where is not None)
    assert any(one.repeats for one in found)


def law_after(model: BatchedTransformer, tokens: tuple[int, ...], heat: float) -> list[float]:
    hidden = model.read(torch.tensor([tokens])).hidden[0, -1:]
    law: list[float] = (model.transformer.logits(hidden)[0] / heat).softmax(-1).tolist()
    return law


def test_warm_answers_follow_the_law_at_their_own_temperature(small: BatchedTransformer) -> None:
    heats, count = (3.0, 6.0), 1500
    prompts = [prompt(1, 5, heat=heats[i % 2], limit=2) for i in range(2 * count)]
    found = answers(small, prompts, seed=3, sequences=256, longest=32)
    for heat in heats:
        drawn = [one.drawn for one in found if one.prompt.temperature == heat]
        assert len(drawn) == count
        law, first = law_after(small, (1, 5), heat), Counter(pair[0] for pair in drawn)
        assert chi_square(first, law).p_value > 1e-3
        assert chi_square(first, law_after(small, (1, 5), 9.0 - heat)).p_value < 1e-6
        common = first.most_common(1)[0][0]
        second = Counter(pair[1] for pair in drawn if pair[0] == common)
        assert chi_square(second, law_after(small, (1, 5, common), heat)).p_value > 1e-3


def test_cold_and_warm_answers_do_not_touch_each_other(toy: OpenedTarget) -> None:
    cold = varied(6, limit=12)
    alone = {one.prompt.tag: one.drawn for one in answers(toy.model, cold, sequences=6)}
    warm = [replace(one, temperature=1.0, tag="warm") for one in varied(6, limit=12)]
    mixed = answers(toy.model, [*cold[:3], *warm, *cold[3:]], sequences=12)
    assert {one.prompt.tag: one.drawn for one in mixed if one.prompt.tag != "warm"} == alone
    assert len(mixed) == 12


def test_an_end_token_ends_an_answer_and_is_kept(small: BatchedTransformer) -> None:
    ends = frozenset({2, 6})
    found = answers(small, varied_small(300), ends, sequences=50, longest=60)
    ended = [one for one in found if one.drawn[-1] in ends]
    assert len(found) == 300
    assert len(ended) > 100
    assert all(not ends & set(one.drawn[:-1]) for one in found)


def varied_small(count: int) -> list[Prompt]:
    return [prompt(*(i // 2 % 8,) * (1 + i % 3), heat=5.0, limit=16) for i in range(count)]


def test_no_answer_passes_its_limit_or_the_longest_text(small: BatchedTransformer) -> None:
    prompts = [prompt(*range(1 + i % 7), heat=6.0, limit=4 + i % 20) for i in range(80)]
    found = answers(small, prompts, sequences=8, longest=17)
    assert len(found) == 80
    for one in found:
        room = min(one.prompt.limit, 17 - len(one.prompt.tokens))
        assert len(one.drawn) == room or (one.repeats and len(one.drawn) < room)


def test_prompts_that_are_too_long_or_empty_are_left_out(small: BatchedTransformer) -> None:
    prompts = [prompt(*[1] * n, heat=6.0, limit=2, tag=n) for n in (0, 3, 16, 17, 40, 15, 0, 2)]
    found = answers(small, prompts, sequences=2, longest=16)
    assert {one.prompt.tag for one in found} == {3, 15, 2}


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 30])
def test_any_number_of_prompts_is_answered_once_each(small: BatchedTransformer, count: int) -> None:
    prompts = [prompt(i % 8, heat=4.0, limit=1 + i % 5, tag=i) for i in range(count)]
    found = answers(small, prompts, sequences=8, longest=32)
    assert sorted(one.prompt.tag for one in found) == list(range(count))  # type: ignore[type-var]


def test_prompts_are_read_only_as_places_get_free(small: BatchedTransformer) -> None:
    read = 0

    def endless():  # type: ignore[no-untyped-def]  # a generator
        nonlocal read
        while True:
            read += 1
            yield prompt(read % 8, heat=4.0, limit=3)

    texts = answer(small, endless(), NONE, torch.Generator(), sequences=16, longest=32)
    for _ in range(40):
        next(texts)
    assert read <= 40 + 2 * 16


def test_an_answer_that_repeats_itself_keeps_the_first_time(toy: OpenedTarget) -> None:
    found = answers(toy.model, varied(24, limit=200), sequences=24, longest=256)
    looped = [one for one in found if one.repeats]
    assert len(looped) > 5
    whole = {
        one.prompt.tag: one.drawn
        for one in answers(toy.model, varied(24, limit=200), sequences=24, longest=256)
    }
    assert {one.prompt.tag: one.drawn for one in found} == whole
    assert all(not repeated(one.drawn) for one in looped)


def test_one_seed_gives_one_text(small: BatchedTransformer) -> None:
    one, again, other = (
        [(a.prompt.tag, a.drawn) for a in answers(small, varied_small(40), seed=seed, sequences=9)]
        for seed in (4, 4, 5)
    )
    assert one == again
    assert one != other
