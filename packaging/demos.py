"""Record the sessions that come with Draftscope: real runs of the default model, marked for a talk.

Called by `make demos`, best on a machine with nothing else to do: what is timed is shown. Each
session is what the engine gave, whole; the markers stand where a rule finds their moment, and the
numbers in their notes are read from the run. With --mark nothing is run: the sessions that are
there are marked anew.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "packaging")]

from demo_moments import find  # noqa: E402  # after the path
from msgspec.structs import replace  # noqa: E402

from app.viewmodels.document import Document  # noqa: E402
from engine.control import Control  # noqa: E402
from engine.models.registry import DEFAULT_MODEL  # noqa: E402
from engine.request import RunRequest  # noqa: E402
from engine.trace import codec  # noqa: E402
from engine.trace.events import Round, Settings  # noqa: E402
from engine.trace.markers import Marker, SessionNote, moment_of  # noqa: E402
from engine.trace.packed import packed  # noqa: E402
from engine.trace.reader import TraceReader  # noqa: E402
from engine.trace.text import text_of  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.session import Session
    from engine.trace.events import Event
    from engine.trace.figures import Figures

TALKS = ROOT / "packaging" / "demos.toml"
MOST = 200_000  # bytes of a packed session


@dataclass(frozen=True)
class Take:
    """One run of a session: how it decodes, and settings that change at a round."""

    settings: Settings
    name: str = ""  # of the run, where there are several
    seed: int = 0
    changes: dict[int, Settings] = field(default_factory=dict)  # by the round they begin with

    @classmethod
    def of(cls, told: dict[str, Any]) -> Take:
        """Read one of demos.toml."""
        temperature = told["temperature"]
        changes = {
            one["round"]: Settings(drafter=one["drafter"], k=one["k"], temperature=temperature)
            for one in told.get("change", ())
        }
        settings = Settings(drafter=told["drafter"], k=told["k"], temperature=temperature)
        return cls(settings, told.get("name", ""), told.get("seed", 0), changes)


def record(session: Session, demo: dict[str, Any], take: Take) -> list[Event]:
    """Run one take and return its events."""
    control = Control()
    request = RunRequest(
        prompt=demo["prompt"],
        settings=take.settings,
        seed=take.seed,
        max_new_tokens=demo["tokens"],
        baseline=True,
    )
    events: list[Event] = []
    for event in session.run(request, control):
        events.append(event)
        if isinstance(event, Round) and event.index + 1 in take.changes:
            control.change_settings(take.changes[event.index + 1])
    return events


def marked(demo: dict[str, Any], take: Take, events: list[Event]) -> list[Event]:
    """Return the run's note and markers, in the order of their moments."""
    document = Document(events)
    assert document.run is not None  # the events are a run's
    title = f"{demo['title']}: {take.name}" if take.name else demo["title"]
    markers: dict[tuple[int, str], Marker] = {}
    for mark in (one for one in demo["mark"] if one.get("take", take.name) == take.name):
        found = find(mark["where"], document)
        if found is None or found[:2] in markers:
            continue
        index, phase, slot = found
        told = numbers(document, index, slot)
        markers[index, phase] = Marker(
            run=document.run,
            id="",
            round=index,
            phase=phase,  # type: ignore[arg-type]
            slot=slot,
            title=mark["title"].format(**told),
            note=mark["note"].format(**told),
        )
    ordered = sorted(markers.values(), key=moment_of)
    numbered = [replace(one, id=f"m{place}") for place, one in enumerate(ordered, 1)]
    return [SessionNote(run=document.run, title=title, note=demo["about"]), *numbered]


def unmarked(path: Path) -> list[list[Event]]:
    """Return the events of a session's runs without what is said of them."""
    runs: dict[str, list[Event]] = {}
    for event in TraceReader(path):
        if not isinstance(event, Marker | SessionNote):
            runs.setdefault(event.run, []).append(event)
    return list(runs.values())


