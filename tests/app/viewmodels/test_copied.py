"""What an n-gram drafter copied is found in the context, token for token."""

from __future__ import annotations

from app.viewmodels.copied import copied, source_words
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import CLOSING_SLOT, PROMPT_ROUND, TokenRef
from app.viewmodels.strip import StripModel
from app.viewmodels.token_note import token_note
from tests.app.opened import opened, write_trace
from tests.traces import make_trace


def by_ngram(rounds: int = 40) -> Document:
    return Document(make_trace(rounds=rounds, temperature=0.0, drafter="ngram"))


def test_each_token_of_a_draft_equals_the_one_it_was_copied_from():
    document = by_ngram()
    found = 0
    for one in document.rounds:
        copy = copied(document, TokenRef(one.index, 0))
        if copy is None:  # these traces copy from beyond the context, too
            assert one.match is None or one.match.start >= one.position
            continue
        for source, drafted in zip(copy.sources, copy.drafted, strict=True):
            assert document.token(source).id == document.token(drafted).id
            assert document.position_of(source) < one.position
            found += 1
    assert found > 40


def test_the_closing_token_shows_what_its_round_copied():
    document = by_ngram()
    assert copied(document, TokenRef(4, CLOSING_SLOT)) == copied(document, TokenRef(4, 0))


def test_nothing_is_copied_in_a_prompt_or_by_another_drafter():
    assert copied(by_ngram(), TokenRef(PROMPT_ROUND, 0)) is None
    other = Document(make_trace(rounds=4, drafter="head"))
    assert copied(other, TokenRef(1, 0)) is None
    assert copied(other, TokenRef(99, 0)) is None


def test_a_round_that_cannot_be_read_back_copied_nothing(tmp_path):
    path = write_trace(tmp_path / "t.jsonl", make_trace(rounds=40, drafter="ngram"))
    document = opened(path)
    path.write_bytes(b"")
    assert copied(document, TokenRef(3, 0)) is None


def test_note_of_a_drafted_token_names_its_source_as_the_arrow_does():
    document = by_ngram()
    presentation = Presentation(document)
    presentation.seek(10**6)
    model = StripModel(document, presentation)
    model.refresh()
    copy = copied(document, TokenRef(4, 0))
    assert source_words(copy) == f"token {copy.start + 1}"
    note = token_note(document, model.chips[model.index_of(TokenRef(4, 0))])
    assert f"Copied from token {copy.start + 1} of the context" in note
    second = token_note(document, model.chips[model.index_of(TokenRef(4, 1))])
    assert f"Copied from token {copy.start + 2} of the context" in second
    closing = token_note(document, model.chips[model.index_of(TokenRef(4, CLOSING_SLOT))])
    assert "Copied" not in closing
