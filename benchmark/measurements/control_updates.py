"""Cost of RobotControl calls for all joints of the humanoid, with warm caches."""

import time
from collections.abc import Callable

import numpy as np

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.control.modes import POSITION
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.control.trajectory.trajectory import PointArrays, Trajectory, tolerances, trajectory
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

_SEGMENT_S = 0.05
_LOOPS = 10


def update_costs(steps: int) -> dict[str, float]:
    """Return the cost of calls of RobotControl [µs], in the fastest of ten loops.

    ``trajectory``: `update` on a quintic trajectory; ``stream``: `update` on a ramp between two
    streamed commands; ``command``: `command`.
    """
    simulation = Simulation(load_scene("humanoid"))
    control, timestep = simulation.controls[0], float(simulation.model.opt.timestep)
    duration = (steps + 1) * timestep
    names = [control.joints.names[i] for i in control.joints.with_interface(POSITION)]
    still = [0.0] * len(names)
    now = 0.0

    def update() -> None:
        nonlocal now
        now += timestep
        control.update(now)

    def send() -> None:
        nonlocal now
        now += timestep
        control.command(CommandSource.JOINT_COMMANDS, message, now)

    path = _trajectory(control, names, duration)
    allowed = tolerances(control.joints, control.trajectory.settings, path.joints)
    control.follow(path, allowed, 1, now)
    costs = {"trajectory": _fastest(update, steps)}
    q = control.references.q[path.joints]
    message = joint_command(control.joints, "clamp", names, [(q + 0.01).tolist(), still, still])
    costs["command"] = _fastest(send, steps // 10)
    control.stream = StreamSettings(period=duration)
    send()
    costs["stream"] = _fastest(update, steps)
    return costs


def _trajectory(control: RobotControl, names: list[str], duration: float) -> Trajectory:
    """Return a trajectory of this duration with quintic segments."""
    times = _SEGMENT_S * np.arange(1, round(duration / _SEGMENT_S) + 2)
    values = np.zeros((4, len(times), len(names)))
    values[0] = control.references.q[control.joints.find(names)]
    given = np.ones((4, len(times)), dtype=bool)
    return trajectory(
        control.joints,
        control.trajectory.settings,
        "clamp",
        names,
        None,
        PointArrays(times=times, values=values, given=given),
    )


def _fastest(function: Callable[[], None], steps: int) -> float:
    costs = []
    count = steps // _LOOPS
    for _ in range(_LOOPS):
        begun = time.perf_counter()
        for _ in range(count):
            function()
        costs.append((time.perf_counter() - begun) / count * 1e6)
    return min(costs)
