"""Fit armature, friction, damping, gains and delay of a robot to a bag, as a scene overlay."""

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from mujoco_ros.cli.command_line import create_parser, run_command
from mujoco_ros.cli.terminal import report, write
from mujoco_ros.identification.fit import (
    SCENE_SUFFIXES,
    fit,
    fit_report,
    overlay_text,
    replay_report,
)
from mujoco_ros.identification.replay import Replay, replay
from mujoco_ros.identification.robot_model import IdentifiedRobot, find_robot_config
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import check_output, write_whole
from mujoco_ros.model.scene.config import load_scene

_EPILOG = """\
The bag has joint_states and, at the rate of the controller, the references of the drives:
joint_trajectory_controller/controller_state or joint_commands. The robot moves freely, all joints
at a time, for a minute. The output is a scene that extends SCENE: `sim`, `check_robot` and all
others take it. Parameters that the bag does not determine are not in it.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, write the overlay and print a report; return the exit code."""
    return run_command(_parser(), _fit, arguments)


def _fit(options: argparse.Namespace) -> None:
    from mujoco_ros.identification.ros.joint_bag import BagTopics, read_record  # no ROS for --help

    output = options.output
    if output.suffix not in SCENE_SUFFIXES:
        raise UserInputError(f"'{output}' is not a scene: its name must end with .yaml")
    if output.exists() and not options.overwrite:
        raise UserInputError(f"'{output}' exists; --overwrite replaces it")
    if not os.access(output.parent, os.W_OK):
        raise UserInputError(f"'{output}' cannot be written: no folder that can be written to")
    for joint in options.joints:
        if options.joints.count(joint) > 1:
            raise UserInputError(f"joint '{joint}' is given twice")
    scene = load_scene(options.scene)
    config = find_robot_config(scene, options.robot)
    robot = IdentifiedRobot(scene, config)
    check_output(output, "scene")
    namespace = scene.namespace(config) if options.namespace is None else options.namespace
    topics = BagTopics(namespace=namespace, states=options.states, commands=options.commands)
    bags = [options.bag, *([] if options.held_out is None else [options.held_out])]
    report("reading the bags")
    records = [read_record(bag, robot.joints, topics) for bag in bags]
    for bag, record in zip(bags, records, strict=True):
        if record.filled:
            sys.stdout.write(f"'{bag}': {record.filled:.1%} of the references are interpolated\n")
    how, progress = options.interpolation, partial(write, program="fit")
    found = fit(robot, records[0], options.joints, interpolation=how, progress=progress)
    sys.stdout.write(fit_report(found))
    left_out = robot.realism.left_out([estimate.parameter.joint for estimate in found.estimates])
    if left_out:
        sys.stdout.write(
            f"warning: the fit is without the realism {', '.join(left_out)} of the scene, which "
            "acts in the result in addition\n"
        )
    if not any(estimate.determined for estimate in found.estimates):
        raise UserInputError(f"'{options.bag}' determines no parameter; nothing is written")
    report("replaying the bags with the fitted parameters")
    text = overlay_text(found, options.scene, robot)
    for bag, record in zip(bags, records, strict=True):
        before: Replay = replay(robot, record, robot.values, found.scene_delay, how)
        after = replay(robot, record, found.values, found.delay, how)
        sys.stdout.write(replay_report(f"'{bag}'", before, after))
    write_whole(output, text, "scene")
    sys.stdout.write(f"written: {output}\n")


def _parser() -> argparse.ArgumentParser:
    parser = create_parser("fit", __doc__, _EPILOG)
    parser.add_argument("bag", type=Path, metavar="BAG", help="a folder of `record`, or .mcap file")
    parser.add_argument(
        "--scene", required=True, help="the robot, as for the parameter `scene` of the simulator"
    )
    parser.add_argument("--robot", metavar="NAME", help="of several robots of the scene")
    parser.add_argument(
        "--joints", nargs="+", default=[], metavar="JOINT", help="default: all that move"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        default=Path("fitted.yaml"),
        help="scene to write; default: %(default)s",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an existing file")
    parser.add_argument(
        "--held-out", type=Path, metavar="BAG", help="another bag, to check the fitted parameters"
    )
    parser.add_argument(
        "--interpolation",
        choices=["hold", "linear"],
        default="hold",
        help="references between two commands; default: %(default)s",
    )
    parser.add_argument("--namespace", help="of the topics in the bag; default: as in the scene")
    parser.add_argument("--states", default="", metavar="TOPIC", help="default: joint_states")
    parser.add_argument(
        "--commands", default="", metavar="TOPIC", help="the references; default: see below"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
