"""The arm of a pick-and-place task: tool, dynamics, wrist sensor, and what its gripper holds."""

from collections.abc import Sequence
from dataclasses import dataclass
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
from mujoco_ros.controllers.planning.planner import Planner, get_planner
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.actuators import joint_actuators
from mujoco_ros.model.sensors.robot_sensors import find_sensor_site

GRAVITY = 9.81
"""[m/s²]"""
GRIP_MARGIN = 1.25
"""Required friction force over the weight: for accelerations, and for a grasp beside the centre."""


def largest_mass(force: float, friction: float) -> float:
    """Return the largest mass that two fingers can hold [kg].

    Args:
        force: Force that closes the fingers [N]; each finger pushes with half of it.
        friction: Coefficient of sliding friction between finger and object.
    """
    return friction * force / (GRIP_MARGIN * GRAVITY)


def closing_force(model: mujoco.MjModel, joint: int, position: float) -> float:
    """Return the force with which a joint's actuators can close it at a position [N].

    Args:
        joint: Id of a joint of a gripper, which closes towards its lower limit.
        position: Its position [m].
    """
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
    values = [
        float(
            max(model.geom_friction[finger, 0], model.geom_friction[other, 0])
            if model.geom_priority[finger] == model.geom_priority[other]
            else model.geom_friction[
                max(finger, other, key=lambda geom: model.geom_priority[geom]), 0
            ]
        )
        for finger in fingers
        for other in others
    ]
    return min(values, default=0.0)


def collision_geoms(model: mujoco.MjModel, bodies: Sequence[int]) -> list[int]:
    """Return the geoms of bodies that can touch others."""
    return [
        geom
        for body in bodies
        for geom in range(
            int(model.body_geomadr[body]),
            int(model.body_geomadr[body]) + int(model.body_geomnum[body]),
        )
        if model.geom_contype[geom] or model.geom_conaffinity[geom]
    ]


TOOL = "grasp"
"""Default name of the tool: a site between the finger tips."""
SENSOR = "wrist_ft"
"""Default name of the force-torque sensor that carries the hand."""
_UNKNOWN_PAD = 0.01
"""Half of the size of pads that are not around the tool's axis [m]."""
_PAST = 1e-6
"""Distance by which a ray continues behind a surface [m]."""
_PALM_CLEARANCE = 0.010
"""Smallest distance between the palm and the top of an object in the hand [m]."""


