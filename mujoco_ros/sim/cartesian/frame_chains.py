"""The frames of a robot, and the joints that move them."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import takewhile

import mujoco
import numpy as np

from mujoco_ros.control.cartesian import FixedFrame
from mujoco_ros.control.joints import EFFORT, POSITION, ControlledJoints
from mujoco_ros.model.body_tree import carriers, joints_of
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.robot.actuators import joint_effort
from mujoco_ros.model.robot.body_frames import BodyFrame
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.sim.cartesian.chain import ChainJoints, FrameChain
from mujoco_ros.sim.drives import Drives

WORLD = "world"
_FEWEST = 3  # smallest number of joints of an arm; a frame is chosen by itself for an arm only
_TOOLS = ("tcp", "grasp", "pinch", "tool", "end_effector", "ee", "hand", "gripper", "flange")
"""Parts of names of frames at the end of an arm, the preferred ones first."""


class FrameChains:
    """The frames of a robot in a model."""

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        frames: Callable[[], Mapping[str, BodyFrame]],
        robot: RobotLayout,
        joints: ControlledJoints,
        drives: Drives,
        first: int,
    ) -> None:
        """Find frames of a robot in a model; `first` is its first joint among all joints."""
        self.robot, self.joints = robot, joints
        self.model = self._model = model
        self.data = self._data = data
        self._find_frames = frames
        self._drives, self._first = drives, first
        self._index = {int(joint): i for i, joint in enumerate(robot.joints.ids)}

    @cached_property
    def _frames(self) -> Mapping[str, BodyFrame]:
        return self._find_frames()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the frames of the robot that joints with commands move."""
        bodies = {body for body in self.robot.bodies if self._path(body)}
        return tuple(name for name, frame in self._frames.items() if frame.body in bodies)

    def resolve(self, name: str, base: FixedFrame) -> FixedFrame:
        """Return the frame of a message by its name; without one, the base."""
        if not name:
            return base
        if name == WORLD:
            return at_body(WORLD, 0)
        for known in (self.robot.frame_prefix + name, name):
            if known in self._frames:
                return _fixed(self._frames[known])
        raise unknown("frame", name, (WORLD, *self._frames))

    def present(self, frame: FixedFrame, base: FixedFrame) -> FixedFrame | None:
        """Return an earlier model's frame in this one, by its name; None if it is gone."""
        if not frame.body:
            return frame  # the world
        if frame.name == base.name:
            return base
        known = self._frames.get(frame.name)
        return None if known is None else _fixed(known)

    def find(self, name: str, joints: Sequence[str] = ()) -> FrameChain | None:
        """Return the chain that moves a frame, or the end of an arm, by named or all joints."""
        joints = [joint for joint in joints if joint]
        frame = self._find_frame(name) if name else self._default_frame()
        if frame is None:
            if joints:
                raise UserInputError(f"joints without a frame; choose one of: {_list(self.names)}")
            return None
        path = self._path(frame.body)
        if not path:
            raise UserInputError(
                f"frame '{name}' is moved by no joint that takes positions or efforts; "
                f"these are: {_list(self.names)}"
            )
        chosen = self._choose(frame.name, path, joints) if joints else path
        base, moving = self._base(frame), self._chain_joints(chosen)
        columns = self._first + moving.indices
        return FrameChain(self._model, self._data, frame, base, moving, self._drives, columns)

    def _find_frame(self, name: str) -> FixedFrame:
        for known in (self.robot.frame_prefix + name, name):
            frame = self._frames.get(known)
            if frame is not None and frame.body in self.robot.bodies:
                return _fixed(frame)
        raise unknown("frame", name, self.names)

    def _choose(self, frame: str, path: list[int], joints: Sequence[str]) -> list[int]:
        names = {self.joints.names[i]: i for i in path}
        for name in joints:
            if name not in names:
                raise UserInputError(
                    f"joint '{name}' takes no commands that move frame '{frame}'; "
                    f"these do: {_list(names)}"
                )
        if len(set(joints)) < len(joints):
            raise UserInputError(f"a joint is named twice: {_list(joints)}")
        return [i for i in path if self.joints.names[i] in joints]

    def _path(self, body: int) -> list[int]:
        """Return the joints with commands above a body, from the base on."""
        model, found = self._model, []
        taken = set(self.joints.gripper_joints.tolist())
        for carrier in carriers(model, body):
            for joint in reversed(joints_of(model, carrier)):
                index = self._index.get(joint)
                if index is None or index in taken:
                    continue
                if self.joints.interfaces[index] & {POSITION, EFFORT}:
                    found.append(index)
        return found[::-1]

    def _default_frame(self) -> FixedFrame | None:
        """Return the frame at the end of the arm; None if the robot is no arm."""
        ends = [
            self._path(body)
            for body in self.robot.bodies
            if not (self._model.body_parentid == body).any()
        ]
        ends = [path for path in ends if path]
        if not ends:
            return None
        alike = takewhile(lambda joints: len(set(joints)) == 1, zip(*ends, strict=False))
        shared = [joints[0] for joints in alike]
        if len(shared) < _FEWEST:
            return None
        model, last = self._model, int(self.robot.joints.ids[shared[-1]])
        welded = model.body_weldid[int(model.jnt_bodyid[last])]
        moved = [
            frame
            for frame in self._frames.values()
            if model.body_weldid[frame.body] == welded and self._path(frame.body) == shared
        ]
        for part in _TOOLS:
            for frame in reversed(moved):
                if part in frame.frame.lower().removeprefix(self.robot.frame_prefix).split("_") or (
                    len(part) > 2 and part in frame.frame.lower()
                ):
                    return _fixed(frame)
        return _fixed(moved[-1]) if moved else None

    def _base(self, frame: FixedFrame) -> FixedFrame:
        """Return the root that carries a frame; the world if its joints move the root itself."""
        model, body = self._model, int(self._model.body_rootid[frame.body])
        if any(joint in self._index for joint in joints_of(model, body)):
            return at_body(WORLD, 0)
        return at_body(self.robot.frame(model.body(body).name) or WORLD, body)

    def _chain_joints(self, indices: list[int]) -> ChainJoints:
        model, robot, at = self._model, self.robot.joints, np.array(indices, dtype=np.intp)
        ids = robot.ids[at]
        speed = model.jnt_user[ids, 0] if model.nuser_jnt else np.zeros(len(ids))
        interfaces = [self.joints.interfaces[i] for i in indices]
        return ChainJoints(
            names=tuple(robot.names[i] for i in indices),
            indices=at,
            qpos=robot.qpos[at],
            dof=robot.dof[at],
            lower=self.joints.lower[at],
            upper=self.joints.upper[at],
            max_velocity=np.where(speed > 0, speed, np.inf),
            max_effort=np.array([joint_effort(model, int(joint)) for joint in ids]),
            takes_position=np.array([POSITION in has for has in interfaces]),
            takes_effort=np.array([EFFORT in has for has in interfaces]),
        )


def _fixed(frame: BodyFrame) -> FixedFrame:
    return FixedFrame(
        name=frame.frame, body=frame.body, position=frame.position, quat_wxyz=frame.quat_wxyz
    )


def at_body(name: str, body: int) -> FixedFrame:
    """Return the frame of a body; 0 is the world."""
    identity = np.array([1.0, 0.0, 0.0, 0.0])
    return FixedFrame(name=name, body=body, position=np.zeros(3), quat_wxyz=identity)


def _list(names: Sequence[str] | dict[str, int]) -> str:
    return ", ".join(names) or "none"
