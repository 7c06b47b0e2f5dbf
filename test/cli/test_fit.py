"""The executable `fit`, on a bag that is recorded from a simulated robot with other parameters."""

import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from example_runs import CommandedSimulator
from fork_server import fork_server
from simulators import SimulatorLauncher

from mujoco_ros.cli.fit import main
from mujoco_ros.model.scene.config import load_scene

JOINT, REST_S = "wrist_3_joint", 2
ARM = """
world: package://mujoco_ros/urdf_mjcf/worlds/ground.xml
robots:
  - name: arm
    model: package://mujoco_ros/urdf_mjcf/arm/arm.xml
    keyframe: home
    gains: package://mujoco_ros/urdf_mjcf/arm/gains.yaml
    gripper: left_finger_joint
"""
TWIN = f"""
extends: arm_alone.yaml
robots:
  - name: arm
    joints: {{{JOINT}: {{armature: 0.15, friction: 0.9, damping: 1.4, kp: 1500.0, kd: 30.0}}}}
    realism:
      joints: {{encoders: {{position_noise: 5.0e-5, velocity_noise: 2.0e-3, effort_noise: 0.1}}}}
      actuators: {{bus: {{delay: 0.006}}}}
"""
RATES = {"publish_rate__joint_states": 500.0, "publish_rate__controller_state": 1000.0}


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A bag of the twin, of which `arm_alone.yaml` in its folder is the scene."""
    (tmp_path / "arm_alone.yaml").write_text(ARM)
    (tmp_path / "twin.yaml").write_text(TWIN)
    bag = tmp_path / "bag"
    launcher = SimulatorLauncher(tmp_path)
    try:
        simulator = launcher.simulator(scene=tmp_path / "twin.yaml", real_time_factor=0.6, **RATES)
        robot = CommandedSimulator(tmp_path, simulator, launcher.listener(simulator))
        topics = ("/joint_states", "/joint_trajectory_controller/controller_state")
        log = tmp_path / "record.log"
        with log.open("wb") as file:
            recorder = fork_server().fork(
                "mujoco_ros.cli.record",
                *("-o", str(bag), "--topics", *topics),
                env=os.environ | {"ROS_DOMAIN_ID": str(simulator.domain)},
                stdout=file.fileno(),
                stderr=file.fileno(),
            )
        assert robot.listener.spin_until(lambda: log.read_text().count("recording '/") == 2)
        done = robot.run("12_excite_joints.py", "--seconds", "5", "--joints", JOINT)
        assert done.code == 0, done.errors
        os.kill(recorder.pid, signal.SIGINT)
        recorder.wait(120.0)
    finally:
        launcher.close()
    return bag


def test_a_recorded_robot_is_fitted_from_the_command_line(recorded, capfd):
    folder = recorded.parent
    output = folder / "fitted.yaml"
    arguments = [str(recorded), "--scene", str(folder / "arm_alone.yaml"), "-o", str(output)]
    assert main([*arguments, "--joints", JOINT]) == 0
    text = capfd.readouterr().out
    assert "elbow_joint: not fitted: it does not move" in text
    assert "warning" not in text
    (robot,) = load_scene(str(output)).robots
    options = robot.joints[JOINT]
    assert options.armature == pytest.approx(0.15, rel=0.1)
    assert options.friction == pytest.approx(0.9, rel=0.1)
    assert options.damping == pytest.approx(1.4, rel=0.1)
    assert (options.kp, options.kd) == pytest.approx((1500.0, 30.0), rel=0.1)
    assert robot.realism is not None
    assert robot.realism.actuators["drives"]["delay"] == pytest.approx(0.006, abs=5e-4)
    assert main(arguments) == 1
    assert f"'{output}' exists; --overwrite replaces it" in capfd.readouterr().err


def test_an_error_is_one_sentence(tmp_path, capfd):
    assert main([str(tmp_path), "--scene", "arm", "-o", str(tmp_path / "fitted.yaml")]) == 1
    assert capfd.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("fitted.txt", "its name must end with .yaml"),
        ("missing/fitted.yaml", "no folder that can be written to"),
        ("twin.yaml", "is not written: it is an input, or a file that an input names"),
        ("arm_alone.yaml", "is not written: it is an input, or a file that an input names"),
    ],
)
def test_an_output_that_is_no_good_is_an_error_before_the_fit(tmp_path, capfd, output, message):
    (tmp_path / "arm_alone.yaml").write_text(ARM)
    (tmp_path / "twin.yaml").write_text(TWIN)
    arguments = [str(tmp_path / "no_bag"), "--scene", str(tmp_path / "twin.yaml"), "--overwrite"]
    assert main([*arguments, "-o", str(tmp_path / output)]) == 1
    assert message in capfd.readouterr().err
    assert (tmp_path / "arm_alone.yaml").read_text() == ARM
    assert (tmp_path / "twin.yaml").read_text() == TWIN


def test_a_joint_that_is_given_twice_is_an_error(tmp_path, capfd):
    arguments = [str(tmp_path), "--scene", "arm", "-o", str(tmp_path / "fitted.yaml")]
    assert main([*arguments, "--joints", JOINT, JOINT]) == 1
    assert f"joint '{JOINT}' is given twice" in capfd.readouterr().err
