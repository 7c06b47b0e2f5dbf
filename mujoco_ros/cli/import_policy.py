"""Write a controller's table for a policy that unitree_rl_lab, mjlab or Isaac Lab has exported."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from mujoco_ros.cli import command_line
from mujoco_ros.controllers.library.policy.config import PolicyConfig
from mujoco_ros.controllers.library.policy.importing import (
    UNITREE_MOTORS,
    read_deploy,
    settings_of_deploy,
    settings_of_metadata,
    table,
)
from mujoco_ros.controllers.library.policy.network import Network
from mujoco_ros.controllers.runtime.robot_model import find_robot
from mujoco_ros.extras import require
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import check_access
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.strict import from_dict
from mujoco_ros.sim.simulation import Simulation

_EPILOG = """\
examples:
  python -m mujoco_ros.cli.import_policy params/deploy.yaml --scene quadruped -o walk.yaml
  python -m mujoco_ros.cli.import_policy policy.onnx --period 0.02 --imu imu_in_pelvis -o walk.yaml
"""
_SUFFIXES = (".yaml", ".yml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the table; return the exit code."""
    return command_line.run_command(_parser(), _import, arguments)


def _import(options: argparse.Namespace) -> None:
    source, period = options.source, options.period
    is_deploy = source.suffix in _SUFFIXES
    if is_deploy and period is not None:
        raise UserInputError(f"--period is for ONNX files; {source} has its own period, step_dt")
    robot: RobotLayout | None = None
    if options.scene:
        plant = Simulation(load_scene(options.scene)).plant
        robot = plant.layout.robots[find_robot(plant, options.robot)]
    if is_deploy:
        policy = options.policy or source.parent.parent / "exported" / "policy.onnx"
        joints = [name.strip() for name in options.joints.split(",")]
        motors = joints if options.joints else _joints(robot)
        settings, period = settings_of_deploy(read_deploy(source), motors, str(source))
    else:
        policy = options.policy or source
        require("policy", "the import of a policy")
        settings = settings_of_metadata(Network(source).metadata, str(source))
        if period is None:
            raise UserInputError(f"{source} lacks the period of the policy; give it as --period")
        if not period > 0.0:
            raise UserInputError(f"--period must be positive, got {period:g}")
    if not policy.is_file():
        raise UserInputError(f"policy '{policy}' does not exist; give it as --policy")
    check_access(policy)  # an input, even if it is not read
    imu = _imu(robot) if options.imu is None else options.imu
    file = os.path.join(os.path.realpath(policy.parent), policy.name)
    if options.output is not None:  # a reader resolves links before it goes to parent folders
        file = os.path.relpath(file, os.path.realpath(options.output.parent))
    from_dict(PolicyConfig, {"file": file, **settings}, str(source))
    made = table(settings, file=file, period=period, decimation=options.decimation, imu=imu)
    text = yaml.safe_dump(made, sort_keys=False, default_flow_style=None, width=120)
    command_line.write_output(f"# Imported from {source.name}.\n{text}", options.output)


def _imu(robot: RobotLayout | None) -> str:
    names = [topic_token(sensor.name) for sensor in robot.sensors["imu"]] if robot else []
    if len(names) > 1:
        raise UserInputError(
            f"the robot has several IMUs, so choose one as --imu: {', '.join(names)}; "
            "--imu '' is the floating base"
        )
    return names[0] if names else ""


def _joints(robot: RobotLayout | None) -> Sequence[str]:
    if robot is None:
        raise UserInputError(
            "a deploy.yaml has numbers of motors; give their joints in order as --scene or --joints"
        )
    names = robot.joints.names
    if set(names) <= set(UNITREE_MOTORS):  # models have their legs in other orders
        return [motor for motor in UNITREE_MOTORS if motor in names]
    sys.stderr.write(
        f"motors are numbered as the joints of the scene: {', '.join(names)}; --joints gives "
        "another order\n"
    )
    return names


def _parser() -> argparse.ArgumentParser:
    parser = command_line.create_parser("python -m mujoco_ros.cli.import_policy", __doc__, _EPILOG)
    add = parser.add_argument
    add("source", type=Path, help="deploy.yaml of unitree_rl_lab, or an ONNX file with metadata")
    add(
        "--policy",
        type=Path,
        metavar="FILE",
        help="the ONNX file; default: the source, or ../exported/policy.onnx of a deploy.yaml",
    )
    add("--scene", default="", help="scene of the robot, for the joints of motors and the IMU")
    add("--robot", default="", help="name of the robot in the scene")
    add("--joints", default="", metavar="NAMES", help="joints in the order of motors, by commas")
    add("--imu", help="name of the IMU, '' for the floating base; default: the scene's only IMU")
    add("--period", type=float, metavar="S", help="period of a policy without a deploy.yaml")
    add(
        "--decimation",
        type=command_line.integer_from(1),
        default=4,
        metavar="N",
        help="ticks of the controller for each run of the policy; default: 4",
    )
    command_line.add_output(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
