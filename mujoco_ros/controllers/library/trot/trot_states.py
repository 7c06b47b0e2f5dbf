"""States of `trot`, which commands all joints of a quadruped."""

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.host import GAINS_SET
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.library.trot.trotter import Trotter, TrotterConfig
from mujoco_ros.controllers.library.walk import walk_states
from mujoco_ros.model.errors import UserInputError


class StandOnFour(walk_states.StandBalanced):
    """Stands on four feet, at first in the measured pose, until a client commands a motion."""

    class Config(TrotterConfig, walk_states.WatchedConfig):
        """Settings of `StandOnFour`; they take effect when the controller starts."""

        feet: tuple[str, ...] = setting(
            "Names of the bodies of the front left, front right, rear left and rear right foot, "
            "and of their touch sensors",
        )
        imu: str = setting("Name of the IMU; empty for the only one, of the base if it has one", "")

        def check(self) -> None:
            if len(self.feet) != 4:
                raise UserInputError(
                    "feet must be four names, of the front left, front right, rear left and rear "
                    "right foot"
                )

    def make_robot(self, robot: RobotModel) -> Trotter:
        return Trotter(robot, self.config.feet, imu=self.config.imu)

    def start(self, context: StateContext) -> None:
        store, config = context.store, self.config
        is_first = walk_states.WALKER not in store
        super().start(context)
        if is_first and GAINS_SET in store:
            size = len(context.robot.joints)
            kp, kd = np.full(size, config.stiffness), np.full(size, config.damping)
            store.get(GAINS_SET)(Gains(kp=kp, kd=kd))


class TrotWithVelocity(walk_states.WalkWithVelocity):
    """Trots with the velocity of its settings, which a zero velocity ends like a stop."""

    Config = walk_states.velocity_config(Trotter.fastest)


class TrotToGoal(walk_states.WalkToGoal):
    """Trots to the goal that a client has sent last."""


class StopTrotting(walk_states.StopWalking):
    """Puts all feet to their places."""


class TrotInPlace(walk_states.StepInPlace):
    """Steps in place after a push, until the robot is steady."""


class StayDown(walk_states.StayFallen):
    """Holds the joints where they are."""


STATES: tuple[type[State], ...] = (
    *(StandOnFour, TrotWithVelocity, TrotToGoal, StopTrotting, TrotInPlace, StayDown),
)
