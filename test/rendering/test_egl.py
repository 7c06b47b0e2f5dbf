"""The order of EGL devices, as CUDA counts them."""

import pytest

from mujoco_ros.rendering.egl import ordered

DEVICES, CUDA = [10, 11, 12, 13], {0: 12, 1: 10, 2: 11}
"""Four devices, of which the last one is no graphics card of CUDA."""


@pytest.mark.parametrize(
    ("cuda", "visible", "number", "expected"),
    [
        ({}, [], None, DEVICES),
        ({}, [], 2, [12]),
        (CUDA, [], None, [12, 10, 11, 13]),
        (CUDA, [], 3, [13]),
        (CUDA, [2, 0], None, [11, 12, 10, 13]),
        (CUDA, [2, 0], 0, [11]),
        (CUDA, [2, 0], 2, [11]),  # its number in CUDA
        (CUDA, [7, 8], 1, [10]),  # the system shows and numbers only some
        (CUDA, [7, 8, 9, 10], 0, [12]),
    ],
)
def test_devices_are_counted_in_the_visible_devices_of_cuda(
    cuda: dict[int, int], visible: list[int], number: int | None, expected: list[int]
) -> None:
    assert ordered(DEVICES, cuda, visible, number) == expected


@pytest.mark.parametrize("number", [-1, 4])
def test_a_device_that_does_not_exist_is_rejected_with_the_numbers_there_are(number: int) -> None:
    with pytest.raises(LookupError, match=f"must be from 0 to 3, got {number}"):
        ordered(DEVICES, CUDA, [], number)
