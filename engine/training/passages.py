"""Passages as openings: documentation, code and data that installed packages carry, or the user's.

Knows how a passage is cut and what is asked about it. Where an installation keeps its texts is
known to `sources`; no model and no tokenizer is known here.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from textwrap import dedent
from typing import TYPE_CHECKING

from engine.errors import DraftscopeError, short_path
from engine.training.prompts import Opening, material
from engine.training.sources import Source, installed

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LEAST, MOST = 100, 900  # characters of a passage: some 30 to 250 tokens
USES = 3  # passages out of one file
RAW = 1 / 3  # share of passages to be gone on with
DOCSTRINGS = 0.5  # share of docstrings among the passages out of Python files
FENCED = 0.7  # share of fenced passages shown with the name of their language
WINDOW = 1 << 18  # bytes that are read of a file
LONGEST_LINE = 200  # characters, in code and data; a paragraph of prose may be one line
LONGEST_WORD = 90  # characters: addresses, but no encoded bytes

_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_SPACE = re.compile(r"[ \t]+$", re.MULTILINE)
# Licences stand in every package, word for word.
_COMMONPLACE = re.compile(
    r"WITHOUT WARRANT|Licensed under the|hereby granted|Copyright \(c\)|SPDX-"
)


def passage_openings(rng: random.Random) -> Iterator[Opening]:
    """Yield openings made of passages that this installation carries, until they are used up.

    The same seed on the same installation gives the same openings.
    """
    shelves = installed(rng)
    weights = {name: shelf.weight for name, shelf in shelves.items()}
    while any(weights.values()):
        names = sorted(weights)
        (name,) = rng.choices(names, [weights[one] for one in names])
        source = shelves[name].draw(rng, USES)
        if source is None:
            weights[name] = 0.0
            continue
        passage = read_passage(source, rng)
        if passage is not None:
            sort, text = passage
            yield _opening(source, sort, text, rng.random() < RAW, rng)


def file_openings(paths: Sequence[Path], rng: random.Random) -> Iterator[Opening]:
    """Make openings of the user's own files: every part of each once, in an order of chance.

    Only the parts' places are kept; the text is read when its turn comes.

    Raises
    ------
    DraftscopeError
        At once, if a file is missing or holds no text.
    """
    places = [
        (Source.of(path), start, end) for path in paths for start, end in _parts_of(path, rng)
    ]
    rng.shuffle(places)

    def openings() -> Iterator[Opening]:
        for source, start, end in places:
            try:
                with source.path.open("rb") as file:
                    file.seek(start)
                    text = file.read(end - start).decode(errors="replace").strip("\r\n\ufeff")
            except OSError as error:
                raise _unreadable(source.path, error) from error
            yield _opening(source, source.sort, text, rng.random() < RAW, rng)

    return openings()


def read_passage(source: Source, rng: random.Random) -> tuple[str, str] | None:
    """Cut a passage out of a file; (sort, text), or None where it has none worth showing.

    Returns
    -------
    tuple
        `prose`, `code` or `data`, and 100 to 900 characters of whole lines.
    """
    try:
        with source.path.open("rb") as file:
            text = file.read(WINDOW).decode()
    except (OSError, UnicodeDecodeError):
        return None
    if "generated" in text[:400].lower():  # by a program, in a thousand files alike
        return None
    sort = source.sort
    text = text.replace("\r\n", "\n")
    if source.language == "python" and rng.random() < DOCSTRINGS:
        found = [one for one in _DOCSTRING.findall(text) if len(one) >= LEAST]
        if not found:
            return None
        text, sort = cleandoc(rng.choice(found)), "prose"
    elif source.path.name == "METADATA":  # the description stands below the first empty line
        text = text.partition("\n\n")[2]
    passage = _cut(_SPACE.sub("", text), sort, rng)
    return None if passage is None or not _worth(passage, sort) else (sort, passage)


def _cut(text: str, sort: str, rng: random.Random) -> str | None:
    """Cut whole lines out of a text, from a paragraph's first where there are paragraphs."""
    lines = text.split("\n")
    starts = [
        number
        for number, line in enumerate(lines)
        if line.strip() and (number == 0 or not lines[number - 1].strip())
    ]
    if not starts:
        return None
    start = rng.choice(starts)
    if sort != "prose" and rng.random() < 0.3:
        start = rng.randrange(len(lines))
    wanted = round(LEAST * (MOST / LEAST) ** rng.random())
    taken: list[str] = []
    length = 0
    for line in lines[start:]:
        if length >= wanted or (taken and length + len(line) > MOST):
            break
        taken.append(line)
        length += len(line) + 1
    passage = dedent("\n".join(taken)).strip("\n")
    return passage if LEAST <= len(passage) <= MOST else None


