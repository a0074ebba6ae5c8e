"""Which programs' files can be imported, how each is known, and from a file to a trace.

Knows the table and the way through; what a file means is its program's own module's.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.importing import llama_cpp, lm_studio, plain, vllm
from app.importing.found import events_of
from app.importing.reading import read_material
from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.imported import Imported
from engine.trace.journal import journals_folder
from engine.whole import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.importing.found import Found
    from app.importing.reading import Material
    from engine.trace.events import Event

ADVICE = "choose another place for the session, or free space there"


@dataclass(frozen=True)
class Program:
    """One program whose statistics can be read.

    Attributes
    ----------
    key
        As in `--from`.
    expected
        What is read of it, in words.
    looks_like
        Whether a file holds it, by its content.
    read
        From a file's content to a run.
    """

    key: str
    expected: str
    looks_like: Callable[[Material], bool]
    read: Callable[[Material], Found]


PROGRAMS = (
    Program("plain", plain.EXPECTED, plain.looks_like, plain.read),
    Program("vllm", vllm.EXPECTED, vllm.looks_like, vllm.read),
    Program("llama.cpp", llama_cpp.EXPECTED, llama_cpp.looks_like, llama_cpp.read),
    Program("lmstudio", lm_studio.EXPECTED, lm_studio.looks_like, lm_studio.read),
)


def import_events(path: Path, key: str | None = None) -> list[Event]:
    """Return the trace of another program's file.

    Parameters
    ----------
    key
        The program, as in `PROGRAMS`; None: told by the content.

    Raises
    ------
    DraftscopeError
        If the file cannot be read, is of no program that is known, or contradicts itself.
    """
    material = read_material(Path(path))
    program = _named(key) if key is not None else _told(material)
    return events_of(program.read(material), material)


def can_import(path: Path) -> bool:
    """Return whether a file looks like another program's; False if it cannot be read."""
    try:
        material = read_material(Path(path))
    except DraftscopeError:
        return False
    return any(program.looks_like(material) for program in PROGRAMS)


def write_trace(events: Sequence[Event], out: Path) -> None:
    """Write an imported trace, whole or not at all.

    Raises
    ------
    DraftscopeError
        If it cannot be written; what was there is then as it was.
    """
    write_whole(out, b"".join(codec.encode(event) for event in events), ADVICE)


def import_to_journals(path: Path) -> tuple[Path, str]:
    """Import a file into the journals folder; return the session there and the program's name.

    The same file gives the same session, so that opening it twice makes no second one.

    Raises
    ------
    DraftscopeError
        As `import_events` and `write_trace`.
    """
    events = import_events(path)
    out = journals_folder() / f"imported-{events[0].run}.jsonl"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise DraftscopeError(f"{out} cannot be written ({reason}): {ADVICE}.") from fault
    write_trace(events, out)
    told = next(event for event in events if isinstance(event, Imported))
    return out, told.program


def _named(key: str) -> Program:
    return next(program for program in PROGRAMS if program.key == key)


def _told(material: Material) -> Program:
    """Return the program whose file it is."""
    for program in PROGRAMS:
        if program.looks_like(material):
            return program
    expected = "; ".join(program.expected for program in PROGRAMS)
    raise DraftscopeError(
        f"{material.name} holds no statistics that can be imported: expected are {expected}."
    )
