"""The report of `draftscope bench growth` in tables. Measures nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.benchmarks.words import duration, ratio_words, size, spread_words, table

if TYPE_CHECKING:
    from engine.benchmarks.growth import ContextCost, Growth
    from engine.benchmarks.long_session import LongSession, Mark


def text(report: Growth) -> str:
    """Write what the context costs, what reading costs, and what the session costs."""
    k = report.contexts[0].drafted
    contexts = [("context", "1 token", "over the shortest", f"{k + 1} tokens", "over 1 token")]
    contexts += [_context(one) for one in report.contexts]
    prefill = [("reading a prompt, tokens", "a token")]
    prefill += [(f"{one.begin} to {one.end}", duration(one.ns_per_token)) for one in report.prefill]
    return "\n\n".join([table(contexts), table(prefill), _session(report.session)])


def _context(one: ContextCost) -> tuple[str, str, str, str, str]:
    return (
        str(one.context),
        spread_words(one.one),
        ratio_words(one.one_over_first),
        spread_words(one.several),
        ratio_words(one.cost),
    )


def _session(session: LongSession) -> str:
    names = tuple(session.marks[0].parts)
    rows = [("tokens", "a round", "over the first", *names, "written")]
    rows += [_mark(one, names) for one in session.marks]
    acceptance = "-" if session.acceptance is None else f"{session.acceptance:.2f}"
    return (
        f"a session of {session.tokens} tokens in {session.rounds} rounds, acceptance {acceptance}:"
        f"\n{table(rows)}\n"
        "Session, n-gram drafter, penalties, rule, observation, text, journal and statistics are "
        "the real ones; the target is a chain\nof 512 tokens, so that the pass, which is the "
        "context's, costs next to nothing. Medians of the rounds that drafted "
        "4 tokens, before each length."
    )


def _mark(one: Mark, names: tuple[str, ...]) -> tuple[str, ...]:
    return (
        str(one.tokens),
        spread_words(one.round),
        ratio_words(one.over_first),
        *(duration(one.parts[name]) for name in names),
        size(one.journal_bytes),
    )
