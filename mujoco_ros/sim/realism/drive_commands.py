"""The references that the drives of one robot receive, and the play of its gears."""

from collections.abc import Iterable

import numpy as np

from mujoco_ros.model.realism.channel_settings import ActuatorChannel
from mujoco_ros.sim.realism.channel import ChannelPart, ImperfectChannel
from mujoco_ros.sim.realism.measurements import transport

ROWS = 3
"""Position, velocity and effort."""


class DriveCommands:
    """Transports the references of joints to their drives.

    Attributes:
        channel: The references, for each entry the rows of its joints.
    """

    def __init__(self, key: str, seed: int, groups: Iterable[tuple[str, np.ndarray]]) -> None:
        """Transport the references of the joints of each entry.

        Args:
            key: Name that distinguishes the random numbers.
            seed: Seed of the simulation.
            groups: Name of each entry, and its joints, indices into the joints of all robots.
        """
        self._groups = list(groups)
        joints = [np.array([], dtype=np.intp), *(joints for _, joints in self._groups)]
        self._joints = np.concatenate(joints)
        rows = [np.repeat(np.arange(ROWS), len(joints)) for _, joints in self._groups]
        self._rows = np.concatenate([np.array([], dtype=np.intp), *rows])
        columns = [np.tile(joints, ROWS) for _, joints in self._groups]
        self._columns = np.concatenate([np.array([], dtype=np.intp), *columns])
        self._truth = np.zeros(len(self._rows))
        self.channel = ImperfectChannel(key, seed, len(self._rows))
        self._has_play = False

    def configure(self, settings: dict[str, ActuatorChannel], timestep: float) -> None:
        """Set the settings of the entries by name, and the simulated time of a step [s]."""
        streams, first = [], 0
        for name, joints in self._groups:
            own, count = settings[name], len(joints)
            numbers = slice(first, first + ROWS * count)
            first = numbers.stop
            zeros = (0.0,) * (ROWS * count)
            quanta = (own.position_quantisation, 0.0, own.effort_quantisation)
            streams.append(
                ChannelPart(
                    numbers=numbers,
                    transport=transport(own),
                    noise=zeros,
                    noise_density=zeros,
                    bias=zeros,
                    bias_walk=zeros,
                    quantisation=tuple(np.repeat(quanta, count).tolist()),
                )
            )
        if streams:
            self.channel.configure(streams, timestep)
        widths = [np.full(len(joints), settings[name].backlash) for name, joints in self._groups]
        play = np.concatenate([np.zeros(0), *widths])
        self._has_play = bool(play.any())
        self._half_play = 0.5 * play[play > 0.0]
        self._loose = self._joints[play > 0.0]

    def send(self, references: np.ndarray, sent: np.ndarray) -> None:
        """Write the references (3, n) that have arrived to those of the drives (3, n)."""
        np.copyto(self._truth, references[self._rows, self._columns])
        self.channel.update(self._truth)
        sent[self._rows, self._columns] = self.channel.output

    def add_play(self, sent: np.ndarray, q: np.ndarray, dq: np.ndarray) -> None:
        """Change the references of the drives (3, n) where the gears of joints have play.

        Within the play, the motor does not touch the joint: the reference is the joint's own
        position and velocity, so that the PD law exerts nothing. Beyond, it is the flank.

        Args:
            sent: The references, changed in place.
            q: Positions of all joints [rad or m].  # (n,)
            dq: Velocities [rad/s or m/s].  # (n,)
        """
        if not self._has_play:
            return
        loose, half = self._loose, self._half_play
        wanted, position = sent[0, loose], q[loose]
        flank = np.minimum(np.maximum(position, wanted - half), wanted + half)
        sent[0, loose] = flank
        sent[1, loose] = np.where(flank == position, dq[loose], sent[1, loose])
