"""The words of the rule, wherever Draftscope says it: u < min(1, p_target / q_draft)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.export.html import render_html
from app.viewmodels.court import CourtModel
from app.viewmodels.document import Document
from app.viewmodels.meanings import MEANINGS
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import TokenRef
from app.viewmodels.strip import StripModel
from app.viewmodels.token_note import token_note
from app.viewmodels.verdict_words import drafted_words
from engine.trace.events import DraftedToken, Fate, Round, RunStarted
from engine.trace.reader import TraceReader
from tests.app.export.looking import unpacked
from tests.traces import make_trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.trace.events import Event

ROOT = Path(__file__).parents[1]
THRESHOLD = "min(1, p_target / q_draft)"
RULE = f"u < {THRESHOLD}"
# the rule without its uniform, in signs or in words
WRONG = re.compile(
    r"\bp(_?target)?(\([^)]*\))?\s*(>=?|≥|&gt;=?|&ge;)\s*q(_?draft)?\b"
    r"|(?<!u \* )\bq(_?draft)?(\([^)]*\))?\s*(<=?|≤|&lt;=?|&le;)\s*p(_?target)?\b"
    r"|(at least|just) as (likely|probable)"
    r"|more (likely|probable) (under|for|in|to) the target",
    re.IGNORECASE,
)


def shipped() -> Iterator[tuple[str, str]]:
    """Every text that reaches a user: README, and the sources of window, page and command."""
    for folder in ("app", "engine"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".js", ".html"}:
                yield str(path.relative_to(ROOT)), path.read_text("utf-8")
    yield "README.md", (ROOT / "README.md").read_text("utf-8")


def demos() -> list[Path]:
    """The recorded sessions in which tokens were drawn: greedy ones have no uniforms."""
    found = sorted((ROOT / "assets" / "demos").glob("*.jsonl.zst"))
    drawn = [path for path in found if _temperature(path) > 0]
    assert drawn
    return drawn


def _temperature(path: Path) -> float:
    started = TraceReader(path)[0]
    assert isinstance(started, RunStarted)
    return started.settings.temperature


def traces() -> dict[str, list[Event]]:
    recorded = {path.name: list(TraceReader(path)) for path in demos()}
    return {**recorded, "simulated": make_trace(rounds=60, seed=3, temperature=1.0)}


def judged(events: Sequence[Event]) -> Iterator[tuple[Round, int, DraftedToken]]:
    """Drafted tokens that a uniform tested."""
    for one in events:
        for slot, token in enumerate(one.drafted if isinstance(one, Round) else ()):
            if token.u is not None:
                yield one, slot, token  # type: ignore[misc]  # a round, or there is no token


@pytest.mark.case("A64")
def test_nothing_says_that_p_decides_without_the_uniform() -> None:
    for wrong in (
        "accept if p >= q",
        "kept when p_target ≥ q_draft",
        "q(x) <= p(x)",
        "p(x) &gt;= q(x)",
        "where the target finds it at least as likely",
    ):
        assert WRONG.search(wrong)
    assert not WRONG.search("kept while u * q_draft < p_target")
    texts = dict(shipped())
    assert len(texts) > 150
    assert [name for name, text in texts.items() if WRONG.search(text)] == []


@pytest.mark.case("A64")
def test_the_readme_states_the_rule() -> None:
    assert RULE in " ".join((ROOT / "README.md").read_text("utf-8").split())


@pytest.mark.case("A64")
def test_the_legend_states_the_rule() -> None:
    assert RULE in MEANINGS["accepted"]


@pytest.mark.case("A64")
@pytest.mark.parametrize("name", ["simulated", *(path.name for path in demos())])
def test_words_and_tooltips_state_the_rule_with_its_numbers(name: str) -> None:
    document = Document(traces()[name])
    presentation = Presentation(document)
    presentation.seek(10**6)
    strip = StripModel(document, presentation)
    strip.refresh()
    chips = strip.chips
    notes = {(chip.ref.round, chip.ref.slot): token_note(document, chip) for chip in chips}
    court = CourtModel(document, presentation)
    seen = set()
    for one, slot, token in judged(document.events):
        assert token.fate in (Fate.ACCEPTED, Fate.REJECTED)
        kept = token.fate is Fate.ACCEPTED
        verdict, sign = ("Kept", "<") if kept else ("Rejected", "≥")
        words = drafted_words(one, slot, greedy=False)
        number = r"([\d.e+-]+?)"
        pattern = f"{verdict} because u = {number} {sign} {re.escape(THRESHOLD)} = {number}\\."
        said = re.fullmatch(pattern, words)
        assert said, words
        assert (float(said[1]) < float(said[2])) == kept
        note = notes[one.index, slot]
        assert THRESHOLD in note
        assert "u " in note
        court.pinned = TokenRef(one.index, slot)
        case = court.case()
        assert case is not None
        assert case.verdict == words
        figures = {reading.name: reading for reading in case.readings}
        assert figures["threshold"].definition.startswith(THRESHOLD)
        assert "u" in figures
        seen.add(token.fate)
    assert seen == {Fate.ACCEPTED, Fate.REJECTED}


@pytest.mark.case("A64")
def test_the_page_states_the_rule() -> None:
    page = render_html(make_trace(rounds=20, temperature=1.0))
    script = page.split("<script")[-1]
    assert f"Each drafted token is kept while {RULE}." in script
    assert f"kept while {RULE}" in script.replace("Each drafted token is", "")
    held = unpacked(page)
    assert RULE in held["fates"]["accepted"]["meaning"]
    words = [token["w"] for one in held["rounds"] for token in one["d"] if "u" in token]
    assert words
    assert all(THRESHOLD in word for word in words)
    assert not WRONG.search(page)
    assert not WRONG.search(str(held))


@pytest.mark.case("A64")
@pytest.mark.parametrize("name", ["simulated", *(path.name for path in demos())])
def test_a_token_less_likely_than_drafted_is_kept_by_its_uniform_alone(name: str) -> None:
    kept = rejected = 0
    for _, _, token in judged(traces()[name]):
        assert token.p_target is not None
        assert token.u is not None
        below = token.u < min(1.0, token.p_target / token.q_draft)
        assert below == (token.fate is Fate.ACCEPTED)
        if token.p_target < token.q_draft:
            kept += token.fate is Fate.ACCEPTED
            rejected += token.fate is Fate.REJECTED
        else:
            assert token.fate is Fate.ACCEPTED
    assert kept > 0  # which p >= q would have rejected
    assert rejected > 0
