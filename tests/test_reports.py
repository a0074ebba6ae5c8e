"""Kinds of faults that people reported in public against programs like this one, and their tests.

The list says what each kind is; a test that holds one off is marked `@pytest.mark.case("A01")`.
Knows the marks alone, not what the tests do.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parent

# The rule, drafters, caches, limits, penalties, figures.
DECODING = {
    "A01": "the residual is put through a softmax instead of being divided by its sum",
    "A02": "an argmax draft is scored with a soft law, and greedy texts differ from plain ones",
    "A05": "temperature and top-p shape the law of one side only",
    "A06": "a sampled draft is scored as if it were one-hot",
    "A08": "tiny probabilities underflow, and their tokens are always accepted",
    "A09": "what is drawn from and what is scored differ in precision",
    "A10": "laws are made and then the argmax is taken: nothing is sampled",
    "A11": "only the rejected token is left out of the residual, instead of q_draft",
    "A13": "equal laws leave a residual without mass: 0 / 0",
    "A15": "the residual is taken from another position's row",
    "A17": "an end token inside an accepted run is overlooked",
    "A18": "drafted tokens behind an end token are shown; an ignored end token must end nothing",
    "A20": "more tokens are returned than the limit allows",
    "A22": "the first of several ends inside one step must win, the limit among them",
    "A23": "a drafted end token finishes the run although the target rejects it",
    "A25": "the look-up copies an end token out of the prompt",
    "A26": "a look-up that finds nothing drafts a filler, which counts in the acceptance",
    "A28": "the first drafted token is never verified",
    "A29": "ties of the argmax are broken differently on different paths",
    "A31": "a drafter's cache is cut by one row too many or too few",
    "A32": "the bonus token's row is wrong or missing in the drafter's cache",
    "A34": "a cache is begun anew instead of being rolled back",
    "A36": "masks and rows differ in length under a sliding window",
    "A37": "a model that drafts for itself stops after one token",
    "A39": "tables padded to different sizes: refused, or ids without a token drawn",
    "A40": "a drafter with another tokenizer fails with a shape",
    "A42": "a drafter with a shorter context crashes at its end",
    "A43": "a seed that does not give the same tokens and uniforms again",
    "A46": "rows that nothing was drawn for stay at id 0 and reach the text",
    "A47": "penalties are ignored where tokens are drafted",
    "A49": "penalties count the prompt where they must not, or not where they must",
    "A50": "a repetition penalty that favours negative logits",
    "A52": "drafting fails at temperature 0 for want of a law",
    "A54": "what a run did to the draft's length leaks into the next run",
    "A55": "more is drafted than the rest of the text has room for",
    "A57": "a mean over rounds taken from the last round alone",
    "A58": "slower than plain decoding, and nothing says so",
    "A59": "ids of a reduced draft vocabulary are looked up as the target's",
    "A61": "an end token is kept or dropped depending on how it arose",
    "A62": "positions go wrong from a prompt of one token on",
    "A64": "the explanation leaves the uniform out: 'accept if p >= q'",
    "A65": "an acceptance measured on a text that repeats itself",
}

# The text as it streams: bytes, characters, control tokens, stops.
TEXT = {
    "B01": "half a character is shown as a replacement character",
    "B02": "half a character raises an error",
    "B04": "a leading space is lost with the first half of a character",
    "B06": "a token that ends one character and holds another loses one of them",
    "B08": "a character of three bytes is taken for a replacement character",
    "B09": "a clean-up rewrites what was streamed before",
    "B11": "a clean-up takes the space out of '!='",
    "B12": "streamed text and the decoding of all tokens differ",
    "B13": "the space before a word is lost where tokens are decoded alone",
    "B15": "a space appears behind control tokens",
    "B17": "highlights are one off behind an emoji",
    "B19": "a stop string across two tokens is never seen",
    "B21": "more text is withheld than could begin a stop string",
    "B22": "a stop string inside a token: the text is cut, the token kept",
    "B23": "right-to-left text and tabs out of order",
    "B25": "a token's text is taken for markup",
    "B27": "a reply that ends at once is nothing at all, and divides by zero",
    "B28": "very long lines and tokens make the window crawl",
}

# Model folders, weights, tokenizers, templates.
MODELS = {
    "C01": "a shard that was cut short",
    "C03": "a header that claims to be huge is read into memory, or a large one refused in riddles",
    "C04": "a Git LFS pointer in place of the weights",
    "C05": "a shard that the index names is missing",
    "C07": "an index that belongs to other files than those that are there",
    "C09": "a folder called like a file, or an empty one",
    "C10": "an untied model without a head gets a random one",
    "C12": "a nested configuration is not read",
    "C13": "a head that is there although it is tied",
    "C14": "a scaling of rotary frequencies that is unknown, or computed wrongly",
    "C17": "a processor cannot compute in the checkpoint's half precision",
    "C18": "the size of a head is computed from the width instead of being read",
    "C19": "one of several end tokens is not known",
    "C21": "a chat template in a file of its own is not found",
    "C22": "a template that refuses system prompts",
    "C24": "a template that runs code, or never ends",
    "C26": "a quantisation that is not supported, said as a number",
    "C28": "a GGUF file cut short, or with offsets that overflow",
    "C30": "a file that is no GGUF, a part of one, or one of the other byte order",
    "C32": "a tokenizer in another file than the one that is read",
    "C33": "a folder without a configuration, blamed on the shards",
}

# The trace and what is made of it.
EXPORTS = {
    "E01": "NaN or an infinity makes a line unreadable, or is lost",
    "E03": "a token closes the script that holds the data, or runs",
    "E05": "escaping that is done twice spoils ordinary text",
    "E06": "a placeholder of the template inside the data is filled",
    "E07": "a cell that begins like a formula is run by a spreadsheet; or numbers are spoilt",
    "E08": "blanks before a formula make it pass for text",
    "E09": "tables with blank lines, in a locale's encoding, garbled where they are opened",
    "E10": "one torn line makes a whole session unreadable",
    "E13": "a file of settings emptied by a crash",
    "E15": "a long trace: a blank page, or many times its size in memory",
    "E16": "an old or a new version is misread in silence",
    "E18": "fresh files of the current build are refused by it",
    "E19": "counters that exceed the tokens of the text",
}

KINDS = DECODING | TEXT | MODELS | EXPORTS


@cache
def trees() -> tuple[ast.Module, ...]:
    """Every file of the suite, parsed."""
    return tuple(ast.parse(path.read_text(encoding="utf-8")) for path in TESTS.rglob("*.py"))


def cases_in(tree: ast.AST) -> Iterator[str]:
    """Yield the ids of every mark below a node."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.case":
            for argument in node.args:
                assert isinstance(argument, ast.Constant), "cases are named in full"
                yield str(argument.value)


@cache
def marked() -> tuple[str, ...]:
    """The ids that tests are marked with: by a decorator, or for all tests of a file."""
    found: list[str] = []
    for tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                if node.name.lower().startswith("test"):
                    found += [case for mark in node.decorator_list for case in cases_in(mark)]
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
                found += cases_in(node)
    return tuple(found)


def test_every_mark_names_a_kind_of_the_list() -> None:
    assert set(marked()) - set(KINDS) == set()


def test_every_mark_stands_on_a_test() -> None:
    written = sorted(case for tree in trees() for case in cases_in(tree))
    assert written == sorted(marked())


@pytest.mark.parametrize("case", KINDS)
def test_every_kind_has_a_test(case: str) -> None:
    assert case in marked(), f"nothing holds off: {KINDS[case]}"
