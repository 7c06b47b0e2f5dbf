"""The training observes what the state `Policy` observes, and rewards what it shall."""

import numpy as np
import pytest

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.interface.inputs import VELOCITY_INPUT, BodyVelocity, VelocityInput
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from training.observation import observation, term_values, to_base
from training.policy_table import load_policy_table
from training.robot_model import make_robot

pytest.importorskip("onnxruntime", reason="onnxruntime is missing; `make setup` installs it")
COMMAND = np.array([0.5, -0.1, 0.3])


def test_the_observation_equals_that_of_the_policy_in_each_term():
    table = load_policy_table()
    pose = make_robot(table, 0.005).default_pose
    simulation, controller = Simulation(load_scene("quadruped")), load("trot_policy")
    velocity = VelocityInput()
    controller.store.provide(VELOCITY_INPUT, velocity)
    host = ControllerHost(simulation, controller)
    network = host.supervised.machine.instances["WALK"]._network
    action, compared = np.zeros(12), 0
    decimation = round(table.period / table.tick)
    for tick in range(50 * decimation):
        velocity.receive(BodyVelocity(*COMMAND.tolist()), simulation.time)
        assert host.tick()
        if tick % decimation:
            continue
        values = term_values(
            qpos=simulation.sample.qpos,
            qvel=simulation.sample.qvel,
            default_pose=pose,
            command=COMMAND,
            action=action,
            phase=np.array(tick * table.tick / table.setting("gait_phase", "period") % 1.0),
            xp=np,
        )
        at = 0
        for term in table.terms:
            expected = observation([term], values, np)
            observed = network.inputs["obs"][0, at : at + len(expected)]
            np.testing.assert_allclose(
                observed, expected, rtol=1e-6, atol=1e-6, err_msg=term["term"]
            )
            at += len(expected)
        assert at == network.inputs["obs"].size
        action, compared = network.output[0].astype(float), compared + 1
    assert host.supervised.error == ""
    assert compared == 50
    assert np.abs(action).max() > 0.05


def test_a_vector_of_the_world_is_turned_into_the_frame_of_the_base():
    half = 0.25 * np.pi  # turned to the left by 90°
    quat = np.array([np.cos(half), 0.0, 0.0, np.sin(half)])
    turned = to_base(quat, np.array([0.0, 2.0, 1.0]), np)
    np.testing.assert_allclose(turned, [2.0, 0.0, 1.0], atol=1e-12)
