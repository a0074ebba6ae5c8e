"""What the recorded rows of a law imply about one another, about a token and about a draw.

A trace keeps a few rows of each law, in seven digits, and the mass that the others hold: what can
be derived from them lies within bounds. Knows `Laws` and settings; no round and no run.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from engine.check.findings import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.check.findings import Ledger
    from engine.trace.events import Laws, Settings

DIGITS = 1e-6  # relative: seven digits are recorded
# absolute: a float32 softmax over 50,000 ids was seen to sum to 1 + 1e-5, over more ids to more
MASS = 5e-5
_ENTROPY = 2e-3  # nats: float32 sums over a vocabulary
_SMALLEST = 1e-30  # below it float32 loses digits ...
_NOTHING = 1e-37  # ... and here nearly all of them


def column(laws: Laws, name: str) -> dict[int, float]:
    """Return one law's recorded rows by id."""
    return dict(zip(laws.ids, getattr(laws, name), strict=True))


def check_columns(laws: Laws, ledger: Ledger, *, drafted: bool, rejected: bool) -> frozenset[str]:
    """Check that each law's rows and rest hold all of its mass; return the laws that do.

    What does not add up is not used any further: what followed from it would not follow either.
    """
    ledger.equal(Kind.LAW, "rows with the same id", len(laws.ids) - len(set(laws.ids)), 0)
    ledger.equal(Kind.LAW, "rows of q_draft", bool(laws.q_draft), drafted)
    ledger.equal(Kind.LAW, "rows of the residual", bool(laws.residual), rejected)
    sound = set()
    for name in ("p_target", "p_raw", "q_draft", "residual"):
        values, rest = getattr(laws, name), getattr(laws, f"rest_{name}")
        if not values:
            continue
        lawful = rest >= 0.0 and all(0.0 <= value <= 1.0 + MASS for value in values)
        total = math.fsum((*values, rest))
        true = lawful and abs(total - 1.0) <= MASS
        if ledger.holds(Kind.LAW, f"sum of the rows and the rest of {name}", true, total, 1.0):
            sound.add(name)
    return frozenset(sound)


def check_overlap(laws: Laws, sound: frozenset[str], ledger: Ledger) -> bool:
    """Check sum(min(p_target, q_draft)) against the rows; return whether it can be used."""
    if laws.overlap is None or not {"p_target", "q_draft"} <= sound:
        return False
    low = math.fsum(map(min, laws.p_target, laws.q_draft))
    high = low + min(laws.rest_p_target, laws.rest_q_draft)
    true = low - MASS <= laws.overlap <= high + MASS
    return ledger.holds(Kind.LAW, "overlap", true, laws.overlap, f"from {low} to {high}")


def check_residual(laws: Laws, ledger: Ledger) -> bool:
    """Check every row of the residual: max(0, p_target - q_draft) over its mass, 1 - overlap.

    Return whether it can be used.
    """
    assert laws.overlap is not None
    mass = 1.0 - laws.overlap
    least, most = mass - MASS, mass + MASS
    rows = zip(laws.ids, laws.p_target, laws.q_draft, laws.residual, strict=True)
    for token, p_target, q_draft, residual in rows:
        digits = DIGITS * (p_target + q_draft)
        low = max(0.0, p_target - q_draft - digits) / most
        left = max(0.0, p_target - q_draft + digits)
        high = min(1.0, left / least) if least > 0.0 else 1.0
        true = low * (1.0 - DIGITS) - _NOTHING <= residual <= high * (1.0 + DIGITS) + _NOTHING
        bounds = f"from {low} to {high}"
        if not ledger.holds(Kind.RESIDUAL, f"row of token {token}", true, residual, bounds):
            return False  # the others divide by the same mass
    return True


