"""A PDF's objects, read from its table and written again in an order that their references decide.

Qt writes fonts in an order that changes from process to process, the day it is, and a random name.
Here the same picture becomes the same bytes. Knows the outermost syntax of PDF 1.4 (ISO 32000-1,
7.5), as far as Qt's writer uses it: one table, no object streams, no encryption. Knows no page.
"""

from __future__ import annotations

import hashlib
import re

_REFERENCE = re.compile(rb"(?<![\w.])(\d+) 0 R(?!\w)")
_STREAM = re.compile(rb"\bstream\r?\n")
_START = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*$")
_TABLE = re.compile(rb"xref\s+0 (\d+)\s+")
_TAG = re.compile(rb"/FontName /[A-Z]{6}\+")  # says that a font is a part, and which
_ENTRY = re.compile(rb"(\d{10}) \d{5} ([nf])\s+")


def objects_of(data: bytes) -> tuple[dict[int, bytes], bytes]:
    """Return the bytes of each object by its number, without `obj` and `endobj`, and the trailer.

    Raises
    ------
    ValueError
        If it is not written as Qt writes.
    """
    start = _START.search(data)
    if start is None:
        raise ValueError("no startxref")
    table = _TABLE.match(data, int(start[1]))
    if table is None:
        raise ValueError("no table")
    places: dict[int, int] = {}
    at = table.end()
    for number in range(int(table[1])):
        entry = _ENTRY.match(data, at)
        if entry is None:
            raise ValueError("a torn table")
        if entry[2] == b"n":
            places[number] = int(entry[1])
        at = entry.end()
    ends = dict(
        zip(sorted(places.values()), [*sorted(places.values())[1:], int(start[1])], strict=True)
    )
    found = {}
    for number, place in places.items():
        head = b"%d 0 obj" % number
        body = data[place : ends[place]].rstrip()
        if not body.startswith(head) or not body.endswith(b"endobj"):
            raise ValueError(f"object {number} is not where the table says")
        found[number] = body[len(head) : -len(b"endobj")].strip(b"\r\n ")
    return found, data[at : start.start()]


def in_order(objects: dict[int, bytes], roots: tuple[int, int]) -> bytes:
    """Return a PDF of these objects, numbered as they are come upon from the catalogue.

    Parameters
    ----------
    roots
        Numbers of the catalogue and of the document's information. What neither leads to is left
        out.
    """
    numbers: dict[int, int] = {}
    waiting = list(roots)
    while waiting:
        number = waiting.pop(0)
        if number in numbers or number not in objects:
            continue
        numbers[number] = len(numbers) + 1
        waiting += [int(found) for found in _REFERENCE.findall(_split(objects[number])[0])]
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number in numbers:
        head, rest = _split(objects[number])
        head = _REFERENCE.sub(lambda found: b"%d 0 R" % numbers[int(found[1])], head)
        head = _TAG.sub(b"/FontName /%s+" % _tag(numbers[number]), head)
        places.append(len(out))
        out += b"%d 0 obj\n%s%s\nendobj\n" % (numbers[number], head, rest)
    name = hashlib.sha256(out).hexdigest()[:32].encode()
    begin = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root %d 0 R /Info %d 0 R /ID [<%s> <%s>] >>\n" % (
        len(places) + 1,
        numbers[roots[0]],
        numbers[roots[1]],
        name,
        name,
    )
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % begin)


def number_in(trailer: bytes, key: bytes) -> int:
    """Return the object that a trailer's key names.

    Raises
    ------
    ValueError
        If it has no such key.
    """
    found = re.search(rb"/" + key + rb"\s+(\d+) 0 R", trailer)
    if found is None:
        raise ValueError(f"no {key.decode()} in the trailer")
    return int(found[1])


def _tag(number: int) -> bytes:
    """Return six letters that no other object has."""
    return bytes(65 + number // 26**power % 26 for power in range(5, -1, -1))


def _split(body: bytes) -> tuple[bytes, bytes]:
    """Return an object's dictionary, and its stream with the word before it."""
    found = _STREAM.search(body)
    return (body, b"") if found is None else (body[: found.start()], body[found.start() :])
