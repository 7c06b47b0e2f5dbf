"""Parameters that the simulator and a controller's node have in common."""

from typing import Literal

from mujoco_ros.wire.parameter_spec import ParameterSpec

WrenchSign = Literal["child_on_parent", "parent_on_child"]

WRENCH_SIGN = ParameterSpec(
    "wrench_sign",
    "child_on_parent",
    "Sign of wrenches: the load that the child side of a sensor puts on its parent (a "
    "stance foot reads up, the weight carried), or the reverse",
    choices=("child_on_parent", "parent_on_child"),
    read_only=True,
)
REALTIME_PRIORITY = ParameterSpec(
    "realtime_priority",
    20,
    "SCHED_FIFO priority of the physics thread where the system permits it, and the next lower "
    "one for the others of its process, so that steps are not late while other programs are "
    "busy; dropped for 10 to 300 s when the machine is too slow, not used for a run as fast as "
    "possible; 0 is none",
    low=0,
    high=99,
    read_only=True,
)