def told_anew(path: Path, demo: dict[str, Any]) -> list[list[Event]]:
    """Return the events of a session's runs with what demos.toml says of them now."""
    takes = map(Take.of, demo["take"])
    runs = zip(takes, unmarked(path), strict=True)
    return [[*events, *marked(demo, take, events)] for take, events in runs]


def numbers(document: Document, index: int, slot: int | None) -> dict[str, str]:
    """Return what a note may say of the run, and of the round and the token that it stands at."""
    figures: Figures = document.statistics.figures()
    settings = document.settings_at(0)
    assert settings is not None
    assert document.started is not None
    weights = document.started.drafter.parameters if document.started.drafter else 0
    told = {
        "emitted": str(figures.emitted),
        "rounds": str(figures.rounds),
        "drafted": str(figures.drafted),
        "accepted": str(figures.accepted),
        "low": f"{figures.speedup_low or 0:.2f}",
        "high": f"{figures.speedup_high or 0:.2f}",
        "c": f"{100 * (figures.c or 0):.0f}",
        "millions": f"{weights / 1e6:.1f}",
        "per_pass": f"{figures.tokens_per_pass or 0:.2f}",
        "speedup": f"{figures.speedup or 0:.2f}",
        "acceptance": f"{100 * (figures.acceptance or 0):.0f}",
        "drafter": settings.drafter,
        "k": str(settings.k),
    }
    if index >= 0:
        one = document.rounds[index]
        told |= {"accepted_here": str(one.accepted), "drafted_here": str(len(one.drafted))}
        told["emitted_here"] = str(one.emitted)
        if slot is not None and 0 <= slot < len(one.drafted):
            token = one.drafted[slot]
            if token.u is not None and token.acceptance_probability is not None:
                told |= {
                    "u_here": f"{token.u:.3f}",
                    "threshold_here": f"{token.acceptance_probability:.3f}",
                    "fate_here": token.fate.value,
                }
    return told


def write(folder: Path, demo: dict[str, Any], runs: Iterable[list[Event]]) -> Path:
    """Pack a session's runs into its file."""
    lines = [codec.encode(event) for events in runs for event in events]
    data = b"".join(packed(lines))
    if len(data) > MOST:
        raise SystemExit(f"{demo['name']} takes {len(data):,} bytes packed; {MOST:,} at most")
    path = folder / f"{demo['name']}.jsonl.zst"
    path.write_bytes(data)
    return path


def talks(names: list[str]) -> list[dict[str, Any]]:
    """Return what demos.toml says of the sessions named, or of all."""
    demos: list[dict[str, Any]] = tomllib.loads(TALKS.read_text("utf-8"))["demo"]
    return [demo for demo in demos if not names or demo["name"] in names]


def mark(folder: Path, names: list[str]) -> None:
    """Say anew what is said of the sessions that are there: no model is needed."""
    for demo in talks(names):
        path = folder / f"{demo['name']}.jsonl.zst"
        write(folder, demo, told_anew(path, demo))
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def main(folder: Path, names: list[str]) -> None:
    """Record the sessions named, or all."""
    import engine

    folder.mkdir(parents=True, exist_ok=True)
    session = engine.Session(engine.load_model(DEFAULT_MODEL))
    for demo in talks(names):
        runs = []
        for take in map(Take.of, demo["take"]):
            for settings in (take.settings, *take.changes.values()):
                session.drafter(settings.drafter)
            record(session, demo, take)  # once to warm up: first passes are slow
            events = record(session, demo, take)
            runs.append([*events, *marked(demo, take, events)])
        path = write(folder, demo, runs)
        figures = Document(runs[0]).statistics.figures()
        print(
            f"{path.name}: {path.stat().st_size:,} bytes, {figures.rounds} rounds, "
            f"acceptance {figures.acceptance or 0:.2f}, speed-up {figures.speedup or 0:.2f}"
        )
        if "-v" in sys.argv:
            print(text_of(runs[0]))


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    (mark if "--mark" in sys.argv else main)(ROOT / "assets" / "demos", words)
