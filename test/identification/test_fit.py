"""Parameters of a hidden twin: an arm with two joints of other parameters."""

from dataclasses import replace

import numpy as np
import pytest

from benchmark.hidden_twin import HiddenTwin
from mujoco_ros.identification import fit as fit_module
from mujoco_ros.identification.fit import Fit, fit, fit_report, overlay_text, replay_report
from mujoco_ros.identification.joint_record import JointRecord
from mujoco_ros.identification.replay import replay
from mujoco_ros.identification.robot_model import IdentifiedRobot
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import read_scene
from mujoco_ros.model.scene.joint_options import JointOptions
from mujoco_ros.model.scene.overlay import RobotOverlay, overlaid
from mujoco_ros.sim.simulation import Simulation

TINY = r"(0\.0\d+|[\d.]+e-\d\d)"
MOVED = ("wrist_2_joint", "wrist_3_joint")


@pytest.fixture(scope="module")
def twin() -> HiddenTwin:
    """A twin in which a joint lacks the damping that it has in the scene."""
    twin = HiddenTwin(3, MOVED)
    twin.truth["damping"][MOVED[1]] = 0.0
    damped = RobotOverlay(name="arm", joints={MOVED[1]: JointOptions(damping=3.0)})
    twin.scene = replace(twin.scene, robots=overlaid(twin.scene.robots, [damped]))
    return twin


@pytest.fixture(scope="module")
def record(twin: HiddenTwin) -> JointRecord:
    return twin.record(4.8)


@pytest.fixture
def robot(twin: HiddenTwin) -> IdentifiedRobot:
    return IdentifiedRobot(twin.scene, twin.scene.robots[0])


@pytest.fixture(scope="module")
def found(twin: HiddenTwin, record: JointRecord) -> Fit:
    return fit(IdentifiedRobot(twin.scene, twin.scene.robots[0]), record)


def values_of(robot: IdentifiedRobot, twin: HiddenTwin) -> np.ndarray:
    """Return the true parameters of all joints.  # (5, n)"""
    values = robot.values.copy()
    for row, by_joint in enumerate(twin.truth.values()):
        for joint, value in by_joint.items():
            values[row, robot.joints.index(joint)] = value
    return values


def test_all_parameters_of_joints_that_move_are_found(twin, found):
    assert len(found.estimates) == 1 + 5 * len(MOVED)
    for it in found.estimates:
        parameter = it.parameter
        truth = twin.truth[parameter.kind][parameter.joint] if parameter.joint else twin.delay
        assert it.determined, parameter.name
        assert abs(it.value - truth) <= 2.5 * it.half_width, parameter.name
        assert abs(it.value - truth) <= (0.1 * truth or 0.05), parameter.name
    assert found.delay == pytest.approx(twin.delay, abs=2e-4)
    assert found.residual == pytest.approx(1.0, abs=0.05)


def test_joints_that_do_not_move_are_left_out_with_the_reason(found):
    assert set(found.skipped) == {
        *("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint")
    }
    assert all("does not move" in reason for reason in found.skipped.values())


def test_a_motion_that_was_held_out_is_repeated_to_the_noise(twin, found, robot):
    other = twin.record(3.0, seed=2)
    before = replay(robot, other, robot.values, 0.0)
    after = replay(robot, other, found.values, found.delay)
    moved = [after.joints.index(joint) for joint in MOVED]
    assert before.ratio[moved].min() > 5.0
    assert after.ratio.max() <= 1.2
    text = replay_report("other", before, after)
    assert len(text.splitlines()) == 2 + 6


def test_a_model_with_the_true_parameters_repeats_a_simulation_without_noise(robot):
    exact = HiddenTwin(3, MOVED, noise=0.0)
    run = replay(robot, exact.record(6.0), values_of(robot, exact), exact.delay)
    assert run.error.max() < 1e-7
    moved = [run.joints.index(joint) for joint in MOVED]
    assert np.ptp(run.measured[:, moved], axis=0).min() > 0.2


