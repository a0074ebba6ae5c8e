"""`draftscope check law`: what was drawn against the target's law, a paragraph a test."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from app.cli.pair import load_pair, typed
from app.cli.progress import ProgressLine
from engine.check.law import PROMPT, check_law
from engine.check.toy import ToyResult
from engine.trace.events import Settings

if TYPE_CHECKING:
    import argparse

    from engine.check.context import ContextResult
    from engine.check.fit import Fit, Share
    from engine.check.law import Report


def check(options: argparse.Namespace) -> int:
    """Draw, count and test; return 0, or 1 if something does not follow."""
    prompt = PROMPT if options.prompt is None else typed(options.prompt)
    line = ProgressLine(sys.stderr)
    session, drafters = load_pair(options, line)
    named = {name: getattr(options, name) for name in Settings.__struct_fields__}
    settings = Settings(**named | {"drafter": "none"})

    def print_result(result: ToyResult | ContextResult) -> None:
        line.close()
        lines = toy_lines(result) if isinstance(result, ToyResult) else context_lines(result)
        print("\n".join(lines))
        sys.stdout.flush()

    try:
        report = check_law(
            session,
            drafters,
            settings,
            prompt=prompt,
            raw=options.raw or options.prompt is None,
            draws=options.draws,
            toy_draws=options.toy_draws,
            on_progress=line,
            on_result=None if options.json else print_result,
        )
    finally:
        line.close()
    print(msgspec.json.encode(report).decode() if options.json else summary(report))
    return 1 if report.failures else 0


def toy_lines(result: ToyResult) -> list[str]:
    """Write one toy pair."""
    lines = [
        f"toy pair {result.pair.name!r}",
        f"  tokens        {_fit(result.tokens)}",
        f"  acceptance    {_share(result.acceptance)}",
    ]
    if result.control is not None:
        lines.append(f"  control       against the drafter's law: p = {result.control.p_value:.2g}")
    return lines


def context_lines(result: ContextResult) -> list[str]:
    """Write the rounds of one drafter."""
    lines = [
        f"{result.drafter}, k {result.k}: {result.drafted:.2f} drafted and "
        f"{result.emitted:.2f} emitted a round",
        f"  first token   {_fit(result.first)}",
    ]
    if result.second is not None:
        lines.append(f"  second token  {_fit(result.second)}, after token {result.second_after}")
    else:
        lines.append("  second token  too few rounds emitted two")
    share = result.acceptance
    lines.append(f"  acceptance    {_share(share) if share else 'nothing was drafted'}")
    return lines


def summary(report: Report) -> str:
    """Write what the tests came to."""
    begin = (
        f"{report.target}, {report.plan} plan: {len(report.tests)} tests, each at the level "
        f"{report.level:.1g}"
    )
    if not report.failures:
        return f"{begin}; all of them hold"
    failed = "; ".join(test.what for test in report.tests if not test.follows)
    return f"{begin}; {report.failures} do not hold: {failed}"


def _fit(fit: Fit) -> str:
    pooled = f", {fit.pooled} ids pooled" if fit.pooled else ""
    impossible = f", {fit.impossible} impossible draws" if fit.impossible else ""
    degrees = "degree" if fit.freedom == 1 else "degrees"
    return (
        f"chi-square {fit.statistic:.2f} with {fit.freedom} {degrees} of freedom, "
        f"p = {fit.p_value:.2g} ({fit.draws} draws, {fit.cells} cells{pooled}{impossible})"
    )


def _share(share: Share) -> str:
    return (
        f"{share.measured:.2%} of {share.trials}, expected sum(min(p_target, q_draft)) = "
        f"{share.expected:.2%}, p = {share.p_value:.2g}"
    )
