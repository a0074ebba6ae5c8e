"""A session as a film: MP4 with H.264, which plays anywhere, and WebM with VP9, for the web.

Knows encoders and their settings. Knows no panel: pictures come from `film`. The frame rate is
constant, which editing programs want; a picture that stands is encoded again, at hardly any cost,
but neither painted nor converted again.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import av
from av.codec.context import Flags
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc, Interpolation

from app.export.film import Film
from app.export.tags import tags
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt
    from av.container import OutputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

    from app.export.film import Shot
    from app.export.options import Options, Progress
    from app.export.source import Source

SIZE = (1920, 1080)
RATE = 30.0  # frames a second
LEAST_RATE = 10  # of the file: fewer pictures a second are shown several times
MOST_S = 2 * 60 * 60.0
KEY_S = 5.0  # from one frame that stands alone to the next: a player's slider finds them
_THREADS = 2
_SHARP = Interpolation.BICUBIC | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INP


@dataclass(frozen=True)
class _Kind:
    """A container, its encoder and their settings."""

    container: str
    muxing: dict[str, str]
    codec: str
    encoding: dict[str, str]


_MP4 = _Kind(
    "mp4",
    {"movflags": "+faststart"},  # begins to play before all of it is there
    "libx264",
    {"preset": "veryfast", "crf": "20", "tune": "animation", "profile": "high"},
)
_WEBM = _Kind(
    "webm",
    {},
    "libvpx-vp9",
    {
        "crf": "30",
        "b": "0",  # as many bits as that quality takes
        "deadline": "realtime",  # a tenth of the time, for an eighth more bytes
        "cpu-used": "5",
        "row-mt": "1",
        "tile-columns": "2",
        "tune-content": "screen",
    },
)


def write_mp4(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write the session as H.264 in MP4.

    Raises
    ------
    DraftscopeError
        If the film would be too long, of a size that is not made, or cannot be encoded.
    OSError
        If the file cannot be written.
    """
    _write(_MP4, source, out, options, progress)


def write_webm(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write the session as VP9 in WebM; raises what `write_mp4` does."""
    _write(_WEBM, source, out, options, progress)


def _write(kind: _Kind, source: Source, out: Path, options: Options, progress: Progress) -> None:
    if kind.codec not in av.codecs_available:
        raise DraftscopeError(
            f"The installed av package has no encoder {kind.codec}, which {kind.container} needs: "
            "install it again from its wheel, or choose another format."
        )
    rate = Fraction(options.frame_rate or RATE).limit_denominator(1001)
    clock = rate * -(-LEAST_RATE // rate) if rate < LEAST_RATE else rate
    width, height = options.size or SIZE
    size = width + width % 2, height + height % 2  # colours are halved both ways
    film = Film(source, options, size=size, clock=clock, rate=rate, most_s=MOST_S)
    with encoding():
        muxing = {"fflags": "+bitexact", **kind.muxing}
        with av.open(f"file:{out}", "w", format=kind.container, options=muxing) as file:
            file.metadata.update(tags(source, film.title))
            stream = _stream(file, kind, size, clock)
            for shot in film.shots():
                _encode(file, stream, shot)
                progress(shot.first + shot.ticks, film.ticks, "Painting")
            file.mux(stream.encode(None))


@contextmanager
def encoding() -> Iterator[None]:
    """Let an encoder work; what goes wrong in it and is no fault of the disk becomes a sentence."""
    try:
        yield
    except OSError:
        raise
    except av.FFmpegError as fault:
        raise DraftscopeError(
            f"The film could not be encoded ({fault.strerror}): choose another size or format."
        ) from fault


def _stream(
    file: OutputContainer, kind: _Kind, size: tuple[int, int], clock: Fraction
) -> VideoStream:
    stream = file.add_stream(kind.codec, rate=clock, options=dict(kind.encoding))
    assert isinstance(stream, av.VideoStream)
    context = stream.codec_context
    context.width, context.height = size
    context.pix_fmt = "yuv420p"
    context.time_base = 1 / clock
    context.gop_size = max(1, round(KEY_S * clock))
    context.thread_count = _THREADS
    context.flags |= Flags.bitexact
    context.colorspace = Colorspace.ITU709
    context.color_range = ColorRange.MPEG
    context.color_primaries = ColorPrimaries.BT709
    context.color_trc = ColorTrc.BT709
    return stream


def _encode(file: OutputContainer, stream: VideoStream, shot: Shot) -> None:
    frame = _frame(shot.pixels)
    for tick in range(shot.first, shot.first + shot.ticks):
        frame.pts = tick
        file.mux(stream.encode(frame))


def _frame(pixels: npt.NDArray[np.uint8]) -> VideoFrame:
    painted = av.VideoFrame.from_numpy_buffer(pixels, format="bgra")
    return painted.reformat(
        format="yuv420p",
        dst_colorspace=Colorspace.ITU709,
        dst_color_range=ColorRange.MPEG,
        src_color_range=ColorRange.JPEG,
        interpolation=_SHARP,
    )
