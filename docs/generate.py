"""Write the reference pages that are made from the code: ``python docs/generate.py [--check]``."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from mujoco_ros.control.events import Source
from mujoco_ros.control.modes import POSITION
from mujoco_ros.control.robot_control import FORWARDED, RobotControl
from mujoco_ros.model.description import descriptions
from mujoco_ros.model.layout import Layout
from mujoco_ros.model.scene import load_scene, shipped_scenes
from mujoco_ros.ros.acting.equality_parameters import EQUALITY
from mujoco_ros.ros.acting.look_parameters import LOOKS
from mujoco_ros.ros.acting.physics_parameters import PHYSICS_PARAMETERS
from mujoco_ros.ros.acting.pull_server import PULL
from mujoco_ros.ros.acting.wrench_server import EXTERNAL_WRENCH
from mujoco_ros.ros.cameras.camera import camera_topics
from mujoco_ros.ros.cameras.lidar import lidar_topics
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
from mujoco_ros.ros.names import within
from mujoco_ros.ros.node_parameters import PARAMETERS
from mujoco_ros.ros.outbox import Topic
from mujoco_ros.ros.parameter_spec import Spec
from mujoco_ros.ros.topics import (
    LATCHED,
    RATES,
    RELIABLE,
    clock_topic,
    robot_topics,
    transform_topic,
)
from mujoco_ros.sim.simulation import Simulation

DOCS = Path(__file__).resolve().parent
NAMED = 2
"""So many joints are named, more are counted."""
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

WORLD_HEAD = """
## Of the world

