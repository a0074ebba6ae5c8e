"""What stands out in the strip because of a token that is told of: rings, and the copied draft.

Knows a strip's model and the chips that it shows. Knows no pixel, no painter and no widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.painting.strip import Highlights
from app.painting.strip_arrow import Ends
from app.viewmodels.copied import source_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.viewmodels.copied import Copied
    from app.viewmodels.refs import TokenRef
    from app.viewmodels.strip import StripModel


def highlights_of(
    model: StripModel,
    *,
    hovered: TokenRef | None = None,
    focused: TokenRef | None = None,
    pinned: TokenRef | None = None,
    told: Sequence[TokenRef | None] = (),
) -> Highlights:
    """Return the chips that stand out.

    Parameters
    ----------
    told
        Tokens that are told of, the first one that was copied counts.
    """
    found = _copied(model, told)
    sources = () if found is None else found[1].sources
    source = None if found is None else model.source(found[0])
    return Highlights(
        hovered=_index(model, hovered),
        pinned=_index(model, pinned),
        focused=_index(model, focused),
        sources=frozenset(_indices(model, sources)),
        source=_index(model, source),
    )


def arrow_ends(model: StripModel, told: Sequence[TokenRef | None]) -> Ends | None:
    """Return the chips that an arrow ties, as far as they are shown; None if nothing was copied."""
    found = _copied(model, told)
    if found is None:
        return None
    sources, drafted = _indices(model, found[1].sources), _indices(model, found[1].drafted)
    if not sources or not drafted:
        return None
    return Ends(sources, drafted, source_words(found[1]))


def _copied(model: StripModel, told: Sequence[TokenRef | None]) -> tuple[TokenRef, Copied] | None:
    """Return the first token whose draft was copied, and where that was from."""
    for ref in told:
        if ref is not None:
            copy = model.copied(ref)
            if copy is not None:
                return ref, copy
    return None


def _index(model: StripModel, ref: TokenRef | None) -> int | None:
    return None if ref is None else model.index_of(ref)


def _indices(model: StripModel, refs: Iterable[TokenRef]) -> tuple[int, ...]:
    found = (model.index_of(ref) for ref in refs)
    return tuple(chip for chip in found if chip is not None)
