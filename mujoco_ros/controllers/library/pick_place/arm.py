"""The arm of a pick-and-place task: tool, dynamics, wrist sensor, and what its gripper holds."""

from collections.abc import Sequence
from functools import cached_property

import mujoco
import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.planning.kinematics.chain import Chain, tool_ids, tool_names
from mujoco_ros.controllers.planning.kinematics.dynamics import Dynamics
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics, moving_dofs
from mujoco_ros.controllers.planning.kinematics.limits import Payload
from mujoco_ros.controllers.planning.planner import get_planner
from mujoco_ros.model.body_tree import carried
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.actuators import joint_actuators
from mujoco_ros.model.sensors.robot_sensors import find_sensor_site

GRAVITY = 9.81  # [m/s²]
GRIP_MARGIN = 1.25
"""Required friction force over the weight: for accelerations, and for a grasp beside the centre."""


def largest_mass(force: float, friction: float) -> float:
    """Return the largest mass [kg] that two fingers hold, which close with a force together [N]."""
    return friction * force / (GRIP_MARGIN * GRAVITY)


def closing_force(model: mujoco.MjModel, joint: int, position: float) -> float:
    """Return the force [N] with which actuators can close a gripper's joint at a position [m]."""
    total = 0.0
    for actuator in joint_actuators(model, joint):
        gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
        gear = float(model.actuator_gear[model.actuator_outadr[actuator], 0])
        control = float(model.actuator_ctrlrange[model.actuator_ctrladr[actuator], 0])
        force = gain[0] * control + bias[0] + bias[1] * position * gear
        if model.actuator_forcelimited[actuator]:
            force = float(np.clip(force, *model.actuator_forcerange[actuator]))
        total -= gear * force
    return max(0.0, total)


def sliding_friction(model: mujoco.MjModel, fingers: Sequence[int], others: Sequence[int]) -> float:
    """Return the smallest friction between one of the finger geoms and one of the others.

    Two geoms have the friction of the geom with the higher priority, or else the larger friction.
    """

    def rank(geom: int) -> tuple[int, float]:
        return int(model.geom_priority[geom]), float(model.geom_friction[geom, 0])

    pairs = (max(rank(finger), rank(other)) for finger in fingers for other in others)
    return min((friction for _, friction in pairs), default=0.0)


def collision_geoms(model: mujoco.MjModel, bodies: Sequence[int]) -> list[int]:
    """Return the geoms of bodies that can touch others."""
    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    return [
        geom
        for body in bodies
        for geom in np.flatnonzero(collides & (model.geom_bodyid == body)).tolist()
    ]


TOOL = "grasp"  # default name of the tool: a site between the finger tips
SENSOR = "wrist_ft"  # default name of the force-torque sensor that carries the hand
_UNKNOWN_PAD = 0.01  # half of the size of pads that are not around the tool's axis [m]
_PAST = 1e-6  # distance by which a ray continues behind a surface [m]
_PALM_CLEARANCE = 0.010
"""Smallest distance between the palm and the top of an object in the hand [m]."""
FINGER_SPEED = 0.1  # speed of one finger [m/s]
_MIN_OPENING = 3e-4  # minimum opening of fingers that hold an object [m]
_MIN_FORCE_N = 1.0  # minimum force of fingers that hold an object
_MAX_SPEED = 0.05
"""Maximum speed of fingers that hold an object [m/s]: between noise and closing fingers."""


