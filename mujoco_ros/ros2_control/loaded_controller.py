"""A controller that a manager has loaded, its state and its ticks."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from mujoco_ros.ros2_control.controller import Controller

ROUNDING_S = 1e-9  # of times that are compared, far below any timestep
_ROUNDING = 1e-6  # fraction of a period, far above the rounding errors of summed times


def next_update(time: float, period: float) -> float:
    """Return the time of the update after one at `time` [s], each a multiple of a period.

    It follows from the time and is not counted, so a reset repeats the same updates.
    """
    return float((np.floor(time / period + _ROUNDING) + 1.0) * period)


class Lifecycle(StrEnum):
    """State of a controller, named as its lifecycle."""

    UNCONFIGURED = "unconfigured"
    INACTIVE = "inactive"
    ACTIVE = "active"


@dataclass(eq=False, kw_only=True)
class LoadedController:
    """A controller that is loaded."""

    name: str
    type_name: str  # as ``joint_trajectory_controller/JointTrajectoryController``
    kind: type[Controller]
    update_rate: float  # in simulated time [Hz]
    controller: Controller | None = None  # None until it is configured
    state: Lifecycle = Lifecycle.UNCONFIGURED
    # Whether it is active without the request of a client, and deactivated for others
    gives_way: bool = False
    next_update: float = 0.0  # simulated time [s]
    last_update: float = -np.inf

    @property
    def configured(self) -> Controller:
        """The controller, which is configured."""
        assert self.controller is not None
        return self.controller

    @property
    def commands(self) -> tuple[str, ...]:
        """The command interfaces that it claims while it is active."""
        return () if self.controller is None else self.controller.command_interfaces

    def is_due(self, time: float) -> bool:
        """Return whether a tick of its rate is in the step that begins at `time` [s]."""
        # The clock may have been set back.
        return time < self.last_update or time >= self.next_update - ROUNDING_S

    @property
    def follows_steps(self) -> bool:
        """Whether it is updated at each step."""
        return self.kind.every_step and self.controller is not None and self.controller.busy
