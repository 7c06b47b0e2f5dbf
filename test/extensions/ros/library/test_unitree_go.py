"""The low-level interface of Unitree's robots, without the middleware."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("unitree_go", reason="the messages of unitree_ros2 are not installed here")

from extension_runs import ExtensionRun
from unitree_go.msg import LowCmd

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import scene_from_text

CROUCH = [0.0, 1.36, -2.65] * 4
STAND = [0.0, 0.67, -1.3] * 4
SERVO = """<mujoco><worldbody><body><joint name="j" axis="0 0 1"/><geom size=".1"/></body>
</worldbody><actuator><position joint="j" kp="70" kv="2"/></actuator></mujoco>"""
SCENE = """robots: [{{name: r, model: {}}}]
extensions: [{{use: unitree_go, robot: r, settings: {{joints: j}}}}]"""


def low_cmd(q: list[float], kp: float = 120.0, kd: float = 4.0) -> LowCmd:
    """Return a command of 12 motors; the others are off."""
    command = LowCmd(head=[0xFE, 0xEF], level_flag=0xFF)
    for motor, position in zip(command.motor_cmd, q, strict=False):
        motor.mode, motor.q, motor.kp, motor.kd = 1, position, kp, kd
    return command


@pytest.fixture
def robot() -> Iterator[ExtensionRun]:
    run = ExtensionRun("unitree_go")
    yield run
    run.close()


def test_the_state_is_in_the_order_of_the_messages(
    robot: ExtensionRun,
) -> None:
    robot.step(1.0)
    extension, data = robot.extension(), robot.data
    message = extension.lowstate()
    names = [
        f"{leg}_{it}_joint" for leg in ("FR", "FL", "RR", "RL") for it in ("hip", "thigh", "calf")
    ]
    positions = [data.joint(f"quadruped/{name}").qpos[0] for name in names]
    assert [it.q for it in message.motor_state[:12]] == pytest.approx(positions, abs=1e-4)
    weight = 9.81 * robot.simulation.model.body_subtreemass[1]
    assert sum(message.foot_force.tolist()) == pytest.approx(weight, rel=0.05)
    assert message.imu_state.accelerometer[2] == pytest.approx(9.81, abs=0.05)
    assert message.imu_state.quaternion == pytest.approx(data.qpos[3:7], abs=1e-4)
    assert np.abs(message.imu_state.rpy).max() < 0.02
    assert message.tick == pytest.approx(1000, abs=2)
    assert [it.mode for it in message.motor_state] == [1] * 12 + [0] * 8


def test_commands_with_gains_move_the_robot(robot: ExtensionRun) -> None:
    robot.step(0.2)
    extension = robot.extension()
    start = [it.q for it in extension.lowstate().motor_state[:12]]
    for share in np.linspace(0.0, 1.0, 100):
        goal = (1.0 - share) * np.array(start) + share * np.array(CROUCH)
        extension.lowcmd(low_cmd(goal.tolist()))
        robot.step(0.01)
    robot.step(0.5)
    low = robot.data.qpos[2]
    assert low < 0.25
    for share in np.linspace(0.0, 1.0, 100):
        goal = (1.0 - share) * np.array(CROUCH) + share * np.array(STAND)
        extension.lowcmd(low_cmd(goal.tolist()))
        robot.step(0.01)
    robot.step(0.5)
    assert robot.data.qpos[2] > low + 0.1
    state = extension.lowstate()
    # At rest, the torque is that of the position error.
    for motor, goal in zip(state.motor_state, STAND, strict=False):
        assert motor.tau_est == pytest.approx(120.0 * (goal - motor.q), abs=0.5)


@pytest.mark.parametrize("how", ["disabled", "error"])
def test_the_motors_are_as_before_once_they_are_not_commanded(
    robot: ExtensionRun, how: str
) -> None:
    model, runner = robot.simulation.model, robot.set.runners[0]
    before = model.actuator_gainprm.copy(), model.actuator_biasprm.copy()
    robot.extension().lowcmd(low_cmd(STAND, kp=11.0))
    robot.step(0.01)
    assert (model.actuator_biasprm != before[1]).any()
    if how == "disabled":
        runner.enable(enabled=False)
    else:
        runner.fail("control", "is wrong")
    assert model.actuator_gainprm.tolist() == before[0].tolist()
    assert model.actuator_biasprm.tolist() == before[1].tolist()


def test_a_reset_restores_servos_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(SERVO)
    run = ExtensionRun(scene_from_text(SCENE.format(tmp_path / "r.xml")))
    model = run.simulation.model
    before = model.actuator_gainprm.copy(), model.actuator_biasprm.copy()
    run.extension().lowcmd(low_cmd([0.1]))
    run.step(0.01)
    assert model.actuator_gainprm[0, 0] == 1.0
    run.simulation.reset()
    run.step(0.01)
    assert model.actuator_gainprm.tolist() == before[0].tolist()
    assert model.actuator_biasprm.tolist() == before[1].tolist()
    run.close()


def test_motors_that_are_off_have_no_torque(robot: ExtensionRun) -> None:
    extension = robot.extension()
    robot.step(0.1)
    off = low_cmd([0.0] * 12)
    for motor in off.motor_cmd:
        motor.mode = 0
    stopped = low_cmd([2.146e9] * 12, kp=50.0, kd=5.0)
    for motor in stopped.motor_cmd:
        motor.dq = 16000.0
    for command in (off, stopped):
        extension.lowcmd(command)
        robot.step(0.05)
        assert not robot.data.actuator_force.any()
    assert robot.data.qpos[2] < 0.42


def test_a_command_that_is_no_number_is_rejected(robot: ExtensionRun) -> None:
    extension = robot.extension()
    for value in (float("nan"), float("inf"), 1e7):
        command = low_cmd([0.0] * 12)
        command.motor_cmd[3].tau = value
        with pytest.raises(UserInputError, match="numbers beyond 10000, or not finite"):
            extension.lowcmd(command)
    assert not extension.state["is_set"][0]


FEET = ("FR", "FL", "RR", "RL")
FOLDER = Path(__file__).resolve().parents[4] / "urdf_mjcf" / "quadruped"
MODEL = (FOLDER / "quadruped.xml").read_text()
TOUCH = '<touch name="{0}_foot" site="{0}_foot"/>'
IMU = (
    '<gyro name="{0}_gyro" site="{0}"/><accelerometer name="{0}_acc" site="{0}"/>'
    '<framequat name="{0}_quat" objtype="site" objname="{0}"/>'
)
QUADRUPED = """world: package://mujoco_ros/urdf_mjcf/worlds/ground.xml
robots: [{{name: r, model: {0}/r.xml, keyframe: stand, gains: {1}/gains.yaml}}]
extensions: [{{use: unitree_go, robot: r, settings: {{{2}}}}}]"""


def with_site(body: str, site: str) -> str:
    """Return the model with a further site on a body."""
    at = MODEL.index(">", MODEL.index(f'<body name="{body}"')) + 1
    return f'{MODEL[:at]}<site name="{site}" pos="0.01 0 0" size="0.05"/>{MODEL[at:]}'


def quadruped(folder: Path, model: str, settings: str = "") -> ExtensionRun:
    """Return a run of a changed quadruped."""
    meshes = f'meshdir="{FOLDER / "meshes"}"'
    (folder / "r.xml").write_text(model.replace('meshdir="meshes"', meshes))
    return ExtensionRun(scene_from_text(QUADRUPED.format(folder, FOLDER, settings)))


def feet_and_imu(run: ExtensionRun) -> tuple[list[float], list[float]]:
    """Return forces of the feet and acceleration, after a push that makes all of them differ."""
    run.data.body("r/trunk").xfrc_applied[:3] = (12.0, 30.0, -20.0)
    run.step(0.1)
    message = run.extension().lowstate()
    run.close()
    return message.foot_force.tolist(), message.imu_state.accelerometer.tolist()


@pytest.mark.parametrize("order", ["FL FR RL RR", "RL RR FL FR", "RR FR RL FL"])
def test_feet_are_found_by_the_legs_that_they_are_on(tmp_path: Path, order: str) -> None:
    model = MODEL
    for foot in FEET:
        assert TOUCH.format(foot) in model
        model = model.replace(TOUCH.format(foot), "")
    sensors = "".join(map(TOUCH.format, order.split()))
    expected, _ = feet_and_imu(quadruped(tmp_path, MODEL))
    assert len(set(expected)) == 4
    changed = model.replace("</sensor>", f"{sensors}</sensor>")
    assert feet_and_imu(quadruped(tmp_path, changed))[0] == expected
    nameless = changed.replace('<touch name="FR_foot"', "<touch")
    assert feet_and_imu(quadruped(tmp_path, nameless))[0] == expected


def test_an_imu_in_a_foot_that_is_listed_first_is_not_the_imu(tmp_path: Path) -> None:
    _, expected = feet_and_imu(quadruped(tmp_path, MODEL))
    model = MODEL.replace("<sensor>", f"<sensor>{IMU.format('RL_foot')}")
    assert feet_and_imu(quadruped(tmp_path, model))[1] == expected
    alone = model.replace('site="trunk_imu"', 'site="FR_foot"')
    with pytest.raises(UserInputError, match="several could be the IMU: RL_foot_gyro on RL_foot"):
        quadruped(tmp_path, alone)


def test_of_two_imus_on_the_trunk_a_name_decides(tmp_path: Path) -> None:
    model = with_site("trunk", "second").replace("<sensor>", f"<sensor>{IMU.format('second')}")
    _, expected = feet_and_imu(quadruped(tmp_path, MODEL))
    with pytest.raises(
        UserInputError,
        match="IMU: second_gyro on trunk, trunk_imu_gyro on trunk; name its site as 'imu'",
    ):
        quadruped(tmp_path, model)
    with pytest.raises(UserInputError, match="IMU 'third' not found; there are: second, trunk_imu"):
        quadruped(tmp_path, model, "imu: third")
    assert feet_and_imu(quadruped(tmp_path, model, "imu: trunk_imu"))[1] == expected
    second = feet_and_imu(quadruped(tmp_path, model, "imu: second"))[1]
    assert second != expected
    assert second == pytest.approx(expected, abs=1.0)


def test_an_orientation_of_the_trunk_and_a_gyroscope_are_one_imu(tmp_path: Path) -> None:
    model = MODEL.replace('objtype="site" objname="trunk_imu"', 'objtype="xbody" objname="trunk"')
    assert model != MODEL
    run = quadruped(tmp_path, model)
    run.step(0.1)
    assert run.extension().lowstate().imu_state.quaternion == pytest.approx(
        run.data.qpos[3:7], abs=1e-3
    )
    run.close()


def test_of_several_touch_sensors_on_a_leg_the_foot_is_chosen_or_named(tmp_path: Path) -> None:
    expected, _ = feet_and_imu(quadruped(tmp_path, MODEL))
    shin = with_site("FR_calf", "FR_shin").replace(
        "<sensor>", '<sensor><touch name="FR_shin" site="FR_shin"/>'
    )
    assert feet_and_imu(quadruped(tmp_path, shin))[0] == expected
    pad = shin.replace('"FR_foot"', '"FR_pad"')
    with pytest.raises(
        UserInputError,
        match="foot of joint 'FR_calf_joint': FR_shin on FR_calf, FR_pad on FR_pad; name the touch",
    ):
        quadruped(tmp_path, pad)
    names = "feet: FR_pad FL_foot RR_foot -"
    assert feet_and_imu(quadruped(tmp_path, pad, names))[0] == [*expected[:3], 0]
    with pytest.raises(UserInputError, match=r"'FR_foot' not found .*; there are: FR_shin"):
        quadruped(tmp_path, pad, "feet: FR_foot FL_foot RR_foot RL_foot")
    with pytest.raises(UserInputError, match="4 feet need as many names, got 'FR_pad'"):
        quadruped(tmp_path, pad, "feet: FR_pad")


def test_joints_that_are_no_leg_decide_nothing(tmp_path: Path) -> None:
    joints = "FR_hip_joint FL_hip_joint RR_hip_joint"
    with pytest.raises(UserInputError, match=f"foot of the joints {', '.join(joints.split())}, wh"):
        quadruped(tmp_path, MODEL, f"joints: {joints}")
    quadruped(tmp_path, MODEL, f"joints: {joints}, feet: '- - - -'").close()
