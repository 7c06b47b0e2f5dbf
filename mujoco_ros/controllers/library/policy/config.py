"""Settings of the state `Policy`."""

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any, Literal

from mujoco_ros.control.gains import LARGEST_GAIN
from mujoco_ros.controllers.interface.inputs import BodyVelocity
from mujoco_ros.controllers.library.config_checks import (
    CheckedConfig,
    NotNegative,
    Positive,
    PositiveInt,
    check_positive,
)
from mujoco_ros.model.errors import UserInputError, unknown

Numbers = float | tuple[float, ...]  # one number for all elements, or one for each
Order = Literal["oldest_first", "newest_first"]  # order of the frames of a history
_FIXED: Mapping[str, Any] = {"is_fixed": True}  # metadata of a setting that only the table gives
_OF_ALL_TERMS = ("term", "scale", "offset", "clip", "noise", "history", "order")
_OF_TERM: Mapping[str, tuple[str, ...]] = {
    "joint_position": ("joints",),
    "joint_velocity": ("joints",),
    "joint_effort": ("joints",),
    "previous_action": (),
    "base_angular_velocity": ("sensor",),
    "base_linear_velocity": ("sensor", "value"),
    "projected_gravity": ("sensor",),
    "command": (),
    "gait_phase": ("period", "phases", "functions", "at_rest"),
    "sensor": ("sensor", "value"),
    "image": ("sensor", "value"),
}
"""Settings that some terms have, by term."""
_LONGEST_HISTORY = 1000
_FASTEST = 10.0  # largest velocity that a client can command [m/s, rad/s]


class NoiseConfig(CheckedConfig):
    """Noise that is added to a term."""

    uniform: Numbers = 0.0  # largest magnitude of uniform noise
    gaussian: Numbers = 0.0  # standard deviation of Gaussian noise

    def check(self) -> None:
        for name in ("uniform", "gaussian"):
            if not all(number >= 0.0 for number in numbers(getattr(self, name))):
                raise UserInputError(f"{name} must not be negative")


class TermConfig(CheckedConfig):
    """A part of an input: ``scale * clip(value + noise) + offset``."""

    term: Literal[
        "joint_position",
        "joint_velocity",
        "joint_effort",
        "previous_action",
        "base_angular_velocity",
        "base_linear_velocity",
        "projected_gravity",
        "command",
        "gait_phase",
        "sensor",
        "image",
    ]
    sensor: str = ""  # name of a sensor; see the reference for each kind of term
    value: str = ""  # measurement of a sensor that has several
    joints: tuple[str, ...] = ()  # names of joints; empty for the policy's joints
    scale: Numbers = 1.0
    offset: Numbers = 0.0  # added last
    clip: tuple[Numbers, Numbers] | None = None  # lower and upper limit of the value
    noise: NoiseConfig = field(default_factory=NoiseConfig)  # added to the value
    history: int = 1  # number of frames, the present one included
    order: Order = "oldest_first"
    period: float = 0.0  # duration of a cycle of the gait [s]
    phases: tuple[float, ...] = (0.0,)  # phases of the gait as parts of a cycle, e.g. of each foot
    functions: tuple[Literal["sin", "cos"], ...] = ("sin", "cos")  # of all phases
    at_rest: tuple[float, ...] = ()  # phases while the command is zero; empty: it does not stop

    def check(self) -> None:
        permitted = (*_OF_ALL_TERMS, *_OF_TERM[self.term])
        for setting in fields(self):
            if setting.name not in permitted and getattr(self, setting.name) != setting.default:
                raise unknown(f"term '{self.term}': key", setting.name, permitted)
        if self.value and not self.sensor:
            raise UserInputError(f"the value '{self.value}' needs the name of its 'sensor'")
        _check_history(self.history)
        if self.term == "gait_phase":
            check_positive("period", self.period)
            if not (self.phases and self.functions):
                raise UserInputError("phases and functions must not be empty")
            if self.at_rest and len(self.at_rest) != len(self.phases):
                raise UserInputError(
                    f"at_rest must have as many phases as 'phases', {len(self.phases)}"
                )
        if self.term in ("sensor", "image") and not self.sensor:
            raise UserInputError(f"the term '{self.term}' needs the name of a 'sensor'")
        if self.term == "image" and self.value not in ("depth", "colour"):
            raise UserInputError("the value of the term 'image' must be depth or colour")

    @property
    def name(self) -> str:
        """The term in error messages."""
        return f"{self.term} '{self.sensor}'" if self.sensor else self.term