[Acting on the world](../how-to/perturb.md) shows what they do. They start as the scene has them, or
as they are given at start. A reset restores equality constraints, and leaves the others as they
are. Those of colours and sizes come into being when they are first set.

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
`effort_controller` are treated: [Control](../explanation/control.md#streams) shows it.
A controller that no joint of the robot takes commands from is not there.

"""

TRAJECTORIES_HEAD = """
### Joint trajectories

Named as in ros2_controllers' joint_trajectory_controller.
[Control](../explanation/control.md#joint-trajectories) says what they do, and what differs.

"""

GRIPPER_HEAD = """
### Gripper

Of a robot whose scene names its [`gripper`](scenes.md#a-robot); named as in ros2_controllers'
parallel_gripper_controller. [Control](../explanation/control.md#the-gripper) says what they do.

"""

TOPICS_HEAD = """\
# Topics and frames of the shipped scenes

Rates are in simulated time. What each topic means is in the [README](../../README.md#topics), what
commands do in [Control](../explanation/control.md). A topic of joints tells the order of a
controller's commands.
With `ros2_control`, `joint_commands` is the only input, and the topics of the controllers are not
there. The node `/mujoco_cameras` publishes what [cameras](cameras.md) and [lidars](lidars.md) see;
under each camera are several topics. It has `/contacts` in every scene.
"""


def parameters_page() -> str:
    """Return the page about all parameters."""
    return (
        NOTICE.format(source="the tables of them in mujoco_ros/ros/")
        + PARAMETERS_HEAD
        + _parameter_table(PARAMETERS)
        + WORLD_HEAD
        + _parameter_table(
            (*PHYSICS_PARAMETERS, EQUALITY, *LOOKS),
            {spec.name: "the scene's" for spec in (*PHYSICS_PARAMETERS, EQUALITY, *LOOKS)},
        )
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
    """Return the page about what the shipped scenes publish and take."""
    parts = [NOTICE.format(source="the scenes in config/scenes/") + TOPICS_HEAD]
    for scene in sorted(shipped_scenes(), key=lambda name: (name == "zoo", name)):
        parts.append(_scene_section(scene, Simulation(load_scene(scene))))
    return "\n".join(parts)


def _scene_section(scene: str, simulation: Simulation) -> str:
    base, every = (_frames(simulation, mode) for mode in ("base", "all"))
    topics = [clock_topic(), *_robot_topics(simulation), transform_topic(every.moving)]
    rows = [_topic_row(topic) for topic in topics]
    latched = _quality(LATCHED)
    robots = list(zip(simulation.layout.robots, simulation.controls, strict=True))
    for robot, control in robots:
        rows += [
            (_absolute(f"{robot.namespace}/{source}/joints"), *_ORDER, latched, "")
            for source, interface in FORWARDED.items()
            if control.joints.taking(interface)
        ]
        name = _absolute(f"{robot.namespace}/robot_description")
        rows.append((name, "std_msgs/String", "once", latched, ""))
    if every.static:
        rows.append(("`/tf_static`", "tf2_msgs/TFMessage", "once", latched, ""))
    reliable = _quality(QoSProfile(depth=10))
    rows.append(("`/diagnostics`", "diagnostic_msgs/DiagnosticArray", "1", reliable, ""))
    namespaces = {robot.namespace for robot, _ in robots} - {""}
    inputs = [row for robot, control in robots for row in _inputs(robot.namespace, control)]
    wrench, pull = "geometry_msgs/WrenchStamped", "visualization_msgs/InteractiveMarkerFeedback"
    inputs += [
        (_absolute(topic), f"topic, {_quality(RELIABLE)}", kind, "any frame")
        for topic, kind in (
            (EXTERNAL_WRENCH, wrench),
            (PULL, pull),
            *((within(name, EXTERNAL_WRENCH), wrench) for name in sorted(namespaces)),
        )
    ]
    return (
        f"## {scene}\n\n"
        + _table(("Topic", "Type", "Rate [Hz]", "QoS", "Frame"), rows)
        + "\n"
        + _table(("Camera or lidar", "What", "Rate [Hz]", "Frame"), _sights(simulation.layout))
        + "\n"
        + _table(("Input", "Kind", "Type", "Joints"), inputs)
        + f"\nFrames with `tf:=base`: {_frame_list(base)}.\n"
        + f"With `tf:=all`, as in `make sim`: {_count(every)} frames, every link among them.\n"
    )


_ORDER = ("sensor_msgs/JointState", "once")


def _sights(layout: Layout) -> Iterable[tuple[str, ...]]:
    """Yield a row for each camera and lidar."""
    for camera in layout.every_camera:
        size = f"pictures of {camera.width} x {camera.height}"
        topics = _absolute(f"{camera_topics(camera)}/…")
        yield (topics, size, f"{camera.rate:g}", f"`{camera.frame}`")
    for lidar in layout.every_lidar:
        kind, topic = ("LaserScan", "scan") if lidar.is_scan else ("PointCloud2", "points")
        rays = f"sensor_msgs/{kind}, {lidar.rows} x {lidar.columns} rays"
        topics = _absolute(f"{lidar_topics(lidar)}/{topic}")
        yield (topics, rays, f"{lidar.config.rate:g}", f"`{lidar.frame}`")


def _robot_topics(simulation: Simulation) -> Iterable[Topic]:
    first_base = first_joint = 0
    for index, robot in enumerate(simulation.layout.robots):
        joints = simulation.controls[index].joints.taking(POSITION)
        controlled = [(joint, first_joint + joint) for joint in joints]
        yield from robot_topics(index, robot, first_base, "child_on_parent", controlled)
        first_base += len(robot.bases)
        first_joint += len(robot.joints.names)


def _inputs(namespace: str, control: RobotControl) -> Iterable[tuple[str, ...]]:
    """Yield a row for each topic and action by which a robot is commanded."""
    joints = control.joints
    takers = [index for index, takes in enumerate(joints.takes) if takes]

    def row(name: str, kind: str, message: str, chosen: Sequence[int]) -> tuple[str, ...]:
        names = [joints.names[index] for index in chosen]
        listing = ", ".join(f"`{name}`" for name in names)
        many = f"{len(names)} joints"
        return (
            _absolute(f"{namespace}/{name}"),
            kind,
            message,
            listing if len(names) <= NAMED else many,
        )

    topic = f"topic, {_quality(RELIABLE)}"
    yield row(Source.JOINT_COMMANDS, topic, "sensor_msgs/JointState", takers)
    for source, interface in FORWARDED.items():
        if chosen := joints.taking(interface):
            yield row(f"{source}/commands", topic, "std_msgs/Float64MultiArray", chosen)
    if chosen := joints.taking(POSITION):
        name = Source.TRAJECTORY
        yield row(f"{name}/joint_trajectory", topic, "trajectory_msgs/JointTrajectory", chosen)
        action = "control_msgs/action/FollowJointTrajectory"
        yield row(f"{name}/follow_joint_trajectory", "action", action, chosen)
    if joints.gripper is not None:
        name = f"{Source.GRIPPER}/gripper_cmd"
        yield row(name, "action", "control_msgs/action/ParallelGripperCommand", [joints.gripper])


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


def _frames(simulation: Simulation, mode: TfMode) -> FramePlan:
    assembly, layout = simulation.assembly, simulation.layout
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
    "reference/parameters.md": parameters_page,
    "reference/topics.md": topics_page,
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
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale:
        sys.exit(f"{', '.join(stale)} out of date: run python docs/generate.py")


if __name__ == "__main__":
    main()
