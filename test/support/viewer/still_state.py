"""A shared state without a simulator, set by tests."""

import mujoco

from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.shared_memory.reader import Update


class StillState:
    """Has the attributes of `SharedState` that the viewer reads.

    Attributes:
        update_is: Return value of `update`.
        edits: Number of edits of the model.
        ended: Whether the simulator has ended.
        beats: Number of heartbeats of the viewer.
    """

    def __init__(self, scene: str) -> None:
        """Show a scene, by its name or path, in its initial state."""
        self.update_is = Update.NOTHING
        self.edits = self.beats = self.step = 0
        self.time, self.factor = 0.0, 1.0
        self.ended = self.paused = False
        self.references = None
        self.load(scene)

    def load(self, scene: str) -> None:
        """Show another scene."""
        self.assembly = assemble(load_scene(scene))
        self.layout = lay_out(self.assembly)
        self.model = self.assembly.model
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)

    def update(self) -> Update:
        return self.update_is

    def beat(self, patience_s: float = 1.5) -> None:
        self.beats += 1
