"""Passages: whole lines of what packages carry or the user gives, and nothing that is no text."""

from __future__ import annotations

import random
import sysconfig
from collections import Counter
from importlib import metadata
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from engine.errors import DraftscopeError
from engine.training import sources
from engine.training.passages import (
    LEAST,
    MOST,
    USES,
    file_openings,
    passage_openings,
    read_passage,
)
from engine.training.prompts import material
from engine.training.sources import KEPT, Source, installed

if TYPE_CHECKING:
    from pathlib import Path

FIRST_LINE = "tells of the mill by the weir and of those who work in it,"
PROSE = "\n\n".join(
    f"Paragraph {number} {FIRST_LINE}\n"
    f"who are called by their number, which is {number}, and by nothing else."
    for number in range(60)
)
PROGRAM = "\n\n".join(
    f'def grind_{number}(grain):\n    """Grind the grain number {number}.\n\n'
    f"    The stones turn {number} times, then the flour falls into a sack, and the miller ties "
    f'it.\n    """\n    for turn in range({number}):\n        grain = crush(grain, turn)\n'
    f"    return sack_of(grain)"
    for number in range(60)
)
TABLE = "name,weight,price\n" + "".join(f"flour {n},{n} kg,{n}.50 crowns\n" for n in range(90))


class Site:
    """A folder of packages, and nothing else installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "stdlib").mkdir(parents=True)

    def add(self, package: str, files: dict[str, str | bytes]) -> None:
        information = f"{package}-1.0.dist-info"
        files = {f"{information}/METADATA": f"Name: {package}\nVersion: 1.0\n", **files}
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes) else content.encode()
            path.write_bytes(data)
        record = self.folder / information / "RECORD"
        record.write_text("".join(f"{name},,\n" for name in files))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    made = Site(tmp_path / "site")
    monkeypatch.setattr(
        sources, "distributions", lambda: metadata.distributions(path=[str(made.folder)])
    )
    paths = {"stdlib": str(made.folder / "stdlib")}
    monkeypatch.setattr(sysconfig, "get_paths", lambda: paths)
    return made


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def passages(path: Path, count: int = 200) -> list[tuple[str, str]]:
    found = (read_passage(Source.of(path), random.Random(seed)) for seed in range(count))
    return [one for one in found if one is not None]


# Cutting


@pytest.mark.parametrize(
    ("name", "content", "sort"),
    [("a.md", PROSE, "prose"), ("a.js", PROGRAM, "code"), ("a.csv", TABLE, "data")],
)
def test_a_passage_is_whole_lines_of_the_file(
    tmp_path: Path, name: str, content: str, sort: str
) -> None:
    found = passages(written(tmp_path, name, content))
    assert {one for one, _ in found} == {sort}
    assert len({text for _, text in found}) > 60
    lines = {line.strip() for line in content.split("\n")}
    for _, text in found:
        assert LEAST <= len(text) <= MOST
        assert {line.strip() for line in text.split("\n")} <= lines


def test_lengths_of_passages_vary(tmp_path: Path) -> None:
    lengths = sorted(len(text) for _, text in passages(written(tmp_path, "a.md", PROSE)))
    assert lengths[20] < 200
    assert lengths[-20] > 500


def test_a_passage_ends_before_a_line_that_is_too_long_for_it(tmp_path: Path) -> None:
    first = f"{'The miller sleeps. ' * 6}End."
    path = written(tmp_path, "a.md", f"{first}\n{'The mill goes round and round. ' * 40}")
    assert passages(path, 40) == [("prose", first)] * 40


def test_docstrings_of_programs_are_prose(tmp_path: Path) -> None:
    found = passages(written(tmp_path, "a.py", PROGRAM))
    docstrings = [text for sort, text in found if sort == "prose"]
    assert 0.3 < len(docstrings) / len(found) < 0.7
    assert all(text.startswith("Grind the grain") and '"""' not in text for text in docstrings)
    assert not any(line.startswith(" ") for text in docstrings for line in text.split("\n"))