@dataclass(kw_only=True)
class Arm:
    """Kinematics, dynamics and planner of an arm with a gripper.

    Attributes:
        robot: The robot.
        joints: Indices of the joints between base and tool in `RobotModel.joints`.  # (k,)
        gripper: Index of the gripper's joint.
        chain: The same joints in the model.
        kinematics: Forward kinematics of the tool.
        planner: Motion planner.
        sensor: Name of the force-torque sensor at the wrist; empty without.
    """

    robot: RobotModel
    joints: np.ndarray
    gripper: int
    chain: Chain
    kinematics: Kinematics
    planner: Planner
    sensor: str = ""

    def __post_init__(self) -> None:
        self.dynamics, self._empty = Dynamics(self.chain), Dynamics(self.chain)
        self.set_payload(None)
        site = find_sensor_site(self._model, self.robot.prefix, self.sensor)
        is_site = site >= 0
        if self.sensor not in ("", SENSOR) and not is_site:
            raise UserInputError(
                f"robot '{self.robot.name}' has no force-torque sensor '{self.sensor}', which "
                "IDLE.wrist_sensor names; give the name of its site, or an empty text without one"
            )
        self._sensor_kinematics: Kinematics | None = None
        if self.sensor and is_site:
            chain = Chain.of(self._model, joints=self.chain.names, tool=self._model.site(site).name)
            self._sensor_kinematics = Kinematics(chain)

    @classmethod
    def of(cls, robot: RobotModel, store: Store, *, tool: str = TOOL, sensor: str = "") -> "Arm":
        """Find the arm of a robot.

        Args:
            store: Has the planners of the host.
            tool: Site or link between the finger tips: z along the fingers, y along their motion.
            sensor: Name of the force-torque sensor at the wrist; empty without.

        Raises:
            UserInputError: The robot has no gripper, or no such tool or sensor.
        """
        gripper = cls.check_gripper(robot)
        model, name = robot.model, robot.prefix + tool
        known = [each for each in tool_names(model) if each.startswith(robot.prefix)]
        if name not in known:
            names = ", ".join(known_name.removeprefix(robot.prefix) for known_name in known)
            raise UserInputError(
                f"robot '{robot.name}' has no site or link '{tool}' between its fingers, which "
                f"IDLE.tool names; it has: {names}"
            )
        _, body = tool_ids(model, name)
        joints = np.flatnonzero(moving_dofs(model, body)[robot.dof])
        joint_names = [robot.prefix + robot.joints[i] for i in joints]
        chain = Chain.of(model, joints=joint_names, tool=name)
        return cls(
            robot=robot,
            joints=joints,
            gripper=gripper,
            chain=chain,
            kinematics=Kinematics(chain),
            planner=get_planner(store, chain),
            sensor=sensor,
        )

    @staticmethod
    def check_gripper(robot: RobotModel) -> int:
        """Return the index of a robot's gripper.

        Raises:
            UserInputError: The robot has no gripper.
        """
        if robot.gripper is None:
            raise UserInputError(
                f"robot '{robot.name}' has no gripper: its scene has no 'gripper' key"
            )
        return robot.gripper

    def follow(self, robot: RobotModel) -> bool:
        """Continue with the same robot in another scene; return whether it is another one.

        The planner belongs to the host, which has it follow.
        """
        if robot is self.robot:
            return False
        payload, self.robot, self.chain = self.payload, robot, self.chain.within(robot.model)
        self.kinematics = Kinematics(self.chain)
        self.__dict__.pop("finger_bodies", None)  # ids in the model
        self.__post_init__()
        self.set_payload(payload)
        return True

    def is_for(self, robot: RobotModel, tool: str, sensor: str) -> bool:
        """Return whether this is the arm of a robot with a tool and a sensor."""
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
        """Set the payload of the dynamics."""
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
        """Return whether the wrist's force is measured."""
        return topic_token(self.sensor) in context.observation.wrenches

    @cached_property
    def finger_bodies(self) -> tuple[int, ...]:
        """Bodies behind the hand that move against it, in the model."""
        model, hand = self._model, self.chain.body
        hand = int(model.body_weldid[hand])
        return tuple(
            body
            for body in range(model.nbody)
            if model.body_weldid[body] != hand and hand in _ancestors(model, body)
        )

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


def _ancestors(model: mujoco.MjModel, body: int) -> set[int]:
    """Return a body's ancestors, as the bodies that they are welded to."""
    found = set()
    while body:
        body = int(model.body_parentid[body])
        found.add(int(model.body_weldid[body]))
    return found


ARM: Key[Arm] = Key("pick_place/arm", Arm)


_MIN_OPENING = 3e-4
"""Minimum opening of fingers that hold an object [m]."""


_MIN_FORCE_N = 1.0
"""Minimum force of fingers that hold an object."""


_MAX_SPEED = 0.05
"""Maximum speed of fingers that hold an object [m/s]: between noise and closing fingers."""


def missing_feedback(context: StateContext, arm: Arm) -> str:
    """Return the missing joint measurements as text; empty if all are available."""
    observation, joints = context.observation, [*arm.joints.tolist(), arm.gripper]
    missing = []
    for what, values in (
        ("position", observation.q),
        ("velocity", observation.dq),
        ("effort", observation.effort),
    ):
        names = [arm.robot.joints[joint] for joint in joints if np.isnan(values[joint])]
        if names:
            missing.append(f"no {what} of {', '.join(names)}")
    return f"robot '{arm.robot.name}' reports {' and '.join(missing)}" if missing else ""


def is_holding(context: StateContext, arm: Arm) -> bool:
    """Return whether the fingers push against an object."""
    observation, joint = context.observation, arm.gripper
    is_slow = abs(observation.dq[joint]) < _MAX_SPEED
    force = -float(observation.effort[joint])
    return bool(is_slow and is_gripping(context, arm, float(observation.q[joint]), force))


def is_gripping(context: StateContext, arm: Arm, opening: float, force: float) -> bool:
    """Return whether fingers at an opening [m] that push with a force [N] hold an object."""
    is_open = opening > context.robot.lower[arm.gripper] + _MIN_OPENING
    return bool(is_open and force > _MIN_FORCE_N)
