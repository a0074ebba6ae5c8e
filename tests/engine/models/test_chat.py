"""Chat templates: where they come from, what they make, and what they cannot do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import DraftscopeError
from engine.models import template_sandbox
from engine.models.chat import ChatTemplate, TemplateRefusal, open_chat_template
from tests.engine.models.model_files import tensors, write_gguf

if TYPE_CHECKING:
    from pathlib import Path

MESSAGES = [{"role": "user", "content": " Hi <é> "}, {"role": "assistant", "content": "ok"}]
NAMED = "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"


def render(source: str, **special: str) -> str:
    return ChatTemplate(source, special).render(MESSAGES)


def refusal(source: str) -> str:
    with pytest.raises(DraftscopeError) as caught:
        render(source)
    return str(caught.value)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (NAMED, "<s>[user] Hi <é> [assistant]ok"),
        ("{% if add_generation_prompt %}go{% endif %}", "go"),
        ("{% if tools %}t{% endif %}{% if documents %}d{% endif %}", ""),
        ("  {% if true %}\nkept\n  {% endif %}\n", "kept\n"),
        (
            "{% for m in messages %}{{ loop.index }}{{ loop.last }}{{ loop.length }};{% endfor %}",
            "1False2;2True2;",
        ),
        ("{% for m in messages if m.role == 'user' %}{{ m.content | trim }}{% endfor %}", "Hi <é>"),
        (
            "{% for k, v in messages[1].items() %}{{ k }}={{ v }};{% endfor %}",
            "role=assistant;content=ok;",
        ),
        (
            "{% for i in range(5) %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
            "0134",
        ),
        ("{% generation %}{{ messages[-1].content }}{% endgeneration %}", "ok"),
        ("{{ messages | map(attribute='role') | join(', ') }}", "user, assistant"),
        ("{{ messages | selectattr('role', 'equalto', 'user') | list | length }}", "1"),
        ("{{ {'a': '<é>'} | tojson }}", '{"a": "<é>"}'),
        ("{{ [1] | tojson(indent=2) }}", "[\n  1\n]"),
        ("{% set ns = namespace(n=1) %}{% set ns.n = ns.n + 1 %}{{ ns.n }}", "2"),
        ("{% macro f(x) %}[{{ x }}]{% endmacro %}{{ f(3) }}", "[3]"),
        ("{{ 'a' ~ 1 ~ 'b' }}{{ '-' * 3 }}{{ '%s-%d' % ('x', 2) }}", "a1b---x-2"),
        ("{% set x %}in{{ 1 }}{% endset %}{{ x }}{% set a, b = 1, 2 %}{{ a }}{{ b }}", "in112"),
        ("{{ 'a-b'.split('-')[-1] }}{{ 'x'.replace('x', 'yy') }}", "byy"),
        ("{{ strftime_now('%Y') | length }}", "4"),
        ("{{ nothing }}{% for x in nothing %}x{% endfor %}", ""),
    ],
)
def test_what_templates_in_use_ask_for_is_there(source: str, text: str) -> None:
    assert render(source, bos_token="<s>") == text


ESCAPES = [
    "{{ lipsum.__globals__['os'].popen('touch X').read() }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ messages.__class__.__mro__[1].__subclasses__() }}",
    "{{ raise_exception.__globals__['os'] }}",
    "{{ ''.__class__.__base__ }}",
    "{{ messages.append(1) }}",
    "{{ '{0.__class__.__base__}'.format(messages) }}",
    "{{ self.__init__.__globals__ }}",
]


@pytest.mark.parametrize("source", ESCAPES)
def test_code_is_never_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": source}))
    file = write_gguf(tmp_path / "a.gguf", tensors(), {"tokenizer.chat_template": source})
    for path in (tmp_path, file):
        template = open_chat_template(path)
        assert template is not None
        with pytest.raises(DraftscopeError, match="unsafe"):
            template.render(MESSAGES)
    assert not (tmp_path / "X").exists()


DOUBLINGS = {
    "joining": "{% set ns.x = ns.x ~ ns.x %}",
    "adding": "{% set ns.x = ns.x + ns.x %}",
    "replacing": "{% set ns.x = ns.x | replace('a', 'aa') %}",
    "method": "{% set ns.x = ns.x.replace('a', 'aa') %}",
    "join": "{% set ns.x = [ns.x, ns.x] | join %}",
    "nesting": "{% set ns.x = [ns.x, ns.x] %}",
    "pairs": "{% set ns.x = (ns.x, ns.x) %}",
    "mapping": "{% set ns.x = {'a': ns.x, 'b': ns.x} %}",
    "block": "{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}",
    "formatting": "{% set ns.x = '%s%s' % (ns.x, ns.x) %}",
    "format": "{% set ns.x = '{}{}'.format(ns.x, ns.x) %}",
}


@pytest.mark.parametrize("step", DOUBLINGS.values(), ids=DOUBLINGS)
def test_text_cannot_double_without_end(step: str) -> None:
    start = "{% set ns = namespace(x='a') %}"
    turns = f"{{% for i in range(200) %}}{step}{{% endfor %}}{{{{ ns.x }}}}"
    assert "too much text" in refusal(start + turns)


@pytest.mark.parametrize(
    "source",
    [
        "{{ 'a' * 10 ** 9 }}",
        "{{ 10 ** 9 * 'a' }}",
        "{{ [0] * 10 ** 9 }}",
        "{{ 10 ** (10 ** 10) }}",
        "{{ 'a' | center(10 ** 9) }}",
        "{{ 'a'.ljust(10 ** 9) }}",
        "{{ 'a'.zfill(width=10 ** 9) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%*d' % (10 ** 5, 1) }}",
        "{{ '%1000000000d' | format(1) }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ '{:{}}'.format(1, 10 ** 9) }}",
        "{{ (1).to_bytes(10 ** 10, 'big') }}",
        "{{ ('a' * 900000) | replace('a', 'b' * 900000) }}",
        "{{ ('a' * 900000).replace('a', 'b' * 900000) }}",
        "{{ range(99999) | join('x' * 900000) }}",
        "{{ ('x' * 900000).join(range(99999) | map('string')) }}",
        "{{ ('\n' * 90000) | indent(90000) }}",
        "{{ ('\n' * 90000) | indent('x' * 90000) }}",
        "{{ ('a' * 90000) | wordwrap(1, wrapstring='x' * 90000) }}",
        "{{ ('\t' * 90000).expandtabs(90000) }}",
        "{{ range(99999) | list | tojson(indent=90000) }}",
        "{{ range(99999) | batch(1) | sum(start=[]) }}",
        "{{ ('a' * 900000).translate({97: 'b' * 90000}) }}",
        "{{ lipsum(90000) }}",
        "{% for i in range(99999) %}{{ 'a' * 500 }}{% endfor %}",
    ],
)
def test_one_step_cannot_make_much_out_of_little(source: str) -> None:
    assert "was stopped because it" in refusal(source)


@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(99) }}",
        "{% for i in [1] recursive %}{{ loop([1, 1]) }}{% endfor %}",
        "{% for i in range(99999) %}{% set x = range(99999) | map('string') %}{% endfor %}",
    ],
)
def test_loops_and_calls_are_counted(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_sandbox, "MOST_STEPS", 20_000)
    monkeypatch.setattr(template_sandbox, "MOST_SECONDS", 1e9)
    said = refusal(source)
    assert "does not come to an end" in said or "recursion" in said


def test_a_range_of_a_thousand_million_does_not_hang() -> None:
    assert "counts to 1e+09" in refusal("{% for i in range(10**9) %}{% endfor %}")


def test_time_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_sandbox, "MOST_SECONDS", 0.0)
    assert "does not come to an end" in refusal("{% for i in range(9) %}{% endfor %}")


def test_a_long_conversation_is_not_too_much_text() -> None:
    long = [{"role": "user", "content": "a" * 3_000_000}]
    text = ChatTemplate("{% for m in messages %}{{ '[' ~ m.content ~ ']' }}{% endfor %}").render(
        long
    )
    assert len(text) == 3_000_002


def test_a_template_that_refuses_says_its_own_reason() -> None:
    template = ChatTemplate("{{ raise_exception('System role not supported') }}")
    with pytest.raises(TemplateRefusal, match="System role not supported"):
        template.render(MESSAGES)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{% if %}", r"not valid.*line 1"),
        ("{{ messages[9].content.x }}", "failed"),
        ("{% include 'x' %}", "failed"),
        ("{{ 1 / 0 }}", "failed"),
        ("{{ 'a' | unheard }}", "not valid|cannot be used"),
        ("{{" + "(" * 5000 + "1" + ")" * 5000 + "}}", "cannot be used"),
        ("x" * 500_001, "500001 characters"),
    ],
)
def test_a_templates_own_mistakes_are_sentences(source: str, said: str) -> None:
    with pytest.raises(DraftscopeError, match=said):
        render(source)


def folder_with(folder: Path, config: dict[str, Any] | None, alone: str | None) -> Path:
    folder.mkdir()
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    if alone is not None:
        (folder / "chat_template.jinja").write_text(alone)
    return folder


@pytest.mark.parametrize(
    ("config", "alone", "source"),
    [
        ({"chat_template": "config"}, None, "config"),
        (None, "file", "file"),
        ({"chat_template": "config"}, "file", "file"),
        ({"chat_template": [{"name": "default", "template": "named"}]}, None, "named"),
        ({"chat_template": [{"name": "rag", "template": "named"}]}, None, None),
        ({}, None, None),
        (None, None, None),
    ],
)
def test_a_file_of_its_own_comes_before_the_config(
    tmp_path: Path, config: dict[str, Any] | None, alone: str | None, source: str | None
) -> None:
    template = open_chat_template(folder_with(tmp_path / "a", config, alone))
    assert (template.source if template else None) == source


def test_control_tokens_can_be_named(tmp_path: Path) -> None:
    config = {"bos_token": {"content": "<s>"}, "eos_token": "</s>"}
    folder = folder_with(tmp_path / "a", config, "{{ bos_token }}{{ eos_token }}{{ pad_token }}")
    named = {"tokenizer.ggml.tokens": ["a", "<s>", "</s>"]}
    template = {"tokenizer.chat_template": "{{ bos_token }}{{ eos_token }}"}
    file = write_gguf(tmp_path / "a.gguf", tensors(), {**named, **template})
    for path in (folder, file):
        opened = open_chat_template(path)
        assert opened is not None
        assert opened.render(MESSAGES) == "<s></s>"


def test_a_base_model_has_no_template(tmp_path: Path) -> None:
    assert open_chat_template(write_gguf(tmp_path / "a.gguf", tensors())) is None


def test_a_template_file_that_was_not_downloaded_says_so(tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "a", None, "version https://git-lfs.github.com/spec/v1")
    with pytest.raises(DraftscopeError, match="Git LFS pointer"):
        open_chat_template(folder)


@pytest.mark.model
def test_default_models_template_makes_its_own_prompt(default_model_path: Path) -> None:
    template = open_chat_template(default_model_path)
    assert template is not None
    assert template.render([{"role": "user", "content": "Hi"}]) == (
        "<|im_start|>system\n"
        "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )
