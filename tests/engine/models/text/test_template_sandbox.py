"""What a chat template cannot do: reach code, hang, or make much out of little."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from engine.errors import DraftscopeError
from engine.models.text import chat, template_budget
from engine.models.text.chat import ChatTemplate, open_chat_template
from tests.engine.models.formats.model_files import tensors, write_gguf

if TYPE_CHECKING:
    from pathlib import Path

MESSAGES = [{"role": "user", "content": " Hi <é> "}, {"role": "assistant", "content": "ok"}]


def refusal(source: str) -> str:
    with pytest.raises(DraftscopeError) as caught:
        ChatTemplate(source).render(MESSAGES)
    return str(caught.value)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a rendering make less: counting to the bound is what takes the time."""
    monkeypatch.setattr(chat, "MOST_TEXT", 30_000)


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


@pytest.mark.case("C24")
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
    "namespaces": "{% set ns.x = namespace(a=ns.x, b=ns.x) %}",
    "views": "{% set ns.x = {'a': [ns.x, ns.x]}.values() %}",
    "items": "{% set ns.x = {'a': [ns.x, ns.x]}.items() %}",
    "dict": "{% set ns.x = dict(a=ns.x, b=ns.x) %}",
    "attributes": "{% set ns.y = ns.x %}{% set ns.x = namespace(a=ns.x, b=ns.y) %}",
}


@pytest.mark.parametrize("step", DOUBLINGS.values(), ids=DOUBLINGS)
def test_text_cannot_double_without_end(step: str, small: None) -> None:
    start = "{% set ns = namespace(x='a', y=0) %}"
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
        "{{ ('{0}' * 300000).format('a' * 900000) }}",
        "{{ ('{a}' * 300000).format(a='a' * 900000) }}",
        "{{ ('%(a)s' * 180000) % {'a': 'a' * 900000} }}",
        "{{ ('%(a)s' * 9000) | format(a='a' * 9000) }}",
        "{{ ('%9999d' * 9000) % ((1,) * 9000) }}",
        "{{ ('{:9999}' * 900).format(*((1,) * 900)) }}",
        "{{ ('{:{}}' * 9000).format(1, 9999) }}",
        "{{ '{:9{}}'.format(1, 99999) }}",
        "{{ strftime_now('%c' * 90000) }}",
        "{{ strftime_now('%999999999d') }}",
        "{% set x %}{% for i in range(99999) %}{{ messages[0].content }}"
        + "text that stands there" * 40
        + "{% endfor %}{% endset %}",
        "{% macro f() %}{% for i in range(99999) %}"
        + "text that stands there" * 40
        + "{% endfor %}{% endmacro %}{% if f() %}{% endif %}",
        "{% filter upper %}{% for i in range(99999) %}{{ 'a' * 9000 }}{% endfor %}{% endfilter %}",
        "{% set x = 'a' * 900000 %}" + "".join(f"{{% set x{i} = x[1:] %}}" for i in range(60)),
        "".join(f"{{% set x{i} = 'a' * 900000 %}}" for i in range(60)),
        "{% set x = [messages] * 90000 %}" + "".join(f"{{% set x{i} = x[:] %}}" for i in range(60)),
        "{% set x = 'a' * 900000 %}" + "".join(f"{{% set x{i} = x ~ '' %}}" for i in range(60)),
        "{{ 'a' }}" * 30_000,
        "{{" + "a ~ " * 30_000 + "a}}",
    ],
)
def test_one_step_or_many_cannot_make_much_out_of_little(source: str) -> None:
    assert "was stopped because it" in refusal(source)


@pytest.mark.parametrize(
    "source",
    [
        "{{ '{:1000000000}'.format(1) }}",
        "{{ ('{0}' * 3000).format('a' * 900000) }}",
        "{{ ('%(a)s' * 1800) % {'a': 'a' * 900000} }}",
        "{{ '%999999999d' % 1 }}",
        "{{ ('a' * 90000) | replace('a', 'b' * 90000) }}",
        "{% set y %}{% for i in range(900) %}{{ 'a' * 900000 }}{% endfor %}{% endset %}",
        "{% set x = 'a' * 900000 %}" + "".join(f"{{% set x{i} = x[1:] %}}" for i in range(60)),
        "".join(f"{{% set x{i} = 'a' * 900000 %}}" for i in range(60)),
    ],
)
def test_what_is_stopped_was_not_made_first(source: str) -> None:
    tracemalloc.start()
    try:
        assert "was stopped because it" in refusal(source)
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()


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
    monkeypatch.setattr(template_budget, "MOST_STEPS", 20_000)
    monkeypatch.setattr(template_budget, "MOST_SECONDS", 1e9)
    said = refusal(source)
    assert "does not come to an end" in said or "recursion" in said


@pytest.mark.case("C24")
def test_a_range_of_a_thousand_million_does_not_hang() -> None:
    assert "counts to 1e+09" in refusal("{% for i in range(10**9) %}{% endfor %}")


def test_time_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_budget, "MOST_SECONDS", 0.0)
    assert "does not come to an end" in refusal("{% for i in range(9) %}{% endfor %}")


@pytest.mark.parametrize(
    "source",
    [
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% block a %}{{ self.a() }}{% endblock %}",
        "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}{{ f() }}",
        "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}",
        "{% set ns = namespace() %}{% set ns.x = ns %}{{ [ns] | string }}",
        "{% set ns = namespace() %}{% set ns.x = ns %}{% set y = ns ~ '' %}",
    ],
)
def test_what_contains_or_calls_itself_ends(source: str, small: None) -> None:
    said = refusal(source)
    assert "recursion" in said or "too much text" in said or "does not come to an end" in said


def test_what_a_template_may_make_grows_with_the_conversation() -> None:
    """A hundred passes over a long conversation are no fault."""
    long = [{"role": "user", "content": "a" * 1_000_000}, {"role": "assistant", "content": "b"}]
    source = "{% for i in range(60) %}{% set x = messages[0].content | trim %}{% endfor %}{{ x }}b"
    assert ChatTemplate(source).render(long) == "b"
