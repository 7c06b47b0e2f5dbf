"""Requests of the viewer."""

import shlex
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from geometry_msgs.msg import PoseStamped, TwistStamped
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter, parameter_value_to_python
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import DeleteEntity, ResetSimulation, SpawnEntity
from std_srvs.srv import Trigger

from mujoco_ros.viewer.ros.requests import Requests, parameter_set, service_call, topic_pub
from mujoco_ros.wire.names import write_resource


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def requests(warnings, monkeypatch) -> Requests:
    """Requests that are not sent, and whose warnings are recorded."""
    requests = Requests(
        SimpleNamespace(get_logger=lambda: SimpleNamespace(warning=warnings.append))
    )
    monkeypatch.setattr(requests, "post", lambda _: None)
    return requests


def test_requests_on_an_old_image_are_one_warning_until_it_is_fresh_again(requests, warnings):
    def name() -> str:
        return requests.submit("drag", lambda _: None).name

    requests.note_image_age(1.2)
    assert name() == "drag, on an image 1.2 s old"
    requests.note_image_age(1.4)
    assert name() == "drag, on an image 1.4 s old"
    assert warnings == ["drag, on an image 1.2 s old"]
    requests.note_image_age(0.1)
    requests.note_image_age(0.9)
    name()
    assert warnings[1:] == ["drag, on an image 0.9 s old"]
    requests.note_image_age(0.1)
    assert name() == "drag"


def test_each_press_on_an_old_image_is_a_warning(requests, warnings):
    request = requests.report("pull box")
    assert (requests.latest, request.summary) == (request, "pull box: published")
    assert warnings == []
    requests.note_image_age(1.2)
    for name in ("pull box", "drive /cmd_vel"):
        assert requests.report(name).name == f"{name}, on an image 1.2 s old"
    assert warnings == [f"{name}, on an image 1.2 s old" for name in ("pull box", "drive /cmd_vel")]


def filled(message: Any, values: dict[str, Any]) -> Any:
    """Set fields of a message as `ros2 service call` and `ros2 topic pub` do."""
    for name, value in values.items():
        present = getattr(message, name)
        if isinstance(value, dict):
            filled(present, value)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            setattr(message, name, [filled(Parameter("a").to_parameter_msg(), it) for it in value])
        else:
            setattr(message, name, value)
    return message


def transition() -> Any:
    request = ChangeState.Request()
    request.transition.label = "get ready"
    return request


def spawning() -> Any:
    request = SpawnEntity.Request(name="it's a box", allow_renaming=True)
    write_resource(request, "entity_resource", "package://a/b.xml", "<mujoco/>")
    request.initial_pose.header.frame_id = "world"
    request.initial_pose.pose.position.z = 1e-3
    return request


def parameters() -> Any:
    vector = Parameter("arm.pose", value=[0.5, 1.0]).to_parameter_msg()
    flag = Parameter("on", value=True).to_parameter_msg()
    return SetParametersAtomically.Request(parameters=[vector, flag])


@pytest.mark.parametrize(
    "request_",
    [
        DeleteEntity.Request(entity="$(rm -rf ~) \"quoted\" 'cube' #"),
        ResetSimulation.Request(scope=3),
        transition(),
        spawning(),
        parameters(),
        Trigger.Request(),
    ],
    ids=lambda it: type(it).__name__,
)
def test_the_command_has_the_fields_of_the_request(request_: Any) -> None:
    kinds = (DeleteEntity, ResetSimulation, ChangeState, SpawnEntity, SetParametersAtomically)
    kind = next(it for it in (*kinds, Trigger) if it.Request is type(request_))
    command = service_call(kind, "/mujoco/service", request_)
    assert "\n" not in command
    words = shlex.split(command)
    package = kind.__module__.partition(".")[0]
    assert words[:5] == [
        *("ros2", "service", "call", "/mujoco/service"),
        f"{package}/srv/{kind.__name__}",
    ]
    values = yaml.safe_load(words[5]) if len(words) > 5 else {}
    assert filled(kind.Request(), values) == request_


def test_short_requests_have_short_commands() -> None:
    request = DeleteEntity.Request(entity="cube")
    assert service_call(DeleteEntity, "/mujoco/delete_entity", request) == (
        "ros2 service call /mujoco/delete_entity simulation_interfaces/srv/DeleteEntity "
        "'{entity: cube}'"
    )
    assert service_call(Trigger, "/save", Trigger.Request()) == (
        "ros2 service call /save std_srvs/srv/Trigger"
    )


def test_a_request_that_no_shell_can_pass_has_no_command() -> None:
    text = "<mujoco/>" + " " * (1 << 17)
    assert service_call(DeleteEntity, "/delete", DeleteEntity.Request(entity=text)) == ""


@pytest.mark.parametrize("value", [0.5, 3, True, "a b", "yes", "", (1.0, 2.5)])
def test_the_value_of_a_parameter_is_read_with_its_type(value: Any) -> None:
    words = shlex.split(parameter_set("/mujoco", {"factor": value}))
    assert words[:5] == ["ros2", "param", "set", "/mujoco", "factor"]
    read = yaml.safe_load(words[5])
    assert read == (list(value) if isinstance(value, tuple) else value)
    assert type(read) is (list if isinstance(value, tuple) else type(value))


def test_several_parameters_are_set_atomically() -> None:
    words = shlex.split(parameter_set("/mujoco", {"a": 1, "b": (0.5, 2.0)}))
    assert words[:5] == [
        *("ros2", "service", "call", "/mujoco/set_parameters_atomically"),
        "rcl_interfaces/srv/SetParametersAtomically",
    ]
    request = filled(SetParametersAtomically.Request(), yaml.safe_load(words[5]))
    read = {it.name: parameter_value_to_python(it.value) for it in request.parameters}
    assert {name: np.array(value).tolist() for name, value in read.items()} == {
        "a": 1,
        "b": [0.5, 2.0],
    }


def turned() -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = "world"
    message.pose.position.x, message.pose.orientation.z = 1e-7, -0.25
    return message


def driving() -> TwistStamped:
    message = TwistStamped()
    message.twist.linear.x = 0.3
    return message


@pytest.mark.parametrize(
    "message",
    [
        JointState(name=["it's", "yes", "2"], position=[0.0, 1e16, -1e-9]),
        turned(),
        driving(),
        TwistStamped(),
    ],
    ids=lambda it: type(it).__name__,
)
def test_a_published_message_has_the_fields_of_the_one_that_was_sent(message: Any) -> None:
    command = topic_pub("/a/topic", message)
    assert "\n" not in command
    words = shlex.split(command)
    package = type(message).__module__.partition(".")[0]
    kind = f"{package}/msg/{type(message).__name__}"
    assert words[:6] == ["ros2", "topic", "pub", "--once", "/a/topic", kind]
    values = yaml.safe_load(words[6]) if len(words) > 6 else {}
    assert filled(type(message)(), values) == message


def test_a_published_message_has_no_time_of_the_past() -> None:
    message = driving()
    message.header.stamp.sec = 7
    assert topic_pub("/cmd_vel", message, rate_hz=10.0) == (
        "ros2 topic pub --rate 10 /cmd_vel geometry_msgs/msg/TwistStamped "
        "'{twist: {linear: {x: 0.3}}}'"
    )
    message = PoseStamped()
    message.header.stamp.sec, message.header.frame_id = 7, "world"
    assert topic_pub("/target/grasp/pose", message, latched=True) == (
        "ros2 topic pub --once --qos-durability transient_local /target/grasp/pose "
        "geometry_msgs/msg/PoseStamped '{header: {frame_id: world}}'"
    )
