"""What a picture says about its run: models, settings, machine, day, and how figures were measured.

Knows the first event of a trace and the settings of a round. Knows no pixel and no panel's place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.caches import CachesModel
from app.viewmodels.imported import models_told, settings_told, telling_readings
from app.viewmodels.readings import plural
from app.viewmodels.settings_words import settings_words
from app.viewmodels.throughput import ThroughputModel

if TYPE_CHECKING:
    from app.viewmodels.document import Document
    from app.viewmodels.readings import Reading

NO_DRAFTER = "none"


@dataclass(frozen=True)
class RunWords:
    """A run in words, as it goes on in one of its rounds; "" for what a trace does not say.

    Attributes
    ----------
    settings
        k and the sampling.
    day
        When it was recorded, as `2026-11-29`, UTC.
    """

    target: str = ""
    drafter: str = ""
    settings: str = ""
    seed: str = ""
    machine: str = ""
    day: str = ""
    version: str = ""
    prompt: str = ""

    @property
    def facts(self) -> tuple[str, ...]:
        """Seed, machine, day and version, as far as they are known."""
        return tuple(part for part in (self.seed, self.machine, self.day, self.version) if part)


def run_words(document: Document, round_index: int = 0) -> RunWords:
    """Return a document's run in words, with the drafter and the settings of a round."""
    started = document.started
    if started is None:
        return RunWords()
    drafter = document.drafter_at(round_index)
    settings = document.settings_at(round_index) or started.settings
    told = document.imported
    said = settings_words(settings, 0 if drafter is None else None)
    return RunWords(
        target=started.target.name,
        drafter=NO_DRAFTER if drafter is None else drafter.name,
        settings=said if told is None else settings_told(started, told),
        seed="" if told is not None and "seed" in told.missing else f"seed {started.seed}",
        machine=started.machine,
        day=started.started_at[:10],
        version=f"Draftscope {started.version}" if started.version else "",
        prompt=started.prompt,
    )


def key_readings(document: Document, visible: int) -> tuple[Reading, ...]:
    """Return the readings that tell a run, the most telling first."""
    told = document.figures_at(visible).imported
    if told is not None:
        return telling_readings(told)
    speedup, run, plain = ThroughputModel(document, visible).readings
    acceptance, _, passes, _ = AcceptanceModel(document, visible).readings
    return speedup, acceptance, passes, run, plain


def caption_words(
    document: Document, panel: str, visible: int, round_index: int = 0, *, brief: bool = False
) -> str:
    """Say below a figure what run it shows, how far, and how its numbers were obtained.

    Parameters
    ----------
    panel
        Whose readings are defined; "all" for those that tell a run.
    brief
        Whether a definition is its first sentence alone: what is divided by what.
    """
    words = run_words(document, round_index)
    if not words.target:
        return ""
    drafter = "out a drafter" if words.drafter == NO_DRAFTER else f" {words.drafter}"
    pair = f"{words.target} with{drafter}"
    if document.imported is not None and document.started is not None:
        pair = models_told(document.started, document.imported)
    facts = "; ".join((words.settings, *words.facts))
    rounds = len(document.rounds)
    shown = f"All {rounds:,} rounds." if visible >= rounds > 1 else ""
    shown = shown or f"The first {plural(visible, 'round')} of {rounds:,}."
    if document.imported is not None:
        shown = ""  # its notice says that there are none
    readings: tuple[Reading, ...] = ()
    if panel == "acceptance":
        readings = AcceptanceModel(document, visible).readings
    elif panel == "throughput":
        readings = ThroughputModel(document, visible).readings
    elif panel == "caches":
        readings = CachesModel(document, visible).readings[:1]
    elif panel == "all":
        readings = key_readings(document, visible)
    told = []
    for one in readings:
        first, dot, _ = one.definition.partition(". ")
        said = f"{first}." if brief and dot else one.definition
        told.append(f"{one.name.capitalize()} ({one.how}): {said}")
    return " ".join(filter(None, (f"{pair}; {facts}.", shown, *told)))
