"""The page as a file: one inert data element, one guarded script, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from app.cli.export import asked_for
from app.cli.parser import command_parser
from app.export.exporting import export
from app.export.formats import format_named
from app.export.html import SCRIPTS, STYLES, render_html, render_page
from app.export.options import Options
from app.export.packing import pack, unpack
from app.export.replay import build_replay, source_of
from app.theme import DARK, LIGHT
from app.viewmodels.document import Document
from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.events import RunStarted
from tests.app.export.looking import unpacked
from tests.traces import make_trace

if TYPE_CHECKING:
    from engine.trace.events import Event

HOSTILE = (
    b"</script><script>alert(1)</script>",
    b"<!--",
    b"-->",
    b"]]>",
    b"<img src=x onerror=alert(1)>",
    b"&lt;",
    b"&",
    b"\\",
    b'"',
    b"%s",
    b"__DATA__",
    b"{{title}}",
    b"{{data}}",
    b"$title",
    "\u2028\u2029".encode(),
    b"\x00\x1b[31m",
    "\u202eevil".encode(),
    "שלום".encode(),
)


def hostile_trace() -> list[Event]:
    events = make_trace(rounds=12, seed=1, temperature=1.0, vocabulary=HOSTILE)
    started = events[0]
    assert isinstance(started, RunStarted)
    prompt = '{{title}} __DATA__ $title </title></script><b>x</b> &amp; 100% \\ "'
    target = msgspec.structs.replace(started.target, name="{{data}}</title><b>")
    return [msgspec.structs.replace(started, prompt=prompt, target=target), *events[1:]]


class Elements(HTMLParser):
    """Counts elements and keeps the text of scripts, as a browser would split them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.texts.setdefault(tag, []).append("")
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open][-1] += data


@pytest.mark.case("E03")
def test_hostile_tokens_stay_inside_one_data_element() -> None:
    events = hostile_trace()
    ordinary, hostile = Elements(render_html(make_trace())), Elements(render_html(events))
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in ordinary.tags]
    data, script = hostile.texts["script"]
    assert re.fullmatch(r"[A-Za-z0-9+/]+=*", data)
    assert script == ordinary.texts["script"][1]
    told = unpacked(render_html(events))
    expected = msgspec.json.decode(msgspec.json.encode(build_replay(events)))
    assert {key: told[key] for key in expected} == expected


@pytest.mark.case("E06")
def test_placeholders_in_a_prompt_stay_as_they_were_typed() -> None:
    events = hostile_trace()
    started = events[0]
    assert isinstance(started, RunStarted)
    page = Elements(render_html(events))
    assert unpacked(render_html(events))["header"]["prompt"] == started.prompt
    assert page.texts["title"][0].startswith("Draftscope replay: {{data}}</title><b> and")


@pytest.mark.case("E05")
@pytest.mark.parametrize("text", ["&", "\\", '"', "%", "&amp;", "</script>", "a<b>c", "\u2028"])
def test_packing_is_undone_by_unpacking_once(text: str) -> None:
    assert msgspec.json.decode(unpack(pack([text]))) == [text]


def test_same_trace_gives_the_same_bytes() -> None:
    events = hostile_trace()
    assert render_html(events) == render_html(list(events))


def test_page_without_its_data_stays_small() -> None:
    page = render_html(make_trace(rounds=40))
    data = Elements(page).texts["script"][0]
    assert len(page.encode()) - len(data) <= 300_000


def test_policy_allows_this_script_and_this_style_alone() -> None:
    page = Elements(render_html(make_trace()))
    policy = next(a["content"] for t, a in page.tags if "http-equiv" in a) or ""
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    for rule, text in (
        ("script-src", page.texts["script"][1]),
        ("style-src", page.texts["style"][0]),
    ):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert {rule: value for rule, value in rules.items() if "http" in value or "*" in value} == {}


def test_page_refers_to_nothing_outside_itself() -> None:
    page = Elements(render_html(make_trace()))
    links = [a[k] for _, a in page.tags for k in ("src", "href", "action", "data") if k in a]
    assert all((link or "").startswith("data:") for link in links)
    assert re.findall(r"url\((?!\"data:)", page.texts["style"][0]) == []
    assert "@import" not in page.texts["style"][0]


