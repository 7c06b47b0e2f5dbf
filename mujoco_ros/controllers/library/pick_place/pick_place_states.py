"""All states of `pick_place`."""

from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.library.pick_place.gripping import Close, Release
from mujoco_ros.controllers.library.pick_place.moving import ExecApproach, ExecTransport
from mujoco_ros.controllers.library.pick_place.planning import PlanApproach, PlanTransport
from mujoco_ros.controllers.library.pick_place.recovering import Recover
from mujoco_ros.controllers.library.pick_place.straight_motion import (
    Descend,
    DescendPlace,
    Lift,
    Retract,
)
from mujoco_ros.controllers.library.pick_place.waiting import Done, Failed, Idle
from mujoco_ros.controllers.library.pick_place.weighing import Weigh

STATES: tuple[type[State], ...] = (
    Idle,
    PlanApproach,
    ExecApproach,
    Descend,
    Close,
    Weigh,
    Lift,
    PlanTransport,
    ExecTransport,
    DescendPlace,
    Release,
    Retract,
    Done,
    Recover,
    Failed,
)
