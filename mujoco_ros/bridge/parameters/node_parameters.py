"""The parameters of the simulator that no component owns."""

from mujoco_ros.wire.parameter_spec import ParameterSpec
from mujoco_ros.wire.shared_parameters import REALTIME_PRIORITY

NODE_PARAMETERS = (
    ParameterSpec(
        "scene",
        "humanoid",
        "Scene to simulate: name of a shipped scene, path of a scene YAML, MJCF, URDF, xacro or "
        "MJB file, or a robot of an installed package, such as example-robot-data:talos",
        read_only=True,
    ),
    ParameterSpec(
        "client_folders",
        ("",),
        "Folders of which clients may name files, in addition to those of the scene, of ROS and "
        "Python packages, and the caches of robot descriptions",
        read_only=True,
    ),
    REALTIME_PRIORITY,
    ParameterSpec(
        "on_divergence",
        "reset",
        "Reaction to a divergence of the simulation",
        choices=("reset", "pause", "shutdown"),
        read_only=True,
    ),
    ParameterSpec(
        "sensor_noise",
        False,
        "Whether sensors have Gaussian noise of the deviation their model declares",
        read_only=True,
    ),
    ParameterSpec(
        "realism",
        "",
        "Profiles of imperfect sensors, buses and motors, for robots without `realism` in the "
        "scene: names of shipped ones, or YAML files, separated by commas; empty for none",
        read_only=True,
    ),
    ParameterSpec(
        "seed",
        0,
        "Seed of the noise of sensors, cameras and lidars, and of `realism`",
        low=0,
        high=2**31 - 1,
        read_only=True,
    ),
    ParameterSpec(
        "ros2_control",
        False,
        "Leave the controllers to ros2_control: robot_description carries <ros2_control> blocks, "
        "and only joint_commands is offered",
        read_only=True,
    ),
)
