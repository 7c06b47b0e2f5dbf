"""Write the reference pages that are made from the code: ``python docs/generate.py [--check]``."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from mujoco_ros.model.assembly import Assembly, assemble
from mujoco_ros.model.description import descriptions
from mujoco_ros.model.layout import Layout, lay_out
from mujoco_ros.model.scene import load_scene, shipped_scenes
from mujoco_ros.ros.control_specs import (
    FORWARD,
    GAINS,
    GAINS_FILE,
    GRIPPER,
    GRIPPER_JOINT,
    STREAM,
    TOLERANCES,
    TRAJECTORY,
    TRAJECTORY_JOINTS,
)
from mujoco_ros.ros.frames import FramePlan, TfMode, plan_frames
from mujoco_ros.ros.outbox import Topic
from mujoco_ros.ros.parameters import PARAMETERS, Spec
from mujoco_ros.ros.topics import LATCHED, RATES, clock_topic, robot_topics, transform_topic

DOCS = Path(__file__).resolve().parent
NOTICE = "<!-- Made by docs/generate.py from {source}; change that, not this page. -->\n\n"

PARAMETERS_HEAD = """\
# Parameters

Parameters of the node `/mujoco`. They are given at start:

```bash
make sim SCENE=quadruped ARGS="-p real_time_factor:=2.0 -p publish_rate.imu:=1000.0"
ros2 run mujoco_ros sim --ros-args -p scene:=quadruped -p real_time_factor:=2.0
ros2 launch mujoco_ros sim.launch.py scene:=quadruped params_file:=my_parameters.yaml
```

or in a file:

```yaml
mujoco:
  ros__parameters:
    real_time_factor: 2.0
    publish_rate:
      imu: 1000.0
```

Those marked "at run time" can be changed later, e.g. `ros2 param set /mujoco real_time_factor 0.5`.
A set that is refused says why and changes nothing; `set_parameters_atomically` takes all of its
values or none. A whole number will do for a float. What is accepted takes effect at the next
physics step, all of it at the same one, and is logged. Those "by the model" only tell what is so.
`make sim` sets `tf` to `all`, because nothing else publishes the links there.

## Of the simulator

"""

ROBOTS_HEAD = """
## Of each robot

