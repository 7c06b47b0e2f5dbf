"""Battery and motor temperature: motors discharge it and warm up, which limits their torque."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Float64MultiArray

from mujoco_ros.extensions.endpoints import publisher
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.settings import setting
from mujoco_ros.model.errors import UserInputError


@dataclass(frozen=True)
class BatterySettings:
    """The settings of a battery and its motors."""

    capacity: float = setting(200.0, "Capacity [Wh]", low=1e-3, high=1e5)
    voltage: float = setting(48.0, "Voltage [V]", low=0.1, high=1e4)
    heating: float = setting(0.1, "Heat of a motor at 1 Nm [W/(Nm)²]", low=0.0, high=1e3)
    heat_capacity: float = setting(300.0, "Heat capacity of a motor [J/K]", low=0.01, high=1e6)
    cooling: float = setting(1.0, "Heat that a motor loses [W/K]", low=0.0, high=1e4)
    air: float = setting(25.0, "Temperature of the air [°C]", low=-100.0, high=100.0)
    warm: float = setting(
        80.0, "Temperature from which torque is limited [°C]", low=0.0, high=200.0
    )
    hot: float = setting(100.0, "Temperature without torque [°C]", low=0.0, high=300.0)


class Battery(Extension):
    """Integrates energy used [J] and temperatures above the air [K]; reduces torque limits."""

    Settings = BatterySettings

    def initial_values(self) -> Mapping[str, Sequence[float]]:
        """Return a full battery and cold motors."""
        return {"used": [0.0], "warmth": [0.0] * len(self.elements.actuators)}

    def set_up(self) -> None:
        """Find the motors, which must have limits."""
        self._limits = self.elements.drives.force_limits
        for actuator, name in self.elements.actuators.items():
            if not self._limits.limited[actuator]:
                raise UserInputError(
                    f"actuator '{name or actuator}' has no limit of force that the battery can "
                    "lower; set its 'forcerange' in the model"
                )
        self._own = np.array(list(self.elements.actuators), dtype=np.intp)
        self._outputs = self.model.actuator_outadr[self._own]
        self._gear = self.model.actuator_gear[self._outputs, 0]

    def before_step(self) -> None:
        """Limit the torques, linearly from `warm` to `hot`."""
        its, has_charge = self.settings, self.state["used"][0] < 3600.0 * self.settings.capacity
        share = (its.hot - its.air - self.state["warmth"]) / max(its.hot - its.warm, 1e-3)
        self._limits.scale(self._own, has_charge * share.clip(0.0, 1.0))

    reset = before_step  # the limits of a state that was set

    def release(self) -> None:
        """Limit the torques no longer."""
        self._limits.scale(self._own, 1.0)

    def after_step(self) -> None:
        """Integrate the mechanical power, and the heat."""
        its, timestep, warmth = self.settings, self.model.opt.timestep, self.state["warmth"]
        force = self.data.actuator_force[self._outputs]
        heat = its.heating * (force * self._gear) ** 2
        power = force.dot(self.data.actuator_velocity[self._outputs]) + heat.sum()
        self.state["used"] += timestep * max(power, 0.0)
        warmth += timestep / its.heat_capacity * (heat - its.cooling * warmth)

    @publisher(BatteryState, "state", rate_hz=10.0)
    def battery(self) -> BatteryState:
        """Return voltage [V], capacity [Ah] and charge."""
        its, left = self.settings, 1.0 - self.state["used"][0] / 3600.0 / self.settings.capacity
        full = its.capacity / its.voltage
        message = BatteryState(voltage=its.voltage, design_capacity=full, present=True)
        message.percentage, message.charge = max(left, 0.0), max(left, 0.0) * full
        return message

    @publisher(Float64MultiArray, "temperatures", rate_hz=10.0)
    def temperatures(self) -> Float64MultiArray:
        """Return the temperature of each motor [°C]."""
        return Float64MultiArray(data=self.settings.air + self.state["warmth"])
