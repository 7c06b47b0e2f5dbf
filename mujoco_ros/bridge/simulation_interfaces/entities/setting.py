"""SetEntityState: sets the pose and the velocity of an entity."""

from typing import Any

from geometry_msgs.msg import Accel
from simulation_interfaces.msg import Result

from mujoco_ros.bridge.simulation_interfaces.entities.messages import read_pose, read_twist
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry, EntitySnapshot
from mujoco_ros.model.robot.body_frames import BodyFrame
from mujoco_ros.model.scene.entities import EntityKind
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder
from mujoco_ros.sim.placement import Placement, obstacle, place
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.set_state import StateRequest, set_state
from mujoco_ros.sim.stepping.run_control import RunControl


class EntityStateService:
    """Sets the states of entities, between two steps."""

    def __init__(self, registry: EntityRegistry, simulation: Simulation, run: RunControl) -> None:
        self._registry = registry
        self._simulation, self._run = simulation, run

    def set_entity_state(self, request: Any, responder: Responder) -> None:
        """Set the pose or velocity or both of an entity: everything requested, or nothing.

        A robot continues as after ``~/set_joints``; a stopped simulation is paused.
        """
        name, frame = request.entity, request.state.header.frame_id
        entity = self._registry.entity(name)
        placement = _placement(request, responder.response)
        if reason := obstacle(entity, placement):
            raise RequestRejectedError(reason)
        if _frame(self._registry.snapshot, frame, responder.response) is None:
            self._place(responder, name, placement)
            return

        def transform(snapshot: EntitySnapshot) -> None:
            reference = _frame(snapshot, frame, responder.response)
            if reference is None:
                raise RequestRejectedError(f"frame '{frame}' is gone")
            body = snapshot.entity(name).root
            self._place(responder, name, snapshot.in_world(placement, reference, body))

        self._registry.observe(responder, transform, finish=False)

    def _place(self, responder: Responder, name: str, placement: Placement) -> None:
        def apply() -> None:
            entity = self._registry.entity(name)  # may be another by now, or gone
            if reason := obstacle(entity, placement):
                raise RequestRejectedError(reason)
            if entity.kind is EntityKind.ROBOT:
                set_state(self._simulation, {}, StateRequest(placements=((entity, placement),)))
            else:
                place(self._simulation.data, entity, placement)
            self._run.leave_start()

        responder.run(self._simulation.commands, apply)


def _placement(request: Any, response: Any) -> Placement:
    """Return the requested placement; older versions of the request have no flags and set all."""
    state = request.state
    if getattr(request, "set_acceleration", False) and state.acceleration != Accel():
        raise RequestRejectedError(
            "accelerations follow from forces and cannot be set; leave set_acceleration false",
            Result.RESULT_FEATURE_UNSUPPORTED,
        )
    pose = twist = None
    try:
        if getattr(request, "set_pose", True):
            pose = read_pose(state.pose)
    except ValueError as error:
        raise _invalid_pose(response, str(error)) from error
    try:
        if getattr(request, "set_twist", True):
            twist = read_twist(state.twist)
    except ValueError as error:
        raise RequestRejectedError(str(error)) from error
    if pose is None and twist is None:
        raise RequestRejectedError("nothing to set: set set_pose, set_twist or both to true")
    return Placement(pose=pose, twist=twist)


def _frame(snapshot: EntitySnapshot, name: str, response: Any) -> BodyFrame | None:
    try:
        return snapshot.frame(name)
    except ValueError as error:
        raise _invalid_pose(response, str(error)) from error


def _invalid_pose(response: Any, message: str) -> RequestRejectedError:
    return RequestRejectedError(message, getattr(response, "INVALID_POSE", None))
