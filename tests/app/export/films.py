"""Films of small sessions for tests, and what a decoder that is not ours finds in them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import av
import numpy as np
from PIL import Image, ImageSequence

from app.export.exporting import export
from app.export.film import Film
from app.export.formats import format_of
from app.export.options import Options
from app.export.source import open_source

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

SIZE = (320, 180)


class Found(NamedTuple):
    """What a decoder gives: seconds in all, (seconds, picture) of each frame, what it says."""

    seconds: float
    frames: list[tuple[float, npt.NDArray[np.uint8]]]
    metadata: dict[str, str]


def made(trace: Path, name: str, **chosen: object) -> Path:
    """Export a trace under a name beside it."""
    out = trace.with_name(name)
    options = Options(**{"size": SIZE, "frame_rate": 10.0, **chosen})  # type: ignore[arg-type]
    export(trace, out, format_of(out), options)
    return out


def decoded(path: Path) -> Found:
    """Read a film back: a GIF by Pillow, others by FFmpeg."""
    if path.suffix == ".gif":
        return _decoded_gif(path)
    frames = []
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        for frame in file.decode(stream):
            assert frame.time is not None
            frames.append((float(frame.time), frame.to_ndarray(format="rgb24")))
        assert stream.average_rate is not None
        last = float(1 / stream.average_rate)
        metadata = {name.lower(): words for name, words in file.metadata.items()}
        assert file.duration is not None
        assert abs(file.duration / av.time_base - frames[-1][0] - last) < 0.01
    return Found(frames[-1][0] + last, frames, metadata)


def _decoded_gif(path: Path) -> Found:
    frames, at_ms, comment = [], 0, b""
    with Image.open(path) as image:
        comment = image.info["comment"]
        for frame in ImageSequence.Iterator(image):
            frames.append((at_ms / 1000, np.asarray(frame.convert("RGB"))))
            at_ms += frame.info["duration"]
    return Found(at_ms / 1000, frames, {"comment": comment.decode()})


def film(trace: Path, rate: int = 10, **chosen: object) -> Film:
    """Return a trace's pictures as they are painted."""
    options = Options(**chosen)  # type: ignore[arg-type]
    source = open_source(trace, run=options.run, withheld=options.withheld)
    clock = Fraction(rate)
    return Film(source, options, size=options.size or SIZE, clock=clock, rate=clock, most_s=3600.0)


def painted(one: Film) -> list[tuple[int, int, npt.NDArray[np.uint8]]]:
    """Return (first tick, ticks, red, green and blue) of each picture."""
    return [(shot.first, shot.ticks, shot.pixels[..., 2::-1].copy()) for shot in one.shots()]
