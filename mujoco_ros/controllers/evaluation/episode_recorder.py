"""Looks on while an episode runs, tick by tick."""

from hashlib import sha256

import numpy as np

from mujoco_ros.control.index_ranges import as_slice
from mujoco_ros.controllers.fsm.table import TIMEOUT
from mujoco_ros.controllers.fsm.transition import Transitioned
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.sim.simulation import Simulation


class EpisodeRecorder:
    """Notes what a controller did, and how well the joints followed.

    Attributes:
        made: All transitions that were made.
        tracking: By state, the furthest that a joint under the PD law was from its reference [rad].
    """

    def __init__(self, simulation: Simulation, host: ControllerHost) -> None:
        """Look at a simulation and the host in it."""
        self.made: list[Transitioned] = []
        self.tracking: dict[str, float] = {}
        self._simulation, self._host = simulation, host
        self._machine = host.runner.controller.machine
        self._initial = self._state = self._machine.state
        self._ticks = 0
        self._hash = sha256()
        joints = simulation.drives.servo_joints
        self._joints, self._qpos = as_slice(joints), as_slice(simulation.joints.qpos[joints])

    def stepped(self) -> bool:
        """Take notice of a step; return whether it was a tick."""
        if self._host.ticks == self._ticks:
            return False
        self._ticks = self._host.ticks
        simulation = self._simulation
        sample = simulation.sample
        self._hash.update(sample.qpos.tobytes())
        error = np.abs(simulation.references.q[self._joints] - sample.qpos[self._qpos])
        worst = float(error.max(initial=0.0))
        self.tracking[self._state] = max(worst, self.tracking.get(self._state, 0.0))
        events = self._host.runner.events
        while events:
            self.made.append(events.popleft())
        self._state = self._machine.state
        return True

    @property
    def state(self) -> str:
        """Return the present state."""
        return self._state

    @property
    def digest(self) -> str:
        """Return a digest of the positions at all ticks so far."""
        return self._hash.hexdigest()[:16]

    @property
    def failures(self) -> tuple[Transitioned, ...]:
        """Return the transitions that a failure led to."""
        return tuple(
            it
            for it in self.made
            if it.transition.label == TIMEOUT
            or it.transition.label in self._machine.members[it.transition.start].failures
        )

    def phases(self, end: float) -> dict[str, float]:
        """Return how long each state took in all, up to a time [s]."""
        taken: dict[str, float] = {}
        state, since = self._initial, 0.0
        for it in self.made:
            taken[state] = taken.get(state, 0.0) + it.time - since
            state, since = it.transition.goal, it.time
        taken[state] = taken.get(state, 0.0) + end - since
        return taken
