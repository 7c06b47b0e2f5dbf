"""The topics, actions and commands of the pages exist and work in simulators that run."""

import math
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from rclpy.action import ActionClient, get_action_server_names_and_types_by_node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from simulators import ROOT, Listener, SimulatorLauncher

TOPICS = (ROOT / "docs" / "reference" / "topics.md").read_text(encoding="utf-8")
OF_EVERY_SCENE = {"/rosout", "/parameter_events", "/mujoco/reset_event", "/mujoco/simulate_steps"}
PAGE = ROOT / "docs" / "how-to" / "command_robots.md"


def commands() -> Iterator[Any]:
    """Yield the ``ros2`` commands of the page that move a robot, as lists of words."""
    text = PAGE.read_text(encoding="utf-8")
    for block in re.findall(r"^```bash\n(.*?)^```", text, re.M | re.S):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:3] in (["ros2", "topic", "pub"], ["ros2", "action", "send_goal"]):
                yield pytest.param(words, id=words[-3].strip("/").replace("/", "."))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[SimulatorLauncher]:
    starter = SimulatorLauncher(tmp_path)
    yield starter
    starter.close()


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listener]:
    starter = SimulatorLauncher(tmp_path_factory.mktemp("arm"))
    yield starter.listener(starter.simulator(scene="arm"))
    starter.close()


def load(kind: str) -> Any:
    package, _, name = kind.rpartition("/")
    return getattr(import_module(package.replace("/", ".")), name)


def filled(message: Any, content: dict[str, Any]) -> Any:
    """Return a message with fields as YAML gives them; a wrong name or type is an error."""
    kinds = message.get_fields_and_field_types()
    for name, value in content.items():
        kind = kinds[name].removeprefix("sequence<").removesuffix(">")
        if "/" not in kind:
            setattr(message, name, value)
        elif isinstance(value, list):
            package, _, item = kind.partition("/")
            setattr(message, name, [filled(load(f"{package}/msg/{item}")(), v) for v in value])
        else:
            filled(getattr(message, name), value)
    return message


def table(section: str, column: str) -> dict[str, str]:
    """Return names and types in the table of a section that has a column."""
    found = {}
    header: list[str] = []
    for line in section.splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            header = []
        elif not header:
            header = cells
        elif header[0] == column and cells[0].startswith("/"):
            found[cells[0]] = cells[header.index("Type")]
    return found


def test_the_zoo_has_exactly_the_topics_and_inputs_of_its_page(start: SimulatorLauncher) -> None:
    listener = start.listener(start.simulator(scene="zoo", real_time_factor=0.1))
    section = TOPICS[TOPICS.index("## zoo") :]
    published, taken = table(section, "Topic"), table(section, "Input")
    topics = {name: kind for name, kind in taken.items() if "/action/" not in kind}
    actions = {name: kind for name, kind in taken.items() if "/action/" in kind}
    assert len(published) > 40
    assert len(topics) == 4 * 12 + 3
    assert len(actions) == 4 + 2
    node = listener.node

    def of(names: list[tuple[str, list[str]]], without: str) -> dict[str, str]:
        kept = [(n, k) for n, k in names if "/_action/" not in n and n not in OF_EVERY_SCENE]
        return {name: kind.replace(without, "/") for name, (kind,) in kept}

    def publishes() -> bool:
        found = node.get_publisher_names_and_types_by_node("mujoco", "/")
        return of(found, "/msg/") == published

    def takes() -> bool:
        found = node.get_subscriber_names_and_types_by_node("mujoco", "/")
        return of(found, "/msg/") == topics

    def serves() -> bool:
        found = get_action_server_names_and_types_by_node(node, "mujoco", "/")
        return {name: kind for name, (kind,) in found if name not in OF_EVERY_SCENE} == actions

    assert listener.spin_until(lambda: "mujoco" in node.get_node_names())
    assert listener.spin_until(publishes), node.get_publisher_names_and_types_by_node("mujoco", "/")
    assert listener.spin_until(takes), node.get_subscriber_names_and_types_by_node("mujoco", "/")
    assert listener.spin_until(serves)


@pytest.mark.parametrize("words", [it for it in commands() if "cartesian" in it.values[0][-3]])
def test_the_cartesian_commands_of_the_page_move_the_tool(arm: Listener, words: list[str]) -> None:
    topic, kind, content = words[-3:]
    poses = arm.record(PoseStamped, "/cartesian_controller/current_pose")
    message = filled(load(kind)(), yaml.safe_load(content))
    publisher = arm.node.create_publisher(type(message), topic, 10)
    assert arm.spin_until(lambda: publisher.get_subscription_count() == 1 and len(poses) > 0)
    start = position(poses.latest)

    def there() -> bool:
        publisher.publish(message)
        now = position(poses.latest)
        if isinstance(message, PoseStamped):
            return math.dist(now, position(message)) < 0.001
        return math.dist(now, start) > 0.005

    assert arm.spin_until(there)
    arm.forget_subscriptions()
    arm.node.destroy_publisher(publisher)


def position(message: PoseStamped) -> tuple[float, float, float]:
    at = message.pose.position
    return at.x, at.y, at.z


@pytest.mark.parametrize("words", [it for it in commands() if "cartesian" not in it.values[0][-3]])
def test_the_commands_of_the_page_move_the_arm(arm: Listener, words: list[str]) -> None:
    topic, kind, content = words[-3:]
    states = arm.record(JointState, "/joint_states")
    goals: dict[str, float] = {}
    if words[1] == "topic":
        message = filled(load(kind)(), yaml.safe_load(content))
        publisher = arm.node.create_publisher(type(message), topic, 10)
        assert arm.spin_until(lambda: publisher.get_subscription_count() == 1)
        publisher.publish(message)
        if hasattr(message, "points"):
            goals = dict(zip(message.joint_names, message.points[-1].positions, strict=True))
        else:
            goals = dict(zip(message.name, message.position, strict=True))
    else:
        action = load(kind)
        client = ActionClient(arm.node, action, topic)
        assert arm.spin_until(client.server_is_ready)
        goal = filled(action.Goal(), yaml.safe_load(content))
        handle = arm.result(client.send_goal_async(goal))
        assert handle.accepted
        assert arm.result(handle.get_result_async()).status == GoalStatus.STATUS_SUCCEEDED
        if hasattr(goal, "trajectory"):
            last = goal.trajectory.points[-1]
            goals = dict(zip(goal.trajectory.joint_names, last.positions, strict=True))
        else:
            goals = {"left_finger_joint": goal.command.position[0]}
        client.destroy()

    def there() -> bool:
        if not states.raw:
            return False
        newest = deserialize_message(states.raw[-1], JointState)
        at = dict(zip(newest.name, newest.position, strict=True))
        return all(abs(at[joint] - position) < 0.003 for joint, position in goals.items())

    assert goals
    assert arm.spin_until(there)
    arm.forget_subscriptions()
