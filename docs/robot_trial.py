"""The trial of one model for docs/public_robots.py: load it, count its elements, let it stand."""

import json
import logging
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.inspection.joints import measure_standstill
from mujoco_ros.inspection.report import overlaps
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import SceneConfig, load_scene
from mujoco_ros.sim.actuator_controls import free_controls
from mujoco_ros.sim.settings.gains import weak_motors
from mujoco_ros.sim.simulation import Simulation

SECONDS = 10.0
_SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)


def trial(path: str, limit_s: float) -> dict[str, Any]:
    """Return the results of a model; with the key ``refused`` if it does not load.

    Args:
        path: The model.
        limit_s: Processor time after which the simulation ends [s].
    """
    logging.disable(logging.CRITICAL)
    try:
        freed = _lacks_joints(path)
        # Other programs on the machine do not count.
        began = time.process_time()
        simulation = Simulation(_scene(path, freed=freed))
        import_s = time.process_time() - began
    except UserInputError as error:
        return {"refused": str(error), "rejected_by_mujoco": rejected_by_mujoco(path)}
    model, joints, robots = simulation.model, simulation.joints, simulation.layout.robots
    driven = np.array([bool(simulation.drives.modes(i)) for i in range(len(joints.names))], bool)
    slides = model.jnt_type[joints.ids] == _SLIDE
    free = sum(map(len, free_controls(simulation.plant).values()))
    unused = sum(len(robot.unused_sensors) for robot in robots)
    result = {
        "import_s": import_s,
        "freed": freed,
        "weak": _weak(simulation),
        "overlaps": sum(not it.excluded for it in overlaps(model, simulation.data.qpos)),
        "joints": len(joints.names),
        "driven": int(driven.sum()),
        "sensors": int(model.nsensor),
        "sensors_mapped": int(model.nsensor) - unused,
        "actuators": int(model.nu),
        "actuators_mapped": len(set(simulation.drives.slots.tolist())) + free,
        "timestep": float(model.opt.timestep),
    }
    end = time.process_time() + limit_s
    still = measure_standstill(simulation, SECONDS, lambda: time.process_time() > end)
    for name, values in (("drift", still.drift), ("speed", still.speed)):
        for kind, chosen in (("rad", driven & ~slides), ("m", driven & slides)):
            index = int(np.argmax(np.where(chosen, values, -1.0))) if chosen.any() else None
            result[f"{name}_{kind}"] = None if index is None else float(values[index])
            result[f"{name}_{kind}_joint"] = None if index is None else joints.names[index]
    return result | {
        "seconds": still.seconds,
        "base_drift_m": still.base_drift,
        "base_speed": still.base_speed,
        "divergences": still.divergences,
    }


def _scene(path: str, *, freed: bool) -> SceneConfig:
    config = load_scene(path)
    if not freed:
        return config
    (robot,) = config.robots
    return replace(config, robots=(replace(robot, base="free"),))


def _lacks_joints(path: str) -> bool:
    """Load a model a first time, and return whether it loads only with a free base.

    Raises:
        UserInputError: It does not load.
    """
    try:
        Simulation(load_scene(path))
    except UserInputError as error:
        if "has no joint" not in str(error):
            raise
        return True
    return False


def _weak(simulation: Simulation) -> list[str]:
    """Return the joints of fixed bases whose actuators cannot carry the weight at the start."""
    names = []
    columns = simulation.layout.columns
    for robot, own in zip(simulation.layout.robots, columns, strict=True):
        if not robot.bases:
            driven = np.flatnonzero(
                [bool(simulation.drives.modes(i)) for i in range(own.start, own.stop)]
            )
            found = weak_motors(simulation.model, _at_start(simulation), robot, driven)
            names += [name for name, _, _ in found]
    return names


def _at_start(simulation: Simulation) -> mujoco.MjData:
    data = mujoco.MjData(simulation.model)
    data.qpos[:] = simulation.data.qpos
    mujoco.mj_forward(simulation.model, data)
    return data


def rejected_by_mujoco(path: str) -> bool:
    """Whether MuJoCo itself does not load a model."""
    try:
        mujoco.MjModel.from_xml_path(path)
    except (ValueError, mujoco.FatalError):
        return True
    return False


if __name__ == "__main__":
    target, report, limit = sys.argv[1:]
    Path(report).write_text(json.dumps(trial(target, float(limit))), encoding="utf-8")
