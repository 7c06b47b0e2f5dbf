"""The service that sets joints, floating bases and bodies, all at one instant."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from rcl_interfaces.msg import Parameter, ParameterType
from rcl_interfaces.srv import SetParametersAtomically

from mujoco_ros.bridge.component import Component, NodeContext, PerPlant
from mujoco_ros.bridge.simulation_interfaces.entities.messages import checked_pose, checked_twist
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry, EntitySnapshot
from mujoco_ros.control.events import CommandError
from mujoco_ros.control.joints import check_numbers
from mujoco_ros.model.errors import unknown
from mujoco_ros.model.scene.entities import Entity
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder, Service
from mujoco_ros.sim.observer import Placement
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state.set_state import SettableJoint, StateRequest, set_state, settable_joints

SET_JOINTS = "~/set_joints"
POSITION, VELOCITY, POSE, TWIST = "position", "velocity", "pose", "twist"
_QUANTITIES = (POSITION, VELOCITY, POSE, TWIST)
_POSE_ORDER = "[x, y, z, qx, qy, qz, qw]"
_TWIST_ORDER = "[vx, vy, vz, wx, wy, wz]"


@dataclass(frozen=True, kw_only=True)
class _Values:
    """The checked values of a request, by name."""

    positions: dict[str, float] = field(default_factory=dict)
    velocities: dict[str, float] = field(default_factory=dict)
    poses: dict[str, np.ndarray] = field(default_factory=dict)
    twists: dict[str, np.ndarray] = field(default_factory=dict)


class JointStateService(Component):
    """Serves ``~/set_joints``, an rcl_interfaces/SetParametersAtomically."""

    def __init__(self, context: NodeContext, registry: EntityRegistry) -> None:
        """Serve it for the joints, and for the entities of `registry`."""
        self._simulation, self._run, self._registry = context.simulation, context.run, registry
        self._joints = PerPlant(lambda plant: settable_joints(plant.model, plant.layout))
        Service(context.node, SetParametersAtomically, SET_JOINTS, self._set)

    def build(self, plant: Plant) -> None:
        """List the joints of the next model."""
        self._joints.build(plant)

    def _set(self, request: SetParametersAtomically.Request, responder: Responder) -> None:
        try:
            values = read_values(request.parameters)
        except ValueError as error:
            raise RequestRejectedError(str(error)) from error

        def apply() -> str:
            joints = self._joints[self._simulation.plant]
            found = to_request(values, joints, self._registry.snapshot)
            by_index = {joint.joint: joint for joint in joints.values()}
            remarks = set_state(self._simulation, by_index, found)
            self._run.leave_start()
            return remarks

        responder.run(self._simulation.commands, apply, responder.succeed)


def read_values(parameters: Sequence[Parameter]) -> _Values:
    """Return the values of a request."""
    if not parameters:
        raise CommandError("nothing to set: the request has no parameters")
    values, seen = _Values(), set()
    for parameter in parameters:
        name = parameter.name
        element, dot, quantity = name.rpartition(".")
        if not dot or not element or quantity not in _QUANTITIES:
            raise CommandError(
                f"'{name}' is not the name of a quantity; they are <joint>.{POSITION}, "
                f"<joint>.{VELOCITY}, <entity>.{POSE} and <entity>.{TWIST}"
            )
        if name in seen:
            raise CommandError(f"'{name}' is given twice")
        seen.add(name)
        if quantity in (POSITION, VELOCITY):
            number = _number(parameter)
            check_numbers(np.array([number]), quantity, [element], nan=False)
            (values.positions if quantity == POSITION else values.velocities)[element] = number
        elif quantity == POSE:
            x, y, z, qx, qy, qz, qw = _numbers(parameter, 7, _POSE_ORDER)
            values.poses[element] = _checked(name, checked_pose, [x, y, z, qw, qx, qy, qz])
        else:
            numbers = _numbers(parameter, 6, _TWIST_ORDER)
            values.twists[element] = _checked(name, checked_twist, numbers)
    return values


def to_request(
    values: _Values, joints: Mapping[str, SettableJoint], snapshot: EntitySnapshot
) -> StateRequest:
    """Return the request for the joints and entities of one model.

    Entities have their name, or the TF frame of their root body.
    """
    for name in (*values.positions, *values.velocities):
        if name not in joints:
            raise unknown("joint", name, joints)
    placements: dict[str, tuple[Entity, Placement]] = {}
    for name in dict.fromkeys((*values.poses, *values.twists)):
        entity = _entity(name, snapshot)
        if entity.name in placements:
            raise CommandError(f"'{name}' is entity '{entity.name}', which is given already")
        placement = Placement(pose=values.poses.get(name), twist=values.twists.get(name))
        placements[entity.name] = (entity, placement)
    return StateRequest(
        positions={joints[name].joint: value for name, value in values.positions.items()},
        velocities={joints[name].joint: value for name, value in values.velocities.items()},
        placements=tuple(placements.values()),
    )


def _entity(name: str, snapshot: EntitySnapshot) -> Entity:
    if name in snapshot.entities:
        return snapshot.entities[name]
    frame = snapshot.frames.get(name)
    if frame is not None and frame.owner and not frame.position.any():
        for entity in snapshot.entities.values():
            if entity.root == frame.body:
                return entity
    raise unknown("entity", name, snapshot.entities)


def _checked(
    name: str, check: Callable[[np.ndarray], np.ndarray], numbers: Sequence[float]
) -> np.ndarray:
    """Return checked numbers; an error names the parameter."""
    try:
        return check(np.array(numbers))
    except ValueError as error:
        raise CommandError(f"{name}: {error}") from error


def _number(parameter: Parameter) -> float:
    value = parameter.value
    if value.type == ParameterType.PARAMETER_DOUBLE:
        return float(value.double_value)
    if value.type == ParameterType.PARAMETER_INTEGER:
        return float(value.integer_value)
    raise CommandError(f"'{parameter.name}' takes a number: type 3 and double_value")


def _numbers(parameter: Parameter, count: int, order: str) -> list[float]:
    value, found = parameter.value, None
    if value.type == ParameterType.PARAMETER_DOUBLE_ARRAY:
        found = [float(number) for number in value.double_array_value]
    elif value.type == ParameterType.PARAMETER_INTEGER_ARRAY:
        found = [float(number) for number in value.integer_array_value]
    if found is None or len(found) != count:
        raise CommandError(
            f"'{parameter.name}' takes {count} numbers, {order}: type 8 and double_array_value"
        )
    return found
