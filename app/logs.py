"""The log of faults, for a report of them: a file in the user's data folder, never the terminal."""

from __future__ import annotations

import logging
import os
from logging.handlers import RotatingFileHandler

from app.paths import data_folder

_LARGEST = 1_000_000


def start_log() -> None:
    """Write the faults of this process to `draftscope.log`; without a folder, nowhere."""
    logger = logging.getLogger("draftscope")
    logger.propagate = False
    if logger.handlers:
        return
    handler: logging.Handler
    try:
        data_folder().mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(
            data_folder() / "draftscope.log",
            maxBytes=_LARGEST,
            backupCount=1,
            encoding="utf-8",
            delay=True,
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)


def end_log(*, forced: bool) -> None:
    """Close the log.

    Parameters
    ----------
    forced
        A thread would not end in time (a driver or an import that cannot be interrupted): end the
        process here, for Qt would abort it. Journals and settings are on disk already.
    """
    logger = logging.getLogger("draftscope")
    if forced:
        logger.error("a thread did not end in time; the process was ended")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    if forced:
        os._exit(0)
