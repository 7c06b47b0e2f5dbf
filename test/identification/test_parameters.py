import numpy as np
import pytest

from mujoco_ros.identification.parameters import (
    DELAY,
    Estimate,
    Parameter,
    ParameterSet,
    check_bounds,
    judge,
)
from mujoco_ros.model.errors import UserInputError

KD = Parameter(kind="kd", joint="hip", row=0, column=0)
DAMPING = Parameter(kind="damping", joint="hip", row=1, column=0)


def judged(values, scene, jacobian, effort=True):
    """Judge two unknowns of typical size 1, whose residuals have the deviation 1."""
    found = ParameterSet([KD, DAMPING], np.array(values)[:, None], 0.0)
    start = ParameterSet([KD, DAMPING], np.array(scene)[:, None], 0.0)
    return judge(found, np.array(jacobian), 1.0, start, effort)


def test_a_value_near_zero_is_determined_by_its_size():
    kd, damping = judged([2.0, 0.001], [1.0, 0.0], np.diag([100.0, 200.0]))
    assert kd.determined
    assert damping.determined
    assert damping.value == 0.001


def test_a_wide_interval_without_the_value_of_the_scene_is_better_than_that():
    _, damping = judged([2.0, 0.5], [1.0, 3.0], np.diag([100.0, 5.0]))
    assert damping.determined
    assert (damping.value, damping.before) == (0.5, 3.0)
    assert 0.2 * 0.5 < damping.half_width < 0.5


def test_a_wide_interval_with_the_value_of_the_scene_keeps_that():
    _, damping = judged([2.0, 0.5], [1.0, 0.7], np.diag([100.0, 5.0]))
    assert not damping.determined
    assert damping.value == 0.7
    assert damping.reason.startswith("its effect is too small to measure; it is at most 0.8")


def test_of_two_that_only_act_together_one_is_judged_with_the_other_one_of_the_scene():
    together = [[100.0, 100.0], [0.0, 0.1]]
    kd, damping = judged([2.0, 0.5], [2.0, 0.7], together, effort=False)
    assert (kd.determined, damping.determined) == (True, False)
    assert "only together with kd of hip; measured efforts" in damping.reason
    assert damping.half_width > 10.0
    assert kd.half_width < 0.05


def test_the_delay_is_determined_to_a_millisecond_or_against_that_of_the_scene():
    delay = Parameter(kind=DELAY, scale=0.005)

    def of(value, scene, sensitivity):
        found, start = (ParameterSet([delay], np.zeros((5, 1)), it) for it in (value, scene))
        return judge(found, np.array([[sensitivity]]), 1.0, start, True)[0].determined

    assert of(0.0, 0.0, 20.0)
    assert not of(0.0, 0.0, 5.0)
    assert of(0.008, 0.0, 5.0)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (DELAY, -0.003, r"is -3 ms ± 0\.1 ms; from 0 to 100 ms .* not of one clock"),
        (DELAY, 0.1, r"is 100 ms"),
        ("kp", 1e4, r"the kp of hip grows beyond 1e\+04"),
    ],
)
def test_an_estimate_that_no_robot_has_is_an_error(kind, value, message):
    joint = "" if kind == DELAY else "hip"
    parameter = Parameter(kind=kind, joint=joint, row=0, column=0)
    found = ParameterSet([parameter], np.full((5, 1), value), value)
    estimate = Estimate(parameter=parameter, before=0.0, value=value, half_width=1e-4)
    with pytest.raises(UserInputError, match=message):
        check_bounds(found, {parameter: estimate})
    near = Estimate(parameter=parameter, before=0.0, value=-5e-5, half_width=1e-4)
    check_bounds(ParameterSet([parameter], np.full((5, 1), 0.5), 0.0), {parameter: near})
