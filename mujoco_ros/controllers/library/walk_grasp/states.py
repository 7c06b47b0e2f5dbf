"""States of `walk_grasp`, with which a humanoid carries a box."""

from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.library.walk_grasp.carrying import (
    BeginWalkGrasp,
    HoldBalance,
    Retry,
)
from mujoco_ros.controllers.library.walk_grasp.handling import (
    LiftBox,
    LowerBox,
    MoveHands,
    Reach,
    ReleaseBox,
    RestHands,
    Squeeze,
)
from mujoco_ros.controllers.library.walk_grasp.looking import CheckBox, LookForBox, LookForGoal
from mujoco_ros.controllers.library.walk_grasp.walking import WalkToPlace

STATES: tuple[type[State], ...] = (
    *(
        BeginWalkGrasp,
        LookForBox,
        LookForGoal,
        CheckBox,
        WalkToPlace,
        Retry,
        MoveHands,
        RestHands,
        Reach,
        Squeeze,
        LiftBox,
    ),
    *(LowerBox, ReleaseBox, HoldBalance),
)