def test_scripts_write_text_and_never_markup() -> None:
    folder = resources.files("app.export").joinpath("page")
    for name in SCRIPTS:
        source = folder.joinpath(f"{name}.js").read_text("utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert way not in source, f"{name}.js uses {way}"
        assert "fetch(" not in source
        assert "</script" not in source


def test_colours_come_from_the_theme_alone() -> None:
    folder = resources.files("app.export").joinpath("page")
    styles = [f"{name}.css" for name in STYLES]
    for name in ("page.html", *styles, *(f"{script}.js" for script in SCRIPTS)):
        source = folder.joinpath(name).read_text("utf-8")
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?![\w-])(?=[;,\s\"')])", source) == [], name
    page = render_html(make_trace())
    for theme in (LIGHT, DARK):
        for name, fate in theme.fates.items():
            assert f"--fate-{name}: {fate.colour}" in page


def test_every_colour_that_the_page_names_exists() -> None:
    style = Elements(render_html(make_trace())).texts["style"][0]
    local = {
        "scale",
        "beat",
        "share",
        "room",
        "ink",
        "fill",
        "lane",
    }  # set by rules or by the scripts
    named = set(re.findall(r"var\(--([\w-]+)", style)) - local
    assert named <= set(re.findall(r"--([\w-]+):", style))


def write_trace(path: Path, events: list[Event]) -> Path:
    path.write_bytes(b"".join(codec.encode(event) for event in events))
    return path


def export_html(trace: Path, page: Path) -> None:
    export(trace, page, format_named("html"), Options())


def test_export_writes_the_page_of_a_trace_file(tmp_path: Path) -> None:
    events = make_trace(rounds=5)
    trace = write_trace(tmp_path / "run.jsonl", events)
    export_html(trace, tmp_path / "talk.html")
    assert (tmp_path / "talk.html").read_text("utf-8") == render_html(events)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.jsonl", "talk.html"]


def test_torn_trace_is_exported_up_to_its_last_whole_event_with_a_notice(tmp_path: Path) -> None:
    events = make_trace(rounds=5)
    trace = write_trace(tmp_path / "run.jsonl", events)
    trace.write_bytes(trace.read_bytes()[:-7])
    export_html(trace, tmp_path / "talk.html")
    told = unpacked((tmp_path / "talk.html").read_text("utf-8"))
    assert len(told["rounds"]) == 5
    assert told["notices"] == [
        "The last event of run.jsonl is incomplete and was left out; everything before it is here."
    ]


def test_failed_export_leaves_the_old_page_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = write_trace(tmp_path / "run.jsonl", make_trace(rounds=2))
    page = tmp_path / "talk.html"
    page.write_text("the old one")

    def refuse(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(DraftscopeError, match="No space left on device"):
        export_html(trace, page)
    assert page.read_text() == "the old one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.jsonl", "talk.html"]


def test_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "run.jsonl", make_trace(rounds=2))
    with pytest.raises(DraftscopeError, match=r"talk\.html cannot be written"):
        export_html(trace, tmp_path / "missing" / "talk.html")


def test_page_without_rounds_and_without_drafter_is_made() -> None:
    events = make_trace(rounds=2, drafter="none", top_n=0, baseline=False, probe_every=0)
    assert "alone, no drafter" in render_html(events)
    assert render_html(events[:1])


def test_export_leaves_torch_and_qt_out() -> None:
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, app.export.html\n"
            "heavy = {'torch', 'PySide6', 'pyqtgraph', 'app.worker', 'app.views', 'app.compose'}\n"
            "print(sorted(heavy & set(sys.modules)))",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "[]"


def test_every_part_of_the_page_is_used() -> None:
    folder = resources.files("app.export").joinpath("page")
    parts = {"page.html", *(f"{name}.js" for name in SCRIPTS), *(f"{name}.css" for name in STYLES)}
    assert {part.name for part in folder.iterdir()} == parts


@pytest.mark.parametrize(("words", "begins"), [([], ""), (["--theme", "light"], "light")])
def test_a_theme_is_fixed_only_where_it_was_asked_for(words: list[str], begins: str) -> None:
    typed = command_parser().parse_args(["export", "run.jsonl", "talk.html", *words])
    options = asked_for(typed, format_named("html"))
    page = Elements(render_page(source_of(Document(make_trace(rounds=2))), options))
    root = next(attributes for tag, attributes in page.tags if tag == "html")
    assert root.get("data-theme", "") == begins
