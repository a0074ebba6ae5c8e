"""What drafters are measured on: all kinds, long enough, and clear of what training reads."""

from __future__ import annotations

import re
from collections import Counter

from engine.assets import asset
from engine.benchmarks.kinds import beginnings, kinds, measuring_texts
from engine.training.prompts import material, shingles

KINDS = {
    *("story", "explanation", "code", "list", "translation", "arithmetic", "summary"),
    "rewriting",
}


def test_every_kind_has_six_prompts() -> None:
    assert Counter(one.kind for one in kinds()) == dict.fromkeys(KINDS, 6)
    assert not any(one.raw for one in kinds())


def test_eight_beginnings_are_of_different_kinds() -> None:
    assert len({one.kind for one in beginnings()}) == len(beginnings()) == 8


def test_beginnings_hold_thirty_two_tokens() -> None:
    # a token of a tokenizer of bytes or pieces never spans two words
    assert all(len(one.text.split()) >= 32 for one in beginnings())


def test_every_prompt_and_beginning_has_its_own_id_and_subject() -> None:
    everything = [*kinds(), *beginnings()]
    assert len({one.id for one in everything}) == len(everything)
    assert len({one.subject for one in everything}) == len(everything)


def test_subjects_stand_in_their_texts() -> None:
    for prompt in kinds():
        assert prompt.subject.lower() in prompt.prompt.lower()
    for beginning in beginnings():
        assert beginning.subject.lower() in beginning.text.lower()


def test_summaries_and_rewritings_carry_a_text_to_copy() -> None:
    for one in kinds():
        if one.kind in ("summary", "rewriting"):
            _, _, passage = one.prompt.partition("\n\n")
            assert len(passage.split()) >= 45, one.id


def test_training_knows_no_subject_of_the_measuring_prompts() -> None:
    lists = asset("prompts", "training.json").read_text(encoding="utf-8").lower()
    for one in [*kinds(), *beginnings()]:
        assert re.search(rf"\b{re.escape(one.subject.lower())}", lists) is None, one.subject


def test_no_eight_words_in_a_row_stand_in_training_and_measuring() -> None:
    stuff = material()
    trained = [
        *(text for group in (stuff.classes, stuff.templates, stuff.beginnings)
          for texts in group.values() for text in texts),
        *(words for group in stuff.instructions.values() for _, words in group),
    ]  # fmt: skip
    measured = {shingle for text in measuring_texts() for shingle in shingles(text, 8)}
    assert len(measured) > 1000
    assert measured & {shingle for text in trained for shingle in shingles(text, 8)} == set()


def test_no_prompt_of_training_begins_like_a_measuring_prompt() -> None:
    def opening(text: str) -> tuple[str, ...]:
        return tuple(re.findall(r"\w+", text.lower())[:4])

    stuff = material()
    trained = {opening(text) for texts in stuff.templates.values() for text in texts}
    trained |= {opening(words) for group in stuff.instructions.values() for _, words in group}
    assert {opening(one.prompt) for one in kinds()} & trained == set()
