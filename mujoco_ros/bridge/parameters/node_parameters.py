"""Parameters of the whole simulator: its node, and its pace."""

from collections.abc import Mapping
from typing import Any

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.parameters.parameters import Command
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


_FACTOR, _CATCH_UP = "real_time_factor", "catch_up_limit"


class PaceParameters(Component):
    """Sets the pace of the physics thread."""

    parameters = (
        ParameterSpec(
            _FACTOR,
            1.0,
            "Simulated seconds per wall second; 0 is as fast as possible",
            low=0.0,
            high=1000.0,
            least=0.001,
        ),
        ParameterSpec(
            _CATCH_UP,
            0.05,
            "Largest lag behind the wall clock that is caught up [s]; a larger lag is dropped and "
            "counted",
            low=0.0,
            high=10.0,
        ),
    )

    def __init__(self, context: NodeContext) -> None:
        """Keep the timestep of the pacer equal to the simulation's timestep."""
        self._pacer = context.pacer
        context.simulation.on_timestep.append(self._set_timestep)

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that sets the pace."""
        if values.keys().isdisjoint((_FACTOR, _CATCH_UP)):
            return None
        return lambda: self._set(values)

    def _set(self, values: Mapping[str, Any]) -> None:
        self._pacer.factor = values.get(_FACTOR, self._pacer.factor)
        self._pacer.catch_up_s = values.get(_CATCH_UP, self._pacer.catch_up_s)

    def _set_timestep(self, timestep: float) -> None:
        self._pacer.set_timestep(timestep)
