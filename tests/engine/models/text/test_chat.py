"""Chat templates: what they make, what they refuse, and how their own mistakes are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.models.text.chat import ChatTemplate, TemplateRefusal, merge_system, open_chat_template
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

MESSAGES = [{"role": "user", "content": " Hi <é> "}, {"role": "assistant", "content": "ok"}]
NAMED = "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"


def render(source: str, **special: str) -> str:
    return ChatTemplate(source, special).render(MESSAGES)


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
        ("{{ '**%s** in 12345' % messages[1].role }}", "**assistant** in 12345"),
        ("{{ '**{}** {{}} in 12345'.format('b') }}", "**b** {} in 12345"),
        ("{{ messages[::-1][0].content }}{{ 'abc'[1:] }}{{ messages[1:] | length }}", "okbc1"),
        (
            "{% set x %}{% for i in range(3) %}-{{ i }}{% endfor %}{% endset %}{{ x | trim }}",
            "-0-1-2",
        ),
        ("{{ messages[0] is mapping }}{{ 'a' in messages[0].content }}{{ none }}", "TrueFalseNone"),
    ],
)
def test_what_templates_in_use_ask_for_is_there(source: str, text: str) -> None:
    assert render(source, bos_token="<s>") == text


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
        ("{% import 'x' as y %}", "failed"),
        ("{% from 'x' import y %}", "failed"),
        ("{% extends 'x' %}", "failed"),
        ("{{ raise_exception(1) }}", "refuses this conversation: 1"),
        ("{{ 'a' | urlize }}", "No filter named 'urlize'"),
        ("{{ messages | tojson | fromjson }}", "not valid"),
        ("{{ " + "9" * 5000 + " }}", "cannot be used"),
        ("{{ x" + ".a" * 3000 + " }}", "cannot be used"),
        ("{% if x %}" * 1000 + "{% endif %}" * 1000, "cannot be used"),
        ("{% for x in y %}" * 30 + "{% endfor %}" * 30, "cannot be used"),
        ("\ud800{{ 1 / 0 }}", "failed"),
        ("{{ 1 / 0 }}", "failed"),
        ("{{ 'a' | unheard }}", "not valid|cannot be used"),
        ("{{" + "(" * 5000 + "1" + ")" * 5000 + "}}", "cannot be used"),
        ("x" * 500_001, "500001 characters"),
    ],
)
def test_a_templates_own_mistakes_are_sentences(source: str, said: str) -> None:
    with pytest.raises(DraftscopeError, match=said):
        render(source)


def test_a_mistake_of_any_length_is_one_short_line() -> None:
    for source in ("{{ raise_exception('a\nb' * 90000) }}", "{% " + "x" * 100_000 + " %}"):
        with pytest.raises(DraftscopeError) as caught:
            render(source)
        assert len(str(caught.value)) < 400
        assert "\n" not in str(caught.value)


def test_a_model_whose_template_is_broken_is_loaded_and_takes_raw_text(tmp_path: Path) -> None:
    folder = write_tiny_folder(tmp_path)
    (folder / "chat_template.jinja").write_text("{% if %}")
    target = load_model(folder, device="cpu", plan="eager")
    assert target.chat_template is not None
    assert target.tokenizer.encode("raw") != []
    for _ in range(2):  # the second use says the same
        with pytest.raises(DraftscopeError, match=r"not valid.*Use raw text instead"):
            target.chat_template.render(MESSAGES)


# What a template without a system role does, as several published ones do it.
REFUSES = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
)
DROPS = "{% for m in messages if m.role != 'system' %}<{{ m.role }}>{{ m.content }}{% endfor %}"
TAKES = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}{% endfor %}"
ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]


@pytest.mark.case("C22")
def test_a_refused_system_message_can_be_merged_into_the_users_turn(tmp_path: Path) -> None:
    template = ChatTemplate(REFUSES)
    with pytest.raises(TemplateRefusal, match="System role not supported"):
        template.render(ASKED)
    assert template.render(merge_system(ASKED)) == "<user>Be brief.\n\nHi"
    folder = write_tiny_folder(tmp_path)
    (folder / "tokenizer_config.json").write_text("{}")
    base = load_model(folder, device="cpu", plan="eager")
    assert base.chat_template is None
    assert base.tokenizer.encode("raw text", add_special=True) != []


@pytest.mark.parametrize(("source", "takes"), [(REFUSES, False), (DROPS, False), (TAKES, True)])
def test_whether_a_system_message_reaches_the_text_is_known_before(
    source: str, takes: bool
) -> None:
    assert ChatTemplate(source).takes_system() is takes


def test_a_broken_template_does_not_say_whether_it_takes_a_system_message() -> None:
    with pytest.raises(DraftscopeError, match="not valid"):
        ChatTemplate("{% if %}").takes_system()


@pytest.mark.parametrize(
    ("messages", "merged"),
    [
        ([], []),
        ([("user", "a")], [("user", "a")]),
        ([("system", "s"), ("user", "a")], [("user", "s\n\na")]),
        ([("system", "s")], [("user", "s")]),
        ([("system", "s"), ("assistant", "b")], [("user", "s"), ("assistant", "b")]),
        (
            [("system", "s"), ("assistant", "b"), ("user", "a"), ("system", "t"), ("user", "c")],
            [("assistant", "b"), ("user", "s\n\nt\n\na"), ("user", "c")],
        ),
    ],
)
def test_system_messages_are_merged_into_the_first_users_turn(
    messages: list[tuple[str, str]], merged: list[tuple[str, str]]
) -> None:
    given: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in messages]
    before = [dict(message) for message in given]
    assert [(one["role"], one["content"]) for one in merge_system(given)] == merged
    assert given == before


@pytest.mark.model
def test_default_models_template_makes_its_own_prompt(default_model_path: Path) -> None:
    template = open_chat_template(default_model_path)
    assert template is not None
    assert template.render([{"role": "user", "content": "Hi"}]) == (
        "<|im_start|>system\n"
        "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )
