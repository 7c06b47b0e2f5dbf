"""Cost of extensions and engine hooks, in pairs of a simulation with and one without them."""

import ctypes
import math
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import mujoco
import numpy as np

from benchmark.durations import Durations
from benchmark.report import Row, result
from mujoco_ros.extensions import extension_set
from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.model.scene.config import ExtensionConfig, load_scene
from mujoco_ros.sim.simulation import Simulation


class Empty(Extension):
    """Does nothing before each step."""

    def before_step(self) -> None:
        """Do nothing."""


class PythonHook(Extension):
    """Has one hook in Python, which writes the forces of all joints."""

    def passive(self, data: mujoco.MjData, force: np.ndarray) -> None:
        """Write no force."""
        force[:] = 0.0


class CHook(Extension):
    """Has one hook in C, which does nothing."""

    def set_up(self) -> None:
        """Take a function without effect from the library of the engine."""
        library = next(
            path
            for path in sorted(Path(mujoco.__file__).parent.iterdir())
            if path.name.startswith(("libmujoco", "mujoco.dll"))
        )
        self.native["passive"] = ctypes.CDLL(str(library)).mj_version


class Filter(Extension):
    """Has a contact filter, which keeps all contacts."""

    def contact_filter(self, data: mujoco.MjData, geom1: int, geom2: int) -> bool:
        """Keep the contact."""
        return False


_CASES: tuple[tuple[type[Extension] | None, str, float], ...] = (
    (None, "no extension, the difference of two equal simulations", math.inf),
    (Empty, "an empty extension", 3.0),
    (PythonHook, "a hook in Python", 15.0),
    (CHook, "a hook in C", 1.0),
    (Filter, "a contact filter in Python, arm above a table", math.inf),
)
"""Extension, its name in the table, and the limit [µs]."""


def extensions(durations: Durations) -> list[Row]:
    """(w) What extensions add to a step of the arm: medians of the processor time in pairs."""
    return [
        result(
            "w",
            f"{quantity}, per step",
            _added(cls, durations.raw_steps),
            "µs",
            limit=f"≤ {limit:g}" if math.isfinite(limit) else "",
            keeps=limit.__ge__ if math.isfinite(limit) else None,
        )
        for cls, quantity, limit in _CASES
    ]


def _added(cls: type[Extension] | None, steps: int) -> float:
    """Return the median difference of two simulations that step alternately [µs]."""
    scene = load_scene("arm")
    plain = Simulation(scene)
    used = (ExtensionConfig(use="measured"),) if cls is not None else ()
    other = Simulation(replace(scene, extensions=used))
    with patch.object(extension_set, "load_extension", lambda _name: cls):
        its = ExtensionSet(other) if used else None
    clock, costs = time.thread_time, np.empty((steps, 2))
    for step in range(steps):
        begun = clock()
        plain.step()
        between = clock()
        if its is None:
            other.step()
        else:
            its.before_step()
            other.step()
            its.after_step()
        costs[step] = between - begun, clock() - between
    if its is not None:
        its.close()
        if its.runners[0].failure:
            raise RuntimeError(its.runners[0].failure)
    return float(1e6 * (np.median(costs[:, 1]) - np.median(costs[:, 0])))
