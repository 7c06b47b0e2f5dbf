"""The policy of the Unitree Go1 of MuJoCo Playground runs unedited, with the table for it.

Its script is mujoco_playground/experimental/sim2sim/play_go1_joystick.py.
"""

import os
import shutil
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.interface.inputs import VELOCITY_INPUT, BodyVelocity, VelocityInput
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

onnxruntime = pytest.importorskip("onnxruntime", reason="`make setup` installs onnxruntime")
FOLDER = Path(os.environ.get("MUJOCO_PLAYGROUND", "."))
GO1 = FOLDER / "mujoco_playground/mujoco_playground/_src/locomotion/go1/xmls"
SCENE = GO1 / "scene_mjx_feetonly_flat_terrain.xml"
POLICY = FOLDER / "mujoco_playground/mujoco_playground/experimental/sim2sim/onnx/go1_policy.onnx"
MESH = FOLDER / "mujoco_menagerie/unitree_go1/assets/trunk.stl"
TABLE = Path(__file__).resolve().parents[4] / "config/controllers/go1_joystick.yaml"
MISSING = [str(path) for path in (SCENE, POLICY, MESH) if not path.is_file()]

pytestmark = pytest.mark.skipif(
    bool(MISSING),
    reason=f"MUJOCO_PLAYGROUND names no folder with {', '.join(MISSING)}",
)
STEPS_PER_RUN = 5


class Go1:
    """The robot with its policy, hosted."""

    def __init__(self, folder: Path) -> None:
        shutil.copy(TABLE, folder)
        shutil.copy(POLICY, folder)
        self.simulation = Simulation(load_scene(str(SCENE)))
        controller = load(str(folder / TABLE.name))
        self._velocity = VelocityInput()
        controller.store.provide(VELOCITY_INPUT, self._velocity)
        self.host = ControllerHost(self.simulation, controller)

    def step(self, command: np.ndarray) -> None:
        self._velocity.receive(BodyVelocity(*command.tolist()), self.simulation.time)
        assert self.host.step()
        assert self.host.supervised.state == "WALK", self.host.supervised.log.since(0)
        assert self.host.supervised.error == ""


def command_at(step: int) -> np.ndarray:
    """Return another command every 2.5 s."""
    return np.random.default_rng(step // 625).uniform([-0.5, -0.4, -1.0], [1.0, 0.4, 1.0])


def reference_actions(steps: int) -> np.ndarray:
    """Return the actions of the script's formulas beside MuJoCo alone.

    As a controller beside a robot, it observes the state before a step, and acts from the next
    one on; the script observes and acts within a step.
    """
    model = mujoco.MjModel.from_xml_path(str(SCENE))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    default_angles = model.keyframe("home").qpos[7:]
    session = onnxruntime.InferenceSession(POLICY, providers=["CPUExecutionProvider"])
    last_action, actions = np.zeros(12, dtype=np.float32), []
    for step in range(steps):
        mujoco.mj_step1(model, data)
        if step % STEPS_PER_RUN == 0:
            axes = data.site("imu").xmat.reshape(3, 3)
            observation = np.hstack(
                [
                    data.sensor("local_linvel").data,
                    data.sensor("gyro").data,
                    axes.T @ [0.0, 0.0, -1.0],
                    data.qpos[7:] - default_angles,
                    data.qvel[6:],
                    last_action,
                    command_at(step),
                ]
            )
            inputs = {"obs": observation.astype(np.float32)[np.newaxis]}
        mujoco.mj_step2(model, data)
        if step % STEPS_PER_RUN == 0:
            last_action = session.run(["continuous_actions"], inputs)[0][0]
            actions.append(last_action)
            data.ctrl[:] = last_action * 0.5 + default_angles
    return np.array(actions)


def test_the_actions_equal_those_of_the_reference_for_ten_seconds(tmp_path):
    go1, actions = Go1(tmp_path), []
    network = go1.host.supervised.machine.instances["WALK"]._network
    for step in range(2500):
        go1.step(command_at(step))
        if step % STEPS_PER_RUN == 0:
            actions.append(network.output[0].copy())
    assert np.ptp(actions, axis=0).min() > 0.2, "it walks"
    np.testing.assert_allclose(actions, reference_actions(2500), atol=1e-5)


def test_it_walks_for_a_minute_with_the_commanded_velocities(tmp_path):
    go1, errors = Go1(tmp_path), []
    for step in range(15_000):
        command = command_at(step)
        go1.step(command)
        if step % 625 > 250:
            base = go1.simulation.sample.sensordata[:6]  # gyro, then velocity of the trunk's IMU
            errors.append(base[[3, 4, 2]] - command)
    assert np.sqrt(np.mean(np.square(errors), axis=0)).max() < 0.15
