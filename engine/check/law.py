"""Does sampled speculative text follow the target's law? On toy laws, and on one real context.

Knows what is tested and how strict the whole report is; draws nothing itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.check.context import ContextResult, run_context
from engine.check.fit import LEVEL
from engine.check.toy import PAIRS, ToyResult, run_pair
from engine.errors import DraftscopeError
from engine.prompting import prompt_tokens
from engine.run import check_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engine.check.fit import Fit, Share
    from engine.session import Session
    from engine.trace.events import Settings

    Progress = Callable[[int, int, str], None]

# A raw text: what follows is open, and a look-up finds a proposal that is often kept.
PROMPT = "My favourite colours are red, green and blue. Her favourite colours are red,"
DRAWS = 2_000  # rounds of a real context: 20 ms each on two cores with a small target
TOY_DRAWS = 200_000  # standard error of a share: 0.0011


class LawTest(msgspec.Struct, frozen=True, kw_only=True):
    """One test of the report, in a word."""

    what: str
    p_value: float
    follows: bool


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All tests, each so strict that one in 1,000 reports on lawful draws names a failure."""

    target: str
    plan: str
    prompt: str
    draws: int
    settings: Settings
    level: float  # LEVEL / number of tests (Bonferroni)
    tests: tuple[LawTest, ...]
    failures: int
    toys: tuple[ToyResult, ...]
    contexts: tuple[ContextResult, ...]


def check_law(
    session: Session,
    drafters: Sequence[str],
    settings: Settings,
    *,
    prompt: str = PROMPT,
    raw: bool = True,
    draws: int = DRAWS,
    toy_draws: int = TOY_DRAWS,
    on_progress: Progress | None = None,
    on_result: Callable[[ToyResult | ContextResult], None] | None = None,
) -> Report:
    """Draw, count and test.

    Parameters
    ----------
    session
        Of the target; it makes the drafters.
    drafters
        As in `Settings.drafter`.
    settings
        Temperature above 0; `drafter` is replaced by each of the drafters.
    prompt, raw
        The real context; `raw` leaves the chat template out.
    draws, toy_draws
        Rounds of the real context for each drafter; rounds of each toy pair.
    on_progress, on_result
        Called with (draws done, draws in all, what is drawn); with each result.

    Raises
    ------
    DraftscopeError
        For settings that cannot be run, or that leave nothing to chance.
    """
    if "none" in drafters:
        raise DraftscopeError("Plain rounds draft nothing; choose a drafter.")
    tokens = _tokens(session, settings, prompt, raw=raw)
    told = on_result or (lambda _: None)
    toys, contexts = [], []
    for pair in PAIRS:
        toys.append(run_pair(pair, toy_draws, on_progress))
        told(toys[-1])
    for name in drafters:
        contexts.append(_context(session, name, settings, tokens, draws, on_progress))
        told(contexts[-1])
    level, tests = _tests(toys, contexts)
    return Report(
        target=session.target.info.name,
        plan=session.target.info.plan,
        prompt=prompt,
        draws=draws,
        settings=settings,
        level=level,
        tests=tests,
        failures=sum(not test.follows for test in tests),
        toys=tuple(toys),
        contexts=tuple(contexts),
    )


def _context(
    session: Session,
    name: str,
    settings: Settings,
    tokens: list[int],
    draws: int,
    on_progress: Progress | None,
) -> ContextResult:
    drafter = session.drafter(name)
    assert drafter is not None, "refused before anything was drawn"
    named = msgspec.structs.replace(settings, drafter=drafter.spec)
    return run_context(session.target, session.pool, tokens, drafter, named, draws, on_progress)


def _tokens(session: Session, settings: Settings, prompt: str, *, raw: bool) -> list[int]:
    """Return the context, if it and the settings leave something to draw."""
    target = session.target
    if check_settings(settings, target.transformer.vocabulary).greedy:
        raise DraftscopeError(
            "At temperature 0 nothing is drawn, so there is no law to test; choose a temperature "
            "above 0, or draftscope check greedy."
        )
    tokens = prompt_tokens(target, prompt, raw=raw)
    if len(tokens) + settings.k + 2 > target.info.context_length:
        raise DraftscopeError(
            f"The prompt leaves no room for a round in {target.info.name}'s context of "
            f"{target.info.context_length} tokens; shorten the prompt."
        )
    return tokens


def _tests(
    toys: Sequence[ToyResult], contexts: Sequence[ContextResult]
) -> tuple[float, tuple[LawTest, ...]]:
    """Return the level of each test, and the tests."""
    found = [*_of_toys(toys), *_of_contexts(contexts)]
    controls = [(toy.pair.name, toy.control) for toy in toys if toy.control is not None]
    level = LEVEL / (len(found) + len(controls))
    tests = [
        LawTest(what=what, p_value=result.p_value, follows=result.follows(level))
        for what, result in found
    ]
    # what the same draws must not follow: a test that never fails would say nothing
    tests += [
        LawTest(
            what=f"toy pair {name!r}, control: not the drafter's law",
            p_value=control.p_value,
            follows=control.p_value < level,
        )
        for name, control in controls
    ]
    return level, tuple(tests)


def _of_toys(toys: Sequence[ToyResult]) -> Iterator[tuple[str, Fit | Share]]:
    for toy in toys:
        yield f"toy pair {toy.pair.name!r}, tokens", toy.tokens
        yield f"toy pair {toy.pair.name!r}, acceptance", toy.acceptance


def _of_contexts(contexts: Sequence[ContextResult]) -> Iterator[tuple[str, Fit | Share]]:
    for context in contexts:
        yield f"{context.drafter}, first token", context.first
        if context.second is not None:
            yield f"{context.drafter}, second token", context.second
        if context.acceptance is not None:
            yield f"{context.drafter}, acceptance", context.acceptance