def test_code_from_within_a_function_stands_at_the_margin(tmp_path: Path) -> None:
    found = [text for sort, text in passages(written(tmp_path, "a.py", PROGRAM)) if sort == "code"]
    assert all(any(line[:1].strip() for line in text.split("\n")) for text in found)
    whole = [text for text in found if text.startswith("def ")]
    assert whole
    assert all("\n    return sack_of(grain)" in text for text in whole if "sack_of" in text)


def test_of_a_packages_metadata_only_the_description_is_shown(tmp_path: Path) -> None:
    heads = "".join(f"Classifier: Mill :: Stone :: {number}\n" for number in range(40))
    found = passages(written(tmp_path, "METADATA", f"Name: mill\n{heads}\n{PROSE}"))
    assert found
    assert not any("Classifier" in text for _, text in found)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("binary.txt", b"\xff\xfe\x00mill" * 400),
        ("latin.txt", PROSE.replace("mill", "m\xfchle").encode("latin-1")),
        ("control.txt", PROSE.replace("mill", "m\x00ll")),
        ("minified.js", "\n".join(f"var a={n};" + "function b(c){};" * 20 for n in range(90))),
        ("encoded.txt", "\n".join("iVBORw0KGgoAAAANSUhEUg" * 6 for _ in range(20))),
        ("numbers.txt", "\n".join(f"0.{n} 1.{n} 2.{n} 3.{n} 4.{n}" for n in range(200))),
        ("same.txt", "the mill goes round and round and round again\n\n" * 80),
        ("licence.txt", PROSE.replace("mill by", "mill, WITHOUT WARRANTY of any kind, by")),
        ("made.h", f"// Generated by a program\n{PROGRAM}"),
        ("short.md", "# Mill\n\nGrinds.\n"),
        ("empty.md", ""),
    ],
)
def test_what_nobody_wrote_is_skipped(tmp_path: Path, name: str, content: str | bytes) -> None:
    assert passages(written(tmp_path, name, content)) == []


# An installation


def test_openings_are_raw_or_show_the_passage_with_an_instruction(site: Site) -> None:
    files = {f"mill/{n}.md": PROSE for n in range(40)} | {
        f"mill/{n}.py": PROGRAM for n in range(40)
    }
    site.add("mill", dict(files))
    openings = list(passage_openings(random.Random(1)))
    assert 0.2 < sum(raw for _, _, raw in openings) / len(openings) < 0.5
    kinds = {kind for group in material().instructions.values() for kind, _ in group}
    for kind, text, raw in openings:
        assert "{passage}" not in text
        assert "{fenced}" not in text
        assert kind in ("raw-prose", "raw-python") if raw else kind in kinds
    assert any("```python\n" in text for _, text, _ in openings)


def test_no_file_is_used_more_than_a_few_times(site: Site) -> None:
    site.add("mill", {f"mill/{n}.md": PROSE.replace("weir", f"weir{n}.") for n in range(30)})
    texts = [text for _, text, _ in passage_openings(random.Random(1))]
    used = Counter(n for n in range(30) for text in texts if f"weir{n}." in text)
    assert max(used.values()) == USES
    assert len(used) == 30


def test_one_seed_and_installation_give_one_sequence(site: Site) -> None:
    for package in ("mill", "weir", "sack"):
        site.add(package, {f"{package}/{n}.md": PROSE for n in range(20)})
    first = list(passage_openings(random.Random(7)))
    assert list(passage_openings(random.Random(7))) == first
    assert list(passage_openings(random.Random(8))) != first


def test_tests_binaries_and_the_program_itself_are_left_out(site: Site) -> None:
    site.add("draftscope", {"engine/a.md": PROSE})
    names = ("mill/tests/a.py", "mill/a.pyc", "mill/a.png", "mill/b.min.js", "mill/LICENSE.txt")
    licence = "mill-1.0.dist-info/licenses/LICENSE.txt"
    site.add("mill", {**dict.fromkeys((*names[:4], licence), PROSE), "mill/good.md": PROSE})
    (site.folder / "stdlib" / "sound.py").write_text(PROGRAM)
    shelves = installed(random.Random(0)).values()
    found = {path.name for one in shelves for files in one.packages.values() for path in files}
    assert found == {"good.md", "sound.py", "METADATA"}


