"""The openings that a target's corpus is written from: templates and passages, mixed.

Knows the shares, and that nothing of the measuring prompts may come through. Knows neither how
openings are made nor any model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.benchmarks.kinds import measuring_texts
from engine.training.passages import file_openings, passage_openings
from engine.training.prompts import Opening, template_openings, unmeasured

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

TEMPLATES = 0.55  # share of openings that come from templates; the rest are passages
FILES = 0.5  # share of the user's own files, as long as they last


def mixed_openings(rng: random.Random, files: Sequence[Path] = ()) -> Iterator[Opening]:
    """Yield openings of all sorts without end, none equal to another or like a measuring prompt.

    Where an installation carries no more passages, templates go on alone.

    Raises
    ------
    DraftscopeError
        At once, if a file is missing or holds no text.
    """
    own = file_openings(files, rng) if files else iter(())
    return unmeasured(_distinct(_mixed(own, rng)), measuring_texts())


def _mixed(own: Iterator[Opening], rng: random.Random) -> Iterator[Opening]:
    templates, passages = template_openings(rng), passage_openings(rng)
    while True:
        found = next(own, None) if rng.random() < FILES else None
        if found is None and rng.random() >= TEMPLATES:
            found = next(passages, None)
        yield found or next(templates)


def _distinct(openings: Iterable[Opening]) -> Iterator[Opening]:
    seen: set[int] = set()  # hashes: some 100 bytes an opening
    for opening in openings:
        if hash(opening.text) not in seen:
            seen.add(hash(opening.text))
            yield opening
