"""SetEntityState: sets the pose and the velocity of an entity."""

from typing import Any

import mujoco
import numpy as np
from geometry_msgs.msg import Accel
from simulation_interfaces.msg import Result

from mujoco_ros.bridge.simulation_interfaces.entities.messages import read_pose, read_twist
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry, EntitySnapshot
from mujoco_ros.model.robot.body_frames import BodyFrame
from mujoco_ros.model.scene.entities import EntityKind
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder
from mujoco_ros.sim.observer import Observer, Placement, obstacle, place
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.set_state import StateRequest, set_state
from mujoco_ros.sim.stepping.run_control import RunControl


class EntityStateService:
    """Sets the states of entities, between two steps."""

    def __init__(self, registry: EntityRegistry, simulation: Simulation, run: RunControl) -> None:
        """Set states of the entities of `registry`."""
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
            self._place(responder, name, to_world(snapshot.observer, reference, body, placement))

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


def to_world(observer: Observer, reference: BodyFrame, body: int, in_frame: Placement) -> Placement:
    """Return a placement in the world, given in a frame at its current pose and motion.

    Args:
        observer: Has evaluated the current state.
        reference: The frame.
        body: The body to be placed.
        in_frame: The placement in that frame.
    """
    offset = np.concatenate([reference.position, reference.quat_wxyz])
    frame = observer.motion(reference.body, offset)
    pose = twist = None
    position = observer.motion(body).position
    if in_frame.pose is not None:
        pose = np.zeros(7)
        operands = (frame.position, frame.quat_wxyz, in_frame.pose[:3], in_frame.pose[3:])
        mujoco.mju_mulPose(pose[:3], pose[3:], *operands)
        position = pose[:3]
    if in_frame.twist is not None:
        twist = np.zeros(6)
        mujoco.mju_rotVecQuat(twist[:3], in_frame.twist[:3], frame.quat_wxyz)
        mujoco.mju_rotVecQuat(twist[3:], in_frame.twist[3:], frame.quat_wxyz)
        twist[:3] += frame.linear + np.cross(frame.angular, position - frame.position)
        twist[3:] += frame.angular
    return Placement(pose=pose, twist=twist)


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
