"""Openings from templates: of many kinds, no slot open, no two alike, nothing that is measured."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from engine.benchmarks.kinds import kinds, measuring_texts
from engine.training import prompts_mixed
from engine.training.prompts import (
    SHINGLE,
    Opening,
    fill,
    material,
    shingles,
    template_openings,
    unmeasured,
)
from engine.training.prompts_mixed import mixed_openings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMPUTED = {
    *("n", "number", "big", "decimal", "year", "percent", "price", "age"),
    *("flat", "paragraph_start", "snippet_start"),
}


def drawn(count: int, seed: int = 1) -> list[Opening]:
    return list(islice(template_openings(random.Random(seed)), count))


def test_templates_and_subjects_are_many() -> None:
    stuff = material()
    assert sum(map(len, stuff.templates.values())) >= 150
    assert len(stuff.templates) >= 20
    texts = {"paragraph", "snippet", "buggy"}
    assert sum(len(words) for name, words in stuff.classes.items() if name not in texts) >= 400
    assert len(stuff.classes["paragraph"]) >= 40
    assert all(40 <= len(text.split()) <= 120 for text in stuff.classes["paragraph"])
    assert sum(map(len, stuff.instructions.values())) >= 40


def test_no_template_is_written_twice() -> None:
    stuff = material()
    everything = [text for group in stuff.templates.values() for text in group]
    twice = [text for text, count in Counter(everything).items() if count > 1]
    assert twice == []


def test_every_slot_of_a_template_is_known() -> None:
    stuff = material()
    for group in (stuff.templates, stuff.beginnings, stuff.classes):
        for name, texts in group.items():
            if name in ("snippet", "buggy"):  # code, with braces of its own
                continue
            slots = {slot for text in texts for slot in re.findall(r"\{([a-z_]+?)[23]?\}", text)}
            assert slots <= stuff.classes.keys() | COMPUTED, name


def test_every_class_is_used() -> None:
    stuff = material()
    everything = " ".join(
        text
        for group in (stuff.templates, stuff.beginnings, stuff.classes)
        for texts in group.values()
        for text in texts
    )
    assert [name for name in stuff.classes if f"{{{name}" not in everything] == []


def test_no_slot_stays_open() -> None:
    names = "|".join(sorted({*material().classes, *COMPUTED} - {"name", "item", "task"}))
    left = re.compile(rf"\{{({names})[23]?\}}")
    assert [text for _, text, _ in drawn(3000) if left.search(text)] == []


def test_a_slot_named_twice_is_filled_alike_and_numbered_ones_differ() -> None:
    stuff = material()
    for seed in range(200):
        rng = random.Random(seed)
        first, again, other = fill("{name}|{name}|{name2}", stuff, rng).split("|")
        assert first == again != other


def test_braces_that_are_no_slot_stay() -> None:
    code = "a {2,4} {unheard_of} {} {x: 1}"
    assert fill(code, material(), random.Random(0)) == code


def test_one_seed_gives_one_sequence() -> None:
    assert drawn(300, seed=4) == drawn(300, seed=4)
    assert drawn(300, seed=4) != drawn(300, seed=5)


def test_no_two_openings_are_equal() -> None:
    assert len({opening.text for opening in drawn(5000)}) == 5000


def test_all_kinds_come_up_and_none_crowds_out_the_others() -> None:
    counts = Counter(kind for kind, _, _ in drawn(5000))
    stuff = material()
    assert counts.keys() == stuff.templates.keys() | stuff.beginnings.keys()
    assert max(counts.values()) < 0.04 * 5000


def test_openings_are_typed_in_many_ways() -> None:
    prompts = [text for _, text, raw in drawn(3000) if not raw]
    assert 0.05 < sum(text == text.lower() for text in prompts) / 3000 < 0.3
    assert 0.05 < sum(text[-1].isalnum() for text in prompts) / 3000 < 0.5
    assert len({tuple(text.split()[:3]) for text in prompts}) > 600


def test_only_beginnings_are_raw() -> None:
    stuff = material()
    openings = drawn(3000)
    assert {kind for kind, _, raw in openings if raw} == stuff.beginnings.keys()
    assert {kind for kind, _, raw in openings if not raw} == stuff.templates.keys()


def test_thirteen_measured_words_in_a_row_are_kept_out() -> None:
    words = [f"word{number}" for number in range(SHINGLE)]
    text = " ".join(words)
    kept, dropped = ("a", "And " + " ".join(words[1:]), True), ("b", f"So: {text.upper()}!", False)
    assert list(unmeasured([kept, dropped], [text])) == [kept]


class Mixture:
    """What is mixed, with the real sources replaced by telling ones."""

    @staticmethod
    def passages(rng: random.Random) -> Iterator[Opening]:
        for number in range(500):
            yield Opening("passage", f"passage {number // 2}", False)
            yield Opening("measured", kinds()[number % 48].prompt, False)


@pytest.fixture
def mixture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompts_mixed, "passage_openings", Mixture.passages)


@pytest.mark.usefixtures("mixture")
def test_mixed_openings_are_distinct_and_hold_nothing_that_is_measured() -> None:
    openings = list(islice(mixed_openings(random.Random(3)), 4000))
    counts = Counter(kind for kind, _, _ in openings)
    assert counts["measured"] == 0
    assert counts["passage"] == 250  # each text once; then the templates go on alone
    assert len({text for _, text, _ in openings}) == 4000
    held = {run for text in measuring_texts() for run in shingles(text, SHINGLE)}
    assert all(held.isdisjoint(shingles(text, SHINGLE)) for _, text, _ in openings)


@pytest.mark.usefixtures("mixture")
def test_the_users_files_come_first_and_end(tmp_path: Path) -> None:
    lines = [f"Line {number} of a report on the stork's nest." for number in range(400)]
    (tmp_path / "report.txt").write_text("\n".join(lines), encoding="utf-8")
    openings = list(islice(mixed_openings(random.Random(3), [tmp_path / "report.txt"]), 400))
    own = [number for number, (_, text, _) in enumerate(openings) if "stork's nest" in text]
    assert len(own) > 20
    assert max(own) < 200
    assert all(any(line in openings[number].text for line in lines) for number in own)
