"""SetEntityState: putting an entity somewhere else, or giving it a velocity."""

from typing import Any

import mujoco
import numpy as np
from geometry_msgs.msg import Accel
from simulation_interfaces.msg import Result

from mujoco_ros.bridge.rclpy_ext.service import Responder
from mujoco_ros.bridge.simulation_interfaces.entities.messages import read_pose, read_twist
from mujoco_ros.bridge.simulation_interfaces.entities.registry import EntityRegistry, EntitySnapshot
from mujoco_ros.bridge.simulation_interfaces.rejection import (
    RequestRejectedError,
    failed,
    grant,
    granting,
)
from mujoco_ros.model.robot.body_frames import BodyFrame
from mujoco_ros.sim.observer import Observer
from mujoco_ros.sim.placement import Placement, obstacle, place
from mujoco_ros.sim.simulation import Simulation


class EntityStateService:
    """Sets the states of entities, between two steps."""

    def __init__(self, registry: EntityRegistry, simulation: Simulation) -> None:
        """Set states of the entities `registry` knows."""
        self._registry = registry
        self._simulation = simulation

    @granting
    def set_entity_state(self, request: Any, answer: Responder) -> None:
        """Set pose or velocity or both of an entity, all that is asked for or nothing."""
        name, frame = request.entity, request.state.header.frame_id
        cast = self._registry.cast
        entity = self._registry.entity(name)
        placement = _placement(request, answer.response)
        reason = obstacle(entity, placement)
        if reason:
            raise failed(reason)
        if _frame(cast, frame, answer.response) is None:
            self._place(answer, name, placement)
            return

        def tell(cast: EntitySnapshot) -> None:
            reference = _frame(cast, frame, answer.response)
            body = cast.entity(name).root
            if reference is None:
                raise failed(f"frame '{frame}' is gone")
            self._place(answer, name, from_frame(cast.observer, reference, body, placement))

        self._registry.questions.observe(answer, tell)

    def _place(self, answer: Responder, name: str, placement: Placement) -> None:
        def apply() -> None:
            entity = self._registry.entity(name)  # may be another by now, or gone
            reason = obstacle(entity, placement)
            if reason:
                raise failed(reason)
            place(self._simulation.data, entity, placement)

        self._registry.questions.submit(apply, answer, lambda _: grant(answer))


def from_frame(observer: Observer, reference: BodyFrame, body: int, seen: Placement) -> Placement:
    """Return in the world what is seen from a frame, as that stands and moves at present.

    Args:
        observer: Has looked at the present state.
        reference: The frame.
        body: Whose placement it is.
        seen: The placement in that frame.
    """
    offset = np.concatenate([reference.position, reference.quat_wxyz])
    frame = observer.motion(reference.body, offset)
    pose = twist = None
    position = observer.motion(body).position
    if seen.pose is not None:
        pose = np.zeros(7)
        place_in = (frame.position, frame.quat_wxyz, seen.pose[:3], seen.pose[3:])
        mujoco.mju_mulPose(pose[:3], pose[3:], *place_in)
        position = pose[:3]
    if seen.twist is not None:
        twist = np.zeros(6)
        mujoco.mju_rotVecQuat(twist[:3], seen.twist[:3], frame.quat_wxyz)
        mujoco.mju_rotVecQuat(twist[3:], seen.twist[3:], frame.quat_wxyz)
        twist[:3] += frame.linear + np.cross(frame.angular, position - frame.position)
        twist[3:] += frame.angular
    return Placement(pose=pose, twist=twist)


def _placement(request: Any, response: Any) -> Placement:
    """Read what is to be set; older versions of the request have no flags and set all."""
    state = request.state
    accelerated = getattr(request, "set_acceleration", False) and state.acceleration != Accel()
    if accelerated:
        raise RequestRejectedError(
            Result.RESULT_FEATURE_UNSUPPORTED,
            "accelerations follow from forces and cannot be set; leave set_acceleration false",
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
        raise failed(str(error)) from error
    if pose is None and twist is None:
        raise failed("nothing to set: set set_pose, set_twist or both to true")
    return Placement(pose=pose, twist=twist)


def _frame(cast: EntitySnapshot, name: str, response: Any) -> BodyFrame | None:
    try:
        return cast.frame(name)
    except ValueError as error:
        raise _invalid_pose(response, str(error)) from error


def _invalid_pose(response: Any, message: str) -> RequestRejectedError:
    code = getattr(response, "INVALID_POSE", Result.RESULT_OPERATION_FAILED)
    return RequestRejectedError(code, message)
