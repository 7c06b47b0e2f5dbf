"""ROS parameter files with controllers, as ros2_control_node and spawners read them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.strict import read_yaml

MANAGER = "controller_manager"
"""Name of the node that has the types of controllers."""
_PARAMETERS = "ros__parameters"
_SUBSTITUTION = re.compile(r"\$\([^)]*\)")
_DEFAULT_RATE_HZ = 100
_OF_A_TOKEN, _OF_TOKENS = r"/\w+", r"(/\w+)*"


class _Section(NamedTuple):
    """The parameters of the nodes whose full name matches a pattern."""

    key: str  # the pattern, beginning with a slash
    values: dict[str, Any]  # by dotted name

    @property
    def pattern(self) -> str:
        """The pattern as a regular expression."""
        return re.escape(self.key).replace(r"/\*\*", _OF_TOKENS).replace(r"/\*", _OF_A_TOKEN)

    @property
    def names_a_node(self) -> bool:
        """Whether the last part of the pattern is the name of a node."""
        return "*" not in self.key.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class ControllerDescription:
    """A controller that parameters describe."""

    name: str
    type: str  # as ``joint_trajectory_controller/JointTrajectoryController``
    parameters: Mapping[str, Any]  # by dotted name
    where: str = ""  # begins error messages
    update_rate: float | None = None  # in simulated time [Hz]; None is the manager's


class ParameterFiles:
    """The content of parameter files; later ones precede."""

    def __init__(self, paths: Iterable[Path], before: "ParameterFiles | None" = None) -> None:
        """Read files, which precede those that were read `before`.

        Raises:
            UserInputError: One is no parameter file, or has unresolved substitutions.
        """
        self._files: dict[Path, list[_Section]] = {} if before is None else dict(before._files)
        for path in dict.fromkeys(paths):
            self._files.pop(path, None)  # the last one precedes
            self._files[path] = list(_sections(read_yaml(path, merges=True), "", str(path)))

    def with_controllers(self) -> "ParameterFiles":
        """Return the files in which a controller_manager, or the type of a controller, is."""
        found = ParameterFiles(())
        found._files = {p: of for p, of in self._files.items() if any(map(_is_of_controllers, of))}
        return found

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files; the last one precedes."""
        return tuple(self._files)

    @property
    def where(self) -> str:
        """The names of the files, for messages."""
        return ", ".join(map(str, self._files))

    def __bool__(self) -> bool:
        return bool(self._files)

    @property
    def _sections(self) -> Iterator[_Section]:
        return chain.from_iterable(self._files.values())

    def parameters(self, node: str) -> dict[str, Any]:
        """Return the parameters of a node by dotted name; its full name begins with a slash."""
        found: dict[str, Any] = {}
        for section in self._sections:
            if re.fullmatch(section.pattern, node):
                found |= section.values
        return found

    def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces of controller_managers that the files name, without slashes."""
        found = [
            section.key.removesuffix(f"/{MANAGER}").strip("/")
            for section in self._sections
            if section.key.endswith(f"/{MANAGER}") and "*" not in section.key
        ]
        return tuple(dict.fromkeys(found))

    def controls(self, namespace: str) -> bool:
        """Return whether there is a controller_manager, or a controller, for a namespace."""
        manager = _full_name(namespace, MANAGER)
        return bool(self.controllers(namespace)) or any(
            section.key.endswith(f"/{MANAGER}") and re.fullmatch(section.pattern, manager)
            for section in self._sections
        )

    def update_rate(self, namespace: str) -> float:
        """Return the update rate of the controller_manager in a namespace [Hz].

        Raises:
            UserInputError: It is not a positive integer.
        """
        rate = self.parameters(_full_name(namespace, MANAGER)).get("update_rate", _DEFAULT_RATE_HZ)
        if type(rate) is not int or rate < 1:
            name = _full_name(namespace, MANAGER)
            raise UserInputError(
                f"{self.where}: {name}: update_rate is {rate!r}; it is a number of Hz"
            )
        return float(rate)

    def ignored(self, namespace: str) -> tuple[str, ...]:
        """Return the parameters of the controller_manager in a namespace that mean nothing here."""
        known = (".type", ".params_file", "update_rate", "use_sim_time")
        found = self.parameters(_full_name(namespace, MANAGER))
        return tuple(name for name in found if not name.endswith(known))

    def controllers(self, namespace: str) -> dict[str, ControllerDescription]:
        """Return the controllers whose type the files give, by name, in the order of the files."""
        of_manager = self.parameters(_full_name(namespace, MANAGER))
        names = [key.removesuffix(".type") for key in of_manager if key.endswith(".type")]
        for section in self._sections:
            name = section.key.rpartition("/")[2]
            full = _full_name(namespace, name)
            if section.names_a_node and re.fullmatch(section.pattern, full):
                names += [name] if _is_type(self.parameters(full).get("type")) else []
        return {
            name: description
            for name in dict.fromkeys(names)
            if (description := self.controller(namespace, name)) is not None
        }

    def controller(
        self, namespace: str, name: str, kind: Any = None
    ) -> ControllerDescription | None:
        """Return a controller of a manager's namespace, of a type `kind` or that of the files.

        None if neither gives it a type.
        """
        manager = self.parameters(_full_name(namespace, MANAGER))
        of_manager = {
            key.removeprefix(f"{name}."): value
            for key, value in manager.items()
            if key.startswith(f"{name}.")
        }
        own = self.parameters(_full_name(namespace, name))
        kind = kind or of_manager.get("type", own.get("type"))
        if not isinstance(kind, str):
            return None
        rate = own.get("update_rate")
        return ControllerDescription(
            name=name,
            type=kind,
            parameters=own,
            where=f"{self.where}: {name}",
            update_rate=float(rate) if type(rate) is int and rate > 0 else None,
        )


def _is_of_controllers(section: _Section) -> bool:
    return section.key.rpartition("/")[2] == MANAGER or _is_type(section.values.get("type"))


def _is_type(value: Any) -> bool:
    return isinstance(value, str) and "/" in value


def _full_name(namespace: str, name: str) -> str:
    return f"/{namespace}/{name}" if namespace else f"/{name}"


def _sections(content: Any, key: str, where: str) -> Iterator[_Section]:
    """Yield the parameters of each node."""
    if not isinstance(content, dict):
        place = f"{where}: '{key}'" if key else where
        shown = type(content).__name__  # not what is in a file that a client names
        raise UserInputError(f"{place}: expected nodes with '{_PARAMETERS}', got {shown}")
    for name, value in content.items():
        if name != _PARAMETERS:
            yield from _sections(value, f"{key}/{str(name).strip('/')}", where)
        elif isinstance(value, dict):
            yield _Section(key, dict(_flattened(value, "", f"{where}: {key}")))
        elif value is not None:
            raise UserInputError(f"{where}: {key}: '{_PARAMETERS}' is not a mapping")


def _flattened(values: Mapping[Any, Any], prefix: str, where: str) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of nested mappings by dotted name; those without a value are none."""
    for name, value in values.items():
        full = f"{prefix}{name}"
        # rcl reads a list of mappings as their union.
        mappings = value if isinstance(value, list) else [value]
        if mappings and all(isinstance(each, dict) for each in mappings):
            for each in mappings:
                yield from _flattened(each, f"{full}.", where)
        elif value is not None:
            _check_substitutions(value if isinstance(value, list) else [value], f"{where}.{full}")
            yield full, value


def _check_substitutions(values: Iterable[Any], where: str) -> None:
    for value in values:
        if isinstance(value, str) and (found := _SUBSTITUTION.search(value)):
            raise UserInputError(
                f"{where}: '{found.group()}' is a substitution of launch files; start with "
                "sim.launch.py controllers:=FILE and give its value as a launch argument"
            )
