"""Drafters in the list: their numbers, how each was obtained, and which cannot be chosen."""

from __future__ import annotations

from app.viewmodels.document import Document
from app.viewmodels.drafters import (
    DrafterChoice,
    TrainedDrafter,
    drafter_choices,
    measured_costs,
)
from app.viewmodels.models import ModelChoice
from app.viewmodels.prompt import PromptState, drafter_label
from engine.trace.events import RunStarted
from tests.traces import make_trace

HASHES = ("tokens", "sizes", "norms")
HEAD = TrainedDrafter(
    "head",
    size=8_445_280,
    parameters=4_205_376,
    greedy=(0.62, 0.4),
    overlap=(0.6,),
    tokens=21_504,
    c=0.0612,
    target="SmolLM2",
    made_for=HASHES,
)
OWN = TrainedDrafter("trained:mine", size=1_000_000, parameters=500_000, made_for=("other",) * 3)
MODELS = [ModelChoice("tiny", "Tiny", "here, 5 MB", True)]


def by_spec(**keywords: object) -> dict[str, DrafterChoice]:
    rows = drafter_choices((HEAD, OWN), MODELS, **keywords)  # type: ignore[arg-type]  # by name
    return {row.spec: row for row in rows}


def test_every_kind_of_drafter_is_offered_in_order():
    expected = ["none", "ngram", "ngram+head", "head", "trained:mine", "early:", "model:tiny"]
    assert list(by_spec()) == expected
    assert "early:25" in by_spec(early="early:25")


def test_a_trained_one_shows_size_cost_and_acceptance():
    row = by_spec()["head"]
    assert row.title == "trained head"
    assert row.detail == "62 % accepted · c 0.061 · 8.4 MB · 4.2 M parameters"


def test_the_head_behind_a_look_up_is_offered_wherever_the_head_is():
    row = by_spec(costs={"ngram+head": 0.05})["ngram+head"]
    assert row.title == "n-gram, else head"
    assert row.detail == "copies what comes again, else drafts · c 0.05"
    assert "drafts everywhere else" in row.tip
    assert "62 % accepted" in row.tip
    assert "c " not in by_spec()["ngram+head"].detail
    elsewhere = by_spec(made_for=("other",) * 3)["ngram+head"]
    assert not elsewhere.usable
    assert "made for another target" in elsewhere.detail
    assert "ngram+head" not in {row.spec for row in drafter_choices((OWN,), MODELS)}


def test_each_number_says_how_it_was_obtained():
    tip = by_spec()["head"].tip
    assert "trained for SmolLM2" in tip
    assert "over 21,504 places of held-out text" in tip
    assert "By position: 62, 40" in tip
    assert "Overlap with the target at temperature 1: 60 %" in tip
    assert "measured when it was made" in tip
    assert "as its file says" in tip
    assert "8.4 MB: its file" in tip


def test_what_was_not_measured_is_not_written():
    row = by_spec()["trained:mine"]
    assert row.detail == "1.0 MB · 0.5 M parameters"
    assert "accepted" not in row.tip
    assert "c " not in row.detail


def test_the_cost_measured_by_the_run_here_comes_before_that_of_the_file():
    rows = by_spec(costs={"trained:mine": 0.1234, "head": 0.5, "ngram": 0.001, "early:25": 0.83})
    assert "c 0.12" in rows["trained:mine"].detail
    assert "measured by the run on show" in rows["trained:mine"].tip
    assert "c 0.5" in rows["head"].detail
    assert "measured by the run on show" in rows["head"].tip
    assert rows["ngram"].detail.endswith("c 0.001")
    assert "c 0.83" in rows["early:"].detail
    assert "c " not in rows["none"].detail


def test_one_made_for_another_target_cannot_be_chosen_and_says_why():
    rows = by_spec(made_for=HASHES)
    assert rows["head"].usable
    assert not rows["trained:mine"].usable
    assert rows["trained:mine"].detail.startswith("made for another target")
    assert all(by_spec()[spec].usable for spec in rows)  # nothing is known of the target yet


def test_a_file_that_cannot_be_read_is_listed_with_its_sentence():
    (row,) = (
        one
        for one in drafter_choices((TrainedDrafter("trained:x", problem="It is damaged."),), ())
        if one.spec == "trained:x"
    )
    assert (row.detail, row.usable) == ("It is damaged.", False)


def test_a_run_of_one_drafter_tells_its_cost():
    document = Document(make_trace(rounds=20, drafter="ngram", settings_changes=False))
    c = document.figures_at(20).c
    assert c is not None
    assert measured_costs(document) == {"ngram": c}
    assert measured_costs(Document()) == {}


def test_trained_drafters_are_named_without_their_folder():
    assert drafter_label("small-2") == "trained small-2"
    assert drafter_label("trained:mine") == "trained mine"
    assert drafter_label("ngram+trained:mine") == "n-gram, else mine"
    assert drafter_label("trained:/somewhere/deep/mine.safetensors") == "trained mine"


def test_a_session_with_somebodys_drafter_leaves_the_one_chosen():
    started = next(
        event for event in make_trace(drafter="trained:theirs") if isinstance(event, RunStarted)
    )
    assert PromptState(drafter="ngram").after_opening(started).drafter == "ngram"
