"""What command arbitration needs of a Cartesian controller."""

from typing import Protocol

import numpy as np

from mujoco_ros.control.cartesian.commands import CartesianCommand
from mujoco_ros.control.cartesian.settings import CartesianSettings
from mujoco_ros.control.joint_owners import JointOwner


class CartesianSource(JointOwner, Protocol):
    """A command source that moves a frame of a robot by its joints.

    Attributes:
        settings: Its settings.
        busy: Whether `update` is needed.
    """

    settings: CartesianSettings
    busy: bool

    @property
    def joints(self) -> np.ndarray:
        """Indices of the joints that it commands; none without a frame.  # (k,)"""

    def check(self, settings: CartesianSettings) -> object:
        """Check settings.

        Raises:
            UserInputError: A frame or a joint does not exist, or takes no commands of the mode.
        """

    def refusal(self, command: CartesianCommand) -> str:
        """Return why a command is refused; empty if it is not."""

    def accept(self, command: CartesianCommand, time: float) -> None:
        """Follow a command from the step at `time` on [s]."""

    def update(self, time: float) -> None:
        """Write the references of the step that begins at `time` [s]."""

    def configure(self, settings: CartesianSettings) -> None:
        """Replace the settings."""

    def settle(self) -> None:
        """End the motion; the joints hold their position."""

    def reset(self) -> None:
        """Drop all commands."""
