"""How drafters are named in settings, and after how many layers early exit is worth a try.

Knows no model and no file. Loads no torch: the window names drafters before anything is loaded.
"""

from __future__ import annotations

HEAD, SMALL = "head", "small"  # kinds of trained drafters
EARLY = "early:"  # and the number of the target's first layers that draft
MODEL = "model:"  # and a small model's name or path
TRAINED = "trained:"  # and a trained drafter's name or path
LOOKUP_FIRST = "ngram+"  # and the drafter that drafts where a look-up finds nothing long
ANYWHERE = "ngram"  # what drafts for every target
QUICKEST = f"{LOOKUP_FIRST}{HEAD}"  # where the bundled head fits, by `draftscope bench articles`
BUNDLED = ("head", "small-2", "small-4")  # trained drafters that come with Draftscope
WAYS = (
    "ngram, head, small-2, small-4, trained:NAME, model:NAME, early:LAYERS, ngram+ before any of "
    "these, or none"
)


def behind(spec: str) -> str:
    """Return the drafter behind a look-up; a name without one is its own."""
    return spec.removeprefix(LOOKUP_FIRST)


def is_trained(spec: str) -> bool:
    """Whether a name is that of a trained drafter, bundled or the user's own."""
    return spec in BUNDLED or spec.startswith(TRAINED)


def usual_exit(layers: int) -> int:
    """Return after how many of a target's layers an untrained early exit starts to be accepted.

    Five sixths: measured on the default model's 30 layers, greedy, k = 3, acceptance was 0.04 after
    10, 0.17 after 20, 0.35 after 25 and 0.39 after 29 (`draftscope run --drafter early:N`).
    """
    return max(1, layers * 5 // 6)
