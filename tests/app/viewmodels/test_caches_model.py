"""The caches panel says what the caches reported, and nothing of its own."""

from __future__ import annotations

import numpy as np

from app.viewmodels.caches import CachesModel
from app.viewmodels.document import Document
from app.viewmodels.readings import DASH
from engine.trace.events import CacheSpan
from tests.app.rounds import RUN, make_round
from tests.traces import make_trace


def test_length_path_and_what_was_given_back_are_the_spans():
    spans = [
        CacheSpan(
            before=30, peak=35, after=31, pages_before=2, pages_peak=3, pages_after=2, page_size=16
        ),
        CacheSpan(
            before=31, peak=36, after=34, pages_before=2, pages_peak=3, pages_after=3, page_size=16
        ),
    ]
    document = Document()
    document.run = RUN
    document.extend([make_round(i, "ardd", span=span) for i, span in enumerate(spans)])
    first = CachesModel(document, visible=1).readings[0]
    assert (first.text, first.unit) == ("31", "positions, 2 pages")
    assert "16 positions" in first.definition
    assert first.detail == "30→35→31: gave back 4, 1 page; in all 4, 1 page"
    second = CachesModel(document, visible=2).readings[0]
    assert second.detail == "31→36→34: gave back 2, 0 pages; in all 6, 1 page"


def test_pages_over_the_rounds_are_those_held_after_each():
    document = Document(make_trace(rounds=20, temperature=0.8))
    model = CachesModel(document, visible=13)
    target, drafter = model.pages
    rounds = document.rounds[:13]
    assert target.tolist() == [one.target_cache.pages_after for one in rounds]
    assert drafter.tolist() == [one.drafter_cache.pages_after for one in rounds]
    assert model.pictures[0].span == rounds[-1].target_cache
    assert model.top >= max(target)


def test_a_drafter_without_a_cache_is_a_gap_and_a_reason():
    model = CachesModel(Document(make_trace(rounds=5, drafter="ngram")), visible=5)
    assert model.readings[1].text == DASH
    assert "no cache of its own" in model.readings[1].detail
    assert model.pictures[1].span is None
    assert np.isnan(model.pages[1]).all()
    assert model.readout(2)[1] == DASH


def test_an_empty_document_has_nothing_to_show():
    model = CachesModel(Document())
    assert not any(one.known for one in model.readings)
    assert [len(one) for one in model.pages] == [0, 0]
