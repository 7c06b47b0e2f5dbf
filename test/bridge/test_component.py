"""Who follows a change of the model need not do anything."""

from mujoco_ros.bridge.component import ModelChangeListener
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


class _Idle(ModelChangeListener):
    """Overrides nothing."""


def test_each_step_of_a_change_does_nothing_unless_overridden() -> None:
    plant = Simulation(load_scene("arm")).plant
    idle = _Idle()
    idle.draft(plant)
    idle.prepare(plant)
    idle.switch()
    idle.finish()
    idle.abort()
