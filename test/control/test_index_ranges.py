import numpy as np
import pytest

from mujoco_ros.control.index_ranges import ArrayPart, as_slice


@pytest.mark.parametrize("indices", [[3, 4, 5], [0], [7, 8]])
def test_consecutive_indices_become_an_equivalent_slice(indices):
    numbers = np.arange(10.0)
    found = as_slice(np.array(indices))
    assert isinstance(found, slice)
    assert numbers[found].tolist() == numbers[indices].tolist()
    assert numbers[found].base is numbers


@pytest.mark.parametrize("indices", [[], [0, 2], [4, 3], [1, 1], [0, 1, 3]])
def test_other_indices_are_returned_unchanged(indices):
    given = np.array(indices, dtype=np.intp)
    assert as_slice(given) is given


@pytest.mark.parametrize("indices", [[2, 3, 4], [4, 0, 3], [1], []])
def test_a_part_of_an_array_is_read_and_written(indices):
    array, expected = np.arange(6.0), np.arange(6.0)
    part, out = ArrayPart(array, np.array(indices, dtype=np.intp)), np.zeros(len(indices))
    array *= 10.0  # it stays the same array
    part.read(out)
    np.testing.assert_array_equal(out, 10.0 * expected[indices])
    part.write(-out)
    expected *= 10.0
    expected[indices] *= -1.0
    np.testing.assert_array_equal(array, expected)
