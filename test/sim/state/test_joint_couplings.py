"""Joints that follow others by an equality constraint."""

import mujoco
import pytest

from mujoco_ros.control.events import CommandError
from mujoco_ros.sim.state.set_state import coupled_state

MODEL = mujoco.MjModel.from_xml_string(
    """<mujoco><compiler angle="radian"/><worldbody>
    <body><joint name="a" ref=".1"/><geom size=".1"/></body>
    <body><joint name="b"/><geom size=".1"/></body>
    <body><joint name="c"/><geom size=".1"/></body>
    <body><joint name="d"/><geom size=".1"/></body></worldbody><equality>
    <joint name="cb" joint1="c" joint2="b" polycoef=".5 -1 0 0 0"/>
    <joint name="ba" joint1="b" joint2="a" polycoef="0 2 3 0 0"/>
    <joint name="fixed" joint1="d" polycoef=".25 0 0 0 0"/></equality></mujoco>"""
)
A, B, C, D = range(4)


def solve(positions=(), velocities=(), data=None):
    names = {joint: MODEL.joint(joint).name for joint in range(MODEL.njnt)}
    data = data or mujoco.MjData(MODEL)
    return coupled_state(MODEL, data, dict(positions), dict(velocities), names)


def test_chains_of_dependent_joints_follow_in_position_and_velocity():
    q, v = solve({A: 0.3}, {A: 2.0})
    assert q == pytest.approx({A: 0.3, B: 0.52, C: -0.02})
    slope = 2 + 6 * 0.2
    assert v == pytest.approx({A: 2.0, B: 2 * slope, C: -2 * slope})


def test_a_velocity_alone_moves_no_dependent_joint():
    q, v = solve((), {A: 1.0})
    assert q == {}
    assert v == pytest.approx({A: 1.0, B: 2.0, C: -2.0})


def test_a_leading_joint_follows_its_dependent_joint_if_the_constraint_is_linear():
    data = mujoco.MjData(MODEL)
    data.eq_active[1] = 0  # the quadratic one
    q, v = solve({C: 0.2}, {C: 1.0}, data=data)
    assert q == pytest.approx({B: 0.3, C: 0.2})
    assert v == pytest.approx({B: -1.0, C: 1.0})


def test_a_dependent_joint_that_is_set_with_its_leading_one_is_set_as_given():
    q, _ = solve({A: 0.3, B: 0.6})
    assert q == pytest.approx({A: 0.3, B: 0.6, C: -0.1})


@pytest.mark.parametrize(
    ("joint", "demanded", "message"),
    [
        (B, 0.0, "joint 'b' follows joint 'a' by the equality 'ba', which puts it at position 0;"),
        (D, 0.25, "joint 'd' is held at position 0.25 by the equality 'fixed'"),
    ],
)
def test_a_dependent_joint_cannot_be_set_alone_away_from_its_place(joint, demanded, message):
    data = mujoco.MjData(MODEL)
    with pytest.raises(CommandError, match=message):
        solve({joint: 0.9}, data=data)
    q, _ = solve({joint: demanded + 5e-4}, data=data)
    assert q[joint] == demanded + 5e-4


def test_a_velocity_of_a_dependent_joint_alone_is_refused():
    with pytest.raises(CommandError, match="at velocity 0;"):
        solve((), {C: 1.0})


def test_inactive_constraints_demand_nothing():
    data = mujoco.MjData(MODEL)
    data.eq_active[:] = 0
    assert solve({A: 0.3, D: 0.9}, data=data) == ({A: 0.3, D: 0.9}, {})
