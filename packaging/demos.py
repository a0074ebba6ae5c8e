"""Record the sessions that come with Draftscope: real runs of the default model, marked for a talk.

Called by `make demos`, best on a machine with nothing else to do: what is timed is shown. Each
session is what the engine gave, whole; the markers stand where a rule finds their moment, and the
numbers in their notes are read from the run.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from app.viewmodels.document import Document  # noqa: E402  # after the path
from engine.control import Control  # noqa: E402
from engine.models.registry import DEFAULT_MODEL  # noqa: E402
from engine.request import RunRequest  # noqa: E402
from engine.trace import codec  # noqa: E402
from engine.trace.events import Fate, Round, Settings  # noqa: E402
from engine.trace.markers import Marker, SessionNote  # noqa: E402
from engine.trace.packed import packed  # noqa: E402
from engine.trace.text import text_of  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engine.session import Session
    from engine.trace.events import Event
    from engine.trace.figures import Figures

TALKS = ROOT / "packaging" / "demos.toml"
MOST = 200_000  # bytes of a packed session

Found = tuple[int, str, int | None]  # index of a round, phase, token for the court


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


# Where a moment stands: index of a round, phase, token for the court


def start(document: Document) -> Found:
    """Find the prompt alone."""
    return -1, "done", None


def first_rejection(document: Document) -> Found | None:
    """Find the first verdict against a token after one that was kept, or against any."""
    found = None
    for one in document.rounds:
        for slot, token in enumerate(one.drafted):
            if token.fate is Fate.REJECTED:
                if slot:
                    return one.index, "verify", slot
                found = found or (one.index, "verify", slot)
    return found


def narrowest(document: Document) -> Found | None:
    """Find the verdict that the draw decided most narrowly."""
    near = [
        (abs(token.u - token.acceptance_probability), one.index, slot)
        for one in document.rounds
        for slot, token in enumerate(one.drafted)
        if token.u is not None and token.acceptance_probability not in (None, 0.0, 1.0)
    ]
    if not near:
        return None
    _, index, slot = min(near)
    return index, "verify", slot


def correction(document: Document) -> Found | None:
    """Find the first correction after the first rejection's round."""
    at = first_rejection(document)
    return None if at is None else (at[0], "done", -1)


def fullest(document: Document) -> Found | None:
    """Find the first round in which the most tokens were kept."""
    best = max(document.rounds, key=lambda one: (one.accepted, -one.index), default=None)
    return None if best is None else (best.index, "done", -1 if best.closing else None)


def emptiest(document: Document) -> Found | None:
    """Find the first round of which nothing was kept, at the longest draft."""
    for one in document.rounds:
        if one.drafted and not one.accepted:
            return one.index, "done", 0
    return None


def first_match(document: Document) -> Found | None:
    """Find the first draft that was copied from further up."""
    for one in document.rounds:
        if one.match is not None and one.drafted:
            return one.index, "draft", 0
    return None


def change(number: int, document: Document) -> Found | None:
    """Find the round with which the n-th change of settings begins."""
    if number >= len(document.changes):
        return None
    return document.changes[number].before_round, "done", None


def says(words: str, document: Document) -> Found | None:
    """Find the round in which the text first holds these words."""
    so_far = ""
    for one in document.rounds:
        so_far += "".join(one.texts)
        if words in so_far:
            return one.index, "done", None
    return None


def finish(document: Document) -> Found | None:
    """Find the end."""
    return (len(document.rounds) - 1, "done", None) if len(document.rounds) else None


RULES: dict[str, Callable[[Document], Found | None]] = {
    rule.__name__: rule
    for rule in (
        start,
        first_rejection,
        narrowest,
        correction,
        fullest,
        emptiest,
        first_match,
        finish,
    )
}


def find(where: str, document: Document) -> Found | None:
    """Find the moment that a marker's `where` names."""
    rule, _, word = where.partition(" ")
    if rule == "change":
        return change(int(word), document)
    return says(word, document) if rule == "says" else RULES[rule](document)


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
    """Return the run's note and markers."""
    document = Document(events)
    assert document.run is not None  # it was recorded just now
    title = f"{demo['title']} ({take.name})" if take.name else demo["title"]
    said: list[Event] = [SessionNote(run=document.run, title=title, note=demo["about"])]
    taken: set[tuple[int, str]] = set()
    for mark in (one for one in demo["mark"] if one.get("take", take.name) == take.name):
        found = find(mark["where"], document)
        if found is None or found[:2] in taken:
            continue
        taken.add(found[:2])
        index, phase, slot = found
        said.append(
            Marker(
                run=document.run,
                id=f"m{len(taken)}",
                round=index,
                phase=phase,  # type: ignore[arg-type]
                slot=slot,
                title=mark["title"],
                note=mark["note"].format(**numbers(document, index, slot)),
            )
        )
    return said


def numbers(document: Document, index: int, slot: int | None) -> dict[str, str]:
    """Return what a note may say of the run, and of the round and the token that it stands at."""
    figures: Figures = document.statistics.figures()
    settings = document.settings_at(0)
    assert settings is not None
    told = {
        "emitted": str(figures.emitted),
        "rounds": str(figures.rounds),
        "per_pass": f"{figures.tokens_per_pass or 0:.2f}",
        "speedup": f"{figures.speedup or 0:.2f}",
        "acceptance": f"{100 * (figures.acceptance or 0):.0f}",
        "drafter": settings.drafter,
        "k": str(settings.k),
    }
    if index >= 0:
        one = document.rounds[index]
        told |= {"accepted_here": str(one.accepted), "drafted_here": str(len(one.drafted))}
        if slot is not None and 0 <= slot < len(one.drafted):
            token = one.drafted[slot]
            if token.u is not None and token.acceptance_probability is not None:
                told |= {
                    "u_here": f"{token.u:.3f}",
                    "threshold_here": f"{token.acceptance_probability:.3f}",
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


def main(folder: Path, names: list[str]) -> None:
    """Record the sessions named, or all."""
    import engine

    folder.mkdir(parents=True, exist_ok=True)
    session = engine.Session(engine.load_model(DEFAULT_MODEL))
    for demo in tomllib.loads(TALKS.read_text("utf-8"))["demo"]:
        if names and demo["name"] not in names:
            continue
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
    main(ROOT / "assets" / "demos", words)
