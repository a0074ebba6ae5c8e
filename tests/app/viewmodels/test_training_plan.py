"""What may be trained: the command, the sentences, the names, and what lies beside the file."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.viewmodels.training_plan import (
    Place,
    TrainingPlan,
    free_name,
    read_plan,
    unfinished,
)

PLAN = TrainingPlan(target="smollm2-135m", name="mine")


def changed(**fields: object) -> TrainingPlan:
    return msgspec.structs.replace(PLAN, **fields)


def test_a_head_is_asked_for_without_layers_and_width():
    words = PLAN.arguments(Path("mine.safetensors"))
    assert words == [
        *("train", "head", "--target", "smollm2-135m", "--self", "200000"),
        *("--minutes", "30", "--out", "mine.safetensors", "--json"),
    ]


def test_a_small_model_of_files_alone_is_asked_for_and_goes_on():
    plan = changed(kind="small", layers=4, width=256, own_tokens=0, files=("a.txt", "b.txt"))
    words = plan.arguments(Path("mine.safetensors"), resume=True)
    assert words[:8] == [
        *("train", "small", "--target", "smollm2-135m"),
        *("--layers", "4", "--width", "256"),
    ]
    assert words[8:11] == ["--corpus", "a.txt", "b.txt"]
    assert "--self" not in words
    assert words[-1] == "--resume"


def test_the_program_understands_what_it_is_asked():
    from app.cli.parser import command_parser

    plan = changed(kind="small", files=("a.txt",))
    asked = command_parser().parse_args(plan.arguments(Path("mine.safetensors"), resume=True))
    assert (asked.kind, asked.layers, asked.width) == ("small", 2, 384)
    assert (asked.own_tokens, asked.minutes) == (200_000, 30)
    assert asked.corpus == [Path("a.txt")]
    assert asked.json
    assert asked.resume


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": ""}, "name"),
        ({"name": "a b"}, "letters"),
        ({"name": "../up"}, "letters"),
        ({"name": "a.b"}, "letters"),
        ({"name": "Taken"}, "taken"),
        ({"name": "small-2"}, "taken"),
        ({"own_tokens": 0}, "nothing to train on"),
        ({"files": ("/nowhere/gone.txt",)}, "gone.txt"),
        ({"kind": "small", "width": 100}, "multiple of 64"),
    ],
)
def test_what_cannot_be_trained_is_said_in_a_sentence(fields, said):
    problem = changed(**fields).problem(["taken"])
    assert said in problem
    assert problem.endswith(".")


def test_a_sound_plan_has_no_problem(tmp_path):
    (tmp_path / "text.txt").write_text("text")
    assert PLAN.problem(["other"]) == ""
    assert changed(own_tokens=0, files=(str(tmp_path / "text.txt"),)).problem() == ""
    assert changed(width=100).problem() == ""  # a head has none


def test_the_first_free_name_is_offered():
    assert free_name("head", []) == "my-head"
    assert free_name("head", ["My-Head", "my-head-2"]) == "my-head-3"


def test_only_files_of_this_very_name_are_its_own(tmp_path):
    for name in ("mine.safetensors", ".mine.safetensors.x1", "mine-2.safetensors", "mine"):
        (tmp_path / name).write_text("")
    (tmp_path / "mine.checkpoint").mkdir()
    found = {path.name for path in Place(tmp_path, "mine").files()}
    assert found == {"mine.safetensors", ".mine.safetensors.x1", "mine.checkpoint"}
    assert Place(tmp_path / "nowhere", "mine").files() == set()


def test_what_can_be_gone_on_with_is_found_with_its_plan(tmp_path):
    place = Place(tmp_path, "mine")
    assert unfinished(tmp_path) == []
    assert unfinished(tmp_path / "nowhere") == []
    place.checkpoint.mkdir()
    (tmp_path / "not a name.checkpoint").mkdir()
    assert unfinished(tmp_path) == ["mine"]
    assert read_plan(place) is None
    place.plan.write_bytes(msgspec.json.encode(PLAN))
    assert read_plan(place) == PLAN
    place.plan.write_text("{}")
    assert read_plan(place) is None