def check_entropies(laws: Laws, vocabulary: int, sound: frozenset[str], ledger: Ledger) -> None:
    """Check each entropy against what rows and rest allow: the rest on one id, or spread evenly."""
    names = [("p_target", "entropy_target"), ("p_raw", "entropy_raw")]
    names += [("q_draft", "entropy_draft")]
    for name, field in names:
        recorded: float = getattr(laws, field)
        if not getattr(laws, name):
            ledger.equal(Kind.LAW, field, recorded, 0.0)
        if name not in sound:
            continue
        rest: float = getattr(laws, f"rest_{name}")
        low = math.fsum(-x * math.log(x) for x in (*getattr(laws, name), rest) if x > 0.0)
        others = max(1, vocabulary - len(laws.ids))
        high = low + rest * math.log(others) + 2 * MASS * math.log(max(2, vocabulary))
        true = low - _ENTROPY <= recorded <= high + _ENTROPY
        ledger.holds(Kind.LAW, field, true, recorded, f"from {low} to {high}")


def check_draw(laws: Laws, name: str, token: int, u: float, ledger: Ledger) -> None:
    """Check that `u` draws `token` by the inverse of the cumulative law, as far as rows tell.

    The mass of all ids below the token is at least that of the rows below it, and at most that and
    the rest.
    """
    values = column(laws, name)
    mass = values.get(token, 0.0)
    below = math.fsum(value for other, value in values.items() if other < token)
    high = below + mass + getattr(laws, f"rest_{name}")
    true = mass > 0.0 and below - MASS <= u <= high + MASS
    bounds = f"u from {below} to {high}" if mass > 0.0 else "never: it has no mass"
    ledger.holds(Kind.DRAW, f"token {token} drawn from {name}", true, f"u {u}", bounds)


def check_settings(
    laws: Laws,
    settings: Settings,
    counts: Mapping[int, int],
    sound: frozenset[str],
    ledger: Ledger,
) -> None:
    """Check that the settings in force make `p_target` of `p_raw`, up to what was cut.

    ln p_target = (ln p_raw + bias - penalties) / temperature + a constant where a token was kept,
    and what was cut is never above what was kept. A repetition penalty depends on the sign of a
    logit, which a trace does not hold: there nothing is derived.

    Parameters
    ----------
    counts
        How often the output holds each id before this position.
    """
    if settings.repetition_penalty != 1.0 or not {"p_target", "p_raw"} <= sound:
        return
    scores: list[tuple[int, float, float]] = []  # id, ln p_raw as moved, p_target
    bias: dict[int, float] = {}
    for token, added in settings.logit_bias:
        bias[token] = bias.get(token, 0.0) + added
    for token, p_raw, p_target in zip(laws.ids, laws.p_raw, laws.p_target, strict=True):
        if p_raw > _SMALLEST:
            count = counts.get(token, 0)
            moved = bias.get(token, 0.0) - settings.frequency_penalty * count
            moved -= settings.presence_penalty * (count > 0)
            scores.append((token, math.log(p_raw) + moved, p_target))
    kept = [row for row in scores if row[2] > _SMALLEST]
    if not kept:
        return
    lowest = min(score for _, score, _ in kept)
    for token, score, p_target in scores:
        if p_target == 0.0:
            true = score <= lowest + 1e-4
            ledger.holds(Kind.LAW, f"p_target of token {token}", true, 0.0, "more than a kept one")
    if settings.temperature > 0.0:
        _check_temperature(kept, settings, ledger)


def _check_temperature(
    kept: list[tuple[int, float, float]], settings: Settings, ledger: Ledger
) -> None:
    temperature = settings.temperature
    _, best_score, best = max(kept, key=lambda row: row[2])
    for token, score, p_target in kept:
        exponent = (score - best_score) / temperature
        follows = best * math.exp(min(exponent, 700.0))
        # logits near 30 in float32, divided; then seven digits
        relative = 2e-5 * (1.0 + 1.0 / temperature) + 1e-6 * abs(exponent)
        true = relative > 0.1 or math.isclose(p_target, follows, rel_tol=relative)
        what = f"p_target of token {token}"
        if not ledger.holds(Kind.LAW, what, true, p_target, follows):
            return
        if p_target < settings.min_p * best * (1.0 - DIGITS):
            ledger.holds(Kind.LAW, what, False, p_target, f"0 below min-p of {best}")
