"""The parameters of a controller's node, but for the settings of its states."""

from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.publishing.publishers import Publishers
from mujoco_ros.controllers.ros.node.command_output import OUTPUTS

_SHARED = {"wrench_sign"}

CONTROLLER_NODE_PARAMETERS = (
    ParameterSpec(
        name="scene",
        default="arm",
        description="The robot and what is around it, to compute and plan in: name of a shipped "
        "scene, or path of a scene YAML, MJCF, URDF or MJB file",
        read_only=True,
    ),
    ParameterSpec(
        name="robot",
        default="",
        description="Name of the scene's robot that is controlled; empty is the only one that has "
        "joints",
        read_only=True,
    ),
    ParameterSpec(
        name="seed",
        default=0,
        description="Seed of everything random in the controller",
        low=0,
        high=2**31 - 1,
        read_only=True,
    ),
    ParameterSpec(
        name="rate",
        default=0.0,
        description="Ticks per second of the robot's stamps [Hz]; 0 is the controller's own rate",
        low=0.0,
        high=10_000.0,
        least=0.1,
        read_only=True,
    ),
    ParameterSpec(
        name="timeout",
        default=0.5,
        description="Time without joint_states after which the controller waits for them [s], and "
        "gap in their stamps after which it begins anew",
        low=0.01,
        high=3600.0,
        read_only=True,
    ),
    ParameterSpec(
        name="lockstep",
        default=False,
        description="Whether the clock of a simulator waits for this controller: a tick then waits "
        "for all sensors and for plans, and is at a multiple of the period",
        read_only=True,
    ),
    ParameterSpec(
        name="output",
        default=OUTPUTS[0],
        description="How the robot is told: by a stream of joint commands, or by short "
        "trajectories, without or with efforts, and goals for the gripper",
        choices=OUTPUTS,
        read_only=True,
    ),
    ParameterSpec(
        name="without",
        default="",
        description="What is in the scene but not told of by the robot, such as 'odom, "
        "imu/pelvis_imu, tf/box'; all else is waited for",
        read_only=True,
    ),
    ParameterSpec(
        name="simulator",
        default="/mujoco",
        description="Full name of the node that has the robot's gains as parameters; it is looked "
        "for at the start, empty is none",
        read_only=True,
    ),
    *(spec for spec in Publishers.parameters if spec.name in _SHARED),
)
