"""The class that an extension derives from, and the extensions by name."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ClassVar

import mujoco
import numpy as np

from mujoco_ros.entry_points import described, find_entry, load_class
from mujoco_ros.extensions.endpoints import endpoints_of
from mujoco_ros.extensions.own_elements import OwnElements
from mujoco_ros.extensions.settings import NoSettings, bounds_of
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.panel_items import PanelItem


class Extension:
    """Code of an installed package in the physics of a scene; override what applies.

    There is one instance for each model: a change of the model creates the next one, in a
    background thread, which continues with the state. All other methods run in the physics thread,
    also the methods of topics and services.

    An error in a method undoes what it wrote, and disables the extension until its parameter
    ``enabled`` is set.

    Attributes:
        Settings: A frozen dataclass whose fields are declared by `setting`.
        panel: What the page shows of the extension; its methods are called without arguments.
        initial_state: State that is saved, restored, logged, reset and transferred: by name, its
            numbers at the beginning.
        elements: The elements of its robot, or of the scene.
        model: The model.
        data: The state of the engine.
        settings: The values of the settings, a new object after each change.
        native: C functions instead of methods for engine hooks, by kind, set in `set_up`: their
            addresses, or functions of ctypes. Their signatures are MuJoCo's, as ``mjcb_passive``.
        state: The state by name; its arrays stay the same objects.
        random: Random numbers, which depend only on the seed of the simulation and are part of the
            state.
    """

    Settings: ClassVar[type] = NoSettings
    initial_state: ClassVar[Mapping[str, Sequence[float]]] = {}
    panel: ClassVar[tuple[PanelItem, ...]] = ()

    settings: Any
    state: Mapping[str, np.ndarray]
    random: np.random.Generator

    def __init__(self, elements: OwnElements, data: mujoco.MjData) -> None:
        """Create the instance for a model; override `set_up` instead."""
        self.elements = elements
        self.model: mujoco.MjModel = elements.model
        self.data = data
        self.native: dict[str, Any] = {}

    def initial_values(self) -> Mapping[str, Sequence[float]]:
        """Return `initial_state`; override it if the numbers depend on the model."""
        return self.initial_state

    def set_up(self) -> None:
        """Find the elements, and allocate; slow work is possible, in a background thread.

        Raises:
            UserInputError: The model lacks what the extension needs.
        """

    def before_step(self) -> None:
        """Act on the state that the next step starts from, by writing to `data`.

        Positions and velocities are current. What the engine computes from them, such as body poses
        and contacts, is from the start of the previous step.
        """

    def after_step(self) -> None:
        """Act after a step, in which the engine has computed poses, contacts and sensors."""

    def control(self, data: mujoco.MjData, ctrl: np.ndarray) -> None:
        """Change the controls in place: an engine hook, before each evaluation of the actuators.

        Engine hooks are functions of the model and the state, and change neither `state` nor
        `random`: the engine calls them several times in a step with Runge-Kutta.

        Args:
            data: The state to use, which is not always `self.data`.
            ctrl: The controls of the own actuators, after the hooks of earlier extensions.  # (n,)
        """

    def passive(self, data: mujoco.MjData, force: np.ndarray) -> None:
        """Write forces that depend on positions and velocities: an engine hook.

        Args:
            data: As for `control`.
            force: Forces of the own degrees of freedom, `elements.dofs`, to write; they are added
                to all other passive forces [N or Nm].  # (n,)
        """

    def sensor(self, data: mujoco.MjData, stage: int, readings: Mapping[str, np.ndarray]) -> None:
        """Write the readings of own sensors of the type ``user``: an engine hook.

        Args:
            data: As for `control`.
            stage: What the engine has computed: 1 positions, 2 velocities, 3 accelerations.
            readings: Array to write by sensor, of the sensors that need this stage.
        """

    def act_dyn(self, data: mujoco.MjData, actuator: int) -> float | None:
        """Return the time derivative of the activation of an actuator: an engine hook.

        It is called for own actuators whose ``dyntype`` is ``user``. None leaves the actuator to
        the next extension, and then to the engine, which uses 0.
        """

    def act_gain(self, data: mujoco.MjData, actuator: int) -> float | None:
        """Return the gain of an actuator with the ``gaintype`` ``user``; as `act_dyn`, else 1."""

    def act_bias(self, data: mujoco.MjData, actuator: int) -> float | None:
        """Return the bias of an actuator with the ``biastype`` ``user``; as `act_dyn`, else 0."""

    def contact_filter(self, data: mujoco.MjData, geom1: int, geom2: int) -> bool | None:
        """Return whether a contact of two geoms is discarded: an engine hook.

        It is called for each pair that may be in contact and has an own geom, after the engine has
        excluded geoms of one body or of parent and child, and by ``contype`` and ``conaffinity``.
        It is not called for a ``<pair>`` of the model.
        """

    def time(self) -> float | None:
        """Return the present time of a clock, for the engine's profiler ``data.timer``: a hook.

        The first extension with a number counts; without any, the engine's own clock does, in
        seconds. Durations in ``data.timer`` are in the unit of this hook.
        """

    def settings_changed(self) -> None:
        """Act on new settings, between two steps."""

    def reset(self) -> None:
        """Act on a state that was set: at the start, by a reset, a keyframe, or another model.

        Positions, velocities, `state` and `random` are set already. It is also called when the
        extension is enabled again.
        """

    def release(self) -> None:
        """Undo what has an effect without further calls, such as numbers written to `model`.

        It is called when the extension is disabled, also by an error, which may be within a step;
        and while it is disabled, instead of `reset`.
        """


GROUP = "mujoco_ros.extensions"
"""Group of entry points with which installed packages register extensions."""
_LIBRARY = "mujoco_ros.extensions.ros.library"
SHIPPED = {
    "battery": f"{_LIBRARY}.battery:Battery",
    "contact_groups": f"{_LIBRARY}.contacts:ContactGroups",
    "conveyor_belt": f"{_LIBRARY}.contacts:ConveyorBelt",
    "grasp_quality": f"{_LIBRARY}.contacts:GraspQuality",
    "suction_cup": f"{_LIBRARY}.contacts:SuctionCup",
    "thruster": f"{_LIBRARY}.forces:Thruster",
    "unitree_go": f"{_LIBRARY}.unitree_go:UnitreeGo",
    "wind": f"{_LIBRARY}.forces:Wind",
}
"""The extensions of this package, as in entry points."""
_RESERVED = ("enabled", "on_error")  # parameters that every extension has


@cache
def load_extension(name: str) -> type[Extension]:
    """Return the class of an extension; installed packages take precedence over this one.

    Raises:
        UserInputError: No installed package has it, several have it, or it is not a valid
            extension.
    """
    installed = entry_points(group=GROUP)
    entry = find_entry(name, installed)
    if entry is None and name in SHIPPED:
        entry = EntryPoint(name=name, value=SHIPPED[name], group=GROUP)
    if entry is None:
        raise unknown("extension", name, sorted({*installed.names, *SHIPPED}))
    cls, where = load_class(entry, Extension), described(entry)
    try:
        names = [*bounds_of(cls.Settings), *_RESERVED]
    except UserInputError as error:
        raise UserInputError(f"{where}: {error}") from error
    _check_unique(names, f"{where}: two settings")
    _check_unique([endpoint.name for endpoint in endpoints_of(cls)], f"{where}: two endpoints")
    return cls


def _check_unique(names: list[str], where: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UserInputError(f"{where} are named '{name}'")
