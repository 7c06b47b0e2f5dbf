"""The parameters of a node: declared from specs, checked, applied, and listed."""

import logging
import time
from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from typing import Any

from rclpy.exceptions import ParameterNotDeclaredException
from rclpy.node import Node
from rclpy.parameter import Parameter

from mujoco_ros.control.events import QueueFullError
from mujoco_ros.model.errors import UserInputError, shortened
from mujoco_ros.model.file_access import ALL_FILES, FileAccess
from mujoco_ros.model.ranged_settings import bounds_of
from mujoco_ros.rclpy_ext.executor import guarded, later
from mujoco_ros.rclpy_ext.parameter_declaration import declare_together
from mujoco_ros.wire.parameter_spec import ParameterSpec, plain, shown

_LOG = logging.getLogger(__name__)


def setting_specs(prefix: str, settings: Any) -> list[ParameterSpec]:
    """Return the parameters of a dataclass of `setting` fields, whose values are the defaults."""
    return [
        ParameterSpec(
            f"{prefix}.{name}",
            getattr(settings, name),
            bounds.description,
            low=bounds.low,
            high=bounds.high,
            choices=bounds.choices,
        )
        for name, bounds in bounds_of(type(settings)).items()
    ]


def changed_settings(prefix: str, settings: Any, values: Mapping[str, Any]) -> Any:
    """Return settings with the values of their parameters, which begin with a prefix and a dot."""
    start = f"{prefix}."
    own = {
        name.removeprefix(start): value for name, value in values.items() if name.startswith(start)
    }
    if not own:
        return settings
    try:
        return replace(settings, **own)
    except UserInputError as error:
        raise UserInputError(f"parameter '{start}*': {error}") from error


# Parameters that rclpy itself reads from the overrides, declared or not.
_OF_RCLPY = ("use_sim_time", "start_type_description_service", "qos_overrides.")
_BURST = 10  # number of changes per second above which they go to the debug log
_SHOWN = 2  # number of changes that are written to the log; the rest is counted


class ParameterRejectedError(ParameterNotDeclaredException):
    """A set of parameters is rejected; rclpy reports the reason for this base class only."""

    def __init__(self, reason: str) -> None:
        Exception.__init__(self, shortened(reason))


Command = Callable[[], object]
"""Applies accepted parameters, in the physics thread."""
Submit = Callable[[Command], object]