class InputConfig(CheckedConfig):
    """An input of the network: the terms in order, behind each other."""

    terms: tuple[TermConfig, ...]
    clip: tuple[float, float] | None = None  # lower and upper limit of all numbers
    history: int = 1  # number of frames of all terms, the present one included
    order: Order = "oldest_first"

    def check(self) -> None:
        _check_history(self.history)
        if self.clip is not None and not self.clip[0] <= self.clip[1]:
            raise UserInputError("clip: the lower limit is above the upper one")
        if not self.terms:
            raise UserInputError("terms must not be empty")
        if len(self.terms) > 1 and any(term.term == "image" for term in self.terms):
            raise UserInputError("an image must be the only term of its input")


class ActionConfig(CheckedConfig):
    """Joints that a part of the output commands, to ``scale * action + offset``."""

    joints: tuple[str, ...] = ()  # names of joints; empty for the policy's joints
    target: Literal["position", "velocity", "effort"] = "position"
    scale: Numbers = 1.0
    offset: Numbers | None = None  # default: the pose for positions, else 0
    clip: tuple[Numbers, Numbers] | None = None  # lower and upper limit of the targets
    largest: Positive = 100.0  # largest magnitude of an action; beyond it the policy is stopped
    smoothing: float = 0.0  # part of the previous target in the next one, from 0 to less than 1
    kp: Numbers | None = None  # gains while the state is active; the robot's if absent
    kd: Numbers | None = None  # derivative gains; the robot's if absent

    def check(self) -> None:
        if not 0.0 <= self.smoothing < 1.0:
            raise UserInputError(f"smoothing must be from 0 to less than 1, got {self.smoothing:g}")
        for name in ("kp", "kd"):
            gains = getattr(self, name)
            for gain in numbers(gains) if gains is not None else ():
                if not 0.0 <= gain <= LARGEST_GAIN:
                    raise UserInputError(
                        f"{name}: a gain must be from 0 to {LARGEST_GAIN:g}, got {gain:g}"
                    )


class PolicyConfig(CheckedConfig):
    """Settings of `Policy`.

    Attributes:
        file: The ONNX file; a relative path begins in the folder of the table.
        inputs: The inputs of the network by name.
        actions: The joints that the output commands, in its order.
        decimation: Number of ticks of the controller for each run of the network.
        joints: Names of the policy's joints in its order; empty for all of the robot.
        default_pose: Positions by joint, to which joint positions are relative [rad or m]; the
            initial keyframe's positions if absent.
        imu: Name of the IMU of the orientation and angular velocity; empty is the floating base.
        output: Name of the output with the actions; may be empty if there is only one.
        memory: Inputs by name that have the value of an output of the last run; zero at first.
        velocity_x: Commanded velocity forwards, without a client's [m/s].
        velocity_y: Commanded velocity to the left, without a client's [m/s].
        velocity_yaw: Commanded angular velocity to the left, without a client's [rad/s].
        command_timeout: Time after which a client's command ends without another one [s].
        max_tilt: Tilt at which the robot has fallen [rad]; 0 for none.
    """

    file: str = field(metadata=_FIXED)
    inputs: dict[str, InputConfig]
    actions: tuple[ActionConfig, ...] = (ActionConfig(),)
    decimation: PositiveInt = field(default=1, metadata=_FIXED)
    joints: tuple[str, ...] = ()
    default_pose: dict[str, float] = field(default_factory=dict)
    imu: str = field(default="", metadata=_FIXED)
    output: str = field(default="", metadata=_FIXED)
    memory: dict[str, str] = field(default_factory=dict)
    velocity_x: float = field(default=0.0, metadata={"range": (-_FASTEST, _FASTEST)})
    velocity_y: float = field(default=0.0, metadata={"range": (-_FASTEST, _FASTEST)})
    velocity_yaw: float = field(default=0.0, metadata={"range": (-_FASTEST, _FASTEST)})
    command_timeout: Positive = 0.5
    max_tilt: NotNegative = 0.0

    def check(self) -> None:
        for name in ("file", "inputs", "actions"):
            if not getattr(self, name):
                raise UserInputError(f"{name} must not be empty")
        for name in ("velocity_x", "velocity_y", "velocity_yaw"):
            if not abs(getattr(self, name)) <= _FASTEST:
                raise UserInputError(f"{name} must be from {-_FASTEST:g} to {_FASTEST:g}")
        source_of: dict[str, str] = {}
        for given, output in self.memory.items():
            other = source_of.setdefault(output, given)
            if other != given:
                raise UserInputError(
                    f"memory: the inputs '{other}' and '{given}' have the same output '{output}'"
                )

    @property
    def velocity(self) -> BodyVelocity:
        """The commanded velocity without a client's."""
        return BodyVelocity(self.velocity_x, self.velocity_y, self.velocity_yaw)


def numbers(values: Numbers) -> tuple[float, ...]:
    """Return one or several numbers as a tuple."""
    return values if isinstance(values, tuple) else (values,)


def _check_history(history: int) -> None:
    if not 1 <= history <= _LONGEST_HISTORY:
        raise UserInputError(f"history must be from 1 to {_LONGEST_HISTORY}, got {history}")
