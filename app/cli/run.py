"""`draftscope run`: a prompt decoded here in the terminal. Brings engine and terminal together."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.cli.interrupt import Interrupt
from app.cli.progress import ProgressLine
from app.cli.report import Outcome, as_lines, as_object
from app.cli.terminal import TokenPrinter
from engine.control import Control
from engine.drafters.names import ANYWHERE
from engine.drafters.registry import usual_drafter
from engine.errors import DraftscopeError
from engine.request import RunRequest
from engine.trace.events import FinishReason, Round, RunFinished, RunStarted, Settings
from engine.trace.journal import Journal
from engine.trace.packed import SUFFIX

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from engine.session import Session
    from engine.trace.events import Event

TOP_N = 8  # rows kept of each law, where they are kept


def run(options: argparse.Namespace) -> int:
    """Decode as asked; return 0, 1 for a fault within the run, or 130 if interrupted."""
    request = _request(options)
    _check_trace(options.trace)
    control = Control()
    with Interrupt(control.stop) as interrupt:
        session, drafter = _load(options, interrupt)
        settings = msgspec.structs.replace(request.settings, drafter=drafter)
        request = replace(request, settings=settings)
        line = ProgressLine(sys.stderr)
        outcome = _show(session.run(request, control, progress=line), options, line)
    if options.json:
        print(json.dumps(as_object(outcome), ensure_ascii=False, allow_nan=False))
    else:
        print("\n".join(["", *as_lines(outcome)]), file=sys.stderr)
    finished = outcome.finished
    if finished is not None and finished.reason is FinishReason.ERROR:
        raise DraftscopeError(finished.message)
    if interrupt.asked:
        raise KeyboardInterrupt
    return 0


def _request(options: argparse.Namespace) -> RunRequest:
    named = {name: getattr(options, name) for name in Settings.__struct_fields__}
    if options.drafter is None:
        named["drafter"] = ANYWHERE  # until the target is known
    return RunRequest(
        prompt=_prompt(options),
        settings=Settings(**named),
        raw=options.raw,
        seed=options.seed,
        max_new_tokens=options.max_new_tokens,
        stop_strings=tuple(options.stop),
        baseline=options.baseline,
        probes=not options.no_probes,
        top_n=TOP_N if options.trace is not None else 0,  # nobody else would see the laws
    )


def _prompt(options: argparse.Namespace) -> str:
    """Return the prompt as typed, or the file's text as it is."""
    if options.prompt is not None:
        text: str = options.prompt
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise DraftscopeError("The prompt is not UTF-8 text: check the terminal's encoding.")
        return text
    name = options.prompt_file
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as fault:
        raise DraftscopeError(
            f"{name} cannot be read ({fault.strerror}): check the path."
        ) from fault
    except UnicodeDecodeError as fault:
        raise DraftscopeError(f"{name} is not UTF-8 text: save it as UTF-8.") from fault


def _check_trace(trace: Path | None) -> None:
    """Refuse early what would fail only after the model was loaded."""
    if trace is None:
        return
    if trace.is_dir() or not trace.absolute().parent.is_dir():
        raise DraftscopeError(f"{trace} cannot be written: name a file in a folder that exists.")
    if trace.name.lower().endswith(SUFFIX):
        plain = trace.with_name(trace.name[: -len(SUFFIX)])
        raise DraftscopeError(
            "A run is written down line by line as it happens and cannot be packed meanwhile: "
            f"write {plain.name}, then `draftscope export {plain.name} {trace.name}`."
        )


def _load(options: argparse.Namespace, interrupt: Interrupt) -> tuple[Session, str]:
    """Load the target and the drafter that is asked for, or the usual one."""
    from engine import LoadingCancelled, Session, load_model  # torch, from here on

    line = ProgressLine(sys.stderr)
    try:
        target = load_model(
            options.target,
            device=options.device,
            plan=options.plan,
            progress=line,
            cancelled=lambda: interrupt.asked,
        )
        session = Session(target)
        # now, so that a wrong name is said before the run
        asked = options.drafter
        drafter = usual_drafter(target.fingerprint) if asked is None else asked
        session.drafter(drafter, lambda: interrupt.asked, progress=line)
        return session, drafter
    except LoadingCancelled:
        raise KeyboardInterrupt from None
    finally:
        line.close()


def _show(events: Iterator[Event], options: argparse.Namespace, waiting: ProgressLine) -> Outcome:
    """Let the events pass by: into the trace, onto the terminal, into the figures."""
    outcome = Outcome()
    printer = None if options.json else TokenPrinter(sys.stdout, show_drafts=options.show_drafts)
    with ExitStack() as stack:
        stack.callback(getattr(events, "close", lambda: None))  # a generator's, also on a fault
        journal: Journal | None = None
        stack.callback(waiting.close)
        for event in events:
            waiting.close()  # the prompt is read
            if options.trace is not None and journal is None:
                journal = stack.enter_context(Journal(options.trace, replace=True))
            if journal is not None:
                journal.write(event)
            outcome.add(event)
            if printer is not None:
                _print(printer, event)
    return outcome


def _print(printer: TokenPrinter, event: Event) -> None:
    match event:
        case RunStarted():
            printer.begin(event.prompt)
        case Round():
            printer.round(event)
        case RunFinished():
            printer.end(event.tail)
