"""The one kind of error that a user is meant to read. Knows no torch and no Qt."""

from __future__ import annotations

LONGEST = 600  # characters of a message; what a file says of itself can be of any length


class DraftscopeError(Exception):
    """A fault that the user can do something about.

    The message is one or two plain sentences: what is wrong, and what to do. It is shown as it is,
    in the window's banner or on the command line, without a traceback. Names and values in it come
    from files that may be damaged, so it is made one printable line of bounded length.
    """

    def __init__(self, message: str) -> None:
        super().__init__(_one_line(message))


def short(value: object, most: int = 80) -> str:
    """Return a name or a value out of a file as a part of a sentence: its text, bounded."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def short_path(path: object, most: int = 160) -> str:
    """Return a path as a part of a sentence: bounded, and its end rather than its beginning."""
    text = str(path)
    return text if len(text) <= most else f"…{text[1 - most :]}"


def _one_line(message: str) -> str:
    if len(message) > LONGEST:  # the beginning says what is wrong, the end what to do
        message = f"{message[: LONGEST * 2 // 3]} … {message[-LONGEST // 3 + 3 :]}"
    if message.isprintable():
        return message
    shown = (character if character.isprintable() else " " for character in message)
    return " ".join("".join(shown).split())


def out_of_memory(error: BaseException) -> bool:
    """Whether an error of torch or Python says that memory ran out, on whichever device."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
