"""MP4, WebM and GIF as decoders that are not ours see them."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from app.export.exporting import export
from app.export.formats import format_named
from app.export.options import Options
from app.export.palette import Palette, codes_of, theme_colours
from app.export.video import KEY_S
from app.theme import THEMES, rgb
from engine.errors import DraftscopeError
from engine.trace.markers import Marker, SessionNote
from tests.app.export.films import SIZE, decoded, film, made, painted
from tests.app.opened import write_trace
from tests.traces import make_trace

ROOT = Path(__file__).parents[3]
EVENTS = make_trace(rounds=3, k=3, temperature=0.9)
RUN = EVENTS[0].run
MORE = [
    Marker(run=RUN, id="m1", round=1, phase="verify", slot=0, title="Look", note="At this."),
    SessionNote(run=RUN, title="A talk", note="Told once."),
]
FILMS = ("mp4", "webm", "gif")


@pytest.fixture(scope="module")
def trace(qapp: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_trace(tmp_path_factory.mktemp("films") / "t.jsonl", [*EVENTS, *MORE])


@pytest.fixture(scope="module")
def whole(trace: Path) -> dict[str, Path]:
    """A film of each format, written once."""
    return {name: made(trace, f"whole.{name}") for name in FILMS}


@pytest.mark.parametrize("name", FILMS)
def test_a_film_is_as_long_as_its_schedule(trace: Path, whole: dict[str, Path], name: str) -> None:
    one = film(trace)
    found = decoded(whole[name])
    assert found.seconds == pytest.approx(one.schedule.seconds, rel=0.01)
    assert found.frames[0][0] == 0
    height, width = found.frames[0][1].shape[:2]
    assert (width, height) == SIZE
    steps = {
        round(later - at, 4)
        for (at, _), (later, _) in zip(found.frames, found.frames[1:], strict=False)
    }
    assert len(steps) > 2 if name == "gif" else steps == {0.1}


@pytest.mark.parametrize("name", ["mp4", "gif"])
@pytest.mark.parametrize("rate", [1.0, 3.0, 24000 / 1001])
def test_lengths_hold_at_any_frame_rate(trace: Path, name: str, rate: float) -> None:
    out = made(trace, f"rate.{name}", frame_rate=rate, begin="end", title_card=False)
    seconds = film(trace, begin="end", title_card=False).schedule.seconds
    assert decoded(out).seconds == pytest.approx(seconds, rel=0.01)


@pytest.mark.parametrize("name", FILMS)
def test_the_decoded_pictures_are_those_that_were_painted(
    trace: Path, whole: dict[str, Path], name: str
) -> None:
    frames = decoded(whole[name]).frames
    times = [at for at, _ in frames]
    for first, ticks, picture in painted(film(trace)):
        at = first / 10 + ticks / 20  # amid its time
        shown = frames[int(np.searchsorted(times, at + 1e-6)) - 1][1]
        apart = np.abs(shown.astype(int) - picture).mean(axis=2)
        assert apart.mean() < 2.5
        assert (apart < 40).mean() > 0.97


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", FILMS)
def test_surfaces_have_the_themes_colours(trace: Path, name: str, theme: str) -> None:
    out = made(trace, f"{theme}.{name}", theme=theme, begin="end", title_card=False)
    *_, (_, last) = decoded(out).frames
    for colour, share in ((THEMES[theme].window, 0.03), (THEMES[theme].base, 0.1)):
        apart = np.abs(last.astype(int) - rgb(colour)).max(axis=2)
        assert (apart <= (0 if name == "gif" else 2)).mean() > share


@pytest.mark.parametrize("name", FILMS)
def test_the_same_session_gives_the_same_bytes(
    trace: Path, whole: dict[str, Path], name: str
) -> None:
    assert made(trace, f"again.{name}").read_bytes() == whole[name].read_bytes()


@pytest.mark.parametrize("name", FILMS)
def test_a_file_says_where_its_figures_come_from(
    trace: Path, whole: dict[str, Path], name: str
) -> None:
    started = EVENTS[0]
    said = decoded(whole[name]).metadata
    words = " ".join(said.values())
    for part in ("A talk", started.target.name, started.prompt, started.machine, "seed: "):
        assert part in words
    assert "Accepted / tested." in words
    if name != "gif":
        assert said["title"] == "A talk"
        assert said["date"] == started.started_at


@pytest.mark.parametrize("name", FILMS)
def test_what_is_withheld_is_nowhere_in_the_file(trace: Path, name: str) -> None:
    out = made(trace, f"withheld.{name}", withheld=frozenset({"prompt", "machine"}), begin="end")
    data, started = out.read_bytes(), EVENTS[0]
    assert started.prompt.encode() not in data
    assert started.machine.encode() not in data
    assert b"left out on request" in data


def test_an_mp4_begins_to_play_before_all_of_it_is_there(whole: dict[str, Path]) -> None:
    data = whole["mp4"].read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")
    with av.open(str(whole["mp4"])) as file:
        stream = file.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        keys = [float(p.pts * p.time_base) for p in file.demux(stream) if p.is_keyframe and p.size]
    assert max(b - a for a, b in itertools.pairwise(keys)) <= KEY_S + 0.01


def test_odd_sizes_of_films_become_even(trace: Path) -> None:
    for name, size in (("mp4", (322, 182)), ("webm", (322, 182)), ("gif", (321, 181))):
        out = made(trace, f"odd.{name}", size=(321, 181), begin="end", title_card=False)
        height, width = decoded(out).frames[0][1].shape[:2]
        assert (width, height) == size


def test_a_gif_holds_one_palette_and_only_what_changes(trace: Path, whole: dict[str, Path]) -> None:
    with Image.open(whole["gif"]) as image:
        assert image.info["loop"] == 0
        count, boxes = image.n_frames, []
        for index in range(count):
            image.seek(index)
            assert image.info["duration"] >= 20
            boxes.append(image.tile[0].extents if image.tile else None)
    assert count == len(painted(film(trace)))
    areas = [(b[2] - b[0]) * (b[3] - b[1]) for b in boxes if b is not None]
    assert min(areas) < SIZE[0] * SIZE[1] / 2
    assert whole["gif"].stat().st_size < 400_000


def test_a_palette_keeps_the_themes_colours_and_finds_the_nearest_for_others(
    trace: Path,
) -> None:
    for theme in ("light", "dark"):
        pictures = [codes_of(pixels) for pixels in film(trace, theme=theme).stills(9)]
        palette = Palette(THEMES[theme], pictures)
        assert len(palette.codes) <= 255
        present = set(np.unique(np.concatenate([one.ravel() for one in pictures])).tolist())
        for code in present.intersection(theme_colours(THEMES[theme])):
            assert palette.codes[palette.indices(np.array([[code]], np.uint32))[0, 0]] == code
        shown = palette.codes[palette.indices(pictures[-1])]
        for shift in (16, 8, 0):
            apart = (shown >> shift & 255).astype(int) - (pictures[-1] >> shift & 255)
            assert np.abs(apart).max() <= 40


@pytest.mark.parametrize("name", FILMS)
@pytest.mark.parametrize("fault", [KeyboardInterrupt(), SystemExit(143)], ids=repr)
def test_a_film_that_is_stopped_leaves_nothing(
    trace: Path, tmp_path: Path, name: str, fault: BaseException
) -> None:
    def stop(done: int, total: int, what: str) -> None:
        assert 0 <= done <= total
        if what == "Painting" and done > total / 2:
            raise fault

    with pytest.raises(type(fault)):
        export(trace, tmp_path / f"x.{name}", format_named(name), Options(size=SIZE), stop)
    assert list(tmp_path.iterdir()) == []


def run(code: str, folder: Path, **environment: str) -> str:
    """Run code in a process that has no display and no choice of one."""
    kept = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    kept.pop("QT_QPA_PLATFORM", None)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


FULL = """
import resource
from pathlib import Path
from app.export.exporting import export
from app.export.formats import format_named
from app.export.options import Options
from engine.errors import DraftscopeError
resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000))
for name in ("mp4", "webm", "gif"):
    options = Options(size=(320, 180), begin="end")
    try:
        export(Path("t.jsonl"), Path(f"full.{name}"), format_named(name), options)
    except DraftscopeError as fault:
        print(fault)
