"""A report of `bench articles` made by hand: two drafters at two temperatures."""

from __future__ import annotations

import msgspec

from engine.benchmarks.articles import Report
from engine.benchmarks.articles_alone import Alone
from engine.benchmarks.articles_best import best_of
from engine.benchmarks.articles_model import CostModel, Prediction
from engine.benchmarks.articles_rows import Repetition, Row
from engine.benchmarks.figures import Ratio
from engine.benchmarks.header import header
from engine.trace.figures import PositionFigures

KINDS = ("story", "summary", "all kinds")


def place(tested: int, accepted: int) -> PositionFigures:
    return PositionFigures(
        drafted=tested, tested=tested, accepted=accepted, acceptance=accepted / tested
    )


def row(**changes: object) -> Row:
    figures = {
        "drafter": "head", "k": 2, "temperature": 0.0, "confidence": 0.0, "texts": "beginnings",
        "runs": 8, "rounds": 800, "tokens": 1600, "tokens_per_second": 240.0,
        "plain_tokens_per_second": 160.0, "speedup": Ratio(value=1.5, low=1.4, high=1.6),
        "identical": 8, "ties": 0, "acceptance": 0.6,
        "positions": (place(800, 560), place(560, 280)),
        "overlap": None, "tokens_per_pass": 2.0, "drafted": 2.0, "c": 0.08, "v": 1.1, "fixed": 0.03,
        "one_acceptance": Prediction(speedup=1.53, difference=0.02),
        "by_position": Prediction(speedup=1.47, difference=-0.02), "repetition": None,
    }  # fmt: skip
    return Row(**figures | changes)  # type: ignore[arg-type]  # of mixed types


def report() -> Report:
    """Every part has something in it; the look-up never draws at temperature 1."""
    rows = []
    for k, value in ((1, 1.3), (2, 1.5), (4, 1.2)):
        speedup = Ratio(value=value, low=value - 0.1, high=value + 0.1)
        rows.append(row(k=k, speedup=speedup))
        rows.append(row(drafter="ngram", k=k, speedup=Ratio(value=0.97, low=0.9, high=1.0)))
        rows.append(row(k=k, temperature=1.0, speedup=speedup, identical=None, overlap=0.55))
    rows.append(row(k=4, confidence=0.5, speedup=Ratio(value=1.4, low=1.3, high=1.5), v=None))
    again = Repetition(texts=3, tokens=90, acceptance=0.99, tokens_per_pass=2.9, speedup=2.4)
    kinds = [row(texts=kind, runs=6, repetition=again) for kind in KINDS]
    kinds += [row(texts=kind, drafter="ngram", identical=5, ties=1, runs=6) for kind in KINDS]
    quicker = Ratio(value=1.7, low=1.6, high=1.8)
    kinds += [row(texts=kind, k=4, confidence=0.5, speedup=quicker) for kind in KINDS]
    model = CostModel(
        drafter="head", temperature=0.0, texts="beginnings", acceptance=(0.7, 0.5), pass_ns=5e6,
        step=0.08, begin=0.03, passes=((0, 0, 1.0), (0, 1, 0.7), (2, 2, 1.1)),
        rest=0.03, plain_rest=0.02,
    )  # fmt: skip
    alone = Alone(
        model="head", texts="held-out", tokens=240, covered=0.9, nats_per_byte=1.125,
        target_nats_per_byte=0.8, tokens_per_second=1800.0, passes_per_token=0.5,
    )  # fmt: skip
    about = header("articles", settings={"tokens": 200})
    return Report(
        header=msgspec.structs.replace(about, target="tiny", plan="eager", dtype="float32"),
        rows=tuple(rows),
        best=best_of(rows),
        models=(model,),
        kinds=tuple(kinds),
        alone=(alone,),
        left_out=("small-2: it is not here.",),
    )
