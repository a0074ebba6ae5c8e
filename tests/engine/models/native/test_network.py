"""Networks of the compiled plan: both ends of a pass in its one call, with the parts' own bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from engine.models.native.library import FAR, ONCE, Library
from engine.models.network import (
    Best,
    Entrance,
    Exit,
    Fusing,
    Kept,
    PartedNetwork,
    Wish,
    make_network,
)
from engine.models.plans import compiled as compiled_module
from engine.models.plans.compiled import CompiledPlan
from engine.models.plans.eager import EagerPlan
from engine.sampling import Sampling, draw, probabilities
from tests.engine.models.random_layers import KINDS, WIDTH, Kind

if TYPE_CHECKING:
    from pathlib import Path

    from engine.models.network import Network, Passed

pytestmark = pytest.mark.compiler

IDS, SCORED = 90, 601  # the latter is no whole number of vectors, and many groups of them
KIND: Kind = KINDS["grouped"]
ENTRANCES = {  # width of the table, and states
    "embedding": (WIDTH, None),
    "projected": (40, 0),
    "one state": (23, 1),
    "three states": (9, 3),
}


@pytest.fixture(scope="module")
def library(built_library: Path) -> Library:
    return Library(built_library)


@pytest.fixture(params=ENTRANCES)
def pair(request: pytest.FixtureRequest, library: Library) -> tuple[Network, PartedNetwork, int]:
    """One network run at once and part after part, and the floats of its states.

    All but the plain one have the bytes of a drafter at their ends.
    """
    width, states = ENTRANCES[request.param]
    plan = CompiledPlan(library)
    return (*networks(plan, width, states), (states or 0) * width)


def networks(plan: CompiledPlan, width: int, states: int | None) -> tuple[Network, PartedNetwork]:
    draw = torch.Generator().manual_seed(width)
    table = plan.table(torch.randn(IDS, width, generator=draw))
    entrance = Entrance(table)
    linear = plan.linear if states is None else plan.draft_linear
    if states is not None:
        joined = (states + 1) * width
        norms = 0.5 + torch.rand(states + 1, width, generator=draw)
        weight = torch.randn(WIDTH, joined, generator=draw) / joined**0.5
        entrance = Entrance(table, norms, linear(weight))
    stack = plan.stack(KIND.layers(torch.float32, plan=plan), KIND.rotary(torch.float32))
    norm = 0.5 + torch.rand(WIDTH, generator=draw)
    head = linear(torch.randn(SCORED, WIDTH, generator=draw))
    parts = (entrance, stack, Exit(norm, head), stack.epsilon)  # type: ignore[attr-defined]  # compiled
    made = make_network(plan, *parts)
    assert not isinstance(made, PartedNetwork)
    return made, PartedNetwork(plan, *parts)


def fed(n: int, floats: int) -> tuple[list[int], torch.Tensor | None]:
    """Ids and states of n rows; the states are a part of wider rows, as a text keeps them."""
    states = torch.randn(n, floats + 5, generator=torch.Generator().manual_seed(3))[:, :floats]
    return [(37 * i + 5) % IDS for i in range(n)], states if floats else None


def first(n: int, states: torch.Tensor | None) -> torch.Tensor | None:
    return None if states is None else states[:n]


def test_a_network_is_its_parts(pair: tuple[Network, PartedNetwork, int]) -> None:
    whole, parted, floats = pair
    for n, last in ((1, 1), (4, 1), (4, 4), (13, 2)):
        ids, states = fed(n, floats)
        ours, theirs = KIND.filled(30, torch.float32), KIND.filled(30, torch.float32)
        got = whole.score(ids, ours, states, last=last)
        expected = parted.score(ids, theirs, states, last=last)
        assert ours.length == theirs.length == 30 + n
        assert got.scores.shape == (last, SCORED)
        for one, other in zip(got[:2], expected[:2], strict=True):
            if floats or parted.entrance.linear is not None:  # norms are summed in another order
                torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
            else:
                assert torch.equal(one, other)
        for layer in range(len(ours.pool.keys)):
            for one, other in zip(
                ours.view(layer, 0, 30 + n), theirs.view(layer, 0, 30 + n), strict=True
            ):
                torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
        assert torch.equal(whole.read(ids, KIND.filled(30, torch.float32), states), got.rows)
        tensor = torch.tensor(ids)
        assert torch.equal(
            whole.score(tensor, KIND.filled(30, torch.float32), states).rows, got.rows
        )


@pytest.mark.usefixtures("threads")
def test_rows_and_scores_round_alike_at_every_width(
    pair: tuple[Network, PartedNetwork, int],
) -> None:
    whole, _, floats = pair
    ids, states = fed(33, floats)
    all_rows = whole.score(ids, KIND.filled(40, torch.float32), states, last=33)
    for n in range(1, 33):
        part = whole.score(ids[:n], KIND.filled(40, torch.float32), first(n, states), last=n)
        assert torch.equal(part.rows, all_rows.rows[:n])
        assert torch.equal(part.scores, all_rows.scores[:n])
        assert part.best == all_rows.best[:n]  # type: ignore[index]  # found on the way
    cache, one_by_one = KIND.filled(40, torch.float32), []
    for n in range(9):
        state = None if states is None else states[n : n + 1]
        one_by_one.append(whole.score(ids[n : n + 1], cache, state).scores)
    assert torch.equal(torch.cat(one_by_one), all_rows.scores[:9])


def scoring(library: Library, row: torch.Tensor) -> Network:
    """A network whose every row scores the ids as `row` has them."""
    plan = CompiledPlan(library)
    stack = plan.stack(KIND.layers(torch.float32, plan=plan), KIND.rotary(torch.float32))
    bias = plan.linear(torch.zeros(len(row), WIDTH), row)
    exit_ = Exit(torch.zeros(WIDTH), bias)
    entrance = Entrance(plan.table(torch.ones(IDS, WIDTH)))
    return make_network(plan, entrance, stack, exit_, stack.epsilon)  # type: ignore[attr-defined]  # compiled


def best_of(library: Library, row: torch.Tensor) -> Best:
    cache, wish = KIND.filled(3, torch.float32), Wish(shares=True)
    found = scoring(library, row).score([1], cache, wish=wish).best
    assert found is not None
    return found[0]


@pytest.mark.parametrize("size", [1, 5, 16, 31, 200])
def test_the_best_is_the_largest_and_the_lowest_of_those_that_tie(
    library: Library, size: int
) -> None:
    draw = torch.Generator().manual_seed(size)
    for place in range(size):
        row = torch.randn(size, generator=draw).clamp_(max=2.0)
        row[torch.rand(size, generator=draw) < 0.3] = 2.75
        row[place:][torch.rand(size - place, generator=draw) < 0.3] = 3.0
        row[place] = 3.0
        best = best_of(library, row)
        assert (best.place, best.score) == (place, 3.0)
        assert best.share == pytest.approx(float(row.double().softmax(0)[place]), rel=1e-5)


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
@pytest.mark.parametrize("place", [0, 17, 40])
def test_scores_that_are_no_numbers_are_the_best_ones(
    library: Library, broken: float, place: int
) -> None:
    row = torch.linspace(0.0, 9.0, 41)
    row[place] = broken
    best = best_of(library, row)
    assert best.place == place
    assert best.score == broken or best.score != best.score
    assert not best.share < 1.0  # so that no draft ends there without its fault being named


@pytest.mark.usefixtures("threads")
def test_states_after_lower_layers_are_kept(
    pair: tuple[Network, PartedNetwork, int],
) -> None:
    whole, parted, floats = pair
    for n, taps in ((1, (1,)), (5, (1,)), (5, (1, 2)), (3, ())):
        ids, states = fed(n, floats)
        memory = torch.full((n, (1 + len(taps)) * WIDTH), torch.nan)
        kept = Kept(memory, taps)
        got = whole.score(ids, KIND.filled(7, torch.float32), states, last=n, kept=kept)
        assert got.rows is memory
        plain = whole.score(ids, KIND.filled(7, torch.float32), states, last=n)
        assert torch.equal(got.rows[:, :WIDTH], plain.rows)
        assert torch.equal(got.scores, plain.scores)
        expected = parted.score(ids, KIND.filled(7, torch.float32), states, last=n, kept=kept)
        torch.testing.assert_close(got.rows, expected.rows, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(got.scores, expected.scores, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.0])
def test_laws_and_what_is_drawn_are_those_of_the_scores(
    pair: tuple[Network, PartedNetwork, int], temperature: float
) -> None:
    whole, _, floats = pair
    ids, states = fed(4, floats)
    for uniform in (0.0, 0.3, 0.7, 0.999):
        wish = Wish(temperature=temperature, uniform=uniform)
        got = whole.score(ids, KIND.filled(7, torch.float32), states, last=3, wish=wish)
        assert got.laws is not None
        expected = probabilities(got.scores, Sampling(temperature))
        torch.testing.assert_close(got.laws, expected, atol=1e-6, rtol=1e-5)
        assert got.drawn == draw(got.laws[-1], uniform)
    unasked = whole.score(ids, KIND.filled(7, torch.float32), states, last=3)
    assert unasked.laws is None
    assert unasked.drawn is None


def test_weights_that_are_near_give_the_same_bits(
    pair: tuple[Network, PartedNetwork, int],
) -> None:
    whole, _, floats = pair
    for n in (1, 2, 7):
        ids, states = fed(n, floats)
        far, near = (
            whole.score(ids, KIND.filled(7, torch.float32), states, last=n, near=near)
            for near in (False, True)
        )
        assert torch.equal(far.rows, near.rows)
        assert torch.equal(far.scores, near.scores)


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_weights_that_come_by_once_a_pass_give_the_same_bits(
    library: Library, entrance: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    width, states = ENTRANCES[entrance]
    network, _ = networks(CompiledPlan(library), width, states)
    stack = network._stack  # type: ignore[attr-defined]  # the compiled plan's

    def passes() -> list[Passed]:
        given = (fed(n, (states or 0) * width) for n in (1, 2, 7))
        return [
            network.score(ids, KIND.filled(7, torch.float32), rows, last=len(ids))
            for ids, rows in given
        ]

    assert stack._reach(range(1), False) == FAR
    kept = passes()
    monkeypatch.setattr(compiled_module, "_MOST_KEPT", 0)  # these are more than a cache holds
    assert stack._reach(range(1), False) == ONCE
    for first, second in zip(kept, passes(), strict=True):
        assert torch.equal(first.rows, second.rows)
        assert torch.equal(first.scores, second.scores)


def test_ids_that_are_not_in_the_table_are_refused(
    pair: tuple[Network, PartedNetwork, int],
) -> None:
    whole, _, floats = pair
    for wrong in (-1, IDS, 2**40):
        ids, states = fed(2, floats)
        cache = KIND.filled(3, torch.float32)
        with pytest.raises(IndexError, match="table of 90"):
            whole.read([ids[0], wrong], cache, states)
        assert cache.length == 3


def test_only_the_compiled_plan_of_a_cpu_runs_networks_at_once(library: Library) -> None:
    assert isinstance(CompiledPlan(library), Fusing)
    assert not isinstance(EagerPlan(torch.device("cpu")), Fusing)
