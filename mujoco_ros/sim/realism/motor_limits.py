"""The limits of the motors of one robot: torque over speed, and heat."""

from collections.abc import Iterable

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism.channel_settings import ActuatorChannel
from mujoco_ros.sim.drives import Drives


class MotorLimits:
    """Limits the force ranges of actuators on joints at every step.

    In the direction of motion, the largest effort of a joint is on the line from `stall_effort` at
    standstill to zero at `no_load_velocity`; against it, it is not lowered. Copper losses heat the
    winding, a thermal mass of first order, and its temperature lowers all efforts.

    Attributes:
        temperature: Of the winding of each motor [°C].  # (m,)
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        drives: Drives,
        groups: Iterable[tuple[str, np.ndarray]],
    ) -> None:
        """Limit the actuators on the joints of each entry.

        Args:
            model: The model.
            data: The state.
            drives: The actuators of all joints.
            groups: Name of each entry, and its joints, indices into the joints of all robots.
        """
        self._model, self._data, self._limits = model, data, drives.force_limits
        self._entry: list[str] = []
        rows: list[tuple[int, int, int]] = []  # actuator, joint, actuators on the joint
        for name, joints in groups:
            for joint in joints.tolist():
                actuators = sorted(drives.actuators(joint))
                rows += [(it, joint, len(actuators)) for it in actuators]
                self._entry += [name] * len(actuators)
        self._actuators, self._joints, sharing = np.array(rows, dtype=np.intp).reshape(-1, 3).T
        self._outputs = model.actuator_outadr[self._actuators]
        self._gear = model.actuator_gear[self._outputs, 0] * sharing  # joint effort per force
        self._direction = np.sign(self._gear)
        self._gear = np.abs(self._gear)
        self._sharing = sharing
        count = len(rows)
        self.temperature = np.zeros(count)
        self._ambient = np.zeros(count)
        self._acts = False

    def configure(self, settings: dict[str, ActuatorChannel], timestep: float) -> None:
        """Set the settings of the entries by name, and the simulated time of a step [s]."""
        acted = self._acts

        def of(name: str) -> np.ndarray:
            return np.array([getattr(settings[entry], name) for entry in self._entry], dtype=float)

        peak, stall, speed = of("peak_effort"), of("stall_effort"), of("no_load_velocity")
        self._peak = np.where(peak > 0.0, peak, np.inf) / self._gear
        has_line = (stall > 0.0) & (speed > 0.0)
        self._stall = np.where(has_line, stall, np.inf) / self._gear
        self._slope = np.where(has_line, 1.0 / np.where(speed > 0.0, speed, 1.0), 0.0)
        self._slope *= self._direction
        loss = of("copper_loss")
        self._heating = loss * of("thermal_resistance") * (self._gear / self._sharing) ** 2
        self._ambient = of("ambient_temperature")
        self._decay = -np.expm1(-timestep / np.maximum(of("thermal_time_constant"), 1e-9))
        self._derating_end = of("derating_end")
        self._derating_width = self._derating_end - of("derating_start")
        self._heats = bool(self._heating.any())
        self._acts = self._heats or bool((peak > 0.0).any() or has_line.any())
        if acted and not self._acts:
            self._limits.apply(self._actuators)

    def check(self, name: str, settings: ActuatorChannel, where: str) -> None:
        """Reject derating of motors that have no limit of effort.

        Raises:
            UserInputError: A motor of the entry has none.
        """
        has_limit = settings.peak_effort or (settings.stall_effort and settings.no_load_velocity)
        if has_limit or not settings.copper_loss:
            return
        for entry, actuator in zip(self._entry, self._actuators.tolist(), strict=True):
            if entry == name and not self._limits.limited[actuator]:
                raise UserInputError(
                    f"{where}: actuator '{self._model.actuator(actuator).name}' has no limit of "
                    "effort that heat can lower; set 'peak_effort', or 'stall_effort' and "
                    "'no_load_velocity'"
                )

    def reset(self) -> None:
        """Let the motors be cold."""
        self.temperature[:] = self._ambient
        if self._acts:
            self._limits.apply(self._actuators)

    def heat(self) -> None:
        """Heat the motors by the efforts of the last step."""
        if self._heats:
            force = self._data.actuator_force[self._outputs]
            steady = self._ambient + self._heating * force * force
            self.temperature += self._decay * (steady - self.temperature)

    def update(self, dq: np.ndarray) -> None:
        """Set the limits of the next step.

        Args:
            dq: Velocities of all joints [rad/s or m/s].  # (n,)
        """
        if not self._acts:
            return
        limits, actuators = self._limits, self._actuators
        share = self._slope * dq[self._joints]
        most = np.minimum(self._peak, self._stall * np.maximum(1.0 - share, 0.0))
        least = np.minimum(self._peak, self._stall * np.maximum(1.0 + share, 0.0))
        # Against the motion, the line would exceed the effort at standstill.
        np.minimum(most, self._stall, out=most)
        np.minimum(least, self._stall, out=least)
        own = limits.ranges[actuators]
        limited = limits.limited[actuators]
        low = np.where(limited, np.maximum(own[:, 0], -least), -least)
        high = np.where(limited, np.minimum(own[:, 1], most), most)
        if self._heats:
            factor = (self._derating_end - self.temperature) / self._derating_width
            hot = factor < 1.0
            if hot.any():
                factor = np.maximum(factor[hot], 0.0)
                low[hot] *= factor
                high[hot] *= factor
        has_limit = np.isfinite(low) & np.isfinite(high)
        model = self._model
        model.actuator_forcelimited[actuators] = has_limit
        chosen = actuators[has_limit]
        factors = limits.factors[chosen]
        model.actuator_forcerange[chosen, 0] = factors * low[has_limit]
        model.actuator_forcerange[chosen, 1] = factors * high[has_limit]
