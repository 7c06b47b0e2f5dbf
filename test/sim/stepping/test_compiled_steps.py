"""Compiled steps of a simulation, without publishers."""

from typing import Any

import mujoco
import pytest

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


def compiled_simulation(scene: str = "arm") -> Simulation:
    simulation = Simulation(load_scene(scene))
    if simulation.compiled is None:
        pytest.skip("the native part is not compiled: no C compiler")
    return simulation


def test_warnings_belong_to_the_simulation_whose_hook_steps_another_one() -> None:
    outer, inner = compiled_simulation(), compiled_simulation()
    other = inner.model._address

    def control(model: Any, _data: Any) -> None:
        if model._address != other:
            inner.step()

    mujoco.set_mjcb_control(control)
    try:
        outer.data.qfrc_applied[0] = 1e300
        outer.step()
    finally:
        mujoco.set_mjcb_control(None)
    assert [text.split(" at DOF")[0] for text in outer.engine_messages] == [
        "Nan, Inf or huge value in QACC"
    ]
    assert not inner.engine_messages
