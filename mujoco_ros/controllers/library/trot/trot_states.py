"""States of `trot`, which commands all joints of a quadruped."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import ConvexHull

from mujoco_ros.control.gains import Gains
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.host import GAINS_SET
from mujoco_ros.controllers.interface.inputs import BodyVelocity, Drawing, DrawnLine, DrawnPoint
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.library.config_checks import Positive
from mujoco_ros.controllers.library.trot.trotter import Trotter, TrotterConfig
from mujoco_ros.controllers.library.walk.walk_display import (
    COM,
    DCM,
    DCM_REFERENCE,
    FOOT,
    LANDING,
    SUPPORT,
)
from mujoco_ros.controllers.library.walk.walk_states import (
    StandBalanced,
    StayFallen,
    StepInPlace,
    StopWalking,
    WalkToGoal,
    WalkWithVelocity,
    velocity_config,
)
from mujoco_ros.model.errors import UserInputError

_CROSS = 0.04
"""Half the size of the mark of a landing [m]."""


def draw_trot(trotter: Trotter) -> Drawing:
    """Return feet, landings, support polygon and DCM at the last tick."""
    base, body = trotter.estimator.base.pose, trotter.estimator.robot
    axes = base.matrix[:3, :3]

    def in_base(points: np.ndarray) -> np.ndarray:
        relative: np.ndarray = (points - base.position) @ axes
        return relative

    lines = []
    standing = [leg.at for leg in trotter.legs if leg.is_down]
    for leg, sole in zip(trotter.legs, trotter.estimator.soles, strict=True):
        if leg.is_down:
            continue
        for axis, name in enumerate("xy"):
            cross = np.array([leg.goal, leg.goal])
            cross[:, axis] += -_CROSS, _CROSS
            lines.append(DrawnLine(f"landing_{sole.name}_{name}", in_base(cross), LANDING))
    corners = np.array(standing)
    if len(corners) > 2:
        order = ConvexHull(corners[:, :2]).vertices
        corners = corners[[*order, order[0]]]
    if len(corners) > 1:
        lines.append(DrawnLine("support", in_base(corners), SUPPORT))
    ground = float(np.mean([leg.ground[2] for leg in trotter.legs]))
    reference = trotter.dcm_reference
    points = [
        DrawnPoint(name, in_base(np.array([*at.tolist(), ground])), colour)
        for name, at, colour in (
            ("dcm_reference", reference, DCM_REFERENCE),
            ("dcm", reference + trotter.dcm_error, DCM),
        )
    ]
    points += [
        DrawnPoint(sole.name, in_base(leg.at), FOOT)
        for leg, sole in zip(trotter.legs, trotter.estimator.soles, strict=True)
    ]
    points.append(DrawnPoint("com", in_base(body.com.copy()), COM))
    return Drawing(tuple(lines), tuple(points))


TROTTER: Key[Trotter] = Key("trot/trotter", Trotter)
_FASTEST = BodyVelocity(x=0.6, y=0.25, yaw=0.6)
"""Greatest velocities."""


class _Trots:
    """Makes a state of `walk` a state of a robot that trots: other robot, speeds and drawing."""

    walker: ClassVar[Key[Any]] = TROTTER
    fastest: ClassVar[BodyVelocity] = _FASTEST

    @staticmethod
    def draw(walker: Any) -> Drawing:
        """Return the drawing of the robot that trots."""
        return draw_trot(walker)


class StandOnFour(_Trots, StandBalanced):
    """Stands on four feet, at first in the measured pose, until a client commands a motion."""

    @dataclass(frozen=True, kw_only=True)
    class Config(TrotterConfig):
        """Settings of `StandOnFour`; they take effect when the controller starts.

        Attributes:
            feet: Names of the bodies of the front left, front right, rear left and rear right foot,
                and of their touch sensors.
            imu: Name of the IMU; empty for the only one, of the base if it has one.
            max_tilt: Tilt of the base at which the robot has fallen [rad].
            recover_above: Error of the DCM from which on the robot recovers [m].
        """

        feet: tuple[str, ...]
        imu: str = ""
        max_tilt: Positive = 0.5
        recover_above: Positive = 0.15

        def __post_init__(self) -> None:
            TrotterConfig.__post_init__(self)
            if len(self.feet) != 4:
                raise UserInputError(
                    "feet must be four names, of the front left, front right, rear left and rear "
                    "right foot"
                )

    def configure(self, robot: RobotModel, store: Store) -> None:
        self._trotter = Trotter(robot, self.config.feet, imu=self.config.imu)

    def start(self, context: StateContext) -> None:
        store, config = context.store, self.config
        if TROTTER in store:
            return
        self._trotter.begin(context.observation, config, context.period)
        store.set(TROTTER, self._trotter)
        if GAINS_SET in store:
            size = len(context.robot.joints)
            kp, kd = np.full(size, config.stiffness), np.full(size, config.damping)
            store.get(GAINS_SET)(Gains(kp=kp, kd=kd))


class TrotWithVelocity(_Trots, WalkWithVelocity):
    """Trots with the velocity of its settings, which a zero velocity ends like a stop."""

    Config = velocity_config("TrotWithVelocityConfig", _FASTEST)


class TrotToGoal(_Trots, WalkToGoal):
    """Trots to the goal that a client has sent last."""


class StopTrotting(_Trots, StopWalking):
    """Puts all feet to their places."""


class TrotInPlace(_Trots, StepInPlace):
    """Steps in place after a push, until the robot is steady."""


class StayDown(StayFallen):
    """Holds the joints where they are."""


STATES: tuple[type[State], ...] = (
    *(StandOnFour, TrotWithVelocity, TrotToGoal, StopTrotting, TrotInPlace, StayDown),
)
