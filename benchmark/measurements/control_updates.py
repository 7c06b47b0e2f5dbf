"""Cost of RobotControl calls for all joints of a robot, with warm caches."""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mujoco_ros.control.cartesian import CartesianMode, cartesian_command
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.control.joints import POSITION
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.control.trajectory.trajectory import PointArrays, Trajectory, trajectory
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.sim.simulation import Simulation

_SEGMENT_S = 0.05
_LOOPS = 10
_MODES: tuple[CartesianMode, ...] = ("pose", "impedance")


def update_costs(steps: int) -> dict[str, float]:
    """Return the cost of calls of RobotControl [µs], in the fastest of ten loops.

    ``trajectory``: `update` on a quintic trajectory; ``upsampled``: on a smooth curve through
    positions; ``stream``: on a ramp between two streamed commands; ``command``: `command`, all with
    the humanoid; ``pose`` and ``impedance``: `update` of the arm's Cartesian controller.
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
    control.follow(path, now)
    costs = {"trajectory": fastest(update, steps)}
    control.trajectory.settings = replace(control.trajectory.settings, positions_upsampling=True)
    path = _trajectory(control, names, duration, upsampled=True)
    control.follow(path, now)
    costs["upsampled"] = fastest(update, steps)
    q = control.references.q[path.joints]
    message = joint_command(control.joints, "clamp", names, [(q + 0.01).tolist(), still, still])
    costs["command"] = fastest(send, steps // 10)
    control.stream = StreamSettings(period=duration)
    send()
    costs["stream"] = fastest(update, steps)
    return costs | {mode: _cartesian(mode, steps) for mode in _MODES}


def _cartesian(mode: CartesianMode, steps: int) -> float:
    """Return the cost of `update` while the tool of the arm moves slowly [µs]."""
    simulation = Simulation(load_scene("arm"))
    control, timestep = simulation.controls[0], float(simulation.model.opt.timestep)
    cartesian = control.cartesian
    assert isinstance(cartesian, CartesianController)
    assert cartesian.chain is not None
    cartesian.configure(replace(cartesian.settings, mode=mode, twist_timeout=0.0))
    frame = cartesian.chains.resolve("", cartesian.chain.base)
    now = 0.0
    control.command_cartesian(
        cartesian_command("twist", frame, (0.0, 0.0, -1e-3), (0.0, 0.0, 0.0)), now
    )

    def update() -> None:
        nonlocal now
        now += timestep
        control.update(now)

    cost = fastest(update, steps // 10)
    assert cartesian.busy
    return cost


def _trajectory(
    control: RobotControl, names: list[str], duration: float, *, upsampled: bool = False
) -> Trajectory:
    """Return a trajectory of this duration with quintic segments, or of positions only."""
    times = _SEGMENT_S * np.arange(1, round(duration / _SEGMENT_S) + 2)
    values = np.zeros((4, len(times), len(names)))
    values[0] = control.references.q[control.joints.find(names)]
    given = np.ones((4, len(times)), dtype=bool)
    given[1:] = not upsampled
    return trajectory(
        control.joints,
        control.trajectory.settings,
        "clamp",
        names,
        None,
        PointArrays(times=times, values=values, given=given),
        upsampled=upsampled,
    )


def fastest(function: Callable[[], None], steps: int) -> float:
    """Return the duration of a call, in the fastest of ten loops [µs]."""
    costs = []
    count = steps // _LOOPS
    for _ in range(_LOOPS):
        begun = time.perf_counter()
        for _ in range(count):
            function()
        costs.append((time.perf_counter() - begun) / count * 1e6)
    return min(costs)
