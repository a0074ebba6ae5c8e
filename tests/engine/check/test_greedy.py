"""`check greedy` on tiny and made-up models: the whole matrix, ties told from faults."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file, save_file

import engine.decoder as decoder_module
from engine import Session, Settings
from engine.acceptance import Verdict
from engine.check.greedy import LAWS, check_greedy
from engine.check.pair import load_drafters
from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.models.plans.choice import choose_plan
from engine.sampling import Sampling, greedy_ids, one_hot, probabilities
from tests.engine.check.runs import recorded, rounds_of
from tests.engine.table_model import TableModel, counting, table_target
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from engine.loading import LoadedModel


class Wobbly(TableModel):
    """A table whose passes on more than one token round otherwise."""

    def __init__(self, table: Tensor, moved: float) -> None:
        super().__init__(table)
        self._moved = moved

    def logits(self, hidden: Tensor) -> Tensor:
        rows = super().logits(hidden).clone()
        if len(hidden) > 1:
            rows[:, 97] += self._moved
        return rows


def wobbly_target(like: LoadedModel, moved: float) -> LoadedModel:
    """A target that counts, with token 97 not far behind, and ahead in wide passes."""
    table = counting(258)
    table[:, 97] = torch.maximum(table[:, 97], table.new_tensor(8.99))
    model: object = Wobbly(table, moved)
    return replace(table_target(like, table), transformer=model)  # type: ignore[arg-type]  # stands in for one


def test_the_matrix_has_every_prompt_law_drafter_and_k(
    exact_target: LoadedModel, near_folder: Path
) -> None:
    session = Session(exact_target)
    drafters = load_drafters(session, [f"model:{near_folder}", "ngram", "early:1", "ngram"])
    assert drafters == (f"model:{near_folder}", "ngram", "early:1")
    told: list[tuple[int, int, str]] = []
    report = check_greedy(
        session,
        drafters,
        drafted=(1, 5),
        prompts=("hello", "what now"),
        laws=LAWS,
        max_new_tokens=24,
        on_progress=lambda *at: told.append(at),
    )
    places = [(cell.prompt, cell.law, cell.drafter, cell.k) for cell in report.cells]
    assert len(set(places)) == len(places) == 2 * 2 * 3 * 2
    assert told == [(n, 24, "Comparing texts") for n in range(1, 25)]
    assert report.identical == 24  # float64: nothing rounds visibly
    assert (report.ties, report.faults) == (0, 0)
    for cell in report.cells:
        assert cell.tokens == 24
        assert (cell.settings.drafter, cell.settings.k) == (cell.drafter, cell.k)
        assert bool(cell.settings.logit_bias) == (cell.law == "penalised")
    assert {cell.law for cell in report.cells if cell.accepted} == {"plain", "penalised"}
    assert any(cell.accepted < (cell.rounds - 1) * cell.k for cell in report.cells)  # and rejected


@pytest.mark.parametrize("moved", [0.011, 0.02, 1.0])
def test_what_widths_round_apart_is_a_tie_with_both_logits_and_the_rounding(
    tiny_target: LoadedModel, moved: float
) -> None:
    session = Session(wobbly_target(tiny_target, moved))
    report = check_greedy(session, ("ngram",), drafted=(3,), prompts=("abab",), max_new_tokens=6)
    (cell,) = report.cells
    assert (report.identical, report.ties, report.faults) == (0, 1, 0)
    found = cell.first_difference
    assert found is not None
    assert found.kind == "tie"
    assert found.plain_logit == pytest.approx(9.0)
    assert found.speculative_logit == pytest.approx(8.99)
    assert cell.rounding == pytest.approx(moved)


def test_a_rule_that_keeps_what_it_must_not_is_a_fault(
    exact_target: LoadedModel, near_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keeps_all(
        target_ids: list[int], tokens: tuple[int, ...], q_draft: Tensor | None = None
    ) -> Verdict:
        k = len(tokens)
        return Verdict(k, target_ids[k], (1.0,) * k, (1.0,) * k, 1.0, None)

    monkeypatch.setattr(decoder_module, "accept_greedy", keeps_all)
    session = Session(exact_target)
    drafters = load_drafters(session, [f"model:{near_folder}"])
    report = check_greedy(session, drafters, drafted=(4,), prompts=("hello",), max_new_tokens=24)
    (cell,) = report.cells
    assert (report.identical, report.ties, report.faults) == (0, 0, 1)
    assert cell.first_difference is not None
    assert cell.rounding is not None
    assert cell.first_difference.plain_logit is not None
    assert cell.first_difference.speculative_logit is not None
    gap = cell.first_difference.plain_logit - cell.first_difference.speculative_logit
    assert gap > 2 * cell.rounding


def test_a_wrong_name_is_said_before_anything_runs(exact_target: LoadedModel) -> None:
    session = Session(exact_target)
    with pytest.raises(DraftscopeError, match="no drafter called 'nothing'"):
        load_drafters(session, ["ngram", "nothing"])


def test_without_names_a_target_gets_the_drafters_that_fit_it(exact_target: LoadedModel) -> None:
    assert load_drafters(Session(exact_target), None) == ("ngram", "early:1")  # no head for it


TIED = (3, 7)


@pytest.fixture(scope="module")
def tied_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose logits are largest, and exactly equal, at ids 3 and 7, whatever the text."""
    folder = write_tiny_folder(tmp_path_factory.mktemp("models") / "tied", tied=False)
    weights = load_file(folder / "model.safetensors")
    weights["model.embed_tokens.weight"][:, 0] = 5.0  # one feature is the same everywhere ...
    for name, weight in weights.items():
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            weight[0] = 0.0  # ... and stays so through every layer
    head = weights["lm_head.weight"]
    head[:, 0] = 0.0
    for token in TIED:
        head[token] = 0.0
        head[token, 0] = 40.0
    save_file(weights, folder / "model.safetensors")
    return folder


