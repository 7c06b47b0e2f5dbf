"""Filters of measured wrenches, of control_filters (control_toolbox)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from math import exp, pi

import numpy as np

from mujoco_ros.control.settings import setting
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.ros2_control.hardware import HardwareInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters

Filter = Callable[[np.ndarray], np.ndarray]
"""Returns a filtered wrench: force [N] and torque [N·m], NaN for what is not measured.  # (6,)"""


@dataclass(frozen=True, kw_only=True, slots=True)
class _LowPass:
    sampling_frequency: float = setting("Rate of the updates [Hz]", low=1e-6, high=1e6)
    damping_frequency: float = setting("Corner frequency [Hz]", low=1e-9, high=1e6)
    damping_intensity: float = setting("Attenuation [dB]")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Gravity:
    world_frame: str = setting("Frame of CoG.force")
    sensor_frame: str = setting("Frame of CoG.pos")
    position: tuple[float, ...] = setting("Centre of gravity of the load [m]", parameter="CoG.pos")
    force: tuple[float, ...] = setting("Weight of the load [N]", parameter="CoG.force")


class WrenchFilters:
    """The filters of ``sensor_filter_chain``, each of which gets what the one before returns."""

    def __init__(
        self, parameters: ControllerParameters, hardware: HardwareInterfaces, frame: str
    ) -> None:
        """Read the chain of a broadcaster whose wrenches are in a `frame`.

        Raises:
            UserInputError: A parameter is invalid, or a frame does not exist.
        """
        prefix = "sensor_filter_chain."
        given = parameters.given(prefix)
        numbered = (f"filter{number}" for number in count(1))  # what follows a gap is ignored
        names = list(takewhile(lambda name: f"{name}.type" in given, numbered))
        types = {name: str(given[f"{name}.type"]) for name in names}
        parameters.ignore(*(f"{prefix}{n}.{key}" for n in names for key in ("name", "type")))
        self.unknown = [kind for kind in types.values() if kind not in _FILTERS]
        # Former inputs and outputs of each low-pass filter; NaN before the first
        self.state = np.full((len(names), 2, 6), np.nan)
        self._filters: list[Filter] = []
        if not self.unknown:
            self._filters = [
                _FILTERS[kind](parameters, f"{prefix}{name}.params.", hardware, frame, state)
                for (name, kind), state in zip(types.items(), self.state, strict=True)
            ]

    def __bool__(self) -> bool:
        return bool(self._filters)

    def reset(self) -> None:
        """Forget former wrenches."""
        self.state[:] = np.nan

    def apply(self, wrench: np.ndarray) -> np.ndarray:
        """Return a filtered wrench.  # (6,)"""
        for each in self._filters:
            wrench = each(wrench)
        return wrench


def _low_pass(
    parameters: ControllerParameters,
    prefix: str,
    _hardware: HardwareInterfaces,
    _frame: str,
    state: np.ndarray,
) -> Filter:
    before: np.ndarray = state[0]
    output: np.ndarray = state[1]
    read = parameters.read(_LowPass, prefix)
    corner = 2.0 * pi * read.damping_frequency * 10.0 ** (read.damping_intensity / 10.0)
    kept = exp(-corner / read.sampling_frequency)

    def filtered(wrench: np.ndarray) -> np.ndarray:
        for row in state:
            np.copyto(row, wrench, where=np.isnan(row))  # no step at the first wrench
        output[:] = (1.0 - kept) * before + kept * output
        np.copyto(before, wrench, where=~np.isnan(wrench))
        return output

    return filtered


def _gravity(
    parameters: ControllerParameters,
    prefix: str,
    hardware: HardwareInterfaces,
    frame: str,
    _state: np.ndarray,
) -> Filter:
    read = parameters.read(_Gravity, prefix)
    for name, values in (("CoG.pos", read.position), ("CoG.force", read.force)):
        if len(values) != 3:
            raise parameters.reject(f"{prefix}{name}", "must have 3 numbers")
    joints: Sequence[str] = hardware.robot.joints.names
    try:
        kinematics = hardware.kinematics(joints, read.sensor_frame, (read.world_frame, frame))
    except UserInputError as error:
        raise UserInputError(f"{parameters.where}: {prefix[:-1]}: {error}") from error

    def compensated(wrench: np.ndarray) -> np.ndarray:
        kinematics.locate(hardware.measure()[0])
        weight = kinematics.pose(read.world_frame)[1] @ read.force  # in the sensor's frame
        torque = np.cross(read.position, weight)
        turn = kinematics.pose(frame)[1].T
        found: np.ndarray = wrench - np.concatenate([turn @ weight, turn @ torque])
        return found

    return compensated


_FILTERS: Mapping[str, Callable[..., Filter]] = {
    "control_filters/LowPassFilterWrench": _low_pass,
    "control_filters/GravityCompensationWrench": _gravity,
}
"""Makers of filters by type."""
