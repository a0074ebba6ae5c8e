"""Charts of a deck are native, and their numbers are the panels' and the trace's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pptx.enum.chart import XL_CHART_TYPE

from app.export.figures import readings
from app.export.moments import Moment
from app.export.slide_court import case_at
from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.refs import TokenRef
from engine.trace.events import Fate
from tests.app.export.decks import charts, make_deck, marked, text_of, values
from tests.traces import make_trace

if TYPE_CHECKING:
    from tests.app.export.decks import Made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    events = marked(
        make_trace(rounds=16, temperature=0.7, k=5),
        {"round": 1, "phase": "verify", "slot": 0, "title": "The court"},
    )
    return make_deck(tmp_path_factory.mktemp("deck"), events)


def test_the_court_shows_the_laws_of_its_token(made: Made) -> None:
    chart = charts(made.slide("The court"))["Court"]
    case = case_at(made.source.document, Moment(1, "verify", TokenRef(1, 0)))
    assert case is not None
    assert chart.chart_type == XL_CHART_TYPE.BAR_CLUSTERED
    shown = values(chart)
    names = list(chart.plots[0].categories)
    bars = case.rows(len(names))
    assert shown["p_target"] == [bar.p_target for bar in bars]
    assert shown["q_draft"] == [bar.q_draft for bar in bars]
    assert sum(bar.p_target or 0.0 for bar in bars) == pytest.approx(1.0)
    assert any(case.label in name for name in names)
    assert case.verdict in text_of(made.slide("The court"))


def test_the_pass_puts_p_target_beside_each_drafted_token(made: Made) -> None:
    one = made.source.document.rounds[1]
    draft = values(
        charts(made.slide("Round 2: the drafter"))["Probabilities of the drafted tokens"]
    )
    both = values(charts(made.slide("Round 2: one pass"))["Probabilities of the drafted tokens"])
    drafted = [token.q_draft for token in one.drafted]
    assert list(draft) == ["q_draft"]
    assert [v for v in draft["q_draft"] if v is not None] == drafted
    assert [v for v in both["q_draft"] if v is not None] == drafted
    assert [v for v in both["p_target"] if v is not None] == [t.p_target for t in one.drafted]


def test_each_verdict_has_its_words_and_the_line_of_its_test(made: Made) -> None:
    one = made.source.document.rounds[1]
    tested = [t for t in one.drafted if t.fate in (Fate.ACCEPTED, Fate.REJECTED)]
    slides = [
        s
        for s in made.slides
        if " is accepted" in s.shapes.title.text or " is rejected" in s.shapes.title.text
    ]
    assert len(slides) == len(tested)
    for slide, token in zip(slides, tested, strict=True):
        assert "min(1, p_target / q_draft)" in text_of(slide)
        group = next(shape for shape in slide.shapes if shape.name == "Test")
        needle = next(shape for shape in group.shapes if shape.name == "u")
        middle = needle.left + needle.width / 2
        assert token.u is not None
        place = (middle - group.left) / group.width
        assert place == pytest.approx(token.u, abs=0.02)


def test_the_residual_is_charted_where_the_correction_was_drawn(made: Made) -> None:
    slide = made.slide("Round 2: the correction")
    shown = values(charts(slide)["Court"])
    one = made.source.document.rounds[1]
    assert one.closing is not None
    assert one.closing.laws is not None
    assert sum(v or 0.0 for v in shown["residual"]) == pytest.approx(1.0)
    assert max(one.closing.laws.residual) in shown["residual"]


def test_acceptance_by_position_and_lengths_are_the_panels(made: Made) -> None:
    document = made.source.document
    model = AcceptanceModel(document, len(document.rounds))
    found = charts(made.slide("How much of the draft"))
    positions = found["Acceptance by draft position"]
    assert values(positions)["accepted / tested"] == [bar.share for bar in model.positions.bars]
    assert list(positions.plots[0].categories) == [
        f"{bar.label}\n{bar.counts}" for bar in model.positions.bars
    ]
    lengths = values(found["Accepted tokens in a round"])["rounds"]
    figures = document.figures_at(len(document.rounds))
    assert (
        tuple(int(v or 0) for v in lengths[: len(figures.accepted_lengths)])
        == figures.accepted_lengths
    )


def test_times_and_rates_are_the_figures(made: Made) -> None:
    document = made.source.document
    figures = document.figures_at(len(document.rounds))
    found = charts(made.slide("Where the time went"))
    phases = found["Seconds by phase, all rounds"]
    assert phases.chart_type == XL_CHART_TYPE.BAR_STACKED
    assert values(phases) == {
        "draft": [figures.draft_ns / 1e9],
        "verify": [figures.verify_ns / 1e9],
        "accept": [figures.accept_ns / 1e9],
        "commit": [figures.commit_ns / 1e9],
    }
    rates = found["Tokens per second"]
    assert figures.plain is not None
    assert values(rates) == {
        "this run": [figures.tokens_per_second, None],
        "plain target": [None, figures.plain.tokens_per_second],
    }
    lengths = _error_bars(rates)
    assert figures.plain.low_tokens_per_second is not None
    assert figures.plain.high_tokens_per_second is not None
    own = figures.plain.tokens_per_second
    assert lengths["minus"][1] == pytest.approx(own - figures.plain.low_tokens_per_second)
    assert lengths["plus"][1] == pytest.approx(figures.plain.high_tokens_per_second - own)


def _error_bars(chart: Any) -> dict[str, list[float]]:
    bars = next(chart._chartSpace.iter("{*}errBars"))
    return {
        side: [float(point.text) for point in bars.find(f"{{*}}{side}").iter("{*}v")]
        for side in ("plus", "minus")
    }


def test_the_summary_says_how_each_figure_was_obtained_and_what_it_divides_by(made: Made) -> None:
    document = made.source.document
    slide = made.slide("In short: ")
    table = next(shape.table for shape in slide.shapes if shape.has_table)
    rows = [[cell.text_frame.text for cell in row.cells] for row in table.rows]
    for reading in readings(document.figures_at(len(document.rounds))):
        value = f"{reading.text} {reading.unit}".strip()
        assert [reading.name, value, str(reading.how), reading.detail] in rows


def test_every_chart_carries_its_workbook(made: Made) -> None:
    books = [name for name, _ in made.parts() if name.endswith(".xlsx")]
    number = sum(len(charts(slide)) for slide in made.slides)
    assert number == len(books) >= 7
