"""The key `realism` of a robot: profiles, entries, and the settings of channels and motors."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import check_name, matches
from mujoco_ros.model.packages import share_directory
from mujoco_ros.model.ranged_settings import read_settings, setting
from mujoco_ros.model.strict import from_dict, read_yaml
from mujoco_ros.model.uri import check_file

_MAX_TIME_S = 1.0
_MAX_SIZE = 1e6


def _size(description: str) -> float:
    value: float = setting(0.0, description, low=0.0, high=_MAX_SIZE)
    return value


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """When samples arrive, and how many are lost; one that a later sample overtakes is dropped."""

    delay: float = setting(0.0, "Time from a sample to its arrival [s]", low=0.0, high=_MAX_TIME_S)
    jitter: float = setting(
        0.0,
        "Largest additional delay, uniformly distributed from 0 [s]",
        low=0.0,
        high=_MAX_TIME_S,
    )
    dropout: float = setting(0.0, "Probability that a sample is lost", low=0.0, high=1.0)


AT_ONCE = Delivery()
"""Without delay and loss."""


@dataclass(frozen=True, kw_only=True)
class Transport(Delivery):
    """When numbers are sampled, and when they arrive. Times are rounded to whole steps."""

    interval: float = setting(
        0.0, "Time between samples, held in between; 0 is every step [s]", low=0.0, high=_MAX_TIME_S
    )


@dataclass(frozen=True, kw_only=True)
class SensorChannel(Transport):
    """A sensor, in the unit of its numbers.

    With a density N, the deviation of a sample is N / √interval, and the Allan deviation of a time
    τ is N / √τ. The constant error is drawn at the start and at a reset. With a random walk K, the
    deviation of the bias after a time t is K √t.
    """

    noise: float = _size("Standard deviation of white noise [unit of the sensor]")
    noise_density: float = _size("Density of white noise [unit/√Hz]")
    bias: float = _size("Standard deviation of the constant error of a run [unit]")
    bias_walk: float = _size("Random walk of the bias [unit/√s]")
    quantisation: float = _size("Distance of values that can be reported; 0 is continuous [unit]")


@dataclass(frozen=True, kw_only=True)
class JointChannel(Transport):
    """The measured position, velocity and effort of joints, sampled and transported together.

    A bias is constant in a run, as the offset of an encoder.
    """

    position_noise: float = _size("Deviation of the noise of the position [rad or m]")
    position_bias: float = _size("Deviation of the constant error of the position [rad or m]")
    position_quantisation: float = _size("Resolution of the position [rad or m]")
    velocity_noise: float = _size("Deviation of the noise of the velocity [rad/s or m/s]")
    velocity_quantisation: float = _size("Resolution of the velocity [rad/s or m/s]")
    effort_noise: float = _size("Deviation of the noise of the effort [Nm or N]")
    effort_bias: float = _size("Deviation of the constant error of the effort [Nm or N]")
    effort_quantisation: float = _size("Resolution of the effort [Nm or N]")


@dataclass(frozen=True, kw_only=True)
class BaseChannel(Transport):
    """The measured pose and twist of a floating base, sampled and transported together.

    With a random walk K, as odometry has it, the error of the position along each axis has the
    deviation K √t after a time t.
    """

    position_noise: float = _size("Deviation of the noise of the position along each axis [m]")
    position_walk: float = _size("Random walk of the position along each axis [m/√s]")
    orientation_noise: float = setting(
        0.0, "Deviation of the noise of the orientation about each axis [rad]", low=0.0, high=1.0
    )
    velocity_noise: float = _size("Deviation of the noise of the linear velocity [m/s]")
    angular_velocity_noise: float = _size("Deviation of the noise of the angular velocity [rad/s]")


@dataclass(frozen=True, kw_only=True)
class ActuatorChannel(Transport):
    """The commands that the drives of joints receive, and the limits of their motors.

    Interval, delay, jitter and dropout apply to the references of position, velocity and effort;
    the PD law itself runs in the drive, without delay.
    """

    position_quantisation: float = _size("Resolution of commanded positions [rad or m]")
    effort_quantisation: float = _size("Resolution of commanded efforts [Nm or N]")
    backlash: float = _size("Width of the play between motor and joint [rad or m]")
    peak_effort: float = _size("Largest effort; 0: as in the model [Nm or N]")
    stall_effort: float = _size("Effort at standstill of the torque-speed line; 0: no line")
    no_load_velocity: float = _size("Velocity at which the line reaches zero; 0: no line")
    copper_loss: float = _size("Heat per square of the effort [W/(Nm)² or W/N²]; 0: no heating")
    thermal_resistance: float = setting(1.0, "From winding to environment [K/W]", low=0.0, high=1e4)
    thermal_time_constant: float = setting(
        600.0, "Time in which 63 % of a change of temperature is reached [s]", low=0.1, high=1e5
    )
    ambient_temperature: float = setting(
        25.0, "Temperature of the environment and of a cold motor [°C]", low=-100.0, high=200.0
    )
    derating_start: float = setting(
        100.0, "Temperature from which on the largest effort decreases [°C]", low=-100.0, high=500.0
    )
    derating_end: float = setting(
        150.0, "Temperature at which the largest effort is zero [°C]", low=-100.0, high=500.0
    )

    def __post_init__(self) -> None:
        if self.derating_end <= self.derating_start:
            raise UserInputError(
                f"'derating_end' must be above 'derating_start' ({self.derating_start:g} °C), "
                f"got {self.derating_end:g}"
            )


Channel = SensorChannel | JointChannel | BaseChannel | ActuatorChannel


Section = Literal["sensors", "joints", "bases", "actuators"]
SECTIONS: dict[Section, type] = {
    "sensors": SensorChannel,
    "joints": JointChannel,
    "bases": BaseChannel,
    "actuators": ActuatorChannel,
}
"""Class of the settings of an entry by section."""
_EVERY = ("*",)
_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, kw_only=True, slots=True)
class ElementSelection:
    """The elements of a robot that an entry applies to."""

    # Names, or patterns of the shell: of MuJoCo sensors, of joints, or of the bodies of floating
    # bases
    match: tuple[str, ...] = _EVERY
    type: str = ""  # type of MuJoCo sensor, as in MJCF; empty for any

    def select(self, names: Iterable[str], kind: str, where: str) -> list[str]:
        """Return the names that match; a pattern other than ``*`` must match one."""
        known = list(names)
        for pattern in self.match:
            if pattern != "*" and not any(matches(name, pattern) for name in known):
                raise unknown(kind, pattern, known, where=where)
        return [name for name in known if any(matches(name, pattern) for pattern in self.match)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """Settings of some elements of a robot, under a name that their parameters have."""

    section: Section  # what the elements are
    name: str
    selection: ElementSelection
    settings: Channel


@dataclass(frozen=True, kw_only=True, slots=True)
class RealismConfig:
    """Imperfections of the sensors, joints, floating bases and actuators of a robot."""

    # Shipped profiles or YAML files, separated by commas, whose entries these extend; empty for
    # none
    profile: str = ""
    # Entries of MuJoCo sensors: ``match``, ``type`` and fields of `SensorChannel`
    sensors: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Entries of joints: ``match`` and fields of `JointChannel`
    joints: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Entries of floating bases: ``match`` and fields of `BaseChannel`
    bases: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Entries of joints with actuators: ``match`` and fields of `ActuatorChannel`
    actuators: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.profile:  # with one, an entry may be complete only together with its
            list(self.entries())

    def entries(self, where: str = "realism") -> list[Entry]:
        """Return all entries."""
        return [
            _entry(section, name, values, f"{where}.{section}.{name}")
            for section in SECTIONS
            for name, values in getattr(self, section).items()
        ]


def _entry(section: Section, name: str, values: Mapping[str, Any], where: str) -> Entry:
    try:
        check_name(name)
    except UserInputError as error:
        raise UserInputError(f"{where}: {error}") from error
    keys = ("match", "type") if section == "sensors" else ("match",)
    selected = {key: value for key, value in values.items() if key in keys}
    if isinstance(selected.get("match"), str):
        selected["match"] = [selected["match"]]
    if isinstance(selected.get("match"), tuple):
        selected["match"] = list(selected["match"])
    settings = {key: value for key, value in values.items() if key not in keys}
    return Entry(
        section=section,
        name=name,
        selection=from_dict(ElementSelection, selected, where),
        settings=read_settings(SECTIONS[section], settings, where),
    )


def resolve_profile(
    config: RealismConfig, path: Callable[[str], Path], robot: str
) -> RealismConfig:
    """Return a configuration with the entries of its profile; its own values override them."""
    if not config.profile:
        return config
    where = f"realism of robot '{robot}'"
    profile = load_profiles(config.profile, path, where)
    try:
        return merged(profile, config)
    except UserInputError as error:
        raise UserInputError(f"{where}: {error}") from error


def load_profiles(names: str, path: Callable[[str], Path], where: str) -> RealismConfig:
    """Read shipped profiles or YAML files, separated by commas.

    Of entries with the same name, values of the later one count.
    """
    found = RealismConfig()
    for name in names.split(","):
        found = merged(found, _load(name.strip(), path, where))
    return found


def _load(name: str, path: Callable[[str], Path], where: str) -> RealismConfig:
    shipped = shipped_profiles()
    if name not in shipped and not name.endswith(_SUFFIXES):
        raise unknown("profile", name, shipped, where=where)
    file = shipped.get(name) or path(name)
    check_file(file, f"{where}: profile")
    content = read_yaml(file)
    profile = from_dict(RealismConfig, {} if content is None else content, str(file))
    if profile.profile:
        raise UserInputError(f"{file}: a profile cannot name another profile")
    return profile


def shipped_profiles() -> dict[str, Path]:
    """Return the files of the shipped profiles by name."""
    folder = share_directory() / "config" / "realism"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def merged(first: RealismConfig, second: RealismConfig) -> RealismConfig:
    """Return the entries of both; values of the second one count."""
    sections: dict[str, Any] = {}
    for section in SECTIONS:
        old, new = getattr(first, section), getattr(second, section)
        names = dict.fromkeys([*old, *new])
        sections[section] = {name: {**old.get(name, {}), **new.get(name, {})} for name in names}
    return RealismConfig(**sections)
