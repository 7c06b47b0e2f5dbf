"""What a controller of ros2_control is: interfaces, activation and updates at a rate."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import reduce
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from mujoco_ros.ros2_control.hardware import HardwareInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters


class Controller:
    """A controller of a robot; a type of the table `types.TYPES` is a subclass.

    It is constructed when ros2_control would configure it, in the executor's thread. All other
    methods run in the physics thread. Times are simulated [s].
    """

    # Whether it is updated at each step while it is `busy`; otherwise at its rate alone
    every_step: ClassVar[bool] = False
    # Attributes that a saved state contains, as ``limiter`` or ``commands.values``
    saved: ClassVar[tuple[str, ...]] = ()
    # Parameters of hardware or threads, which are not reported as ignored
    without_meaning: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, name: str, parameters: ControllerParameters, hardware: HardwareInterfaces
    ) -> None:
        """Read the parameters, and find the interfaces in `hardware`.

        Raises:
            UserInputError: A parameter is invalid, or the robot lacks an interface.
        """
        self.name, self.hardware = name, hardware
        self.is_active = False  # set by those that have an action
        self.warnings: list[str] = []  # what it leaves out that its parameters ask for
        # Full names of topics that a client has remapped, to other ones
        self.remapped: Mapping[str, str] = {}
        self.command_interfaces: tuple[str, ...] = ()  # that it claims, as ``joint/position``
        self.state_interfaces: tuple[str, ...] = ()  # that it reads
        # Names of references by which another controller may command it, as ``linear/velocity``;
        # the manager exports them as ``<name>/linear/velocity``
        self.reference_interfaces: tuple[str, ...] = ()
        self.references = np.empty(0)  # their values; NaN before the first (k,)
        self.is_chained = False  # whether another controller writes them, instead of messages
        # Names of states that other controllers can read, exported in the same way
        self.exported_states: tuple[str, ...] = ()
        self.states_out = np.empty(0)  # their values (k,)
        self._set_up(parameters, hardware)

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        """Read the parameters, and find the interfaces; override this."""

    def export_references(self, names: Sequence[str]) -> None:
        """Offer reference interfaces to other controllers; call this in the constructor."""
        self.reference_interfaces = tuple(names)
        self.references = np.full(len(names), np.nan)

    def export_states(self, names: Sequence[str]) -> None:
        """Offer state interfaces to other controllers; call this in the constructor."""
        self.exported_states = tuple(names)
        self.states_out = np.full(len(names), np.nan)

    @property
    def live(self) -> Mapping[str, Any]:
        """The parameters that can be set while it is configured, with their values; lists."""
        return {}

    def change(self, parameters: ControllerParameters) -> Callable[[], object]:
        """Return what applies changed `live` parameters, in the physics thread.

        Raises:
            UserInputError: A parameter is invalid.
        """
        raise NotImplementedError

    @property
    def busy(self) -> bool:
        """Whether it needs an update at each step, if `every_step` is set."""
        return True

    def refusal(self) -> str:
        """Return why it takes no commands of an action; empty if it does."""
        return "" if self.is_active else f"controller '{self.name}' is not active"

    def activate(self) -> None:
        """Begin to command; called before the first update."""

    def deactivate(self) -> None:
        """End: the manager stops the joints that the controller has claimed afterwards."""

    def update(self, time: float, period: float) -> None:
        """Write the commands of the step that begins at `time`; the last was `period` before."""

    def reset(self, reason: str) -> None:
        """Begin again after the state of the robot was set; goals end for a `reason`."""
        self.references[:] = np.nan
        self.deactivate()
        self.activate()

    def save_state(self) -> dict[str, Any]:
        """Return a copy of its state without goals, for `restore_state`."""
        return {name: copy(attrgetter(name)(self)) for name in ("references", *self.saved)}

    def restore_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved state; arrays stay the same objects."""
        for path, value in state.items():
            *owners, name = path.split(".")
            owner = reduce(getattr, owners, self)
            if isinstance(value, np.ndarray):
                getattr(owner, name)[...] = value
            else:
                setattr(owner, name, copy(value))
