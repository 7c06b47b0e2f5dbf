"""The same simulation in this process, with the expected content of every message."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from simulators import steps_of

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


@dataclass(frozen=True)
class Instant:
    """Copies of the engine's arrays at the beginning of one step."""

    model: mujoco.MjModel
    qpos: np.ndarray
    qvel: np.ndarray
    qacc: np.ndarray
    qfrc_actuator: np.ndarray
    sensordata: np.ndarray
    poses: dict[str, tuple[np.ndarray, np.ndarray]]
    """World position and rotation matrix of bodies, sites (``site:``) and cameras (``camera:``)."""

    def sensor(self, name: str) -> list[float]:
        sensor = self.model.sensor(name)
        return self.sensordata[sensor.adr[0] : sensor.adr[0] + sensor.dim[0]].tolist()

    def joint(self, name: str) -> tuple[float, float, float]:
        """Return position, velocity and actuator force of a scalar joint."""
        joint = self.model.joint(name)
        dof = joint.dofadr[0]
        return (
            float(self.qpos[joint.qposadr[0]]),
            float(self.qvel[dof]),
            float(self.qfrc_actuator[dof]),
        )

    def free(self, body: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return position and quaternion wxyz, velocity, and acceleration of a free body."""
        joint = int(self.model.body(body).jntadr[0])
        q, v = int(self.model.jnt_qposadr[joint]), int(self.model.jnt_dofadr[joint])
        return self.qpos[q : q + 7], self.qvel[v : v + 6], self.qacc[v : v + 6]


def reference_run(scene: str, steps: Iterable[int], **options: Any) -> dict[int, Instant]:
    """Return some steps of a simulation that equals that of the node."""
    simulation = Simulation(load_scene(scene), **options)
    wanted = set(steps)
    found = {}
    for step in range(max(wanted) + 1):
        assert simulation.step()
        if step in wanted:
            found[step] = _instant(simulation)
    return found


def paired(messages: list[Any], instants: dict[int, Instant]) -> list[tuple[Any, Instant]]:
    """Return each message with the instant at its stamp."""
    return [(m, instants[step]) for m, step in zip(messages, steps_of(messages), strict=True)]


def _instant(simulation: Simulation) -> Instant:
    model, data, sample = simulation.model, simulation.data, simulation.sample
    poses = {
        **{model.body(i).name: (data.xpos[i], data.xmat[i]) for i in range(model.nbody)},
        **{
            f"site:{model.site(i).name}": (data.site_xpos[i], data.site_xmat[i])
            for i in range(model.nsite)
        },
        **{
            f"camera:{model.cam(i).name}": (data.cam_xpos[i], data.cam_xmat[i])
            for i in range(model.ncam)
        },
    }
    return Instant(
        model=model,
        qpos=sample.qpos.copy(),
        qvel=sample.qvel.copy(),
        qacc=sample.qacc.copy(),
        qfrc_actuator=sample.qfrc_actuator.copy(),
        sensordata=sample.sensordata.copy(),
        poses={name: (p.copy(), r.reshape(3, 3).copy()) for name, (p, r) in poses.items()},
    )