class Arm:
    """Kinematics, dynamics and planner of an arm with a gripper, and its commands.

    Attributes:
        joints: Indices of the joints between base and tool in `RobotModel.joints`.  # (k,)
        gripper: Index of the gripper's joint.
        chain: The same joints in the model.
        sensor: Name of the force-torque sensor at the wrist; empty without.
    """

    def __init__(self, robot: RobotModel, store: Store, *, tool: str, sensor: str) -> None:
        """Find the arm of a robot whose tool has z along the fingers and y along their motion."""
        self.gripper, self.sensor = self.check_gripper(robot), sensor
        model, name = robot.model, robot.prefix + tool
        known = [each for each in tool_names(model) if each.startswith(robot.prefix)]
        if name not in known:
            names = ", ".join(known_name.removeprefix(robot.prefix) for known_name in known)
            raise UserInputError(
                f"robot '{robot.name}' has no site or link '{tool}' between its fingers, which "
                f"IDLE.tool names; it has: {names}"
            )
        _, body = tool_ids(model, name)
        self.joints = np.flatnonzero(moving_dofs(model, body)[robot.dof])
        joints = [robot.prefix + robot.joints[i] for i in self.joints]
        chain = Chain.of(model, joints=joints, tool=name)
        self.planner = get_planner(store, chain)
        self._bind(robot, chain)

    def _bind(self, robot: RobotModel, chain: Chain) -> None:
        self.robot, self.chain, self.kinematics = robot, chain, Kinematics(chain)
        self.dynamics, self._empty = Dynamics(chain), Dynamics(chain)
        self.set_payload(None)
        site = find_sensor_site(self._model, robot.prefix, self.sensor)
        if self.sensor not in ("", SENSOR) and site < 0:
            raise UserInputError(
                f"robot '{robot.name}' has no force-torque sensor '{self.sensor}', which "
                "IDLE.wrist_sensor names; give the name of its site, or an empty text without one"
            )
        self._sensor_kinematics: Kinematics | None = None
        if self.sensor and site >= 0:
            at_sensor = Chain.of(self._model, joints=chain.names, tool=self._model.site(site).name)
            self._sensor_kinematics = Kinematics(at_sensor)

    @staticmethod
    def check_gripper(robot: RobotModel) -> int:
        """Return the index of a robot's gripper, or raise a UserInputError without one."""
        if robot.gripper is None:
            raise UserInputError(
                f"robot '{robot.name}' has no gripper: its scene has no 'gripper' key"
            )
        return robot.gripper

    def follow(self, robot: RobotModel) -> bool:
        """Continue with the same robot in another scene; return whether it is another one."""
        if robot is self.robot:
            return False
        payload = self.payload
        self._bind(robot, self.chain.within(robot.model))
        self.__dict__.pop("finger_bodies", None)  # ids in the model
        self.set_payload(payload)
        return True

    def is_for(self, robot: RobotModel, tool: str, sensor: str) -> bool:
        same = self.robot.model is robot.model and self.chain.tool == robot.prefix + tool
        return same and self.sensor == sensor

    @cached_property
    def hand_weight(self) -> float:
        """Expected weight at the wrist with an empty hand [N]; 0 without a sensor there."""
        if self._sensor_kinematics is None:
            return 0.0
        mass = float(self._model.body_subtreemass[self._sensor_kinematics.chain.body])
        return mass * GRAVITY

    @property
    def _model(self) -> mujoco.MjModel:
        return self.chain.model

    def set_payload(self, payload: Payload | None) -> None:
        self.payload = self.dynamics.payload = payload
        self._gravity: tuple[np.ndarray, np.ndarray] | None = None

    def gravity(self, q: np.ndarray) -> np.ndarray:
        """Return the efforts that hold the joints at `q`; the last result is cached.  # (k,)"""
        if self._gravity is None or not np.array_equal(self._gravity[0], q):
            self._gravity = q.copy(), self.dynamics.gravity(q)
        return self._gravity[1]

    def tool(self, q: np.ndarray) -> Pose:
        """Return the pose of the tool with all joints of the robot at `q`.  # (n,)"""
        return self.kinematics.pose(q[self.joints])

    def weight(self, context: StateContext) -> float:
        """Return the measured weight at the wrist at rest [N], up to a constant.

        It is the vertical force at the wrist's sensor, or follows from the efforts of the joints
        without one. NaN if a measurement is missing.
        """
        observation, q = context.observation, context.observation.q[self.joints]
        reading = observation.wrenches.get(topic_token(self.sensor))
        if reading is not None:
            if self._sensor_kinematics is None:
                return float(np.linalg.norm(reading.force))
            return -float(self._sensor_kinematics.pose(q).matrix[2] @ reading.force)
        unexplained = observation.effort[self.joints] - self._empty.gravity(q)
        lever = self.kinematics.jacobian(q)[2]
        return float(lever @ unexplained / (lever @ lever))

    def has_sensor(self, context: StateContext) -> bool:
        return topic_token(self.sensor) in context.observation.wrenches

    @cached_property
    def finger_bodies(self) -> tuple[int, ...]:
        """Bodies behind the hand that move against it, in the model."""
        model = self._model
        hand = int(model.body_weldid[self.chain.body])

        behind = carried(model, np.flatnonzero(model.body_weldid == hand))
        return tuple(np.flatnonzero(behind & (model.body_weldid != hand)).tolist())

    @cached_property
    def pad(self) -> np.ndarray:
        """Half of the size of a finger's pad along the tool's x and z axes [m].  # (2,)"""
        model = self._model
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        origin, rotation = self.chain.tool_frame(data)
        axes, sizes = rotation.reshape(3, 3), []
        for geom in collision_geoms(model, self.finger_bodies):
            turned = axes.T @ data.geom_xmat[geom].reshape(3, 3)
            centre = axes.T @ (data.geom_xpos[geom] - origin) + turned @ model.geom_aabb[geom, :3]
            half = np.abs(turned) @ model.geom_aabb[geom, 3:]
            # The part of the geom that is symmetric about the tool.
            sizes.append((half - np.abs(centre))[[0, 2]])
        symmetric = [size for size in sizes if (size > 0.0).all()]
        largest: np.ndarray = np.max(symmetric or [np.full(2, _UNKNOWN_PAD)], axis=0)
        return largest

    @cached_property
    def depth(self) -> float:
        """Largest height of an object above the tool, below the palm [m]; inf without a palm."""
        model = self._model
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        position, rotation = self.chain.tool_frame(data)
        back, geom, total = -rotation.reshape(3, 3)[:, 2], np.full(1, -1, dtype=np.int32), 0.0
        while True:
            point = position + total * back
            distance = mujoco.mj_ray(model, data, point, back, None, 1, -1, geom)
            if distance < 0.0:
                return float("inf")
            total += distance
            if int(model.geom_bodyid[geom[0]]) not in self.finger_bodies:
                return float(total - _PALM_CLEARANCE)
            total += _PAST  # closed fingers can be on the axis

    def largest_force(self) -> float:
        """Return the largest force that closes the fingers [N]; inf if unknown."""
        limit = float(self.robot.effort[self.gripper])
        name = self.robot.prefix + self.robot.joints[self.gripper]
        joint = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_JOINT, name)
        force = closing_force(self._model, joint, float(self.robot.upper[self.gripper]))
        return min(limit, force) if force > 0.0 else limit

    def command(
        self, context: StateContext, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray
    ) -> None:
        """Set the references of the joints, with the efforts of the motion.  # (k,) each"""
        references, joints = context.references, self.joints
        references.q[joints] = q
        references.dq[joints] = dq
        references.tau[joints] = self.dynamics.torques(q, dq, ddq)

    def hold(self, context: StateContext, *, where_measured: bool = False) -> None:
        """Hold the joints at their references, or where they are."""
        references, joints = context.references, self.joints
        q = (context.observation if where_measured else references).q[joints]
        references.q[joints] = q
        references.dq[joints] = 0.0
        references.tau[joints] = self.gravity(q)

    def move_gripper(self, context: StateContext, position: float, speed: float) -> bool:
        """Move the gripper's reference at `speed` [m/s] to `position` [m]; return whether done."""
        references, joint = context.references, self.gripper
        distance, step = position - references.q[joint], speed * context.period
        references.q[joint] += min(max(distance, -step), step)
        references.dq[joint] = references.tau[joint] = 0.0
        return bool(abs(distance) <= step)

    def open(self, context: StateContext) -> bool:
        """Open the gripper; return whether its reference is at the limit."""
        return self.move_gripper(context, float(self.robot.upper[self.gripper]), FINGER_SPEED)

    def missing_feedback(self, context: StateContext) -> str:
        """Return which measurements of joints and gripper are missing; empty if none is."""
        observation, joints = context.observation, [*self.joints.tolist(), self.gripper]
        missing = []
        for what, values in (
            ("position", observation.q),
            ("velocity", observation.dq),
            ("effort", observation.effort),
        ):
            names = [self.robot.joints[joint] for joint in joints if np.isnan(values[joint])]
            if names:
                missing.append(f"no {what} of {', '.join(names)}")
        return f"robot '{self.robot.name}' reports {' and '.join(missing)}" if missing else ""

    def is_holding(self, context: StateContext) -> bool:
        observation, joint = context.observation, self.gripper
        is_slow = abs(observation.dq[joint]) < _MAX_SPEED
        force = -float(observation.effort[joint])
        return bool(is_slow and self.is_gripping(float(observation.q[joint]), force))

    def is_gripping(self, opening: float, force: float) -> bool:
        """Return whether fingers at an opening [m] that push with a force [N] hold an object."""
        is_open = opening > self.robot.lower[self.gripper] + _MIN_OPENING
        return bool(is_open and force > _MIN_FORCE_N)


ARM: Key[Arm] = Key("pick_place/arm", Arm)
