"""The report of `draftscope bench articles` as tables of words. Knows no file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.benchmarks.words import ratio_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.benchmarks.articles import Report
    from engine.benchmarks.articles_model import CostModel, Prediction
    from engine.benchmarks.articles_rows import Row

DASH = "-"


@dataclass(frozen=True)
class Section:
    """A table with its heading; the first row is the head."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def sections(report: Report) -> tuple[Section, ...]:
    """Return every table that has a row."""
    made = [*_sweeps(report), _best(report), *_kinds(report), _again(report)]
    made += [_models(report.models), _alone(report)]
    return tuple(one for one in made if len(one.rows) > 1)


def heat_words(temperature: float) -> str:
    """Write "greedy" or "temperature 1"."""
    return f"temperature {temperature:g}" if temperature else "greedy"


def way_words(k: int, confidence: float) -> str:
    """Write how long drafts are: "4", or "<= 8, unsure at 0.5"."""
    return f"<= {k}, unsure at {confidence:g}" if confidence else str(k)


def _heats(rows: Iterable[Row]) -> tuple[float, ...]:
    return tuple(dict.fromkeys(row.temperature for row in rows))


def _sweeps(report: Report) -> list[Section]:
    quickest = {one.cell for one in report.best}
    found = []
    for heat in _heats(report.rows):
        head = (
            *("drafter", "k", "tokens/s", "plain", "speed-up (95 %)"),
            "overlap" if heat else "identical",
            *("acceptance", "by position", "tokens/pass", "c", "v", "fixed"),
            *("one a", "apart", "by position", "apart"),
        )
        rows = [_swept(row, row.cell in quickest) for row in report.rows if row.temperature == heat]
        found.append(
            Section(
                f"Beginnings gone on with, {heat_words(heat)}",
                (head, *rows),
                "* the drafter's quickest k, and its quickest stop. c: time per drafted token, v: "
                "the verifying pass, fixed: verdicts and commit, all over a pass on one token. "
                "one a: predicted (1 - a^(k+1)) / ((1 - a)(k c + v)); by position: predicted from "
                "the drafter's costs and acceptance by position over all its k; apart: from the "
                "measured one.",
            )
        )
    return found


def _swept(row: Row, quickest: bool) -> tuple[str, ...]:
    return (
        row.drafter,
        way_words(row.k, row.confidence) + (" *" if quickest else ""),
        f"{row.tokens_per_second:.1f}",
        f"{row.plain_tokens_per_second:.1f}",
        DASH if row.speedup is None else ratio_words(row.speedup),
        _sameness(row),
        _number(row.acceptance),
        _places(place.acceptance for place in row.positions),
        f"{row.tokens_per_pass:.2f}",
        _number(row.c, 3),
        _number(row.v),
        f"{row.fixed:.3f}",
        *_predicted(row.one_acceptance),
        *_predicted(row.by_position),
    )


def _sameness(row: Row) -> str:
    """Write how many texts are the plain target's, or where sampled the overlap of the laws."""
    if row.identical is None:
        return _number(row.overlap)
    ties = f", {row.ties} tie{'' if row.ties == 1 else 's'}" if row.ties else ""
    return f"{row.identical}/{row.runs}{ties}"


def _best(report: Report) -> Section:
    head = ("drafter", "temperature", "k", "speed-up", "tokens/pass")
    rows = [
        (
            one.drafter,
            f"{one.temperature:g}",
            way_words(one.k, one.confidence),
            f"{one.speedup:.2f}",
            f"{one.tokens_per_pass:.2f}",
        )
        for one in report.best
    ]
    return Section("The quickest of each drafter on the beginnings", (head, *rows))


def _kinds(report: Report) -> list[Section]:
    found = []
    for heat in _heats(report.kinds):
        head = (
            *("kind", "drafter", "k", "prompts", "tokens", "acceptance at 1"),
            *("overlap" if heat else "identical", "tokens/pass", "speed-up (95 %)"),
        )
        rows = [
            (
                row.texts,
                row.drafter,
                way_words(row.k, row.confidence),
                str(row.runs),
                str(row.tokens),
                _number(row.positions[0].acceptance if row.positions else None),
                _sameness(row),
                f"{row.tokens_per_pass:.2f}",
                DASH if row.speedup is None else ratio_words(row.speedup),
            )
            for row in report.kinds
            if row.temperature == heat
        ]
        note = "Before a text repeats itself. A stop raises acceptance: it drafts what is sure."
        found.append(Section(f"By kind of prompt, {heat_words(heat)}", (head, *rows), note))
    return found


def _again(report: Report) -> Section:
    head = ("texts", "drafter", "k", "temperature", "repeat", "tokens", "acceptance at 1")
    rows = []
    for row in (*report.rows, *report.kinds):
        again = row.repetition
        if again is not None:
            rows.append(
                (
                    row.texts,
                    row.drafter,
                    way_words(row.k, row.confidence),
                    f"{row.temperature:g}",
                    f"{again.texts}/{row.runs}",
                    str(again.tokens),
                    _number(again.acceptance),
                    _number(again.tokens_per_pass),
                    _number(again.speedup),
                )
            )
    return Section(
        "Repetition, apart",
        ((*head, "tokens/pass", "speed-up"), *rows),
        "From where a text says a stretch again that it says three times; in no figure above.",
    )


def _models(models: Iterable[CostModel]) -> Section:
    head = ("drafter", "temperature", "texts", "by position", "c", "begin", "rest", "plain rest")
    rows = [
        (
            one.drafter,
            f"{one.temperature:g}",
            one.texts,
            _places(one.acceptance),
            _number(one.step, 3),
            _number(one.begin, 3),
            f"{one.rest:.3f}",
            f"{one.plain_rest:.3f}",
            " ".join(f"{n}:{cost:.2f}" for n, looks, cost in one.passes if looks == n),
        )
        for one in models
    ]
    return Section(
        "What predictions by position come from",
        ((*head, "v of tokens drafted"), *rows),
        "Over a pass on one token: c a further step of the drafter, begin what a draft costs "
        "beside its steps, rest verdicts and commit, plain rest those of a plain round; v the "
        "verifying pass by tokens drafted.",
    )


def _alone(report: Report) -> Section:
    head = ("model", "text", "tokens", "covered", "nats/byte", "target's there", "tokens/s")
    rows = [
        (
            one.model,
            one.texts,
            str(one.tokens),
            f"{100 * one.covered:.1f} %",
            _number(one.nats_per_byte, 3),
            _number(one.target_nats_per_byte, 3),
            f"{one.tokens_per_second:.0f}",
            _number(one.passes_per_token),
        )
        for one in report.alone
    ]
    return Section(
        "The models alone, temperature 1",
        ((*head, "passes/token"), *rows),
        "Every token given all before it. A drafter that scores a part of the vocabulary gives the "
        "rest no mass: its nats, and the target's beside them, are over the covered tokens. A head "
        "reads the target's states up to the token before the last, so it looks two ahead of them; "
        "its tokens/s are its steps. passes/token: of the target, at the quickest greedy k.",
    )


def _predicted(one: Prediction | None) -> tuple[str, str]:
    if one is None:
        return DASH, DASH
    return f"{one.speedup:.2f}", f"{100 * one.difference:+.1f} %"


def _places(values: Iterable[float | None]) -> str:
    found: Sequence[str] = [_number(value) for value in values]
    return " ".join(found) or DASH


def _number(value: float | None, digits: int = 2) -> str:
    return DASH if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # no -0.00
