"""The one kind of error that a user is meant to read. Knows no torch and no Qt."""

from __future__ import annotations


class DraftscopeError(Exception):
    """A fault that the user can do something about.

    The message is one or two plain sentences: what is wrong, and what to do. It is shown as it is,
    in the window's banner or on the command line, without a traceback.
    """


def out_of_memory(error: BaseException) -> bool:
    """Whether an error of torch or Python says that memory ran out, on whichever device."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
