"""Loads damaged files by the hundred in a process of its own: a sentence each time, or the model.

    python -m tests.engine.models.fuzz_program SEED COUNT [KIND [INDEX]]

Memory and time are bounded around every load; a failure prints the recipe that makes it again.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from engine.drafters.file import read_drafter
from engine.drafters.head_weights import prepare_head
from engine.drafters.shared_small import SharedSmallModel
from engine.errors import DraftscopeError
from engine.loading import LoadedModel, load_model
from engine.models.formats.weights import open_checkpoint
from engine.models.text.chat import ChatTemplate
from engine.prompting import prompt_tokens
from tests.engine.decoding import decode
from tests.engine.models.fuzz_samples import CONFIG, SAMPLES, Sample, written_numbers
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 10  # a guard for one load; nothing is measured
MEMORY = 400 << 20  # bytes beyond what importing took
LONGEST = 450  # characters of a sentence
TELL = "FUZZ_TELL" in os.environ  # print every refusal


class TimedOutError(BaseException):
    """No handler of the engine may swallow it."""


class FaultError(Exception):
    """What a load must not do."""


@contextmanager
def guarded(seconds: int = SECONDS) -> Iterator[None]:
    """Bound the time; a call that does not come back to Python ends the process with its stack."""

    def ring(signum: int, frame: object) -> None:
        raise TimedOutError(f"after {seconds} s")

    signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    faulthandler.dump_traceback_later(4 * seconds, exit=True)
    try:
        yield
    finally:
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()


def bound_memory() -> None:
    """Let the process take a little more than it has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def check_sentence(error: DraftscopeError) -> None:
    said = str(error)
    if not said.isprintable() or len(said) > LONGEST or " " not in said:
        raise FaultError(f"no sentence: {said!r}")
    if "does not fit into the memory" in said:
        raise FaultError(f"an allocation far beyond the file: {said}")


def check_weights(path: Path) -> None:
    """Compare every weight with an independent reading of the file."""
    checkpoint = open_checkpoint(path)
    expected = written_numbers(path, checkpoint.config)
    for name in checkpoint.names:
        read = checkpoint.tensor(name)
        if not torch.equal(read, expected[name]):
            raise FaultError(f"{name} is not what the file holds")


def use_model(target: LoadedModel) -> None:
    """Encode, prefill, sample and decode; what cannot be computed has a sentence too."""
    for raw in (True, False):
        try:
            tokens = prompt_tokens(target, "Hi é!", raw=raw)
            text, _, _ = decode(target, None, prompt=tokens[-40:], count=2)
            if not all(0 <= token < target.transformer.vocabulary for token in text):
                raise FaultError(f"ids that there are not: {text}")
            target.tokenizer.decode(tokens + text)
        except DraftscopeError as error:
            check_sentence(error)


def load_mutant(kind: str, folder: Path, target: LoadedModel) -> None:
    """Load what was damaged by the way that the program itself takes, and use it."""
    if kind == "template":
        source = (folder / "chat_template.jinja").read_text("utf-8", "surrogatepass")
        messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
        ChatTemplate(source, {"bos_token": "<s>"}).render(messages)
    elif kind in ("head", "small"):
        file = read_drafter(folder / "drafter.safetensors")
        if file.metadata.kind == "head":
            prepare_head(file, target.transformer)
        else:
            SharedSmallModel(file, target.transformer)
    else:
        path = folder / "model.gguf" if kind.startswith("gguf") else folder
        loaded = load_model(path, device="cpu", plan="eager")
        check_weights(path)
        use_model(loaded)


def try_mutant(sample: Sample, folder: Path, recipe: str, target: LoadedModel) -> str:
    """Damage one sample and load it; return how it ended, and print what must not be."""
    said = sample.damage(folder, random.Random(recipe))
    note(f"{recipe}: {said}")
    try:
        with guarded():
            load_mutant(sample.kind, folder, target)
    except DraftscopeError as error:
        try:
            check_sentence(error)
        except FaultError as fault:
            print(f"FAULT {recipe}: {said}\n{fault}", flush=True)
            return "fault"
        if TELL:
            print(f"{recipe}: {said:.150} -> {error}", flush=True)
        return "refused"
    except (Exception, TimedOutError):
        print(f"FAULT {recipe}: {said}\n{traceback.format_exc()[-3000:]}", flush=True)
        return "fault"
    return "loaded"


def note(recipe: str) -> None:
    """Leave the recipe where it is found if the process dies of it."""
    if "FUZZ_CURRENT" in os.environ:
        Path(os.environ["FUZZ_CURRENT"]).write_text(recipe, "utf-8", "backslashreplace")


def run(seed: str, indices: range, kinds: list[str]) -> int:
    """Try mutants of every kind; return how many did what they must not."""
    faults = 0
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        target = load_model(
            write_tiny_folder(root / "target", layers=1), device="cpu", plan="eager"
        )
        assert target.transformer.config.width == CONFIG.width
        use_model(target)
        bound_memory()
        for sample in (sample for sample in SAMPLES if sample.kind in kinds):
            sample.write(root / sample.kind / "whole")
            ended: dict[str, int] = {}
            for index in indices:
                sample.copy(root / sample.kind / "whole", root / sample.kind / "mutant")
                recipe = f"{sample.kind} {seed} {index}"
                how = try_mutant(sample, root / sample.kind / "mutant", recipe, target)
                ended[how] = ended.get(how, 0) + 1
            faults += ended.get("fault", 0)
            print(json.dumps({"kind": sample.kind, **ended}), flush=True)
    return faults


def main(arguments: list[str]) -> int:
    faulthandler.enable()
    torch.set_num_threads(1)
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # a TextIO has it
    seed, count, *rest = arguments
    kinds = [rest[0]] if rest else [sample.kind for sample in SAMPLES]
    indices = range(int(rest[1]), int(rest[1]) + 1) if len(rest) > 1 else range(int(count))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return min(run(seed, indices, kinds), 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
