"""The parameters by which a controller is put into the simulator."""

from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec

CONTROLLER_PARAMETERS = (
    ParameterSpec(
        name="controller",
        default="",
        description="Controller that runs in the simulator, in step with the physics: one that is "
        "shipped, or the path of a YAML file; empty is none",
        read_only=True,
    ),
    ParameterSpec(
        name="controller_robot",
        default="",
        description="Name of the robot that it controls; empty is the only one that has joints",
        read_only=True,
    ),
    ParameterSpec(
        name="controller_step_by_step",
        default=False,
        description="Whether its transitions of that trigger wait for a request from the start on, "
        "also if its table does not say so",
        read_only=True,
    ),
    ParameterSpec(
        name="controller_seed",
        default=0,
        description="Seed of everything random in it",
        low=0,
        high=2**31 - 1,
        read_only=True,
    ),
)
