"""The component that runs the extensions of the scene in the simulator."""

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.report import ERROR, OK, DiagnosticReport
from mujoco_ros.bridge.parameters.parameters import Command, setting_specs
from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.extensions.interface import load_extension
from mujoco_ros.extensions.ros.extension_endpoints import ExtensionEndpoints
from mujoco_ros.extensions.runner import ExtensionRunner
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.parameter_spec import ParameterSpec, shown

ENABLED = ParameterSpec(
    "extensions.<name>.enabled", True, "Whether the extension is called; an error disables it"
)
ON_ERROR = ParameterSpec(
    "extensions.<name>.on_error",
    "disable",
    "What an error in the extension does: disables it, or pauses the simulation as well",
    choices=("disable", "pause"),
)


class ExtensionParameters:
    """The parameters of one extension, which the parameter `enabled` enables."""

    def __init__(self, runner: ExtensionRunner) -> None:
        """Describe the parameters; the defaults are the values of the scene."""
        self._runner, self._settings = runner, runner.settings
        levels = (runner.namespace.replace("/", "."), "extensions", runner.config.label)
        prefix = ".".join(filter(None, levels))
        own = setting_specs(prefix, runner.settings)
        # The parameter of each setting
        self.settings = {spec.name.removeprefix(f"{prefix}."): spec for spec in own}
        self.enabled, self._on_error = f"{prefix}.enabled", f"{prefix}.on_error"
        # The parameters to declare
        self.specs = (
            replace(ENABLED, name=self.enabled),
            replace(ON_ERROR, name=self._on_error, default=runner.config.on_error),
            *own,
        )
        self.names = tuple(spec.name for spec in self.specs)  # their names

    def changed(self, values: Mapping[str, Any]) -> Any:
        """Return the settings with values of their parameters among others."""
        own = {
            name: values[spec.name] for name, spec in self.settings.items() if spec.name in values
        }
        try:
            return replace(self._settings, **own)
        except UserInputError as error:
            raise UserInputError(f"extension '{self._runner.key}': {error}") from error

    def apply(self, values: Mapping[str, Any]) -> None:
        """Apply values, before the simulation runs or in the physics thread."""
        runner = self._runner
        if self._on_error in values:
            runner.pauses = values[self._on_error] == "pause"
        settings = self.changed(values)
        if settings != self._settings:
            self._settings = settings
            runner.change_settings(settings)
        if self.enabled in values:
            runner.enable(enabled=values[self.enabled])


ROW = "extension <name>"
"""Name of the row of an extension on /diagnostics."""


class ExtensionHost(Component):
    """Calls the extensions around each step, with their parameters, topics, services and rows."""

    def __init__(self, context: NodeContext) -> None:
        """Create the extensions of the scene, and open their endpoints."""
        self._context, self._simulation = context, context.simulation
        self._set = ExtensionSet(context.simulation, self._initial_settings)
        self._parameters: dict[ExtensionRunner, ExtensionParameters] = {}
        self._endpoints: dict[ExtensionRunner, ExtensionEndpoints] = {}
        self._publishing: tuple[ExtensionEndpoints, ...] = ()
        self._added: list[ExtensionRunner] = []
        for runner in self._set.runners:
            self._add(runner)
            self._parameters[runner].apply(context.values)
        self.finish()
        self._publishing = tuple(self._endpoints.values())

    def before_step(self) -> None:
        """Call the extensions before a step."""
        self._set.before_step()

    def after_step(self) -> None:
        """Call the extensions after a step, and publish their messages."""
        for endpoints in self._publishing:
            endpoints.publish()
        self._set.after_step()

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject settings that contradict each other."""
        for parameters in self._parameters.values():
            parameters.changed(values)

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that applies settings."""
        every = self._parameters.values()
        concerned = [each for each in every if not values.keys().isdisjoint(each.names)]

        def apply() -> None:
            for parameters in concerned:
                parameters.apply(values)

        return apply if concerned else None

    def reports(self) -> Mapping[str, DiagnosticReport]:
        """Return a row for each extension."""
        return {ROW.replace("<name>", runner.key): _report(runner) for runner in self._set.runners}

    def build(self, plant: Plant) -> None:
        """Create the extensions for the next model."""
        self._set.build(plant)

    def prepare(self, plant: Plant) -> None:
        """Declare the parameters and open the endpoints of extensions that are new."""
        for runner in self._set.next:
            if runner not in self._parameters:
                self._add(runner)
                # Nothing calls it before the change.
                self._parameters[runner].apply(self._context.values)

    def commit(self) -> None:
        """Call the extensions of the next model from now on."""
        self._set.commit()
        self._publishing = tuple(self._endpoints[runner] for runner in self._set.runners)

    def finish(self) -> None:
        """Close the parameters and endpoints of extensions whose robot is gone."""
        self._added = []
        self._remove([runner for runner in self._parameters if runner not in self._set.runners])

    def rollback(self) -> None:
        """Close what `prepare` opened."""
        added, self._added = self._added, []
        self._set.rollback()
        self._remove(added)

    def close(self) -> None:
        """Remove the hooks from the engine."""
        self._set.close()

    def _initial_settings(self, runner: ExtensionRunner) -> Any:
        """Return the settings that the user set as parameters at the start, or the scene."""
        parameters = ExtensionParameters(runner)
        return parameters.changed(self._context.parameters.initial(parameters.specs))

    def _add(self, runner: ExtensionRunner) -> None:
        parameters = ExtensionParameters(runner)
        self._context.parameters.declare(parameters.specs)
        self._parameters[runner] = parameters
        self._added.append(runner)
        cls, settings = load_extension(runner.config.use), parameters.settings
        self._endpoints[runner] = ExtensionEndpoints(self._context, runner, cls, settings)
        show = partial(self._show_disabled, parameters)
        runner.on_failure = partial(later, self._context.node, show)

    def _remove(self, runners: list[ExtensionRunner]) -> None:
        for runner in runners:
            self._context.parameters.withdraw(self._parameters.pop(runner).names)
            if runner in self._endpoints:
                self._endpoints.pop(runner).close()

    def _show_disabled(self, parameters: ExtensionParameters) -> None:
        if parameters in self._parameters.values():
            self._context.parameters.show({parameters.enabled: False})


def _report(runner: ExtensionRunner) -> DiagnosticReport:
    p50, p99 = runner.cost.percentiles(50, 99)
    runner.cost.clear()
    values = {
        "extension": runner.config.use,
        "time per step p50 [us]": f"{1e6 * p50:.0f}",
        "time per step p99 [us]": f"{1e6 * p99:.0f}",
    }
    values |= {name: shown(value) for name, value in dataclasses.asdict(runner.settings).items()}
    if runner.failure:
        return DiagnosticReport(f"disabled: {runner.failure}", values, ERROR)
    return DiagnosticReport("enabled" if runner.is_enabled else "disabled", values, OK)
