"""Topics that push, pull and place bodies, and push joints."""

import itertools
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import mujoco
import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from visualization_msgs.msg import InteractiveMarkerFeedback

from mujoco_ros.bridge.component import Component, NodeContext, PerPlant
from mujoco_ros.bridge.diagnostics.report import DiagnosticReport
from mujoco_ros.control.events import QueueFullError
from mujoco_ros.control.pull import Pull
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import in_namespace, topic_token
from mujoco_ros.model.robot.body_frames import (
    BodyFrame,
    MocapBody,
    can_move,
    mocap_bodies,
    named_frames,
)
from mujoco_ros.model.robot.scope import SCALAR_JOINTS
from mujoco_ros.rclpy_ext.endpoints import synchronize
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.wrenches import AppliedEffort, AppliedWrench
from mujoco_ros.wire.conversions import checked_xyz, nanoseconds, pose_in_world
from mujoco_ros.wire.names import EXTERNAL_EFFORTS, EXTERNAL_WRENCH, MOVE, PULL, TURN
from mujoco_ros.wire.parameter_spec import ParameterSpec
from mujoco_ros.wire.qos import RELIABLE

_LARGEST = 1e9  # far below 1e10, the acceleration at which the engine diverges


class WrenchServer(Component):
    """Applies wrenches from ``external_wrench``, and efforts of joints from ``external_efforts``,
    of the scene and of every robot.
    """

    name = "perturbation"
    parameters = (
        ParameterSpec(
            "external_wrench_timeout",
            0.0,
            "Simulated time for which a message on external_wrench or external_efforts acts [s]; 0 "
            "is until the next one for its frame or joint",
            low=0.0,
            high=3600.0,
        ),
        ParameterSpec(
            "external_wrench_axes",
            "frame",
            "Axes of the messages on external_wrench: the frame that they name, or the world; they "
            "act at the origin of the frame either way",
            choices=("frame", "world"),
        ),
    )

    def __init__(self, context: NodeContext) -> None:
        self._endpoints, self._values = context.endpoints, context.values
        self._simulation, self._submit = context.simulation, context.submit
        self._rejections = context.rejections
        self._open: dict[str, Subscription] = {}
        self._frames = PerPlant(lambda plant: named_frames(plant.model, plant.layout))
        self._joints = PerPlant(lambda plant: _pushable_joints(plant.model))
        self.build(context.simulation.plant)
        self.finish()

    def build(self, plant: Plant) -> None:
        """Find the frames and joints of the next model."""
        self._frames.build(plant)
        self._joints.build(plant)

    def finish(self) -> None:
        """Open the topics of new robots; close the topics of deleted ones."""
        robots = self._simulation.layout.robots
        namespaces = dict.fromkeys(["", *(robot.namespace for robot in robots)])
        kinds = {
            EXTERNAL_WRENCH: (WrenchStamped, self._handle),
            EXTERNAL_EFFORTS: (JointState, self._handle_efforts),
        }
        wanted = {
            in_namespace(namespace, topic): (kind, partial(handle, namespace))
            for namespace in namespaces
            for topic, (kind, handle) in kinds.items()
        }
        synchronize(self._open, wanted, self._subscribe, self._endpoints.close)

    def find_frame(self, namespace: str, name: str) -> BodyFrame:
        """Return a frame that a joint moves; topics of a robot accept names without its prefix."""
        plant = self._simulation.plant
        frames, model = self._frames[plant], plant.model
        own = (robot for robot in plant.layout.robots if robot.namespace == namespace)
        names = [*(robot.frame_prefix + name for robot in own), name]
        frame = next((frames[known] for known in names if known in frames), None)
        if frame is None:
            movable = [n for n, f in frames.items() if can_move(model, f.body)]
            raise unknown("frame", name, movable)
        if not can_move(model, frame.body):
            raise UserInputError(f"frame '{name}' cannot move: no joint is above it")
        return frame

    def find_joint(self, namespace: str, name: str) -> str:
        """Return the name in the model of a hinge or slide; joints of a robot need no prefix."""
        plant = self._simulation.plant
        own = [robot.prefix for robot in plant.layout.robots if robot.namespace == namespace]
        names = self._joints[plant]
        found = next((full for full in (*(p + name for p in own), name) if full in names), None)
        if found is None:
            prefix = next(iter(own), "")
            raise unknown("joint", name, [full.removeprefix(prefix) for full in names])
        return found

    def report(self) -> DiagnosticReport:
        """Return the row on /diagnostics: the wrenches, pulls and efforts that act."""
        external = self._simulation.wrenches
        wrenches, pulls, efforts = external.listing, external.pulls, external.efforts
        parts = [f"wrenches act at {', '.join(wrenches)}"] if wrenches else []
        parts += [f"pulls act at {', '.join(pulls)}"] if pulls else []
        parts += [f"efforts act on {', '.join(efforts)}"] if efforts else []
        return DiagnosticReport(
            "; ".join(parts) or "no external wrench acts",
            {
                f"wrench at {frame} [N, Nm]": _row((*wrench.force, *wrench.torque))
                + (" in world axes" if wrench.in_world else "")
                + _until(wrench.until)
                for frame, wrench in wrenches.items()
            }
            | {
                f"pull at {frame}": f"turned to w x y z {_row(pull.quat_wxyz)}"
                if pull.turns
                else f"to {_row(pull.position)} m"
                for frame, pull in pulls.items()
            }
            | {
                f"effort on {joint} [Nm or N]": f"{each.effort:g}{_until(each.until)}"
                for joint, each in efforts.items()
            },
        )

    def _subscribe(self, topic: str, wanted: tuple[type, Callable[..., None]]) -> Subscription:
        kind, handle = wanted
        return self._endpoints.subscription(kind, topic, partial(handle, topic), RELIABLE)

    @property
    def _timeout(self) -> float:
        return self._values["external_wrench_timeout"] or math.inf

    def _handle_efforts(self, namespace: str, topic: str, message: JointState) -> None:
        timeout = self._timeout
        with self._rejections.refusing(topic):
            if not message.name or len(message.effort) != len(message.name):
                raise UserInputError(
                    f"{len(message.name)} names and {len(message.effort)} efforts; each joint "
                    "needs one effort"
                )
            efforts = {}
            for name, effort in zip(message.name, message.effort, strict=True):
                if not abs(effort) <= _LARGEST:
                    raise UserInputError(
                        f"the effort of joint '{name}' must be within ±{_LARGEST:g}, got {effort}"
                    )
                joint = self.find_joint(namespace, name)
                if joint in efforts:
                    raise UserInputError(f"joint '{name}' is named twice")
                efforts[joint] = float(effort)

            def command(time: float) -> None:
                for joint, effort in efforts.items():
                    applied = AppliedEffort(joint=joint, effort=effort, until=time + timeout)
                    self._simulation.wrenches.push(applied)

            self._submit(topic, command, stamp=nanoseconds(message.header.stamp))

    def _handle(self, namespace: str, topic: str, message: WrenchStamped) -> None:
        timeout = self._timeout
        with self._rejections.refusing(topic):
            frame = self.find_frame(namespace, message.header.frame_id)
            wrench = AppliedWrench(
                force=checked_xyz("force", message.wrench.force, _LARGEST, ""),
                torque=checked_xyz("torque", message.wrench.torque, _LARGEST, ""),
                in_world=self._values["external_wrench_axes"] == "world",
            )

            def command(time: float) -> None:
                self._simulation.wrenches.put(frame, replace(wrench, until=time + timeout))

            self._submit(topic, command, stamp=nanoseconds(message.header.stamp))