@pytest.mark.case("A29")
@pytest.mark.parametrize("plan", ["eager", "packed"])
def test_every_path_takes_the_lowest_of_equal_logits(tied_folder: Path, plan: str) -> None:
    try:
        choose_plan(plan, torch.device("cpu"))
    except DraftscopeError:
        pytest.skip("needs an x86 CPU with FBGEMM")
    target = load_model(tied_folder, device="cpu", plan=plan)
    session = Session(target)
    drafters = load_drafters(session, [f"model:{tied_folder}", "ngram", "early:1"])
    report = check_greedy(session, drafters, drafted=(1, 4), prompts=("hello",), max_new_tokens=12)
    assert report.identical == len(report.cells) == 6
    for spec in ("none", *drafters):
        rounds = rounds_of(recorded(session, Settings(drafter=spec, k=4, temperature=0.0)))
        assert {token for one in rounds for token in one.emitted_ids} == {3}
        drafted = {token.id for one in rounds for token in one.drafted}
        assert drafted <= {3} or spec == "ngram"  # which copies what it finds in the prompt
        if spec.startswith("model:"):
            assert drafted == {3}


@pytest.mark.case("A29")
def test_every_function_takes_the_lowest_of_equal_logits() -> None:
    logits = torch.zeros(2, 11)
    logits[:, list(TIED)] = 5.0
    assert greedy_ids(logits).tolist() == [3, 3]
    law = probabilities(logits, Sampling())
    assert torch.equal(law, one_hot(torch.tensor([3, 3]), 11))
    for top_p in (1e-9, 0.4):  # the nucleus of one token is the same one
        nucleus = probabilities(logits, Sampling(temperature=1.0, top_p=top_p))
        assert nucleus.argmax(dim=-1).tolist() == [3, 3]
        assert nucleus[0].nonzero()[:, 0].tolist() == [3]