def test_with_positions_alone_gains_and_damping_are_not_separated():
    # References without velocities: kd and damping exert the same torque.
    twin = HiddenTwin(3, MOVED[1:])
    record = twin.record(3.5, velocities=False)
    unmeasured = np.full_like(record.effort, np.nan)
    silent = replace(record, velocity=unmeasured, effort=unmeasured)
    lines: list[str] = []
    robot = IdentifiedRobot(twin.scene, twin.scene.robots[0])
    partial = fit(robot, silent, progress=lines.append)
    assert lines[:2] == [f"no {it} is measured of {MOVED[1]}" for it in ("velocity", "effort")]
    unsure = {it.parameter.kind: it.reason for it in partial.estimates if not it.determined}
    assert unsure.keys() & {"kd", "damping"}
    assert any(
        "only together with" in reason and "measured efforts" in reason
        for reason in unsure.values()
    )
    # A replay has the values of the overlay, which are those of the scene where it has none.
    for it in partial.estimates:
        if it.parameter.joint:
            assert partial.values[it.parameter.row, it.parameter.column] == it.value
    assert partial.residual == pytest.approx(1.0, abs=0.05)
    assert "hold for the scene's values" in fit_report(partial)


def test_the_overlay_simulates_the_twin(found, robot, tmp_path):
    path = tmp_path / "fitted.yaml"
    path.write_text(overlay_text(found, "arm", robot))
    simulation = Simulation(read_scene(path))
    names = simulation.layout.robots[0].joints.names
    index = names.index("wrist_3_joint")
    assert simulation.drives.kp[index] == pytest.approx(found.values[3, index], rel=1e-5)
    armature = simulation.model.dof_armature[simulation.layout.robots[0].joints.dof[index]]
    assert armature == pytest.approx(found.values[0, index], rel=1e-5)
    (simulated,) = simulation.assembly.config.robots
    assert simulated.realism is not None
    drives = simulated.realism.actuators["drives"]
    assert drives["delay"] == pytest.approx(found.delay, rel=1e-5)
    assert drives["match"] == list(MOVED)


def test_parameters_that_are_not_determined_are_not_in_the_overlay(robot, found):
    kd = next(it for it in found.estimates if it.parameter.name == "kd of wrist_3_joint")
    rest = tuple(it for it in found.estimates if it is not kd)
    unsure = replace(found, estimates=(*rest, replace(kd, reason="it is a test")))
    text = overlay_text(unsure, "arm", robot)
    assert "# kd of wrist_3_joint: not determined: it is a test" in text
    assert text.count("kd:") == 1
    assert "not determined: it is a test" in fit_report(unsure)
    assert "warning" not in fit_report(unsure)
    assert "warning: the model does not repeat" in fit_report(replace(found, residual=1.3))


def test_a_named_joint_that_does_not_move_is_an_error(robot, record):
    with pytest.raises(UserInputError, match="'elbow_joint' cannot be fitted: it does not move"):
        fit(robot, record, ["elbow_joint"])


def test_a_recording_of_the_scene_itself_is_an_error(twin, robot, monkeypatch):
    same = HiddenTwin(3, MOVED, noise=0.0)
    same.scene, same.delay = twin.scene, 0.0
    for row, by_joint in enumerate(same.truth.values()):
        for joint in by_joint:
            by_joint[joint] = float(robot.values[row, robot.joints.index(joint)])
    record = same.record(6.0)
    with pytest.raises(UserInputError, match=rf"within {TINY} .*: there is nothing to fit"):
        fit(robot, record, MOVED[1:])
    monkeypatch.setattr(fit_module, "_EXACT", 0.0)
    monkeypatch.setattr(fit_module, "_ITERATIONS", 1)
    with pytest.raises(
        UserInputError, match=rf"with {TINY} .* and the fit with .*: there is nothing"
    ):
        fit(robot, record, MOVED[1:])


def test_a_bag_in_which_nothing_moves_is_an_error(robot, record):
    rest = replace(record, position=record.position[:1] + 0.0 * record.position)
    with pytest.raises(UserInputError, match="no joint of robot 'arm' can be fitted: 'should"):
        fit(robot, rest)
