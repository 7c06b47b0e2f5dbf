"""Parameters of the simulator's node for the hosted controller."""

from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.controllers.runtime.supervisor import TIME_LIMIT_S

CONTROLLER_PARAMETERS = (
    ParameterSpec(
        name="controller",
        default="",
        description="Controller that runs in the simulator, in step with the physics: name of a "
        "shipped one, or path of a YAML file; empty is none",
        read_only=True,
    ),
    ParameterSpec(
        name="controller_robot",
        default="",
        description="Name of the controlled robot; empty selects the only robot with joints",
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