A robot with a [namespace](scenes.md#a-robot) has these under it, with dots for slashes:
`left_arm.gains.elbow_joint.kp`. `<joint>` stands for the name of a joint. With `ros2_control`,
those of the controllers are not there.

### PD gains

For each joint that a torque motor drives. They start as the [scene](scenes.md#gains-files) has
them, or as they are given at start; a reset restores that.

```bash
ros2 param set /mujoco gains.left_knee.kp 300
ros2 param set /mujoco gains_file my_gains.yaml
ros2 param dump /mujoco > tuned.yaml
ros2 param load /mujoco tuned.yaml
```

`gains_file` sets all gains at once, and they become what a reset restores. Gains that are given in
the same request, or at start, win over the file. Relative paths start from the folder that the
simulator was started in. Loading a dump leaves alone what can be set at start only, and says so; at
start, a dump serves as a file of parameters.

"""

COMMANDS_HEAD = """
### Streamed commands

How `joint_commands` and the commands of `position_controller`, `velocity_controller` and
`effort_controller` are treated. A controller that no joint of the robot takes commands from is not
there.

"""

TRAJECTORIES_HEAD = """
### Joint trajectories

Named as in ros2_controllers' joint_trajectory_controller.

"""

GRIPPER_HEAD = """
### Gripper

Of a robot whose scene names its [`gripper`](scenes.md#a-robot); named as in ros2_controllers'
parallel_gripper_controller.

"""

TOPICS_HEAD = """\
# Topics and frames of the shipped scenes

Rates are in simulated time. What each topic means is in the [README](../README.md#topics).
"""


def parameters_page() -> str:
    """Return the page about all parameters."""
    return (
        NOTICE.format(source="mujoco_ros/ros/parameters.py and control_specs.py")
        + PARAMETERS_HEAD
        + _parameter_table(PARAMETERS)
        + ROBOTS_HEAD
        + _parameter_table((*GAINS, GAINS_FILE), {spec.name: "the scene's" for spec in GAINS})
        + COMMANDS_HEAD
        + _parameter_table((*STREAM.values(), *FORWARD.values()))
        + TRAJECTORIES_HEAD
        + _parameter_table((TRAJECTORY_JOINTS, *TRAJECTORY.values(), *TOLERANCES.values()))
        + GRIPPER_HEAD
        + _parameter_table((GRIPPER_JOINT, *GRIPPER.values()))
    )


def _parameter_table(specs: Iterable[Spec], defaults: Mapping[str, str] | None = None) -> str:
    """Return the table of some parameters; `defaults` replaces what their specs say."""
    rows = [_parameter_row(spec, (defaults or {}).get(spec.name)) for spec in specs]
    return _table(("Name", "Type", "Default", "Values", "Set", "Description"), rows)


def _parameter_row(spec: Spec, default: str | None) -> tuple[str, ...]:
    if default is None and not spec.fixed and spec.default != "":
        written = str(spec.default)
        default = f"`{written.lower() if isinstance(spec.default, bool) else written}`"
    values = ", ".join(f"`{choice}`" for choice in spec.choices)
    if spec.low is not None and spec.high is not None:
        values = f"{spec.low:.10g} to {spec.high:.10g}"
    when = "at start" if spec.read_only else "at run time"
    if spec.fixed:
        when = "by the model"
    description = spec.description.replace("<", "&lt;")
    return (f"`{spec.name}`", spec.kind, default or "", values, when, description)


def topics_page() -> str:
    """Return the page about what the shipped scenes publish."""
    parts = [NOTICE.format(source="the scenes in config/scenes/") + TOPICS_HEAD]
    for scene in sorted(shipped_scenes(), key=lambda name: (name == "zoo", name)):
        assembly = assemble(load_scene(scene))
        parts.append(_scene_section(scene, assembly, lay_out(assembly)))
    return "\n".join(parts)


def _scene_section(scene: str, assembly: Assembly, layout: Layout) -> str:
    base, every = (_frames(assembly, layout, mode) for mode in ("base", "all"))
    topics = [clock_topic(), *_robot_topics(layout), transform_topic(every.moving)]
    rows = [_topic_row(topic) for topic in topics]
    latched = _quality(LATCHED)
    rows += [
        (_absolute(f"{robot.namespace}/robot_description"), "std_msgs/String", "once", latched, "")
        for robot in layout.robots
    ]
    if every.static:
        rows.append(("`/tf_static`", "tf2_msgs/TFMessage", "once", latched, ""))
    reliable = _quality(QoSProfile(depth=10))
    rows.append(("`/diagnostics`", "diagnostic_msgs/DiagnosticArray", "1", reliable, ""))
    return (
        f"## {scene}\n\n"
        + _table(("Topic", "Type", "Rate [Hz]", "QoS", "Frame"), rows)
        + f"\nFrames with `tf:=base`: {_frame_list(base)}.\n"
        + f"With `tf:=all`, as in `make sim`: {_count(every)} frames, every link among them.\n"
    )


def _robot_topics(layout: Layout) -> Iterable[Topic]:
    first_base = 0
    for index, robot in enumerate(layout.robots):
        yield from robot_topics(index, robot, first_base, "child_on_parent")
        first_base += len(robot.bases)


def _topic_row(topic: Topic) -> tuple[str, ...]:
    message = topic.message
    kind = f"{type(message).__module__.partition('.')[0]}/{type(message).__name__}"
    # /clock goes with every step that publishes anything.
    rate = f"{RATES.get(topic.rate, max(RATES.values())):g}"
    frame = message.header.frame_id if hasattr(message, "header") else ""
    frame = f"`{frame}`" if frame else ""
    if hasattr(message, "child_frame_id"):
        frame += f" → `{message.child_frame_id}`"
    return (_absolute(topic.name), kind, rate, _quality(topic.qos), frame)


def _frames(assembly: Assembly, layout: Layout, mode: TfMode) -> FramePlan:
    return plan_frames(assembly.model, layout, mode, descriptions(assembly, layout))


def _frame_list(plan: FramePlan) -> str:
    pairs = [(parent, child) for parent, child, _, _ in plan.moving]
    pairs += [(frame.header.frame_id, frame.child_frame_id) for frame in plan.static]
    return ", ".join(f"`{parent}` → `{child}`" for parent, child in pairs)


def _count(plan: FramePlan) -> int:
    return len(plan.moving) + len(plan.static)


def _absolute(name: str) -> str:
    return f"`/{name.lstrip('/')}`"


def _quality(qos: QoSProfile) -> str:
    parts = ["best effort" if qos.reliability == ReliabilityPolicy.BEST_EFFORT else "reliable"]
    if qos.durability == DurabilityPolicy.TRANSIENT_LOCAL:
        parts.append("transient local")
    return f"{', '.join(parts)}, depth {qos.depth}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


PAGES: dict[str, Callable[[], str]] = {
    "parameters.md": parameters_page,
    "topics.md": topics_page,
}


def main() -> None:
    """Write the pages, or with --check exit with an error if one is out of date."""
    parser = argparse.ArgumentParser(description="Write the pages that are made from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    stale = []
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if check:
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                stale.append(f"docs/{name}")
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        sys.exit(f"{', '.join(stale)} out of date: run python docs/generate.py")


if __name__ == "__main__":
    main()
