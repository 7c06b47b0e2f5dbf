"""Trajectory controllers of a file: interfaces, laws, activation and saved states."""

import numpy as np
import pytest
from commanded_robot import points
from managed_robot import Managed

from mujoco_ros.control.events import CommandError, GoalEnded, Outcome
from mujoco_ros.control.trajectory.trajectory import trajectory
from mujoco_ros.model.errors import UserInputError

JTC = "joint_trajectory_controller/JointTrajectoryController"


def add(managed, *, joints="ab", interfaces=("position",), name="arm", **parameters):
    given = {"joints": list(joints), "command_interfaces": list(interfaces), **parameters}
    controller = managed.add(name, JTC, **given)
    managed.start(name)
    return controller


def follow(managed, controller, names, moves, **fields):
    checked = trajectory(
        *(controller.joints, controller.trajectories.settings, "clamp", names, None, moves)
    )
    controller.follow(checked.__class__(**{**vars(checked), **fields}), managed.robot.time)


def run(managed, seconds):
    for _ in range(round(seconds / managed.control.timestep)):
        managed.robot.step()


def test_positions_follow_at_every_step_with_their_velocity():
    managed = Managed(update_rate=10.0)
    controller = add(managed)
    follow(managed, controller, "ba", points([1.0], [[1.2, 2.1]]))
    run(managed, 0.5)
    np.testing.assert_allclose(managed.references.q[:2], [0.1 + 1.0, 0.2 + 0.5], atol=0.01)
    np.testing.assert_allclose(managed.references.dq[:2], [2.0, 1.0], atol=1e-6)


def test_without_allow_partial_joints_goal_a_trajectory_has_all_joints():
    managed = Managed()
    controller = add(managed)
    with pytest.raises(CommandError, match="lacks the joints b"):
        follow(managed, controller, "a", points([1.0], [[1.0]]))
    with pytest.raises(CommandError, match="joint 'c' does not belong to 'arm'"):
        follow(managed, controller, "abc", points([1.0], [[1.0, 1.0, 1.0]]))


def test_two_controllers_follow_their_own_trajectories():
    managed = Managed()
    one, other = add(managed, joints="a", name="one"), add(managed, joints="c", name="other")
    follow(managed, one, "a", points([0.1], [[1.0]]), goal="first")
    follow(managed, other, "c", points([0.2], [[-1.0]]), goal="second")
    run(managed, 0.3)
    np.testing.assert_allclose(managed.references.q, [1.0, 0.2, -1.0])
    ended = managed.robot.events_of(GoalEnded)
    assert [(e.goal, e.outcome) for e in ended] == [
        ("first", Outcome.SUCCESSFUL),
        ("second", Outcome.SUCCESSFUL),
    ]


@pytest.mark.parametrize("interface", ["velocity", "effort"])
def test_a_law_leads_joints_along_the_trajectory(interface):
    managed = Managed()
    gains = {"gains.a.p": 8.0, "gains.a.d": 0.5, "gains.a.ff_velocity_scale": 0.25}
    position, speed = 0.3, 0.1
    managed.robot.measure = lambda _time: np.array([[position, 0, 0], [speed, 0, 0]])
    managed.robot.step()
    controller = add(managed, joints="a", interfaces=[interface], **gains)
    follow(managed, controller, "a", points([1.0], [[1.1]]))
    run(managed, 0.4)
    desired, rate = controller.desired.q[0], controller.desired.dq[0]
    expected = 8.0 * (desired - position) + 0.5 * (rate - speed) + 0.25 * rate
    row = managed.references.dq if interface == "velocity" else managed.references.tau
    assert row[0] == pytest.approx(expected)
    assert rate == pytest.approx(0.8, abs=0.01)  # from the measured position


@pytest.mark.parametrize("name", ["i_clamp_max", "i_clamp"])
def test_the_output_of_a_law_is_clamped_and_its_integral_bounded(name):
    managed = Managed()
    gains = {"gains.a.p": 1.0, "gains.a.i": 100.0, f"gains.a.{name}": 0.5}
    controller = add(
        managed, joints="a", interfaces=["velocity"], **gains, **{"gains.a.u_clamp_max": 1.2}
    )
    managed.robot.measure = lambda _time: np.zeros((2, 3))
    follow(managed, controller, "a", points([0.01], [[0.6]]))
    run(managed, 0.5)
    assert managed.references.dq[0] == pytest.approx(0.6 + 0.5)
    follow(managed, controller, "a", points([0.01], [[3.0]]))
    run(managed, 0.1)
    assert managed.references.dq[0] == 1.2


def test_a_negative_bound_of_the_integral_is_named():
    with pytest.raises(
        UserInputError, match=r"'gains\.a\.i_clamp' is -1; it must be from 0 to inf"
    ):
        add(Managed(), joints="a", interfaces=["velocity"], **{"gains.a.i_clamp": -1.0})


def test_efforts_act_alone_while_they_are_claimed_alone():
    switched = []
    managed = Managed()
    managed.control._switch_pd = lambda acts: switched.append(acts.tolist())
    add(managed, joints="b", interfaces=["effort"])
    managed.start(stop=["arm"])
    assert switched == [[True, False, True], [True, True, True]]


def test_a_deactivation_ends_the_goal_and_stops_the_joints():
    managed = Managed()
    controller = add(managed)
    follow(managed, controller, "ab", points([1.0], [[1.0, 1.0]]), goal="goal")
    run(managed, 0.5)
    managed.start(stop=["arm"])
    (ended,) = managed.robot.events_of(GoalEnded)
    assert (ended.goal, ended.outcome) == ("goal", Outcome.INVALID_GOAL)
    assert controller.refusal() == "controller 'arm' is not active"
    before = managed.references.q.copy()
    run(managed, 0.1)
    np.testing.assert_array_equal(managed.references.q, before)
    assert not managed.references.dq.any()


def test_a_saved_state_continues_the_motion():
    managed = Managed()
    controller = add(managed)
    follow(managed, controller, "ab", points([1.0], [[1.0, 1.0]]))
    run(managed, 0.3)
    saved, references = managed.control.save_state(), managed.references.values.copy()
    time = managed.robot.index
    run(managed, 0.4)
    expected = managed.references.values.copy()
    managed.control.reset()
    managed.references.values[:] = references
    managed.robot.index = time
    managed.control.restore_state(saved)
    run(managed, 0.4)
    np.testing.assert_array_equal(managed.references.values, expected)


def test_idle_controllers_leave_steps_to_compiled_code_between_their_ticks():
    managed = Managed(update_rate=50.0)
    controller = add(managed)
    managed.robot.step()
    assert managed.control.idle_steps(managed.robot.time) == pytest.approx(19, abs=1)
    follow(managed, controller, "ab", points([1.0], [[1.0, 1.0]]))
    assert managed.control.idle_steps(managed.robot.time) == 0


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"joints": []}, "'joints' is empty"),
        ({"joints": ["a", "z"]}, "joint 'z' not found"),
        ({"interfaces": ["torque"]}, r"'command_interfaces' is \['torque'\]; choose from"),
        ({"gains.a.p": "high", "interfaces": ["effort"]}, "'gains.a.p': expected a number"),
        ({"action_monitor_rate": -1.0}, "'action_monitor_rate' is -1; it must be from"),
        ({"constraints.goal_time": "long"}, "'constraints.goal_time': expected a number"),
    ],
)
def test_a_wrong_parameter_is_named(parameters, problem):
    with pytest.raises(UserInputError, match=problem):
        add(Managed(), **parameters)
