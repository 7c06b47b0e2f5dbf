"""Bodies that users drag or push; free bodies move instead while the simulation is paused."""

from collections.abc import Iterator

import mujoco
import numpy as np

from mujoco_ros.control.pull import Pull
from mujoco_ros.model.body_tree import free_joint
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.body_frames import MocapBody, can_move, mocap_bodies, named_frames
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import Request, Vector
from mujoco_ros.viewer.ros.commands import CommandPublisher
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters
from mujoco_ros.viewer.scene.inputs import Pulled

_IDENTITY = (1.0, 0.0, 0.0, 0.0)


class DraggedBodies:
    """Sends pulls and poses to the simulator, which computes the forces.

    Mocap bodies move. Free bodies, and robots with a floating base, move while the simulation is
    paused; no force would. All others with a frame are pulled as by a spring.
    """

    def __init__(
        self, state: SharedState, commands: CommandPublisher, parameters: SimulatorParameters
    ) -> None:
        self._state, self._commands, self._parameters = state, commands, parameters
        self._model: mujoco.MjModel | None = None
        self._mocap: dict[int, MocapBody] = {}
        self._frames: dict[int, str] = {}
        self._free: dict[int, str] = {}  # frames of the roots of bodies below free joints
        self._is_pulling = False

    @property
    def follows_model(self) -> bool:
        """Whether the model is still the same, so that the pull may go on."""
        return self._model is self._state.model

    def drag(self, given: Pulled) -> None:
        """Pull or move a body, after ``mj_forward``; a body of another model is left alone."""
        if not self.follows_model:
            self._attach()
        body, model = given.body, self._state.model
        if body >= model.nbody:
            return
        if (mocap := self._mocap.get(body)) is not None:
            self.release()
            pose = self._wanted(given)
            self._commands.move_mocap(mocap.namespace, mocap.name, pose.position, pose.quat_wxyz)
        elif self._state.paused and (frame := self._free.get(body)):
            self.release()
            root = int(model.body_rootid[body])
            pose = self._wanted(given) @ self._pose(body).inverse() @ self._pose(root)
            self._commands.set_pose(frame, pose.position, pose.quat_wxyz)
        elif frame := self._frames.get(body):
            self._is_pulling = True
            pull = Pull(
                turns=given.rotates,
                point=np.array(given.local),
                position=np.array(given.position),
                quat_wxyz=np.array(given.quat_wxyz),
            )
            self._commands.pull(frame, pull)
        else:
            self.release()

    def release(self) -> None:
        """End the pull."""
        if self._is_pulling:
            self._is_pulling = False
            self._commands.release()

    def frame_of(self, body: int) -> str:
        """Return the TF frame of a body that forces can move; empty for another one."""
        if not self.follows_model:
            self._attach()
        return "" if body in self._mocap else self._frames.get(body, "")

    def push(self, frame: str, force: Vector, torque: Vector) -> Request | None:
        """Push a body at its centre of mass, along and about the axes of the world [N, Nm].

        The wrench acts until the next one; zeros end it.
        """
        model, data = self._state.model, self._state.data
        body = next((body for body, name in self._frames.items() if name == frame), None)
        if body is None or not self.follows_model:
            return None
        mujoco.mj_kinematics(model, data)
        lever = data.xipos[body] - data.xpos[body]
        wrench = np.array([force, torque + np.cross(lever, force)])
        axes = self._parameters.known.get("external_wrench_axes")
        if axes is None or axes.value == "frame":
            wrench = wrench @ data.xmat[body].reshape(3, 3)
        return self._commands.push(frame, *wrench)

    def _wanted(self, given: Pulled) -> Pose:
        """Return the pose where the user wants a body; it turns about its centre of mass."""
        model, data, body = self._state.model, self._state.data, given.body
        quat = np.array(given.quat_wxyz)
        held, at = np.array(given.local), np.array(given.position)
        if given.rotates:
            held, at = model.body_ipos[body], data.xipos[body]
        return Pose(position=at - Pose(quat_wxyz=quat).matrix @ held, quat_wxyz=quat)

    def _pose(self, body: int) -> Pose:
        data = self._state.data
        return Pose(position=data.xpos[body].copy(), quat_wxyz=data.xquat[body].copy())

    def _attach(self) -> None:
        """Read the present model; a pull in another one has ended."""
        self.release()
        model, layout = self._state.model, self._state.layout
        self._model = model
        self._mocap = {mocap.body: mocap for mocap in mocap_bodies(model, layout)}
        self._frames = {}
        for place in named_frames(model, layout).values():
            is_body = not place.position.any() and tuple(place.quat_wxyz) == _IDENTITY
            if is_body and can_move(model, place.body):
                self._frames.setdefault(place.body, place.frame)
        self._free = dict(self._free_roots(model))

    def _free_roots(self, model: mujoco.MjModel) -> Iterator[tuple[int, str]]:
        """Yield each body below a free joint, with the frame of the root."""
        for body in range(1, model.nbody):
            root = int(model.body_rootid[body])
            if root in self._frames and free_joint(model, root) is not None:
                yield body, self._frames[root]
