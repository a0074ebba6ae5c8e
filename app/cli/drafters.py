"""`draftscope drafters`: the trained drafters that there are, and whether they fit a target.

Knows how they are listed; loads a target's header and tokenizer, and the model only to measure.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from app.cli.progress import ProgressLine
from engine.drafters.names import TRAINED, WAYS, is_trained
from engine.drafters.registry import drafters_folder, list_drafters
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    import argparse

    from engine.drafters.registry import DrafterEntry
    from engine.models.fingerprint import Fingerprint


def drafters(options: argparse.Namespace) -> int:
    """List the trained drafters, and measure first what is asked for."""
    if options.measure:
        _measure(options.target, options.measure)
    entries = list_drafters()
    fingerprint, problem = _fingerprint(options.target)
    if options.json:
        listed = [_record(entry, fingerprint) for entry in entries]
        print(json.dumps({"target": options.target, "problem": problem, "drafters": listed}))
        return 0
    width = max(len(entry.spec) for entry in entries)
    for entry in entries:
        print(f"{entry.spec:<{width}}  {_line(entry, fingerprint, options.target)}")
        if entry.held_out is not None and entry.held_out.greedy:
            shares = ", ".join(f"{share:.2f}" for share in entry.held_out.greedy)
            c = "" if entry.held_out.c is None else f"; c {entry.held_out.c:.2g}"
            print(f"{'':<{width}}  held-out acceptance by position, greedy: {shares}{c}")
    if problem:
        print(f"Whether they fit is not known: {problem}")
    print(f"Your own live in {drafters_folder()}. Any drafter: {WAYS}.")
    return 0


def _measure(target: str, drafters: list[str]) -> None:
    """Measure c of some drafters on this machine, and keep it in their files."""
    from engine.benchmarks.drafting_cost import check_kept, keep_cost, measure_cost
    from engine.loading import load_model
    from engine.session import Session

    named = [name if is_trained(name) else f"{TRAINED}{name}" for name in drafters]
    for drafter in named:
        check_kept(drafter)
    line = ProgressLine(sys.stderr)
    try:
        session = Session(load_model(target, progress=line))
        for drafter in named:
            keep_cost(drafter, measure_cost(session, drafter, progress=line))
    finally:
        line.close()


def _fingerprint(target: str) -> tuple[Fingerprint | None, str]:
    """Return a target's fingerprint, or a sentence on why it is not known."""
    from engine.models.fingerprint import fingerprint_of
    from engine.models.formats.weights import open_checkpoint
    from engine.models.registry import resolve
    from engine.models.text.tokenizer import open_tokenizer

    try:
        path = resolve(target)
        checkpoint = open_checkpoint(path)
        try:
            return fingerprint_of(checkpoint, open_tokenizer(path)), ""
        finally:
            checkpoint.close()
    except DraftscopeError as error:
        return None, str(error)


def _fits(entry: DrafterEntry, fingerprint: Fingerprint | None) -> bool | None:
    """Return whether a drafter fits; None where that is not known."""
    if entry.problem:
        return False
    return None if fingerprint is None else entry.fits(fingerprint)


def _line(entry: DrafterEntry, fingerprint: Fingerprint | None, target: str) -> str:
    if entry.problem:
        return f"cannot be used: {entry.problem}"
    fits = _fits(entry, fingerprint)
    said = {True: f"fits {target}", False: f"for {entry.target}", None: f"for {entry.target}"}
    return (
        f"{entry.kind}, {entry.size / 1e6:.1f} MB, {entry.parameters / 1e6:.1f} M parameters, "
        f"{said[fits]}"
    )


def _record(entry: DrafterEntry, fingerprint: Fingerprint | None) -> dict[str, Any]:
    return {
        "spec": entry.spec,
        "kind": entry.kind,
        "bytes": entry.size,
        "parameters": entry.parameters,
        "target": entry.target,
        "fits": _fits(entry, fingerprint),
        "held_out": msgspec.to_builtins(entry.held_out),
        "bundled": entry.bundled,
        "problem": entry.problem,
    }
