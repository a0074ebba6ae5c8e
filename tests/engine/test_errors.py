"""Messages are one printable line of bounded length, whatever a damaged file names."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import LONGEST, DraftscopeError, out_of_memory, short
from engine.models.text.chat import TemplateRefusal


@given(st.text(max_size=50), st.integers(0, 400))
def test_every_message_is_one_printable_line(text: str, times: int) -> None:
    said = str(DraftscopeError(f"The name {text * times} is odd. Choose another."))
    assert said.isprintable()
    assert len(said) <= LONGEST
    assert said.startswith("The name")
    assert said.endswith("Choose another.")


def test_a_message_without_anything_odd_is_left_as_it_is() -> None:
    said = "Das “Modell”  é中😊 fehlt. Choose another."
    assert str(DraftscopeError(said)) == said


@pytest.mark.parametrize(
    ("odd", "shown"),
    [
        ("a\nb", "a b"),
        ("a\r\n\tb", "a b"),
        ("a\0b", "a b"),
        ("a\u202eb", "a b"),
        ("a\ud800b", "a b"),
        ("a\u2028b", "a b"),
    ],
)
def test_what_cannot_be_shown_is_a_space(odd: str, shown: str) -> None:
    assert str(DraftscopeError(odd)) == shown


def test_the_end_of_a_long_message_is_kept() -> None:
    said = str(DraftscopeError("It is wrong: " + "x" * 10_000 + ". Download it again."))
    assert said.endswith("xxx. Download it again.")
    assert said.startswith("It is wrong: xxx")


def test_values_become_short_text() -> None:
    assert short("name") == "name"
    assert short("n" * 100) == "n" * 79 + "…"
    assert short(["a", 1]) == "['a', 1]"
    assert len(short([0] * 1000, 40)) == 40


def test_kinds_of_the_error_say_the_same_and_travel() -> None:
    error = TemplateRefusal("a\nb")
    assert str(error) == "a b"
    assert str(pickle.loads(pickle.dumps(error))) == "a b"


def test_want_of_memory_is_known_by_its_kinds() -> None:
    assert out_of_memory(MemoryError())
    assert out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"))
    assert not out_of_memory(RuntimeError("shapes"))
