"""The key `realism` of a robot, and the profiles that it can name."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import check_name
from mujoco_ros.model.packages import share_directory
from mujoco_ros.model.ranged_settings import read_settings
from mujoco_ros.model.realism.channel_settings import (
    ActuatorChannel,
    BaseChannel,
    Channel,
    JointChannel,
    SensorChannel,
)
from mujoco_ros.model.strict import from_dict, read_yaml
from mujoco_ros.model.uri import check_file

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
    """The elements of a robot that an entry applies to.

    Attributes:
        match: Names, or patterns of the shell: of MuJoCo sensors, of joints, or of the bodies
            of floating bases.
        type: Type of MuJoCo sensor, as in MJCF; empty for any.
    """

    match: tuple[str, ...] = _EVERY
    type: str = ""

    def select(self, names: Iterable[str], kind: str, where: str) -> list[str]:
        """Return the names that match.

        Args:
            names: All names.
            kind: What they name.
            where: Begins error messages.

        Raises:
            UserInputError: A pattern other than ``*`` matches nothing.
        """
        known = list(names)
        for pattern in self.match:
            if pattern != "*" and not any(fnmatchcase(name, pattern) for name in known):
                raise unknown(kind, pattern, known, where=where)
        return [it for it in known if any(fnmatchcase(it, pattern) for pattern in self.match)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """Settings of some elements of a robot, under a name that their parameters have.

    Attributes:
        section: What the elements are.
        name: The name.
        selection: The elements.
        settings: The settings.
    """

    section: Section
    name: str
    selection: ElementSelection
    settings: Channel


@dataclass(frozen=True, kw_only=True, slots=True)
class RealismConfig:
    """Imperfections of the sensors, joints, floating bases and actuators of a robot.

    Attributes:
        profile: Shipped profiles or YAML files, separated by commas, whose entries these extend;
            empty for none.
        sensors: Entries of MuJoCo sensors: ``match``, ``type`` and fields of `SensorChannel`.
        joints: Entries of joints: ``match`` and fields of `JointChannel`.
        bases: Entries of floating bases: ``match`` and fields of `BaseChannel`.
        actuators: Entries of joints with actuators: ``match`` and fields of `ActuatorChannel`.
    """

    profile: str = ""
    sensors: dict[str, dict[str, Any]] = field(default_factory=dict)
    joints: dict[str, dict[str, Any]] = field(default_factory=dict)
    bases: dict[str, dict[str, Any]] = field(default_factory=dict)
    actuators: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.profile:  # with one, an entry may be complete only together with its
            list(self.entries())

    def entries(self, where: str = "realism") -> list[Entry]:
        """Return all entries.

        Raises:
            UserInputError: One has an unknown key or an invalid value.
        """
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
    """Return a configuration that contains the entries of its profile.

    Args:
        config: The configuration; its values override entries of the profile with the same name.
        path: Returns the path of a file that the scene names.
        robot: Name of the robot, for error messages.

    Raises:
        UserInputError: There is no such profile, or it or a value is invalid.
    """
    if not config.profile:
        return config
    where = f"realism of robot '{robot}'"
    profile = load_profiles(config.profile, path, where)
    try:
        return merged(profile, config)
    except UserInputError as error:
        raise UserInputError(f"{where}: {error}") from error


def load_profiles(names: str, path: Callable[[str], Path], where: str) -> RealismConfig:
    """Read profiles; of entries with the same name, values of the later one count.

    Args:
        names: Names of shipped profiles, or YAML files, separated by commas.
        path: Returns the path of a file that the scene names.
        where: Begins error messages.

    Raises:
        UserInputError: There is no such profile, or it is invalid.
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
