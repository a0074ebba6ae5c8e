"""Every setting of a run on the command line: asked for, refused in one line, and told of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest

from app.cli import run as run_module
from app.cli.main import main
from app.cli.parser import command_parser
from app.cli.report import Outcome, as_lines, as_object
from engine.trace.events import DraftEnd, Round, RunStarted, Settings
from engine.trace.reader import read_trace
from tests.app.further import FULL_MORE
from tests.app.rounds import make_round
from tests.tiny_model import write_tiny_folder
from tests.traces import make_trace

if TYPE_CHECKING:
    from pathlib import Path

ASKED = (
    "--drafter early:10 --k 6 --temperature 0.7 --top-k 40 --top-p 0.9 --min-p 0.05 "
    "--repetition-penalty 1.1 --presence-penalty -0.5 --frequency-penalty 0.25 "
    "--logit-bias 42=-5 --logit-bias 7=2.5 --drafter-temperature 0.5 --k-min 2 --confidence 0.4"
)
SETTINGS = FULL_MORE.put_into(
    Settings(drafter="early:10", k=6, temperature=0.7, top_k=40, top_p=0.9)
)


def settings_of(arguments: str) -> Settings:
    options = command_parser().parse_args(["run", "--prompt", "a", *arguments.split()])
    return run_module._request(options).settings


def test_every_setting_can_be_asked_for() -> None:
    assert settings_of(ASKED) == SETTINGS
    defaults = Settings(drafter="", k=0, temperature=0.0)
    untouched = [
        n for n in SETTINGS.__struct_fields__ if getattr(SETTINGS, n) == getattr(defaults, n)
    ]
    assert untouched == []  # a field that is added needs an option


def test_what_is_not_asked_for_is_off() -> None:
    assert settings_of("") == Settings(drafter="ngram", k=4, temperature=0.0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--min-p 1.5", "--min-p: '1.5' is not a number of at least 0 and at most 1"),
        ("--min-p x", "--min-p: 'x' is not a number"),
        ("--repetition-penalty 0", "--repetition-penalty: '0' is not a number of at least 0.0001"),
        ("--presence-penalty 1e9", "--presence-penalty: '1e9' is not a number"),
        ("--frequency-penalty nan", "--frequency-penalty: 'nan' is not a number"),
        ("--drafter-temperature -1", "--drafter-temperature: '-1' is not a number of at least 0"),
        ("--k-min 1.5", "--k-min: '1.5' is not a whole number of at least 0"),
        ("--confidence 2", "--confidence: '2' is not a number of at least 0 and at most 1"),
        ("--logit-bias 42", "--logit-bias: '42' is not ID=NUMBER, for example 42=-5"),
        ("--logit-bias 42=x", "--logit-bias: the bias of token 42 is 'x'"),
        ("--logit-bias 4=1 --logit-bias 4=2", "--logit-bias: token 4 has two biases"),
    ],
)
def test_a_wrong_value_is_one_line(
    arguments: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--prompt", "a", *arguments.split()]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"draftscope run: argument {said}")
    assert line.endswith("see draftscope run --help")


def test_help_tells_the_scopes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "early:LAYERS is the target's own first layers" in text
    assert "of tokens in prompt and output" in text
    assert text.count("the output, not the prompt, holds it") == 2
    assert "a draft ends where the drafter's largest probability is below this" in text


def short_run(ends: list[tuple[str, DraftEnd | None]]) -> Outcome:
    outcome = Outcome()
    started = make_trace(rounds=1)[0]
    info = msgspec.structs.replace(started.drafter, context_length=512)
    outcome.add(msgspec.structs.replace(started, drafter=info))
    for index, (fates, end) in enumerate(ends):
        outcome.add(msgspec.structs.replace(make_round(index, fates), k=4, draft_end=end))
    return outcome


def test_the_report_counts_short_drafts_by_their_reason() -> None:
    outcome = short_run([("aaaa", None), ("aa", DraftEnd.UNSURE), ("a", DraftEnd.LIMIT)])
    assert "short drafts 2 of 3 rounds: 1 unsure, 1 at the limit" in as_lines(outcome)
    found = as_object(outcome)
    assert found["short_drafts"] == {
        "limit": 1, "unsure": 1, "no_match": 0, "context": 0, "too_short": 0,
    }  # fmt: skip
    assert found["drafter_context_exhausted"] is None
    only_at_the_end = short_run([("aaaa", None), ("a", DraftEnd.LIMIT)])
    assert not any("short drafts" in line for line in as_lines(only_at_the_end))


@pytest.mark.case("A42")
def test_an_exhausted_context_is_one_sentence_in_text_and_in_json() -> None:
    outcome = short_run(
        [("aaaa", None)] * 63 + [("", DraftEnd.CONTEXT)] * 5 + [("", DraftEnd.LIMIT)]
    )
    sentence = (
        "From round 64 on nothing was drafted: the text is longer than the drafter's context of "
        "512 tokens."
    )
    assert sentence in as_lines(outcome)
    assert as_object(outcome)["drafter_context_exhausted"] == {
        "from_round": 64,
        "rounds": 5,
        "context_length": 512,
        "message": sentence,
    }


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_folder(tmp_path_factory.mktemp("models") / "target", endless=True)


def run_json(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert main(["run", "--raw", "--json", *arguments]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.case("A42")
def test_a_drafter_of_64_tokens_under_a_longer_target_gives_the_plain_text_and_says_so(
    target: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drafter = write_tiny_folder(tmp_path / "drafter", noise=0.1, endless=True)
    config = json.loads((drafter / "config.json").read_text())
    (drafter / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 64}))
    arguments = ["--target", str(target), "--drafter", f"model:{drafter}", "--baseline"]
    found = run_json([*arguments, "--max-new-tokens", "128", "--prompt", "hello"], capsys)
    assert found["identical"] is True
    assert found["emitted"] == 128
    said = found["drafter_context_exhausted"]
    assert isinstance(said, dict)
    assert said["context_length"] == 64
    assert 1 < said["from_round"] <= 64
    assert f"From round {said['from_round']} on nothing was drafted" in said["message"]


def test_every_setting_reaches_the_engine_and_its_trace(
    target: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.jsonl"
    arguments = [*ASKED.replace("early:10", "early:1").split(), "--trace", str(path)]
    options = ["--target", str(target), "--max-new-tokens", "24", "--prompt", "hello"]
    run_json([*options, *arguments], capsys)
    events = read_trace(path)
    assert events[0].settings == msgspec.structs.replace(SETTINGS, drafter="early:1")
    rounds = [event for event in events if isinstance(event, Round)]
    assert any(one.draft_end is DraftEnd.UNSURE for one in rounds)
    least = [len(one.drafted) for one in rounds if one.draft_end is DraftEnd.UNSURE]
    assert min(least) >= 2


@pytest.mark.parametrize("usual", ["ngram", "early:1"])
def test_without_a_drafter_asked_for_the_usual_one_of_the_target_drafts(
    target: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    usual: str,
) -> None:
    if usual != "ngram":  # which is this target's: the bundled head is another's
        monkeypatch.setattr(run_module, "usual_drafter", lambda fingerprint: usual)
    path = tmp_path / "t.jsonl"
    options = ["--target", str(target), "--max-new-tokens", "8", "--prompt", "hello"]
    run_json([*options, "--trace", str(path)], capsys)
    started = read_trace(path)[0]
    assert isinstance(started, RunStarted)
    assert started.settings.drafter == usual


def test_bench_takes_early_exit(target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--target", str(target), "--drafter", "early:1", "--k", "2", "--prompt", "hello"]
    assert main(["bench", *arguments, "--max-new-tokens", "6", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["drafter"], row["identical"]) == ("early:1", 1)
