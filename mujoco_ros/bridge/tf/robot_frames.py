"""The topic robot_description of every robot, and the TF frames of a model."""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from xml.etree import ElementTree

import mujoco
import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.control.joints import command_interfaces
from mujoco_ros.model.body_tree import free_joint
from mujoco_ros.model.naming import OPTICAL_WXYZ, in_namespace
from mujoco_ros.model.pose import quaternion_wxyz
from mujoco_ros.model.robot.body_frames import mocap_bodies
from mujoco_ros.model.robot.description import RobotDescription, descriptions
from mujoco_ros.model.robot.layout import ModelLayout, RobotLayout
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.model.sensors.cameras import Camera
from mujoco_ros.model.urdf.exporting.ros2_control import HardwareJoint, write_ros2_control
from mujoco_ros.rclpy_ext.endpoints import synchronize
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.names import WORLD
from mujoco_ros.wire.parameter_spec import ParameterSpec
from mujoco_ros.wire.qos import LATCHED


def with_hardware(
    node: Node, plant: Plant, described: list[RobotDescription]
) -> list[RobotDescription]:
    """Return the descriptions of all robots with ``<ros2_control>`` blocks for their joints."""
    found = []
    first = 0
    for robot, description in zip(plant.layout.robots, described, strict=True):
        tree = ElementTree.fromstring(description.urdf)
        write_ros2_control(
            tree,
            _joints(plant, robot, first),
            commands_topic=_resolved(node, robot, "joint_commands"),
            states_topic=_resolved(node, robot, "joint_states"),
        )
        found.append(replace(description, urdf=ElementTree.tostring(tree, encoding="unicode")))
        first += len(robot.joints.names)
    return found


def _joints(plant: Plant, robot: RobotLayout, first: int) -> list[HardwareJoint]:
    """Return the joints of a robot with their positions; `first` is the index of its first one."""
    positions = plant.data.qpos[robot.joints.qpos]
    return [
        HardwareJoint(
            name=name,
            takes=command_interfaces(plant.drives.modes(first + index)),
            position=float(positions[index]),
        )
        for index, name in enumerate(robot.joints.names)
    ]


def _resolved(node: Node, robot: RobotLayout, topic: str) -> str:
    """Return the name of a topic of the robot after remappings."""
    return str(node.resolve_topic_name(in_namespace(robot.namespace, topic)))


class RobotDescriptions(Component):
    """Publishes each robot's robot_description while the robot exists."""

    def __init__(self, context: NodeContext) -> None:
        """Publish the descriptions of the robots; with ros2_control, they contain its hardware."""
        self._node, self._endpoints = context.node, context.endpoints
        self._has_controllers = context.has_controllers
        self._publishers: dict[ScenePart, Publisher] = {}
        self._known: dict[ScenePart, RobotDescription] = {}
        self.build(context.simulation.plant)
        self.finish()

    def descriptions_of(self, plant: Plant) -> list[RobotDescription]:
        """Return the descriptions of the plant that was built last."""
        assert self._next[0] is plant
        return self._next[1]

    def build(self, plant: Plant) -> None:
        """Describe the robots of the next plant."""
        described = descriptions(plant.assembly, plant.layout, self._known)
        self._known = dict(zip(plant.assembly.robots, described, strict=True))
        if not self._has_controllers:
            described = with_hardware(self._node, plant, described)
        self._next = plant, described

    def finish(self) -> None:
        """Publish the descriptions of new robots; close the topics of deleted ones."""
        plant, described = self._next
        robots = dict(zip(plant.assembly.robots, described, strict=True))
        synchronize(self._publishers, robots, self._publish, self._endpoints.close)

    def _publish(self, _part: ScenePart, robot: RobotDescription) -> Publisher:
        topic = in_namespace(robot.namespace, "robot_description")
        publisher = self._endpoints.publisher(String, topic, LATCHED)
        publisher.publish(String(data=robot.urdf))
        return publisher


TfMode = Literal["base", "all", "none"]


@dataclass(frozen=True, kw_only=True)
class FramePlan:
    """The frames on /tf and /tf_static."""

    # Rows of (parent frame, child frame, source array, start of its 7 numbers)
    moving: list[tuple[str, str, str, int]]
    # Bodies whose pose relative to their parent is needed, in the order of the ``relative_poses``
    # array
    linked_bodies: list[int]
    following: list[int]  # cameras that track a body, in the order of the ``optical_poses`` array
    static: list[TransformStamped]  # transforms that never change