def test_of_a_large_package_only_some_files_are_kept_in_mind(site: Site) -> None:
    site.add("mill", {f"mill/{n}.md": "" for n in range(KEPT + 50)})
    shelf = installed(random.Random(0))["prose"]
    assert len(shelf.packages["mill"]) == KEPT


def test_files_are_read_when_their_turn_comes(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add("mill", {f"mill/{n}.md": PROSE for n in range(50)})
    read: list[Source] = []

    def counting(source: Source, rng: random.Random) -> tuple[str, str] | None:
        read.append(source)
        return read_passage(source, rng)

    monkeypatch.setattr("engine.training.passages.read_passage", counting)
    assert len(list(islice(passage_openings(random.Random(1)), 5))) == 5
    assert len(read) < 12


def test_files_that_went_away_are_passed_over(site: Site) -> None:
    site.add("mill", {f"mill/{n}.md": PROSE for n in range(10)})
    openings = passage_openings(random.Random(1))
    next(openings)
    for path in site.folder.rglob("*.md"):
        path.unlink()
    assert list(openings) == []


def test_this_installation_has_passages_of_several_sorts() -> None:
    openings = list(islice(passage_openings(random.Random(2)), 150))
    assert len(openings) == 150
    assert len({kind for kind, _, _ in openings}) > 10


# The user's files


def test_every_part_of_the_users_files_comes_up_once(tmp_path: Path) -> None:
    paths = [written(tmp_path, "a.md", PROSE), written(tmp_path, "b.py", PROGRAM)]
    openings = list(file_openings(paths, random.Random(1)))
    shown = [line for _, text, _ in openings for line in text.split("\n")]
    for number in range(60):
        assert shown.count(f"Paragraph {number} {FIRST_LINE}") == 1
        assert shown.count(f"def grind_{number}(grain):") == 1
    assert {raw for _, _, raw in openings} == {True, False}


def test_no_part_of_a_file_is_blank(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "\n" * 5000 + PROSE + "\n" * 5000 + PROSE)
    openings = list(file_openings([path], random.Random(1)))
    assert all("Paragraph" in text or "called by" in text for _, text, _ in openings)


def test_long_lines_are_cut_between_words(tmp_path: Path) -> None:
    words = [f"wörd{number}" for number in range(3000)]
    path = written(tmp_path, "a.txt", " ".join(words))
    text = " ".join(text for _, text, _ in file_openings([path], random.Random(1)))
    assert set(words) <= set(text.replace('"', " ").split())


def test_long_lines_without_spaces_are_cut_between_characters(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", "a" + "水車小屋の主人" * 500)
    openings = list(file_openings([path], random.Random(1)))
    assert len(openings) > 5
    assert not any("\ufffd" in text for _, text, _ in openings)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("missing.txt", None, r"cannot be read \(No such file or directory\): check the path"),
        ("photo.png", b"\x89PNG\r\n\x1a\n\x00\x00", "is no text in UTF-8: give files of plain"),
        ("zeros.txt", b"mill\x00\x00\n", "holds no text: give files of plain"),
        ("blank.txt", b" \n\n\t\n", "is empty: give files with"),
        ("long.txt", b"mill " * 60_000, "has a line without end: give files"),
    ],
)
def test_a_file_that_is_no_text_is_refused_at_once(
    tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    if content is not None:
        written(tmp_path, name, content)
    with pytest.raises(DraftscopeError, match=f"{name} {words}"):
        file_openings([tmp_path / name], random.Random(1))


def test_a_folder_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(DraftscopeError, match=r"cannot be read .*: check the path"):
        file_openings([tmp_path], random.Random(1))
