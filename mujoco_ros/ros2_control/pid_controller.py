"""pid_controller/PidController."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mujoco_ros.control.events import CommandError
from mujoco_ros.control.joints import check_numbers
from mujoco_ros.control.settings import setting
from mujoco_ros.model.errors import counted, unknown
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.hardware import CommandInterfaces, HardwareInterfaces, StateInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters
from mujoco_ros.ros2_control.pid import PidGains, PidLaws

_TURN = 2.0 * np.pi


@dataclass(frozen=True, kw_only=True, slots=True)
class _Parameters:
    dof_names: tuple[str, ...] = setting("Joints that are commanded")
    reference_and_state_dof_names: tuple[str, ...] = setting(
        "Joints of references and states; empty for those that are commanded", ()
    )
    command_interface: str = setting("Their command interface")
    reference_and_state_interfaces: tuple[str, ...] = setting("One interface, and its derivative")
    set_current_state_as_first_setpoint: bool = setting("Whether it begins at the state", True)
    use_external_measured_states: bool = setting("Whether a topic has the states", False)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Gains(PidGains):
    feedforward_gain: float = setting("Factor of the reference that is added", 0.0)
    angle_wraparound: bool = setting("Whether full turns are equivalent", False)


class PidController(Controller):
    """Leads one interface of joints to references, which messages or another controller give."""

    saved = ("_laws.integral", "_last_error", "measured")

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        read = parameters.read(_Parameters)
        self.dofs = read.reference_and_state_dof_names or read.dof_names
        kinds = read.reference_and_state_interfaces
        if len(self.dofs) != len(read.dof_names):
            raise parameters.reject("reference_and_state_dof_names", "has another length")
        if len(kinds) not in (1, 2):
            raise parameters.reject("reference_and_state_interfaces", "has not 1 or 2 interfaces")
        names = [f"{dof}/{kind}" for kind in kinds for dof in self.dofs]
        self.command_interfaces = tuple(f"{d}/{read.command_interface}" for d in read.dof_names)
        self.export_references(names)
        self.export_states(names)
        self._is_external = read.use_external_measured_states
        if not self._is_external:
            self.state_interfaces = tuple(names)
        self._begins_at_state = read.set_current_state_as_first_setpoint
        self._commands = CommandInterfaces(hardware, self.command_interfaces)
        self._states = StateInterfaces(hardware, self.state_interfaces)
        gains = parameters.read_each(_Gains, read.dof_names, "gains.").values()
        self._laws = PidLaws(tuple(gains))
        self._forward = np.array([each.feedforward_gain for each in gains])
        self._wraps = np.array([each.angle_wraparound for each in gains])
        self.measured = np.full(len(names), np.nan)  # states as the references (k,)
        self.error = np.full(len(self.dofs), np.nan)
        self.output = np.full(len(self.dofs), np.nan)

    @property
    def takes_states(self) -> bool:
        """Whether a topic has the states."""
        return self._is_external

    def check(
        self, names: Sequence[str], values: Sequence[float], rates: Sequence[float]
    ) -> np.ndarray:
        """Return the checked content of a message, in the order of the references.  # (k,)

        Raises:
            CommandError: A name is unknown, a number is infinite, or some are missing.
        """
        count, found = len(self.dofs), np.full(len(self.references), np.nan)
        columns = list(names or self.dofs)
        for name in columns:
            if name not in self.dofs:
                raise CommandError(str(unknown("dof", name, self.dofs)))
        for at, numbers in enumerate((values, rates)):
            if len(numbers) and at * count < len(found):
                if len(numbers) != len(columns):
                    raise CommandError(
                        f"{counted(len(numbers), 'value')} for {len(columns)} dof_names"
                    )
                for name, number in zip(columns, numbers, strict=True):
                    found[at * count + self.dofs.index(name)] = number
        check_numbers(found, "value", self.reference_interfaces, nan=True, kind="reference")
        return found

    def command(self, references: np.ndarray) -> None:
        """Follow checked references, but for NaN, unless it is chained."""
        if not self.is_chained:
            np.copyto(self.references, references, where=~np.isnan(references))

    def observe(self, states: np.ndarray) -> None:
        """Use checked states of a message."""
        self.measured[:] = states

    def activate(self) -> None:
        """Begin without a reference, or at the state."""
        self.references[:] = np.nan
        self._laws.reset()
        self._last_error = self.error = np.full(len(self.dofs), np.nan)
        if not self._is_external:
            self.measured[:] = self._states.read()
        if self._begins_at_state:
            self.references[:] = self.measured

    def update(self, time: float, period: float) -> None:
        """Write the output of the laws; joints without reference or state have none."""
        if not self._is_external:
            self.measured[:] = self._states.read()
        self.states_out[:] = self.measured
        count = len(self.dofs)
        error = self.references[:count] - self.measured[:count]
        turned = np.remainder(error + np.pi, _TURN) - np.pi
        self.error = error = np.where(self._wraps, turned, error)
        if len(self.references) > count:
            feed = self.references[count:]
            rate = feed - self.measured[count:]
        else:
            feed, rate = self.references, np.full(count, np.nan)
        # Without a rate, that of the error; the first error has none.
        derived = (error - self._last_error) / period
        rate = np.where(np.isnan(rate), np.nan_to_num(derived), rate)
        self._last_error = error
        known = ~np.isnan(error)
        output = self._laws.output(np.where(known, error, 0.0), rate, period)
        self.output = output + self._forward * np.nan_to_num(feed)
        self._commands.values[:] = np.where(known, self.output, np.nan)
        self._commands.write()
