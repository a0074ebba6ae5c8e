"""Where an export's figures come from: models, settings, seed, machine, versions, day, definitions.

Knows the first events of a run and the figures' own words. Computes nothing; knows no format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.export.figures import readings
from app.export.header import detail
from app.viewmodels.imported import counts_words, missing_words, settings_told
from app.viewmodels.settings_words import change_words, settings_words
from engine.version import VERSION

if TYPE_CHECKING:
    from app.export.source import Source
    from app.viewmodels.document import Document
    from engine.trace.events import RunStarted, SettingsChanged
    from engine.trace.imported import Imported

LEFT_OUT = "left out on request"
NOT_RECORDED = "not recorded"


def facts(source: Source, document: Document | None = None) -> tuple[tuple[str, str], ...]:
    """Return what has to be known of a run, each with its name, in the order of telling.

    Parameters
    ----------
    document
        One of the source's runs; None: the chosen one.
    """
    document = document or source.document
    started = document.started
    assert started is not None  # a source has no other run
    kept = started.withheld
    drafter = started.drafter
    if document.imported is not None:
        return _imported_facts(started, document.imported)
    found = [
        ("target", _model(started.target.name, detail(started.target))),
        ("drafter", _model(drafter.name, detail(drafter)) if drafter else "none"),
        ("settings", settings_words(started.settings)),
        *(
            (f"settings from round {change.before_round + 1}", words)
            for change, words in _changes(document)
        ),
        ("seed", str(started.seed)),
        ("limit", f"{started.max_new_tokens:,} new tokens"),
        ("prompt", LEFT_OUT if "prompt" in kept else started.prompt or NOT_RECORDED),
        ("machine", LEFT_OUT if "machine" in kept else started.machine or NOT_RECORDED),
        ("recorded", f"{started.started_at} by Draftscope {started.version}"),
        ("exported", f"by Draftscope {VERSION} from run {started.run}"),
    ]
    return tuple(found)


def _imported_facts(started: RunStarted, told: Imported) -> tuple[tuple[str, str], ...]:
    """Return what is known of a run that another program made, and what is not."""
    kept = started.withheld
    drafter = started.drafter.name if started.drafter is not None else "none"
    seed = NOT_RECORDED if "seed" in told.missing else str(started.seed)
    limit = NOT_RECORDED
    if "limit" not in told.missing:
        limit = f"{started.max_new_tokens:,} new tokens"
    return (
        ("imported", f"from {told.program}: {told.form}"),
        ("target", started.target.name),
        ("drafter", drafter),
        ("settings", settings_told(started, told)),
        ("seed", seed),
        ("limit", limit),
        ("prompt", LEFT_OUT if "prompt" in kept else started.prompt or NOT_RECORDED),
        ("machine", LEFT_OUT if "machine" in kept else started.machine or NOT_RECORDED),
        ("counted", counts_words(told)),
        ("missing", missing_words(told)),
        ("recorded", started.started_at or NOT_RECORDED),
        ("exported", f"by Draftscope {VERSION} from run {started.run}"),
    )


def definitions(document: Document) -> tuple[tuple[str, str], ...]:
    """Return what each figure is, with its name."""
    return tuple((one.name, one.definition) for one in readings(document.figures_at(0)))


def _changes(document: Document) -> list[tuple[SettingsChanged, str]]:
    before = document.started.settings if document.started else None
    told = []
    for change in document.changes:
        told.append((change, change_words(before, change.settings)))
        before = change.settings
    return told


def _model(name: str, more: str) -> str:
    return f"{name} ({more})" if more else name
