"""Common behaviour of all examples."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from example_runs import CommandedSimulator, Example
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from simulators import ROOT, Domain, Listener, Recording, SimulatorLauncher

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
FINDING = [path.name for path in EXAMPLES[1:]]
OTHERS = ("09_view_camera.py", "10_drive_controller.py", "11_walk.py")
COMMANDING = [name for name in FINDING if name not in OTHERS]
ROS_ARGUMENTS = ("--ros-args", "-r")


SERVO = """
<mujoco>
  <worldbody><body name="arm"><joint name="j"/><geom size=".1"/></body></worldbody>
  <actuator><position name="j" joint="j" kp="10"/></actuator>
</mujoco>
"""


class WaitingExamples(NamedTuple):
    """Examples that wait for half a minute, meanwhile other tests run."""

    without_a_robot: dict[str, Example]
    without_a_clock: Example
    commands: Recording
    """Commands of the example without a clock."""


@pytest.fixture(scope="module", autouse=True)
def waiting(folder: Path) -> Iterator[WaitingExamples]:
    empty, clockless = Domain(), Domain()
    listener = Listener(clockless.id)
    node, commands = listener.node, listener.record(TwistStamped, "cmd_vel")
    publishers = [node.create_publisher(Odometry, it, 10) for it in ("odom", "odom_estimated")]
    node.create_timer(0.05, lambda: [it.publish(Odometry()) for it in publishers])
    with listener.spinning():
        yield WaitingExamples(
            {path.name: Example(folder, empty.id, path.name) for path in EXAMPLES},
            Example(folder, clockless.id, "11_walk.py", "--seconds", "1"),
            commands,
        )
    listener.close()
    for domain in (empty, clockless):
        domain.close()


def test_help_begins_with_the_summary_of_each_example(folder: Path) -> None:
    running = {path: Example(folder, 0, path.name, "--help") for path in EXAMPLES}
    for path, example in running.items():
        done = example.outcome()
        assert (done.code, done.errors) == (0, ""), path
        summary = ast.get_docstring(ast.parse(path.read_text())).partition("\n")[0]
        assert summary in " ".join(done.output.split()), path


def test_errors_for_missing_names_have_the_available_ones(pair: CommandedSimulator) -> None:
    namespace = (*ROS_ARGUMENTS, "__ns:=/quadruped")
    arguments = {"03_send_trajectory.py": ("--joints", "elbow_joint")}
    running = [pair.start(s, *arguments.get(s, ()), *namespace) for s in COMMANDING[:4]]
    sine, trajectory, gains, impedance = (example.outcome() for example in running)
    for done in (sine, trajectory, gains, impedance):
        assert (done.code, done.output) == (1, "")
    joints = "FR_hip_joint, "
    assert sine.errors.startswith(f"no joint 'elbow_joint' here; --joint is one of: {joints}")
    assert trajectory.errors.startswith("the controller has no joint 'elbow_joint'; it has: ")
    assert gains.errors.startswith("no gains of a joint 'elbow_joint' here; --joint is one of: ")
    assert impedance.errors.startswith("this robot has a floating base")


def test_a_robot_without_torque_motors_has_no_gains_to_tune(
    starter: SimulatorLauncher, folder: Path
) -> None:
    servo = folder / "servo.xml"
    servo.write_text(SERVO)
    simulator = starter.simulator(scene=servo)
    robot = CommandedSimulator(folder, simulator, starter.listener(simulator))
    running = [robot.start(it) for it in ("04_tune_gains.py", "05_impedance_control.py")]
    gains, impedance = (example.outcome() for example in running)
    assert (gains.code, impedance.code) == (1, 1)
    assert gains.errors == "this robot has no gains: no torque motor drives a joint"
    assert impedance.errors == "no motor drives a joint of this robot"


@pytest.mark.parametrize("script", COMMANDING)
def test_a_namespace_reaches_one_robot_among_several(pair: CommandedSimulator, script: str) -> None:
    arguments = {
        "02_stream_sine.py": ("--periods", "1", "--frequency", "1", "--tolerance", "2"),
        "03_send_trajectory.py": ("--seconds", "0.5"),
        "04_tune_gains.py": ("--scale", "0.5", "--settle", "0.2"),
        "05_impedance_control.py": ("--seconds", "1"),
        "06_open_and_close_gripper.py": (),
        "07_spawn_boxes.py": ("--count", "1", "--watch", "0.2"),
        "08_lockstep.py": ("--seconds", "1"),
        "12_excite_joints.py": ("--seconds", "2", "--amplitude", "0.05"),
    }
    done = pair.run_slowly(script, *arguments[script], *ROS_ARGUMENTS, "__ns:=/left_arm")
    assert done.code == 0, done.errors
    assert done.output


def test_without_a_robot_each_prints_how_to_start_one(waiting: WaitingExamples) -> None:
    for script, example in waiting.without_a_robot.items():
        done = example.outcome()
        assert (done.code, done.output) == (1, ""), script
        assert re.search(
            r"found: (?:.*; (?:else )?)?start `make (sim|sim SCENE=(?:arm|humanoid .*)|demo)`, "
            "with the same ROS_DOMAIN_ID as here$",
            done.errors,
        ), script


def test_the_walk_does_not_begin_without_a_clock(waiting: WaitingExamples) -> None:
    done = waiting.without_a_clock.outcome()
    assert (done.code, done.output, len(waiting.commands)) == (1, "", 0)
    assert "\nno walking robot found: " in done.errors
