"""Parameters of the simulator's node for the hosted controllers."""

from dataclasses import replace

from mujoco_ros.controllers.runtime.supervisor import TIME_LIMIT_S
from mujoco_ros.wire.parameter_spec import ParameterSpec

NO_NAMES = ("",)
"""Default of lists of names; rclpy has no type for an empty list."""
CONTROLLER_PARAMETERS = (
    ParameterSpec(
        name="controller",
        default="",
        description="Controller that runs in the simulator, in step with the physics: name of a "
        "shipped one, or path of a YAML file; empty is none",
        read_only=True,
    ),
    ParameterSpec(
        name="controllers",
        default=NO_NAMES,
        description="Names of several controllers, instead of `controller`: of their nodes, in the "
        "order of their ticks. Without a parameter `<controller>.type`, also that of the shipped "
        "controller; a path of a YAML file is possible, too",
        read_only=True,
    ),
    ParameterSpec(
        name="controller_robot",
        default="",
        description="Name of the controlled robot; empty selects the only robot with joints. Of a "
        "table of several robots: 'giver=left_arm, taker=right_arm', or empty for those it names",
        read_only=True,
    ),
    ParameterSpec(
        name="controller_step_by_step",
        default=False,
        description="Whether the controller starts in step-by-step mode, even if its table does "
        "not set it",
        read_only=True,
    ),
    ParameterSpec(
        name="controller_seed",
        default=0,
        description="Seed of all random numbers of the controller",
        low=0,
        high=2**31 - 1,
        read_only=True,
    ),
    ParameterSpec(
        name="controller_time_limit",
        default=TIME_LIMIT_S,
        description="Wall time after which a call of a state of the controller is interrupted and "
        "the controller is stopped, as in an endless loop [s]; 0 for never, as for a debugger",
        low=0.0,
        high=3600.0,
        read_only=True,
    ),
)

_OF_ONE = {spec.name.removeprefix("controller_"): spec for spec in CONTROLLER_PARAMETERS}
OF_EACH_CONTROLLER = {
    "type": ParameterSpec(
        name="<controller>.type",
        default="",
        description="The controller: name of a shipped one, or path of a YAML file",
        read_only=True,
    ),
    "robot": replace(_OF_ONE["robot"], name="<controller>.robot"),
    "joints": ParameterSpec(
        name="<controller>.joints",
        default=NO_NAMES,
        description="Names of the joints that it commands; empty is all joints of its robot",
        read_only=True,
    ),
    "active": ParameterSpec(
        name="<controller>.active",
        default=True,
        description="Whether it is active at the start",
        read_only=True,
    ),
    **{
        name: replace(_OF_ONE[name], name=f"<controller>.{name}")
        for name in ("step_by_step", "seed", "time_limit")
    },
}
"""Parameters of each controller in `controllers`, by the last part of their name."""
