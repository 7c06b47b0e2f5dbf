"""The arm of a pick-and-place task: tool joints, dynamics and gripper."""

from dataclasses import dataclass

import numpy as np

from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.library.planner_access import get_planner
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.dynamics import Dynamics
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics, moving_dofs
from mujoco_ros.controllers.planning.kinematics.limits import Payload
from mujoco_ros.controllers.planning.planner import Planner
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose

TOOL = "grasp"
"""Site between the finger tips: z along the fingers, y along their motion."""
SENSOR = "wrist_ft"
"""Force-torque sensor that carries the hand."""
GRAVITY = 9.81
"""[m/s²]"""


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
        hand: Mass beyond the wrist's force-torque sensor [kg].
    """

    robot: RobotModel
    joints: np.ndarray
    gripper: int
    chain: Chain
    kinematics: Kinematics
    planner: Planner
    hand: float

    def __post_init__(self) -> None:
        self.dynamics = Dynamics(self.chain)
        self.set_payload(None)

    @classmethod
    def of(cls, robot: RobotModel, store: Store) -> "Arm":
        """Find the arm of a robot.

        Raises:
            UserInputError: The robot has no gripper, or no tool site.
        """
        if robot.gripper is None:
            raise UserInputError(
                f"robot '{robot.name}' has no gripper: its scene has no 'gripper' key"
            )
        model, tool = robot.model, robot.prefix + TOOL
        sites = [model.site(i).name for i in range(model.nsite)]
        if tool not in sites:
            raise UserInputError(
                f"robot '{robot.name}' has no site '{TOOL}' between its fingers; "
                f"sites: {', '.join(sites) or 'none'}"
            )
        body = int(model.site(tool).bodyid[0])
        hand = float(model.body_subtreemass[model.body_parentid[body]])
        joints = np.flatnonzero(moving_dofs(model, body)[robot.dof])
        names = [robot.prefix + robot.joints[i] for i in joints]
        chain = Chain.of(model, joints=names, tool=tool)
        return cls(
            robot=robot,
            joints=joints,
            gripper=robot.gripper,
            chain=chain,
            kinematics=Kinematics(chain),
            planner=get_planner(store, chain),
            hand=hand,
        )

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


ARM: Key[Arm] = Key("pick_place/arm", Arm)