"""


def test_a_full_disk_is_said_and_leaves_nothing(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(trace.read_bytes())
    said = run(FULL, tmp_path).splitlines()
    assert [line.split("(")[0] for line in said] == [
        f"full.{name} cannot be written " for name in FILMS
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


def test_an_encoder_that_fails_is_said(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise av.error.ExternalError(-542398533, "Generic error in an external library")

    monkeypatch.setattr("app.export.video._encode", fail)
    with pytest.raises(DraftscopeError, match=r"could not be encoded \(Generic error"):
        made(trace, "failed.mp4")


COMMAND = "import sys; from app.cli.main import main; sys.exit(main(sys.argv[1:] or {}))"


@pytest.mark.parametrize("platform", [{}, {"QT_QPA_PLATFORM": "xcb"}], ids=str)
def test_the_command_needs_no_display(
    trace: Path, tmp_path: Path, platform: dict[str, str]
) -> None:
    arguments = ["export", str(trace), "out.mp4", "--size", "320x180", "--from", "end"]
    said = run(COMMAND.format(arguments), tmp_path, **platform)
    assert "out.mp4 is written" in said
    assert decoded(tmp_path / "out.mp4").frames


MEMORY = """
import resource
from pathlib import Path
from app.export.exporting import export
from app.export.formats import format_named
from app.export.options import Options
for end in ("4", "40"):
    options = Options(size=(320, 180), frame_rate=10.0, speed=8.0, end=end, title_card=False)
    export(Path("t.jsonl"), Path(f"x.{NAME}"), format_named(NAME), options)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.parametrize("name", FILMS)
def test_a_long_film_takes_no_more_memory_than_a_short_one(tmp_path: Path, name: str) -> None:
    write_trace(tmp_path / "t.jsonl", make_trace(rounds=40, k=3))
    short, long = map(int, run(f"NAME = {name!r}\n{MEMORY}", tmp_path).split())
    assert long - short < 6_000  # kB; its pictures, held, would be 19,000
