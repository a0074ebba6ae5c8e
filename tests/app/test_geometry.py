"""The window always opens where it can be reached."""

import pytest

from app.geometry import FIRST_SIZE, FRAME, Box, fit

SCREEN = Box(0, 0, 1920, 1080)
LEFT = Box(-1280, 0, 1280, 1024)


def inside(box: Box, screen: Box) -> bool:
    right = box.x + box.width <= screen.x + screen.width
    return box.x >= screen.x and right and box.y >= screen.y


def test_first_start_is_centred_at_the_first_size() -> None:
    box = fit(None, [SCREEN])
    assert (box.width, box.height) == FIRST_SIZE
    assert inside(box, SCREEN)


@pytest.mark.parametrize("x", [9999, -9999])
def test_place_on_a_removed_screen_comes_back(x: int) -> None:
    assert inside(fit(Box(x, 40, 1000, 700), [SCREEN]), SCREEN)


def test_place_on_a_second_screen_is_kept() -> None:
    saved = Box(-1200, 60, 900, 700)
    assert fit(saved, [SCREEN, LEFT]) == saved
    assert inside(fit(saved, [SCREEN]), SCREEN)


def test_hidden_coordinates_keep_only_the_size() -> None:
    box = fit(Box(0, 0, 1000, 700), [SCREEN], positions_known=False)
    assert (box.width, box.height) == (1000, 700)
    assert box.x > 0


def test_window_never_exceeds_its_screen() -> None:
    box = fit(Box(10, 10, 5000, 4000), [SCREEN])
    assert (box.width, box.height) == (1920 - FRAME[0], 1080 - FRAME[1])


@pytest.mark.parametrize("saved", [None, Box(0, 0, 1440, 900)])
def test_window_leaves_room_for_its_frame_on_a_screen_of_its_own_size(saved: Box | None) -> None:
    box = fit(saved, [Box(0, 0, *FIRST_SIZE)])
    assert box.x + box.width + FRAME[0] <= FIRST_SIZE[0]
    assert box.y + box.height + FRAME[1] <= FIRST_SIZE[1]


def test_twenty_restores_do_not_creep() -> None:
    box = Box(37, 41, 1234, 777)
    for _ in range(20):
        box = fit(box, [SCREEN])
    assert box == Box(37, 41, 1234, 777)


def test_title_bar_above_the_screen_comes_back() -> None:
    assert fit(Box(100, -500, 800, 600), [SCREEN]).y >= 0


def test_no_screen_is_survived() -> None:
    assert fit(None, []) == Box(0, 0, *FIRST_SIZE)