class ParameterListener:
    """Expands, checks and applies sets of parameters, in the executor's thread.

    Override what applies.
    """

    def expand_parameters(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return further parameters that a set implies; those named in the set win.

        A `UserInputError` rejects the set.
        """
        return {}

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Check a set of parameters with those that it implies; a `UserInputError` rejects it."""

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Apply an accepted set; return what the physics thread must do, if anything."""
        return None


class Parameters:
    """The parameters of a node: declared from specs, rejected with a reason, logged if changed."""

    def __init__(
        self, node: Node, submit: Submit | None = None, files: FileAccess = ALL_FILES
    ) -> None:
        """Handle the parameters of a node, except parameters that it declares itself.

        `submit` submits to the physics thread, else calls are at once; a set may name `files`.
        """
        self._submit, self._files = submit, files
        # Called with a change of parameters as text, in the physics thread before it acts
        self.on_change: Callable[[str], object] = str
        self.values: dict[str, Any] = {}  # their values by name; lists are tuples
        # Expand, check and apply sets of parameters, in this order
        self.listeners: list[ParameterListener] = []
        self._node = node
        self._overrides: dict[str, Parameter] = node._parameter_overrides  # rclpy has no accessor
        self._specs: dict[str, ParameterSpec] = {}
        self._offered: Mapping[str, ParameterSpec] = {}
        self._showing = False
        # Of the current request, which may set one parameter after the other.
        self._given: set[str] = set()
        self._named: set[str] = set()
        self._changed: dict[str, Any] = {}
        self._log_pending = False
        self._open_requests = 0
        self._log_times: deque[float] = deque(maxlen=_BURST)
        # One callback does it all: rclpy would concatenate what several return.
        node.add_pre_set_parameters_callback(self._prepare)
        node.add_post_set_parameters_callback(self._accept)

    @property
    def names(self) -> set[str]:
        """The names of all parameters that are declared here."""
        return set(self._specs)

    def initial(self, specs: Iterable[ParameterSpec], *, strict: bool = True) -> dict[str, Any]:
        """Return the initial values of parameters: what the user set, or the defaults.

        Unless `strict`, an invalid value of the user is logged, and the default used.
        """
        values = {}
        for spec in specs:
            override = self._overrides.get(spec.name)
            value = spec.default if override is None else spec.converted(override.value)
            problem = spec.problem(value)
            if problem and strict:
                raise UserInputError(problem)
            if problem:
                self._node.get_logger().warning(f"{problem}; using {shown(spec.default)}")
                value = spec.default
            values[spec.name] = value
        return values

    def declare(
        self, specs: Iterable[ParameterSpec], values: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Declare parameters, and return their values, which are from `initial` unless they are
        given.
        """
        specs = list(specs)
        values = self.initial(specs) if values is None else values
        declared: dict[str, Any] = {}
        for spec in specs:
            if spec.name in declared or self._node.has_parameter(spec.name):
                raise UserInputError(f"two parameters would be named '{spec.name}'; rename a joint")
            declared[spec.name] = values[spec.name]
        self._specs |= {spec.name: spec for spec in specs}
        self.values |= declared
        if declared:
            settings = {name: plain(value) for name, value in declared.items()}
            declare_together(self._node, settings, {s.name: s.descriptor() for s in specs})
        return declared

    def offer(self, specs: Mapping[str, ParameterSpec]) -> None:
        """Set the parameters, by name, that are declared when they are first set.

        There may be thousands.
        """
        self._offered = specs

    def withdraw(self, names: Iterable[str]) -> None:
        """Undeclare parameters."""
        for name in names:
            # rclpy undeclares no read-only parameters.
            self._node.describe_parameter(name).read_only = False
            self._node.undeclare_parameter(name)
            del self._specs[name], self.values[name]
            self._changed.pop(name, None)

    def reject_unknown(self, known: Container[str] = ()) -> None:
        """Reject parameters that the user set at start and that are neither declared nor `known`.

        The user may set the known ones, which belong to other nodes of the process, for all nodes.
        """
        for name in self._overrides:
            if not (self._find(name) or name in known or name.startswith(_OF_RCLPY)):
                raise UserInputError(self._unknown(name))

    def set(self, values: Mapping[str, Any]) -> None:
        """Set parameters atomically, as the node itself, or raise `ParameterRejectedError`."""
        parameters = [Parameter(name, value=plain(value)) for name, value in values.items()]
        result = self._node.set_parameters_atomically(parameters)
        if not result.successful:
            raise ParameterRejectedError(result.reason)

    def show(self, values: Mapping[str, Any]) -> None:
        """Set parameters to the values in force, without applying them."""
        if changed := {n: value for n, value in values.items() if self.values[n] != value}:
            self._showing = True
            try:
                self.set(changed)
            finally:
                self._showing = False

    def begin_request(self) -> None:
        """Begin a request that sets one parameter after the other, in several calls."""
        self._open_requests += 1

    def end_request(self) -> None:
        """End it; its changes are logged in one line."""
        self._open_requests -= 1
        if not (self._open_requests or self._log_pending):
            self._log_changes()

    def _prepare(self, parameters: list[Parameter]) -> list[Parameter]:
        """Check a set, and return it with numbers as floats and with the parameters it implies."""
        given: dict[str, Any] = {}
        prepared = []
        for parameter in parameters:
            name, value = parameter.name, parameter.value
            spec = self._find(name)
            if spec is None and not self._node.has_parameter(name):
                raise ParameterRejectedError(self._unknown(name))
            if spec is not None:
                value = spec.converted(value)
                problem = "" if spec.read_only or spec.fixed else spec.problem(value)
                if problem:
                    raise ParameterRejectedError(problem)
                if type(value) is not type(parameter.value) and (
                    type(value) is float or spec.length
                ):
                    parameter = Parameter(name, value=plain(value))
                given[name] = value
            prepared.append(parameter)
        try:
            implied: dict[str, Any] = {}
            with self._files.for_client():
                for listener in self.listeners:
                    implied |= listener.expand_parameters(given)
                for listener in self.listeners:
                    listener.check_parameters({**implied, **given})
        except (UserInputError, ParameterRejectedError) as error:
            raise ParameterRejectedError(str(error)) from error
        except Exception as error:  # it would end the process
            _LOG.exception("a check of parameters failed")
            raise ParameterRejectedError(f"a check of the parameters failed: {error!r}") from error
        named = self._named | given.keys()
        prepared += [Parameter(n, value=v) for n, v in implied.items() if n not in named]
        self._given = set(given)
        # A dump that is loaded atomically has them all; rclpy rejects an empty set.
        return [p for p in prepared if not self._is_unchanged_read_only(p)] or prepared

    def _is_unchanged_read_only(self, parameter: Parameter) -> bool:
        name = parameter.name
        if not self._node.describe_parameter(name).read_only:
            return False
        return bool(plain(parameter.value) == plain(self._node.get_parameter(name).value))

    def _accept(self, parameters: Iterable[Parameter]) -> None:
        """Apply parameters that were set at run time; declarations are ignored."""
        if not self._given:
            return
        accepted = {
            p.name: self._specs[p.name].converted(p.value)
            for p in parameters
            if p.name in self._specs
        }
        changed = {n: v for n, v in accepted.items() if v != self.values[n]}
        self._changed |= changed
        self.values |= accepted
        self._named |= self._given
        self._given = set()
        if not self._showing:
            self._apply(accepted, _listed(changed))
        if self._log_pending or self._open_requests:
            return
        self._log_pending = later(self._node, self._log_changes)
        if not self._log_pending:
            self._log_changes()

    def _apply(self, values: Mapping[str, Any], changed: str) -> None:
        commands: list[Command] = []
        for listener in self.listeners:
            failed = f"{type(listener).__name__} failed to apply parameters"
            if command := guarded(listener.apply_parameters, failed)(values):
                commands.append(guarded(command, failed))

        def run() -> None:
            if changed:
                self.on_change(changed)
            for command in commands:
                command()

        try:
            if commands and self._submit is not None:
                self._submit(run)
            else:
                run()
        except QueueFullError as error:
            names = ", ".join(values)
            self._node.get_logger().error(f"parameters {names} do not take effect: {error}")

    def _log_changes(self) -> None:
        if self._changed:
            log, now = self._node.get_logger(), time.monotonic()
            # Gain scheduling, or dragging a slider, would flood the log.
            often = len(self._log_times) == _BURST and now - self._log_times[0] < 1.0
            (log.debug if often else log.info)(f"parameters changed: {_listed(self._changed)}")
            self._log_times.append(now)
        self._named, self._changed = set(), {}
        self._log_pending = False

    def _find(self, name: str) -> ParameterSpec | None:
        """Return the spec of a parameter, which is declared first if it is only offered."""
        if name not in self._specs and name in self._offered:
            self._given = set()  # a declaration is not a request
            self.declare([self._offered[name]])
        return self._specs.get(name)

    def _unknown(self, name: str) -> str:
        """Return that there is no such parameter, and which there are at that level of the name."""
        parts, specs = name.split("."), {**self._specs, **self._offered}
        for depth in reversed(range(len(parts))):
            prefix = "".join(f"{name}." for name in parts[:depth])
            below = [known.removeprefix(prefix) for known in specs if known.startswith(prefix)]
            if below:
                break
        heads = [
            prefix + head + (".*" if dot else "")
            for head, dot, _ in (n.partition(".") for n in below)
        ]
        close = get_close_matches(name[:256], specs, n=1)
        hint = f" (did you mean '{close[0]}'?)" if close else ""
        return f"parameter '{name}' not found{hint}; there are: {', '.join(dict.fromkeys(heads))}"


def _listed(values: Mapping[str, Any]) -> str:
    listed = [f"{name} = {shown(value)}" for name, value in islice(values.items(), _SHOWN)]
    rest = len(values) - _SHOWN
    return ", ".join(listed) + (f" and {rest} more" if rest > 0 else "")