def _worth(passage: str, sort: str) -> bool:
    """Whether a passage is text that somebody wrote, and not found word for word elsewhere."""
    lines = [line.strip() for line in passage.split("\n") if line.strip()]
    letters = sum(character.isalpha() for character in passage)
    return (
        passage.replace("\n", "").replace("\t", "").isprintable()
        and letters > len(passage) * (0.15 if sort == "data" else 0.45)
        and (sort == "prose" or max(map(len, lines)) <= LONGEST_LINE)
        and max(map(len, passage.split())) <= LONGEST_WORD
        and len(set(lines)) > len(lines) / 2
        and not _COMMONPLACE.search(passage)
    )


def _opening(source: Source, sort: str, text: str, raw: bool, rng: random.Random) -> Opening:
    """Show a passage with an instruction, or leave it to be gone on with."""
    if raw:
        kind = source.language if sort != "prose" else "prose"
        return Opening(f"raw-{kind}", text, True)
    kind, words = rng.choice(material().instructions[sort])
    language = source.language if rng.random() < FENCED else ""
    fenced = f"```{language}\n{text}\n```"
    return Opening(kind, words.replace("{passage}", text).replace("{fenced}", fenced), False)


def _parts_of(path: Path, rng: random.Random) -> list[tuple[int, int]]:
    """Divide a file into parts of whole lines, and long lines between words; offsets in bytes.

    Raises
    ------
    DraftscopeError
        If it is missing or holds no text.
    """
    name = short_path(path)
    parts: list[tuple[int, int]] = []
    start = end = 0
    wanted, written = rng.randint(LEAST, MOST), False
    try:
        with path.open("rb") as file:
            while line := file.readline(WINDOW + 1):
                if len(line) > WINDOW:
                    raise DraftscopeError(f"{name} has a line without end: give files of text.")
                if "\0" in line.decode():
                    raise DraftscopeError(f"{name} holds no text: give files of plain text.")
                for length in _pieces(line):
                    if written and end + length - start > wanted:
                        parts.append((start, end))
                        start, wanted, written = end, rng.randint(LEAST, MOST), False
                    end += length
                    written = written or not line.isspace()
    except OSError as error:
        raise _unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise DraftscopeError(f"{name} is no text in UTF-8: give files of plain text.") from error
    if written:
        parts.append((start, end))
    if not parts:
        raise DraftscopeError(f"{name} is empty: give files with some text.")
    return parts


def _unreadable(path: Path, error: OSError) -> DraftscopeError:
    why = error.strerror or "an unknown fault"
    return DraftscopeError(f"{short_path(path)} cannot be read ({why}): check the path.")


def _pieces(line: bytes) -> Iterator[int]:
    """Yield the lengths of a line's pieces: one, or several cut between words if it is long."""
    start = 0
    while len(line) - start > MOST:
        cut = line.rfind(b" ", start + 1, start + MOST) + 1
        if not cut:  # writing without spaces: between two characters
            cut = start + MOST
            while line[cut] & 0xC0 == 0x80:
                cut -= 1
        yield cut - start
        start = cut
    yield len(line) - start
