"""The inbox keeps everything, in order, and wakes its reader once a drain."""

import threading

from app.inbox import Inbox


def test_only_the_first_item_wakes_the_reader() -> None:
    inbox: Inbox[int] = Inbox()
    assert [inbox.put(1), inbox.put(2)] == [True, False]
    assert inbox.drain() == [1, 2]
    assert inbox.put(3)
    assert len(inbox) == 1


def test_nothing_is_lost_between_threads() -> None:
    inbox: Inbox[tuple[int, int]] = Inbox()
    taken: list[tuple[int, int]] = []
    writers = [
        threading.Thread(target=lambda w=w: [inbox.put((w, n)) for n in range(2000)])
        for w in range(4)
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers) or len(inbox):
        taken += inbox.drain()
    for writer in writers:
        writer.join()
    taken += inbox.drain()
    assert len(taken) == 8000
    for w in range(4):
        assert [n for writer, n in taken if writer == w] == list(range(2000))
