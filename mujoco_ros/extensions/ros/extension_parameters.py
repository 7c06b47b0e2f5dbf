"""Parameters of extensions: their settings, and what applies to every extension."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.bridge.parameters.setting_specs import setting_specs
from mujoco_ros.extensions.runner import ExtensionRunner
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.wire.parameter_spec import ParameterSpec

_ENABLED, _ON_ERROR = "enabled", "on_error"
ENABLED = ParameterSpec(
    f"extensions.<name>.{_ENABLED}", True, "Whether the extension is called; an error disables it"
)
ON_ERROR = ParameterSpec(
    f"extensions.<name>.{_ON_ERROR}",
    "disable",
    "What an error in the extension does: disables it, or pauses the simulation as well",
    choices=("disable", "pause"),
)


class ExtensionParameters:
    """The parameters of one extension.

    Attributes:
        specs: The parameters to declare.
        settings: The parameter of each setting.
    """

    def __init__(self, runner: ExtensionRunner) -> None:
        """Describe the parameters; the defaults are the values of the scene."""
        self._runner = runner
        namespace = runner.namespace.replace("/", ".")
        self._prefix = ".".join(it for it in (namespace, "extensions", runner.config.label) if it)
        self._settings = settings = runner.settings
        self.specs = (
            replace(ENABLED, name=f"{self._prefix}.{_ENABLED}"),
            replace(ON_ERROR, name=f"{self._prefix}.{_ON_ERROR}", default=runner.config.on_error),
            *setting_specs(self._prefix, settings),
        )
        own = setting_specs(self._prefix, settings)
        self.settings = {spec.name.removeprefix(f"{self._prefix}."): spec for spec in own}
        self.names = tuple(spec.name for spec in self.specs)

    @property
    def enabled(self) -> str:
        """The name of the parameter that enables the extension."""
        return f"{self._prefix}.{_ENABLED}"

    def initial(self, parameters: Parameters) -> Any:
        """Return the settings with the values that the user set at the start.

        Raises:
            UserInputError: A value is invalid.
        """
        return self._changed(parameters.initial(self.specs))

    def check(self, values: Mapping[str, Any]) -> None:
        """Reject values that the class of the settings rejects.

        Raises:
            UserInputError: The values contradict each other.
        """
        self._changed(values)

    def apply(self, values: Mapping[str, Any]) -> None:
        """Apply values, before the simulation runs or in the physics thread."""
        runner, own = self._runner, self._own(values)
        if _ON_ERROR in own:
            runner.pauses = own[_ON_ERROR] == "pause"
        settings = self._changed(values)
        if settings != self._settings:
            self._settings = settings
            runner.change_settings(settings)
        if _ENABLED in own:
            runner.enable(enabled=own[_ENABLED])

    def concern(self, values: Mapping[str, Any]) -> bool:
        """Whether any of the values is one of the extension."""
        return bool(self._own(values))

    def _own(self, values: Mapping[str, Any]) -> dict[str, Any]:
        start = f"{self._prefix}."
        return {
            name.removeprefix(start): value for name, value in values.items() if name in self.names
        }

    def _changed(self, values: Mapping[str, Any]) -> Any:
        own = {k: v for k, v in self._own(values).items() if k not in (_ENABLED, _ON_ERROR)}
        try:
            return replace(self._settings, **own)
        except UserInputError as error:
            raise UserInputError(f"extension '{self._runner.key}': {error}") from error
