"""A shared state without a simulator, set by tests."""

from collections.abc import Iterator

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.shared_memory.past_states import PastState, PastStates
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
        self.past, self.shown = no_past(), None
        self.load(scene)

    def load(self, scene: str) -> None:
        """Show another scene."""
        self.assembly = assemble(load_scene(scene))
        self.layout = lay_out(self.assembly)
        self.metadata = {"scene": self.assembly.config.name}
        self.model = self.assembly.model
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)

    def update(self) -> Update:
        return self.update_is

    def peek(self) -> tuple[float, int]:
        return self.time, self.step

    def show(self, time: float | None) -> None:
        self.shown = None if time is None else self.past.find(time) or PastState(0, time)

    def review(self, after: int) -> Iterator[int]:
        held = self.time
        for number in self.past.after(after):
            self.time = float(self.past.rows[number % self.past.capacity, 0])
            yield number
        self.time = held

    def beat(self, patience_s: float = 1.5) -> None:
        self.beats += 1


def no_past() -> PastStates:
    """Return a ring that keeps no states."""
    return PastStates(np.empty((0, 1)), memoryview(np.zeros(1, np.int64)))
