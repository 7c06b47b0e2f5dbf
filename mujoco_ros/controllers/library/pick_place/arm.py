"""The arm that picks: which joints lead its tool, its weight, its gripper."""

from dataclasses import dataclass

import numpy as np

from mujoco_ros.control.pose import Pose
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.library.planner_access import planner
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.dynamics import Dynamics
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.controllers.planning.kinematics.limits import Payload
from mujoco_ros.controllers.planning.planner import Planner
from mujoco_ros.model.errors import UserInputError

TOOL = "grasp"
"""The site between the finger tips: z where they point to, y along which they open."""
SENSOR = "wrist_ft"
"""The force-torque sensor that carries the hand."""
GRAVITY = 9.81
"""[m/s²]"""


@dataclass(kw_only=True)
class Arm:
    """What states ask of the arm.

    Attributes:
        robot: The robot.
        joints: Its joints that lead the tool, indices into `RobotModel.joints`.  # (k,)
        gripper: Index of the gripper's joint.
        chain: The same joints in the model.
        kinematics: Where the tool is.
        planner: Who plans.
        hand: Mass of all that is behind the wrist's force-torque sensor [kg].
    """

    robot: RobotModel
    joints: np.ndarray
    gripper: int
    chain: Chain
    kinematics: Kinematics
    planner: Planner
    hand: float

    def __post_init__(self) -> None:
        """Carry nothing."""
        self.dynamics = Dynamics(self.chain)
        self.carry(None)

    @classmethod
    def of(cls, robot: RobotModel, store: Store) -> "Arm":
        """Find the arm in a robot.

        Raises:
            ModelError: It has no gripper, or no tool.
        """
        if robot.gripper is None:
            raise UserInputError(f"robot '{robot.name}' has no gripper: its scene names none")
        model, tool = robot.model, robot.prefix + TOOL
        sites = [model.site(i).name for i in range(model.nsite)]
        if tool not in sites:
            raise UserInputError(
                f"robot '{robot.name}' has no site '{TOOL}' between its fingers; "
                f"sites: {', '.join(sites) or 'none'}"
            )
        ahead, body = set(), int(model.site(tool).bodyid[0])
        hand = float(model.body_subtreemass[model.body_parentid[body]])
        while body:
            ahead.add(body)
            body = int(model.body_parentid[body])
        bodies = model.dof_bodyid[robot.dof]
        joints = np.array([i for i, body in enumerate(bodies) if int(body) in ahead], dtype=np.intp)
        names = [robot.prefix + robot.joints[i] for i in joints]
        chain = Chain.of(model, joints=names, tool=tool)
        return cls(
            robot=robot,
            joints=joints,
            gripper=robot.gripper,
            chain=chain,
            kinematics=Kinematics(chain),
            planner=planner(store, chain),
            hand=hand,
        )

    def carry(self, payload: Payload | None) -> None:
        """Reckon with something in the hand from now on."""
        self.payload = self.dynamics.payload = payload
        self._rested: tuple[np.ndarray, np.ndarray] | None = None

    def gravity(self, q: np.ndarray) -> np.ndarray:
        """Return the efforts that hold the joints at `q`; quick if asked again.  # (k,)."""
        if self._rested is None or not np.array_equal(self._rested[0], q):
            self._rested = q.copy(), self.dynamics.gravity(q)
        return self._rested[1]

    def tool(self, q: np.ndarray) -> Pose:
        """Return where the tool is with all of the robot's joints at `q`.  # (n,)."""
        return self.kinematics.pose(q[self.joints])


ARM: Key[Arm] = Key("pick_place/arm", Arm)
