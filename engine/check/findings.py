"""What a check of a trace looked at, and what does not follow. Knows no event and no rule."""

from __future__ import annotations

import math
from collections import Counter
from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What was derived again."""

    ORDER = "order"  # which events follow which; indices and positions
    SETTINGS = "settings"  # drafter and k of a round against the settings in force
    FATE = "fate"  # the order of fates in a round, and what they call for
    VERDICT = "verdict"  # kept or not, by p_target, q_draft and u
    ACCEPTANCE = "acceptance probability"  # min(1, p_target / q_draft)
    UNIFORM = "uniform"  # u, by seed, position and purpose
    LAW = "law"  # the recorded rows: their sums, and the settings that made them
    RESIDUAL = "residual"  # max(0, p_target - q_draft) over its mass
    DRAW = "draw"  # the token that a uniform draws from the recorded rows
    CLOSING = "closing token"  # its kind and its probability
    CACHE = "cache"  # lengths and pages
    MATCH = "match"  # the place in the text that an n-gram look-up copied from
    TEXT = "text"  # emitted ids, texts, and the bytes of the tokens
    ENDING = "ending"  # end tokens, stop strings, limits, and the reason
    COMPARISON = "comparison"  # the texts of run and baseline
    STATISTICS = "statistics"  # sums of the figures


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in a trace that does not follow from the rest of it."""

    kind: Kind
    what: str  # e.g. "u of the test"
    recorded: str
    follows: str  # what follows instead
    round: int | None = None  # index; None: it belongs to no round
    token: int | str | None = None  # index among the drafted, or "closing"

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        if self.round is None:
            return "the run"
        if self.token is None:
            return f"round {self.round}"
        name = self.token if isinstance(self.token, str) else f"drafted {self.token}"
        return f"round {self.round}, {name}"


class Ledger:
    """Counts what was looked at and keeps what does not follow, with the place where it stands."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.looked_at: Counter[Kind] = Counter()
        self._round: int | None = None
        self._token: int | str | None = None

    def at(self, index: int | None, token: int | str | None = None) -> None:
        """Say where the next checks stand."""
        self._round, self._token = index, token

    def holds(self, kind: Kind, what: str, true: bool, recorded: object, follows: object) -> bool:
        """Count one check, keep a finding if it is not `true`, and return whether it is."""
        self.looked_at[kind] += 1
        if not true:
            finding = Finding(
                kind=kind,
                what=what,
                recorded=_written(recorded),
                follows=_written(follows),
                round=self._round,
                token=self._token,
            )
            self.findings.append(finding)
        return true

    def equal(self, kind: Kind, what: str, recorded: object, follows: object) -> bool:
        """Check that what is recorded is what follows, exactly."""
        return self.holds(kind, what, recorded == follows, recorded, follows)

    def near(
        self, kind: Kind, what: str, recorded: float, follows: float, *, relative: float
    ) -> bool:
        """Check it within a relative difference; numbers below 1e-37 count as 0."""
        true = math.isclose(recorded, follows, rel_tol=relative, abs_tol=1e-37)
        return self.holds(kind, what, true, recorded, follows)


def _written(value: object) -> str:
    """Write a value in full: what differs in the last digit must be seen to differ."""
    if value is None:
        return "nothing"
    return str(value) if isinstance(value, str | int) else repr(value)