def _pushable_joints(model: mujoco.MjModel) -> list[str]:
    joints = map(model.joint, range(model.njnt))
    return [joint.name for joint in joints if joint.type[0] in SCALAR_JOINTS and joint.name]


def _until(time: float) -> str:
    return f" until {time:g} s" if math.isfinite(time) else ""


def _row(numbers: Iterable[float]) -> str:
    return " ".join(f"{number:g}" for number in numbers)


HELD_S = 0.5
"""Wall time for which a pull acts unless it is repeated; so the pull of a dead client ends.

While the clock waits for responses it is simulated time, so that all runs are the same.
"""
_HOLDS = ("KEEP_ALIVE", "POSE_UPDATE", "MOUSE_DOWN")
_ENDS = "MOUSE_UP"


class PullServer(Component):
    """Pulls bodies while messages on ``external_wrench/pull`` are repeated."""

    def __init__(self, context: NodeContext, find: Callable[[str], BodyFrame]) -> None:
        """Open the topic; `find` returns the frame of a name, if forces can move it."""
        self._endpoints, self._simulation = context.endpoints, context.simulation
        self._submit, self._rejections = context.submit, context.rejections
        self._lockstep = context.lockstep
        self._timed: set[str] = set()  # frames whose pull ends at a simulated time
        self._find = find
        self._held: dict[str, int] = {}  # frame to the number of its last message
        self._count = itertools.count()
        self._endpoints.subscription(InteractiveMarkerFeedback, PULL, self._handle, RELIABLE)

    def _handle(self, message: InteractiveMarkerFeedback) -> None:
        with self._rejections.refusing(PULL):
            frame = self._find(message.marker_name)
            pull = None if _ends(message) else _pull(message)
            apply = partial(self._apply, frame, pull)
            self._submit(PULL, apply, stamp=nanoseconds(message.header.stamp))
            self._held[frame.frame] = number = next(self._count)
            self._endpoints.later(HELD_S, partial(self._release_if_silent, frame.frame, number))

    def _release_if_silent(self, frame: str, number: int) -> None:
        """Release the frame, unless there was another message since."""
        if self._held.get(frame) != number:
            return
        del self._held[frame]
        release = partial(self._release, frame)
        # Behind the pull in the queue, however late the physics thread is.
        with suppress(QueueFullError):  # the physics thread has ended
            self._simulation.commands.submit(release, urgent=True)

    def _release(self, frame: str) -> None:
        """Release a frame after wall time; in the physics thread."""
        if frame not in self._timed:
            self._simulation.wrenches.release(frame)

    def _apply(self, frame: BodyFrame, pull: Pull | None, time: float) -> None:
        wrenches = self._simulation.wrenches
        if pull is None:
            wrenches.release(frame.frame)
        elif self._lockstep.stepped:
            self._timed.add(frame.frame)
            wrenches.pull(frame, pull, time + HELD_S)
        else:
            self._timed.discard(frame.frame)
            wrenches.pull(frame, pull)


