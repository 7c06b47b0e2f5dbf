"""A component overrides what applies to it, and nothing else."""

from mujoco_ros.bridge.component import Component
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


class _Idle(Component):
    """Overrides nothing."""


def test_a_component_that_overrides_nothing_does_nothing() -> None:
    plant, idle = Simulation(load_scene("arm")).plant, _Idle()
    assert idle.expand_parameters({"a": 1}) == {}
    idle.check_parameters({"a": 1})
    assert idle.apply_parameters({"a": 1}) is None
    idle.build(plant)
    idle.prepare(plant)
    idle.commit()
    idle.finish()
    idle.rollback()
    assert idle.wait(0.0) == 0.0
    idle.before_step()
    idle.after_step()
    idle.while_paused()
    idle.on_reset(SimulationReset(time=0.0, before=0.0, gain_changes=0))
    idle.start()
    idle.stop()
    idle.close()