def plan_frames(
    model: mujoco.MjModel,
    layout: ModelLayout,
    mode: TfMode,
    described: Sequence[RobotDescription],
    by_odometry: Container[str] = (),
) -> FramePlan:
    """Return the frames to publish; each has exactly one parent.

    The bases of robots that odometry places, `by_odometry`, are left out.

    The mode ``base`` is the root of each robot, free objects, cameras that track a body, and
    sensors that are in no robot_description; robot_state_publisher publishes the rest. ``all`` is
    every link and sensor.
    """
    plan = FramePlan(moving=[], linked_bodies=[], following=[], static=[])
    if mode == "none":
        return plan
    for robot, description in zip(layout.robots, described, strict=True):
        for base in () if robot.name in by_odometry else robot.bases:
            plan.moving.append((WORLD, robot.frame(base.name), "qpos", base.qpos))
        if mode == "all":
            _add_bodies(plan, model, robot, robot.bodies)
            _add_sensors(plan, model, robot, frozenset())
            continue
        carried = description.links - {description.root}
        roots = [b for b in robot.roots if _name(model, robot, b) not in carried]
        # Links on ball joints are in the description, but not in the joint states.
        loose = [
            b
            for b in robot.bodies
            if _name(model, robot, b) in description.floating and model.body_mocapid[b] < 0
        ]
        _add_bodies(plan, model, robot, [*roots, *loose])
        _add_sensors(plan, model, robot, description.links)
        if description.root == WORLD and robot.frame_prefix:
            pose = description.pose
            quat = quaternion_wxyz(pose)
            plan.static.append(
                _transform(WORLD, robot.frame_prefix + WORLD, np.array(pose.xyz), quat)
            )
    for frame, base in layout.free_objects:
        plan.moving.append((WORLD, frame, "qpos", base.qpos))
    for mocap in mocap_bodies(model, layout):
        if mocap.body not in plan.linked_bodies:
            row = len(plan.linked_bodies)
            plan.linked_bodies.append(mocap.body)
            plan.moving.append((WORLD, mocap.frame, "relative_poses", 7 * row))
    _add_others(plan, model, layout)
    for camera in layout.every_camera:
        if not _is_fixed(model, camera):
            plan.moving.append((WORLD, camera.frame, "optical_poses", 7 * len(plan.following)))
            plan.following.append(camera.camera)
    return plan


def _add_bodies(
    plan: FramePlan, model: mujoco.MjModel, robot: RobotLayout, bodies: Iterable[int]
) -> None:
    free = {base.body for base in robot.bases}
    for body in bodies:
        if body in free or free_joint(model, body) is not None:
            continue
        parent_frame = _body_frame(model, robot, int(model.body_parentid[body]))
        child_frame = _body_frame(model, robot, body)
        if model.body_jntnum[body] or model.body_mocapid[body] >= 0:
            row = len(plan.linked_bodies)
            plan.linked_bodies.append(body)
            plan.moving.append((parent_frame, child_frame, "relative_poses", 7 * row))
        else:
            plan.static.append(
                _transform(parent_frame, child_frame, model.body_pos[body], model.body_quat[body])
            )


def _add_sensors(
    plan: FramePlan, model: mujoco.MjModel, robot: RobotLayout, known: frozenset[str]
) -> None:
    fixed: dict[str, _Fixed] = {
        name: (name, at.body, np.array(at.position), np.array(at.quat_wxyz))
        for sensor in robot.every_sensor
        if (at := sensor.frame).body >= 0 and (name := robot.sensor_frame(at))
    }
    fixed |= {lidar.frame: _at_site(model, lidar.site, lidar.frame) for lidar in robot.lidars}
    frames = list(fixed.values())
    frames += [_at_camera(model, camera) for camera in robot.cameras if _is_fixed(model, camera)]
    for frame, body, position, quat in frames:
        if frame.removeprefix(robot.frame_prefix) not in known:
            parent = _body_frame(model, robot, body)
            plan.static.append(_transform(parent, frame, position, quat))


