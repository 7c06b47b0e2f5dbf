"""Parameters of a controller's node, except the settings of its states."""

from dataclasses import replace

from mujoco_ros.controllers.ros.controller_settings import CONTROLLER_PARAMETERS
from mujoco_ros.controllers.ros.node.command_output import OUTPUTS
from mujoco_ros.wire.parameter_spec import REALTIME_PRIORITY, WRENCH_SIGN, ParameterSpec

_HOSTED = {spec.name: spec for spec in CONTROLLER_PARAMETERS}

CONTROLLER_NODE_PARAMETERS = (
    ParameterSpec(
        name="scene",
        default="arm",
        description="Scene with the robot and its environment, for kinematics and planning: name "
        "of a shipped scene, or path of a scene YAML, MJCF, URDF or MJB file",
        read_only=True,
    ),
    replace(_HOSTED["controller_robot"], name="robot"),
    replace(_HOSTED["controller_seed"], name="seed"),
    replace(_HOSTED["controller_time_limit"], name="time_limit"),
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
        description="Time without joint_states after which the controller pauses [s], and gap in "
        "their stamps after which it restarts [s]",
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
    replace(
        REALTIME_PRIORITY,
        description="SCHED_FIFO priority of the thread with the ticks where the system permits it, "
        "and the next lower one for the others of its process, so that ticks are not late while "
        "other programs are busy; dropped for 10 to 300 s when ticks are too slow, not used in "
        "lockstep; 0 is none",
    ),
    ParameterSpec(
        name="output",
        default=OUTPUTS[0],
        description="Type of commands: a stream of joint commands, or short trajectories, without "
        "or with efforts, and goals for the gripper",
        choices=OUTPUTS,
        read_only=True,
    ),
    ParameterSpec(
        name="without",
        default="",
        description="Topics of the scene that the robot does not publish, such as 'odom, "
        "imu/pelvis_imu, tf/box'; the controller waits for all others",
        read_only=True,
    ),
    ParameterSpec(
        name="simulator",
        default="/mujoco",
        description="Full name of the node with the gain parameters of the robot, used if it runs "
        "at the start; empty for none",
        read_only=True,
    ),
    WRENCH_SIGN,
)
