"""Which TF frames there are, and which of them move."""

from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np
from geometry_msgs.msg import TransformStamped

from mujoco_ros.model.frames import OPTICAL_WXYZ, optical_frame
from mujoco_ros.model.layout import Layout, Robot
from mujoco_ros.ros.topics import WORLD

TfMode = Literal["base", "all", "none"]


@dataclass(frozen=True, kw_only=True)
class FramePlan:
    """What goes to /tf and /tf_static.

    Attributes:
        moving: Rows of (parent frame, child frame, source array, start of its 7 numbers).
        linked_bodies: Bodies whose pose relative to their parent is needed, in the order of the
            ``relative_poses`` array.
        static: Transforms that never change.
    """

    moving: list[tuple[str, str, str, int]]
    linked_bodies: list[int]
    static: list[TransformStamped]


def plan_frames(
    model: mujoco.MjModel, layout: Layout, mode: TfMode, described: list[set[str]]
) -> FramePlan:
    """Decide which frames to publish.

    Args:
        model: The model.
        layout: Its robots.
        mode: ``base``: bases, free objects, and the sensor frames that nobody else publishes;
            ``all``: also every link; ``none``.
        described: Links of each robot's robot_description; with ``base``, robot_state_publisher is
            taken to publish their frames.
    """
    plan = FramePlan(moving=[], linked_bodies=[], static=[])
    if mode == "none":
        return plan
    for robot, links in zip(layout.robots, described, strict=True):
        for base in robot.bases:
            plan.moving.append((WORLD, robot.frame(base.name), "qpos", base.qpos))
        _add_bodies(plan, model, robot, every_link=mode == "all")
        _add_sensors(plan, model, robot, links if mode == "base" else set())
    for frame, base in layout.free_objects:
        plan.moving.append((WORLD, frame, "qpos", base.qpos))
    return plan


def _add_bodies(plan: FramePlan, model: mujoco.MjModel, robot: Robot, *, every_link: bool) -> None:
    free = {base.body for base in robot.bases}
    for body in robot.bodies:
        joint = int(model.body_jntadr[body])
        if body in free or (joint >= 0 and model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE):
            continue
        if body not in robot.roots and not every_link:
            continue
        parent = int(model.body_parentid[body])
        parent_frame = _body_frame(model, robot, parent)
        child_frame = _body_frame(model, robot, body)
        if model.body_jntnum[body] or model.body_mocapid[body] >= 0:
            row = len(plan.linked_bodies)
            plan.linked_bodies.append(body)
            plan.moving.append((parent_frame, child_frame, "relative_poses", 7 * row))
        else:
            plan.static.append(
                _transform(parent_frame, child_frame, model.body_pos[body], model.body_quat[body])
            )


def _add_sensors(plan: FramePlan, model: mujoco.MjModel, robot: Robot, known: set[str]) -> None:
    for frame, site in {sensor.frame: sensor.site for sensor in robot.site_sensors}.items():
        if frame not in known:
            plan.static.append(
                _transform(
                    _body_frame(model, robot, int(model.site_bodyid[site])),
                    robot.frame(frame),
                    model.site_pos[site],
                    model.site_quat[site],
                )
            )
    for camera in robot.cameras:
        frame = optical_frame(camera.name)
        if frame in known:
            continue
        quat = np.zeros(4)
        mujoco.mju_mulQuat(quat, model.cam_quat[camera.camera], np.array(OPTICAL_WXYZ))
        parent = _body_frame(model, robot, camera.body)
        plan.static.append(
            _transform(parent, robot.frame(frame), model.cam_pos[camera.camera], quat)
        )


def _body_frame(model: mujoco.MjModel, robot: Robot, body: int) -> str:
    # Only compiled models have nameless bodies.
    return robot.frame(model.body(body).name or f"body{body}") if body else WORLD


def _transform(
    parent: str, child: str, position: np.ndarray, quat_wxyz: np.ndarray
) -> TransformStamped:
    message = TransformStamped()
    message.header.frame_id, message.child_frame_id = parent, child
    translation, rotation = message.transform.translation, message.transform.rotation
    translation.x, translation.y, translation.z = (float(x) for x in position)
    rotation.w, rotation.x, rotation.y, rotation.z = (float(x) for x in quat_wxyz)
    return message
