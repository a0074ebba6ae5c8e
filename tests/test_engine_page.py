"""The engine's public names: each documented, each in an example that runs."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

import engine

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "ENGINE.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def public(kind: type) -> Iterator[tuple[str, object]]:
    """Yield a class's own public methods and properties."""
    for name, member in vars(kind).items():
        called = inspect.isfunction(member) or isinstance(member, property)
        if called and not name.startswith("_"):
            yield name, member


@pytest.mark.model
@pytest.mark.usefixtures("data_with_model")
def test_examples_run_from_top_to_bottom(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for number, example in enumerate(EXAMPLES, start=1):
        exec(compile(example, f"ENGINE.md, example {number}", "exec"), names)
    printed = capsys.readouterr().out
    assert "cancelled, and nothing is left of it" in printed
    assert "can exit after 1 to 29" in printed


def test_the_page_has_an_example_of_every_public_name() -> None:
    code = "".join(EXAMPLES)
    named = set(engine.__all__)
    missing = {name for name in named if not re.search(rf"engine\.{name}\b", code)}
    # types that are met as values, named in the text beside the example
    assert missing == {"Event", "LoadedModel"}
    assert all(f"`{name}`" in PAGE for name in missing)


@pytest.mark.parametrize("name", engine.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    thing = getattr(engine, name)
    if name == "Event":  # a union; its members have docstrings of their own
        assert all(inspect.getdoc(member) for member in thing.__args__)
        return
    described = inspect.getdoc(thing)
    assert described
    if inspect.isfunction(thing):
        parameters = inspect.signature(thing).parameters
        assert [one for one in parameters if one not in described] == []
        return
    for member, value in public(thing):
        assert inspect.getdoc(value), f"{name}.{member}"


@pytest.mark.parametrize(
    "name", [name for name in engine.__all__ if inspect.isclass(getattr(engine, name))]
)
def test_every_field_of_a_public_record_is_explained(name: str) -> None:
    kind = getattr(engine, name)
    if dataclasses.is_dataclass(kind):
        fields = [field.name for field in dataclasses.fields(kind)]
    elif issubclass(kind, msgspec.Struct):
        fields = list(kind.__struct_fields__)
    else:
        return
    lines = inspect.getsource(kind).splitlines()
    described = inspect.getdoc(kind) or ""
    silent = []
    for at, line in enumerate(lines):
        found = re.match(r" {4}(\w+): ", line)
        if found is None or found[1] not in fields:
            continue
        comment = "#" in line or lines[at - 1].lstrip().startswith("#")
        if not comment and f"`{found[1]}" not in described:
            silent.append(found[1])
    assert silent == []