def _add_others(plan: FramePlan, model: mujoco.MjModel, layout: ModelLayout) -> None:
    """Add the cameras and lidars of the world and of objects."""
    parents = {0: WORLD} | {base.body: frame for frame, base in layout.free_objects}
    parents |= {mocap.body: mocap.frame for mocap in mocap_bodies(model, layout)}
    sites = {lidar.frame: lidar.site for lidar in layout.lidars}
    frames = [_at_site(model, site, frame) for frame, site in sites.items()]
    frames += [_at_camera(model, camera) for camera in layout.cameras if _is_fixed(model, camera)]
    for frame, body, position, quat in frames:
        while body not in parents and not model.body_jntnum[body]:
            moved, turned = np.zeros(3), np.zeros(4)
            mujoco.mju_mulPose(
                moved, turned, model.body_pos[body], model.body_quat[body], position, quat
            )
            body, position, quat = int(model.body_parentid[body]), moved, turned
        if body in parents:  # else on a joint of an object, whose links are not in TF
            plan.static.append(_transform(parents[body], frame, position, quat))


_Fixed = tuple[str, int, np.ndarray, np.ndarray]
"""A frame, its body, and its position and orientation wxyz in the body frame."""


def _at_site(model: mujoco.MjModel, site: int, frame: str) -> _Fixed:
    return frame, int(model.site_bodyid[site]), model.site_pos[site], model.site_quat[site]


def _at_camera(model: mujoco.MjModel, camera: Camera) -> _Fixed:
    quat = np.zeros(4)
    mujoco.mju_mulQuat(quat, model.cam_quat[camera.camera], np.array(OPTICAL_WXYZ))
    return camera.frame, camera.body, model.cam_pos[camera.camera], quat


def _is_fixed(model: mujoco.MjModel, camera: Camera) -> bool:
    """Return whether a camera is fixed to its body; one that tracks a body is not."""
    return bool(model.cam_mode[camera.camera] == mujoco.mjtCamLight.mjCAMLIGHT_FIXED)


def _body_frame(model: mujoco.MjModel, robot: RobotLayout, body: int) -> str:
    return robot.frame_prefix + _name(model, robot, body) if body else WORLD


def _name(model: mujoco.MjModel, robot: RobotLayout, body: int) -> str:
    # Only compiled models have nameless bodies.
    return model.body(body).name.removeprefix(robot.prefix) or f"body{body}"


def _transform(
    parent: str, child: str, position: np.ndarray, quat_wxyz: np.ndarray
) -> TransformStamped:
    message = TransformStamped()
    message.header.frame_id, message.child_frame_id = parent, child
    translation, rotation = message.transform.translation, message.transform.rotation
    translation.x, translation.y, translation.z = (float(x) for x in position)
    rotation.w, rotation.x, rotation.y, rotation.z = (float(x) for x in quat_wxyz)
    return message


class StaticFrames(Component):
    """Plans the TF frames of each plant, and publishes the static ones.

    tf2_ros' broadcaster would keep publishing the frames of deleted robots.
    """

    parameters = (
        ParameterSpec(
            "tf",
            "base",
            "Frames to publish: bases, free objects and sensors; all links as well (without "
            "robot_state_publisher); or none",
            choices=("base", "all", "none"),
            read_only=True,
        ),
    )

    def __init__(
        self,
        context: NodeContext,
        descriptions: RobotDescriptions,
        have_odometry: Callable[[Plant], Container[str]] = lambda _plant: (),
    ) -> None:
        """Plan the frames; `have_odometry` returns the names of robots that odometry places."""
        self._endpoints, self._descriptions = context.endpoints, descriptions
        self._have_odometry = have_odometry
        self._mode: TfMode = context.values["tf"]
        self._publisher: Publisher | None = None
        self._published: list[TransformStamped] = []
        self.build(context.simulation.plant)
        self.finish()

    def plan_of(self, plant: Plant) -> FramePlan:
        """Return the plan of the plant that was built last."""
        assert self._next[0] is plant
        return self._next[1]

    def build(self, plant: Plant) -> None:
        """Plan the frames of the next plant."""
        described = self._descriptions.descriptions_of(plant)
        placed = self._have_odometry(plant)
        self._next = plant, plan_frames(plant.model, plant.layout, self._mode, described, placed)

    def finish(self) -> None:
        """Publish the static frames, unless the previous plant had the same ones."""
        static = self._next[1].static
        if static == self._published:
            return
        if self._publisher is None:
            self._publisher = self._endpoints.publisher(TFMessage, "/tf_static", LATCHED)
        self._publisher.publish(TFMessage(transforms=static))
        self._published = static
