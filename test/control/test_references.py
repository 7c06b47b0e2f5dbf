import numpy as np
import pytest

from mujoco_ros.control.references import References, as_slice


def test_holding_references_have_a_position_and_zero_velocity_and_effort():
    positions = np.array([0.3, -0.2])
    references = References.holding(positions)
    np.testing.assert_array_equal(references.q, [0.3, -0.2])
    np.testing.assert_array_equal(references.dq, [0.0, 0.0])
    np.testing.assert_array_equal(references.tau, [0.0, 0.0])
    positions[0] = 9.0
    assert references.q[0] == 0.3, "they must not follow the robot they are to hold"


def test_assigning_copies_values_into_the_same_arrays():
    one = References.holding(np.zeros(2))
    other = References(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    arrays = (one.q, one.dq, one.tau)
    one.assign(other)
    other.q[0] = 99.0
    np.testing.assert_array_equal(arrays, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert one.q is arrays[0]


def test_references_can_move_to_other_arrays():
    references = References.holding(np.array([0.3, -0.2]))
    elsewhere = np.arange(6.0).reshape(3, 2)
    references.rebind(elsewhere)
    references.q[0] = 7.0
    assert elsewhere[0].tolist() == [7.0, 1.0]
    assert references.tau.tolist() == [4.0, 5.0]


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