def _ends(message: InteractiveMarkerFeedback) -> bool:
    """Return whether a message ends a pull, else it pulls."""
    if message.event_type == getattr(InteractiveMarkerFeedback, _ENDS):
        return True
    known = {getattr(InteractiveMarkerFeedback, name): name for name in _HOLDS}
    if message.event_type not in known:
        raise UserInputError(
            f"event_type {message.event_type} is not supported; use "
            f"{', '.join(known.values())} and {_ENDS}"
        )
    return False


def _pull(message: InteractiveMarkerFeedback) -> Pull:
    control = message.control_name or MOVE
    if control not in (MOVE, TURN):
        raise unknown("control_name", control, (MOVE, TURN))
    position, quat_wxyz = pose_in_world(message.header.frame_id, message.pose)
    at, local = position, np.zeros(3)
    if message.mouse_point_valid:
        at, back = np.array(checked_xyz("mouse_point", message.mouse_point)), np.zeros(4)
        mujoco.mju_negQuat(back, quat_wxyz)
        mujoco.mju_rotVecQuat(local, at - position, back)
    return Pull(turns=control == TURN, point=local, position=at, quat_wxyz=quat_wxyz)


class MocapServer(Component):
    """Moves each mocap body by ``mocap/<body>/pose``."""

    def __init__(self, context: NodeContext) -> None:
        self._endpoints, self._simulation = context.endpoints, context.simulation
        self._submit, self._rejections = context.submit, context.rejections
        self._open: dict[str, Subscription] = {}
        self._bodies = PerPlant(_mocap_topics)
        self.build(context.simulation.plant)
        self.finish()

    def build(self, plant: Plant) -> None:
        """Find the mocap bodies of the next model."""
        self._bodies.build(plant)

    def finish(self) -> None:
        """Open topics for new mocap bodies; close the topics of deleted ones."""
        bodies = self._bodies[self._simulation.plant]
        synchronize(self._open, bodies, self._subscribe, self._endpoints.close)

    def _subscribe(self, topic: str, _body: MocapBody) -> Subscription:
        handle = partial(self._handle, topic)
        return self._endpoints.subscription(PoseStamped, topic, handle, RELIABLE)

    def _handle(self, topic: str, message: PoseStamped) -> None:
        simulation = self._simulation
        with self._rejections.refusing(topic):
            position, quat = pose_in_world(message.header.frame_id, message.pose)

            def command(_time: float) -> None:
                body = self._bodies[simulation.plant].get(topic)
                if body is not None:
                    data = simulation.data
                    data.mocap_pos[body.mocap], data.mocap_quat[body.mocap] = position, quat

            self._submit(topic, command, stamp=nanoseconds(message.header.stamp))


def _mocap_topics(plant: Plant) -> dict[str, MocapBody]:
    found: dict[str, MocapBody] = {}
    for body in mocap_bodies(plant.model, plant.layout):
        topic = in_namespace(body.namespace, "mocap", topic_token(body.name), "pose")
        if topic in found:
            raise UserInputError(
                f"two mocap bodies would have the topic '{topic}': their names must differ in "
                "letters, digits or underscores"
            )
        found[topic] = body
    return found
