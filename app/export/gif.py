"""A session as an animated GIF: one palette, frames that hold what changed, delays that add up.

Knows the file's blocks; the pixels are packed by the encoder that the films use. Its delays are
hundredths of a second: each picture comes at its time rounded to one, so that no error is carried
on. One that stands is one frame with a long delay.
"""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import av
import numpy as np
from av.codec.context import Flags

from app.export.film import Film
from app.export.palette import Palette, codes_of
from app.export.tags import tags
from app.export.video import encoding
from app.theme import THEMES

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

    import numpy.typing as npt

    from app.export.options import Options, Progress
    from app.export.source import Source

SIZE = (960, 540)
RATE = 12.0  # pictures a second, at most
MOST_RATE = 50.0  # browsers slow down what is faster
MOST_S = 15 * 60.0
_STILLS = 24  # pictures that the palette is chosen from
_CLOCK = 100  # ticks a second
_LONGEST_DELAY = 65_535  # ticks
_HEADER = 13  # bytes before the palette
_CONTROL = b"\x21\xf9\x04"  # begins a frame; flags and the delay follow


def write_gif(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write the session as an animated GIF that begins again at its end.

    Raises
    ------
    DraftscopeError
        If the film would be too long, of a size that is not made, or cannot be encoded.
    OSError
        If the file cannot be written.
    """
    rate = Fraction(min(options.frame_rate or RATE, MOST_RATE)).limit_denominator(1001)
    film = Film(
        source,
        options,
        size=options.size or SIZE,
        clock=Fraction(_CLOCK),
        rate=rate,
        most_s=MOST_S,
    )
    progress(0, film.ticks, "Choosing colours")
    stills = (codes_of(pixels) for pixels in film.stills(_STILLS))
    palette = Palette(THEMES[options.painted_theme], stills)
    said = tags(source, film.title)
    comment = "\n".join((said["title"], said["comment"], said["description"]))
    with encoding(), out.open("wb") as file:
        frames = _Frames(file, film.size, palette, comment)
        for shot in film.shots():
            frames.add(codes_of(shot.pixels), shot.first)
            progress(shot.first + shot.ticks, film.ticks, "Painting")
        frames.finish(film.ticks)


class _Frames:
    """A GIF that is being written; the newest frame waits until its delay is known."""

    def __init__(
        self, file: BinaryIO, size: tuple[int, int], palette: Palette, comment: str
    ) -> None:
        self._file, self._palette, self._comment = file, palette, comment
        self._encoder = av.VideoCodecContext.create("gif", "w")
        self._encoder.width, self._encoder.height = size
        self._encoder.pix_fmt = "pal8"
        self._encoder.time_base = Fraction(1, _CLOCK)
        self._encoder.flags |= Flags.bitexact
        colours = np.zeros((256, 4), np.uint8)  # alpha, red, green, blue; the rest is transparent
        count = len(palette.codes)
        colours[:count] = palette.codes.astype(">u4").view(np.uint8).reshape(-1, 4)
        colours[:count, 0] = 255
        self._colours = colours
        self._shown: npt.NDArray[np.uint8] | None = None
        self._waiting = bytearray()
        self._since = 0

    def add(self, codes: npt.NDArray[np.uint32], tick: int) -> None:
        """Add a picture that comes at a tick, unless it looks like the one before."""
        picture = self._palette.indices(codes)
        if self._shown is not None and np.array_equal(picture, self._shown):
            return
        both: Any = (picture, self._colours)  # what "pal8" takes, and its types leave out
        frame = av.VideoFrame.from_ndarray(both, format="pal8")
        frame.pts = tick
        blocks = bytearray(b"".join(bytes(packet) for packet in self._encoder.encode(frame)))
        if self._shown is None:
            self._begin(blocks)
        else:
            self._put(tick)
        self._shown, self._waiting, self._since = picture, blocks, tick

    def finish(self, ticks: int) -> None:
        """Write the last frame, which stands until the end."""
        self._put(ticks)
        self._file.write(b";")

    def _begin(self, blocks: bytearray) -> None:
        """Write the header with its palette, that it plays for ever, and the comment."""
        end = blocks.index(_CONTROL, _HEADER + 3 * len(self._colours))
        self._file.write(blocks[:end])
        self._file.write(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00")
        self._file.write(b"\x21\xfe")
        said = self._comment.encode("utf-8")
        for start in range(0, len(said), 255):
            part = said[start : start + 255]
            self._file.write(bytes([len(part)]) + part)
        self._file.write(b"\x00")
        del blocks[:end]

    def _put(self, tick: int) -> None:
        """Write the waiting frame with its delay: until this tick."""
        delay = min(_LONGEST_DELAY, tick - self._since)
        at = self._waiting.index(_CONTROL) + len(_CONTROL) + 1
        self._waiting[at : at + 2] = struct.pack("<H", delay)
        self._file.write(self._waiting)
