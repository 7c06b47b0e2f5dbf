"""Processor time of the ticks of walking robots."""

import time
from dataclasses import replace

import numpy as np

from benchmark.durations import Durations
from benchmark.report import Row, percentiles
from mujoco_ros.control.references import References
from mujoco_ros.controllers.catalogue import load_table
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.controllers.planning.kinematics.sole import find_soles
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.controllers.whole_body.ground_contact import GroundContact
from mujoco_ros.controllers.whole_body.inverse_dynamics import InverseDynamicsControl
from mujoco_ros.controllers.whole_body.tasks import ComTask, FrameTask, JointTask
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation

_STAND_S = 1.0
_LIMIT_US = 1500.0
_VELOCITY = {"velocity_x": 0.25, "velocity_yaw": 0.1}


class _TimedController(FsmController):
    """The controller, whose ticks are timed.

    Attributes:
        costs: Processor time of each tick [µs].
    """

    def __init__(self, name: str) -> None:
        super().__init__(load_table(name))
        self.costs: list[float] = []

    def step(self, observation: Observation, t: float) -> References:
        """Return the references of a tick."""
        before = time.thread_time()
        references = super().step(observation, t)
        self.costs.append(1e6 * (time.thread_time() - before))
        return references


def walking(durations: Durations) -> list[Row]:
    """(x) Processor time of ticks of walking controllers, and of inverse dynamics of a humanoid."""
    return [
        *_ticks("walk", "humanoid", durations.walking),
        *_ticks("trot", "quadruped", durations.walking),
        *_ticks("trot_policy", "quadruped", durations.walking, state="WALK"),
        *_inverse_dynamics(durations.walking),
    ]


def _ticks(name: str, scene: str, duration: float, *, state: str | None = None) -> list[Row]:
    """Measure a walk of some seconds.

    Args:
        name: The controller.
        scene: Of the robot.
        duration: Of the walk [s].
        state: In which it walks from the start; by default, the state after the transition to walk.
    """
    walk = state or name.upper()
    simulation = Simulation(load_scene(scene))
    controller = _TimedController(name)
    controller.machine.configure(walk, _VELOCITY)
    host = ControllerHost(simulation, controller)
    host.observation_filter = lambda observation: replace(observation, base=None)
    while simulation.time < _STAND_S:
        host.step()
    if state is None:
        host.supervised.request(name)
    controller.costs.clear()
    while simulation.time < _STAND_S + duration:
        host.step()
    if host.supervised.state != walk:
        raise RuntimeError(f"the robot does not walk: {host.supervised.state}")
    host.close()
    title = f"processor time of a tick of {name}, {len(controller.costs)} ticks"
    return percentiles("x", title, np.array(controller.costs), 50, 99, below={99: _LIMIT_US})


def _inverse_dynamics(duration: float) -> list[Row]:
    """Measure steps of a humanoid whose centre of mass sways above both soles."""
    robot = robot_model(Plant(assemble(load_scene("humanoid")), lambda _event: None), 0)
    feet, period = ("left_foot", "right_foot"), 0.005
    com, rest = ComTask(), JointTask(robot.home, weight=1e-2)
    body = FloatingBaseKinematics(robot.model, robot.qpos, robot.dof, robot.prefix + feet[0])
    body.update(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), robot.home)
    contacts = [
        GroundContact.of_sole(sole)
        for sole in find_soles(robot.model, body.data, robot.prefix, feet)
    ]
    trunk = FrameTask(body.base, weight=np.repeat((0.0, 1.0), 3))
    for task in (com, rest, trunk):
        task.gain = 5.0 * period
    control = InverseDynamicsControl(robot, feet[0], [com, trunk, rest], contacts, period=period)
    velocity = np.zeros(body.size)
    control.update(body.position, body.quat_wxyz, robot.home, velocity)
    com.hold(control.body)
    start, costs = com.position.copy(), []
    for tick in range(round(duration / period)):
        com.position[:] = start
        com.position[1] += 0.1 * np.sin(0.01 * tick)
        velocity[6:] = 0.05 * np.cos(0.01 * tick)
        before = time.thread_time()
        control.update(body.position, body.quat_wxyz, robot.home, velocity)
        control.step()
        costs.append(1e6 * (time.thread_time() - before))
    title = f"processor time of inverse dynamics of 33 joints, {len(costs)} steps"
    return percentiles("x", title, np.array(costs), 50, 99, below={99: _LIMIT_US})
