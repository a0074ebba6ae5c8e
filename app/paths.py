"""Where Draftscope keeps what it writes for a user. Knows no Qt and no file format.

`DRAFTSCOPE_CONFIG` and `DRAFTSCOPE_DATA` override the user's own folders, so that tests and
portable installations stay apart.
"""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_config_path, user_data_path


def config_folder() -> Path:
    """Return the folder of the settings file; it may not exist yet."""
    override = os.environ.get("DRAFTSCOPE_CONFIG")
    return Path(override) if override else user_config_path("draftscope", appauthor=False)


def data_folder() -> Path:
    """Return the folder of models, journals and the log; it may not exist yet."""
    override = os.environ.get("DRAFTSCOPE_DATA")
    return Path(override) if override else user_data_path("draftscope", appauthor=False)
