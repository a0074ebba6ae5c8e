"""The one kind of error that a user is meant to read. Knows no torch and no Qt."""

from __future__ import annotations


class DraftscopeError(Exception):
    """A fault that the user can do something about.

    The message is one or two plain sentences: what is wrong, and what to do. It is shown as it is,
    in the window's banner or on the command line, without a traceback.
    """
