"""Where chat templates come from: every place, in the order that is documented."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import DraftscopeError
from engine.models.text.chat import open_chat_template
from engine.models.text.chat_places import find_template
from tests.engine.models.formats.model_files import tensors, write_gguf

if TYPE_CHECKING:
    from pathlib import Path

MESSAGES = [{"role": "user", "content": "Hi"}]


def folder_with(folder: Path, **places: Any) -> Path:
    """Write a folder with a template in each of the given places."""
    folder.mkdir(exist_ok=True)
    if "jinja" in places:
        (folder / "chat_template.jinja").write_text(places["jinja"])
    if "json" in places:
        (folder / "chat_template.json").write_text(json.dumps({"chat_template": places["json"]}))
    if "config" in places:
        described = {"chat_template": places["config"]}
        (folder / "tokenizer_config.json").write_text(json.dumps(described))
    for name, source in places.get("additional", {}).items():
        (folder / "additional_chat_templates").mkdir(exist_ok=True)
        (folder / "additional_chat_templates" / f"{name}.jinja").write_text(source)
    return folder


NAMED = [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "named"}]


@pytest.mark.case("C21")
@pytest.mark.parametrize(
    ("places", "source"),
    [
        ({"jinja": "a"}, "a"),
        ({"json": "b"}, "b"),
        ({"config": "c"}, "c"),
        ({"additional": {"default": "d"}}, "d"),
        ({"jinja": "a", "json": "b", "config": "c", "additional": {"default": "d"}}, "a"),
        ({"json": "b", "config": "c", "additional": {"default": "d"}}, "b"),
        ({"config": "c", "additional": {"default": "d"}}, "c"),
        ({"config": NAMED}, "named"),
        ({"json": NAMED, "config": "c"}, "named"),
        ({"config": {"default": "e", "rag": "f"}}, "e"),
        ({"config": NAMED[:1], "additional": {"default": "d"}}, "d"),
        ({"config": NAMED[:1]}, None),
        ({"additional": {"tool_use": "t"}}, None),
        ({"jinja": ""}, ""),
        ({"config": None}, None),
        ({"config": 5}, None),
        ({"config": [None, 3, {"name": ["default"]}, {"name": "default", "template": 3}]}, None),
        ({}, None),
    ],
)
def test_a_folders_templates_have_an_order(
    tmp_path: Path, places: dict[str, Any], source: str | None
) -> None:
    template = open_chat_template(folder_with(tmp_path / "a", **places))
    assert (template.source if template else None) == source


@pytest.mark.case("C21")
@pytest.mark.parametrize(
    ("given", "source"),
    [
        ({"": "a"}, "a"),
        ({".default": "b"}, "b"),
        ({"": "a", ".default": "b", ".tool_use": "c"}, "a"),
        ({".tool_use": "c", "s": ["tool_use"]}, None),
        ({"": 5, ".default": "b"}, "b"),
        ({"": ["a"]}, None),
        ({}, None),
    ],
)
def test_a_gguf_files_templates_have_an_order(
    tmp_path: Path, given: dict[str, Any], source: str | None
) -> None:
    metadata = {f"tokenizer.chat_template{name}": value for name, value in given.items()}
    template = open_chat_template(write_gguf(tmp_path / "a.gguf", tensors(), metadata))
    assert (template.source if template else None) == source


def test_control_tokens_can_be_named(tmp_path: Path) -> None:
    source = "{{ bos_token }}{{ eos_token }}{{ pad_token }}{{ sep_token }}"
    folder = folder_with(tmp_path / "a", jinja=source)
    config = {"bos_token": {"content": "<s>"}, "eos_token": "</s>", "sep_token": None}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    others = {"bos_token": "other", "sep_token": {"content": "<sep>"}}
    (folder / "special_tokens_map.json").write_text(json.dumps(others))
    file = write_gguf(
        tmp_path / "a.gguf",
        tensors(),
        {
            "tokenizer.ggml.tokens": ["<sep>", "<s>", "</s>"],
            "tokenizer.ggml.seperator_token_id": 0,
            "tokenizer.ggml.padding_token_id": 3,
            "tokenizer.chat_template": source,
        },
    )
    for path in (folder, file):
        opened = open_chat_template(path)
        assert opened is not None
        assert opened.render(MESSAGES) == "<s></s><sep>"


@pytest.mark.parametrize("odd", [True, -1, 3, 2**31, "1", 1.0, [1]])
def test_ids_that_name_no_token_are_left_out(tmp_path: Path, odd: Any) -> None:
    metadata = {
        "tokenizer.ggml.tokens": ["a", "b", "c"],
        "tokenizer.ggml.bos_token_id": odd if odd != -1 else None,
        "tokenizer.chat_template": "[{{ bos_token }}]",
    }
    found = find_template(write_gguf(tmp_path / "a.gguf", tensors(), metadata))
    assert found == ("[{{ bos_token }}]", {"eos_token": "c"})


def test_a_base_model_has_no_template(tmp_path: Path) -> None:
    assert open_chat_template(write_gguf(tmp_path / "a.gguf", tensors())) is None
    assert open_chat_template(folder_with(tmp_path / "a")) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version https://git-lfs.github.com/spec/v1", "Git LFS pointer"),
        (b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_a_template_file_that_is_none_says_so(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "chat_template.jinja").write_bytes(content)
    with pytest.raises(DraftscopeError, match=said):
        open_chat_template(tmp_path)


def test_a_template_file_that_cannot_be_read_is_never_passed_over(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "a", config="c")
    (folder / "chat_template.jinja").symlink_to(tmp_path / "gone")
    with pytest.raises(DraftscopeError, match=r"chat_template\.jinja cannot be read"):
        open_chat_template(folder)
    (folder / "chat_template.jinja").unlink()
    (folder / "chat_template.jinja").mkdir()
    with pytest.raises(DraftscopeError, match=r"chat_template\.jinja is a folder"):
        open_chat_template(folder)


def test_a_byte_order_mark_is_no_part_of_a_template(tmp_path: Path) -> None:
    (tmp_path / "chat_template.jinja").write_bytes(b"\xef\xbb\xbfx")
    template = open_chat_template(tmp_path)
    assert template is not None
    assert template.render(MESSAGES) == "x"
