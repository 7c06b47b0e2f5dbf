"""The viewer's link with a simulator that runs, a state machine and a camera."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image, JointState
from simulators import Listener, Simulator, Starter
from state_machine_node import StateMachineNode
from visualization_msgs.msg import InteractiveMarkerFeedback

from mujoco_ros.bridge import service_caller as asking
from mujoco_ros.bridge.publishing.topics import LATCHED
from mujoco_ros.sim.perturbation.pulls import Pull
from mujoco_ros.viewer.link import ParameterInfo, Request, ViewerRunState
from mujoco_ros.viewer.ros.ros_link import RosLink

GAIN = "gains.elbow_joint.kp"
QUARTER_TURN_ABOUT_Z = np.array([1.0, 0.0, 0.0, 1.0]) / np.sqrt(2.0)


@dataclass
class Linked:
    """A link, the simulator it leads to, and somebody who listens."""

    link: RosLink
    simulator: Simulator
    listener: Listener

    def until(self, request: Request) -> Request:
        """Wait for the answer to a request."""
        assert self.listener.spin_until(lambda: request.ok is not None), request.line
        return request

    def done(self, request: Request) -> str:
        """Wait until a request is answered, which must succeed; return what it says."""
        assert self.until(request).ok, request.line
        return request.text

    def sees(self, state: ViewerRunState) -> bool:
        return self.listener.spin_until(lambda: self.link.run_state is state)


@pytest.fixture(scope="module")
def linked(start_shared: Starter) -> Iterator[Linked]:
    simulator = start_shared.simulator(scene="arm")
    domain = os.environ["ROS_DOMAIN_ID"]
    os.environ["ROS_DOMAIN_ID"] = str(simulator.domain)
    try:
        link = RosLink("/mujoco", now=lambda: 1.5)
    finally:
        os.environ["ROS_DOMAIN_ID"] = domain
    link.start()
    linked = Linked(link, simulator, start_shared.listener(simulator))
    linked.listener.add(StateMachineNode(context=linked.listener.node.context))
    assert linked.sees(ViewerRunState.PLAYING)
    yield linked
    link.close()


def test_it_pauses_steps_and_plays(linked):
    link = linked.link
    linked.done(link.pause())
    assert linked.sees(ViewerRunState.PAUSED)
    linked.done(link.step(3))
    linked.done(link.play())
    assert linked.sees(ViewerRunState.PLAYING)
    refused = linked.until(link.play())
    assert not refused.ok
    assert "PLAYING already" in refused.text


def test_it_resets_what_is_named_and_says_what_can_be_named(linked):
    linked.done(linked.link.reset())
    linked.done(linked.link.reset("time", "state"))
    refused = linked.until(linked.link.reset("everything"))
    assert not refused.ok
    assert refused.text == "'everything' cannot be reset; these can: time, state, spawned"


def test_it_saves_and_loads_keyframes(linked):
    assert "saved 'here'" in linked.done(linked.link.save_keyframe("here"))
    assert "loaded 'here'" in linked.done(linked.link.load_keyframe("here"))
    assert not linked.until(linked.link.load_keyframe("nowhere")).ok


def test_it_knows_all_parameters_and_what_they_may_be(linked):
    link, listener = linked.link, linked.listener
    assert listener.spin_until(lambda: GAIN in link.parameters and "seed" in link.parameters)
    gain = link.parameters[GAIN]
    assert gain.value == listener.get_parameter(GAIN)
    assert gain.low == 0.0
    assert gain.high > gain.value
    assert link.parameters["seed"].read_only
    assert link.parameters["reset_time"].choices == ("rewind", "continue")


def test_a_parameter_that_is_set_is_known_at_once_and_a_refusal_says_why(linked):
    link, listener = linked.link, linked.listener
    assert listener.spin_until(lambda: GAIN in link.parameters)
    linked.done(link.set_parameters({GAIN: 123.0}))
    assert listener.spin_until(lambda: link.parameters[GAIN].value == 123.0)
    assert link.parameters[GAIN].low == 0.0  # as it was described
    refused = linked.until(link.set_parameters({GAIN: -1.0}))
    assert not refused.ok
    assert "cannot be -1.0" in refused.text
    listener.set_parameters({GAIN: 99.0})  # by somebody else
    assert listener.spin_until(lambda: link.parameters[GAIN].value == 99.0)
    linked.done(link.set_speed(0.5))
    assert listener.get_parameter("real_time_factor") == 0.5
    linked.done(link.set_speed(1.0))


def test_joint_references_arrive(linked):
    sent = linked.listener.record(JointState, "/joint_commands", reliable=True)

    def arrived() -> bool:
        linked.link.command_joints("", {"elbow_joint": 0.25})
        linked.listener.spin_for(0.1)
        return len(sent) > 0

    assert linked.listener.spin_until(arrived)
    assert sent.messages[0].name == ["elbow_joint"]
    assert list(sent.messages[0].position) == [0.25]


def test_a_pull_is_told_as_long_as_it_is_held_and_its_end_once(linked):
    link, listener = linked.link, linked.listener
    sent = listener.record(InteractiveMarkerFeedback, "/external_wrench/pull", reliable=True)
    point, goal = np.array([0.1, 0.0, 0.0]), np.array([0.3, 0.4, 0.5])
    pull = Pull(turns=False, point=point, position=goal, quat_wxyz=QUARTER_TURN_ABOUT_Z)
    link.pull("forearm_link", pull)
    assert listener.spin_until(lambda: len(sent) > 3)
    message = sent.messages[-1]
    assert message.marker_name == "forearm_link"
    assert (message.event_type, message.control_name) == (message.POSE_UPDATE, "translate")
    assert message.mouse_point_valid
    mouse, origin = message.mouse_point, message.pose.position
    np.testing.assert_allclose([mouse.x, mouse.y, mouse.z], goal)
    np.testing.assert_allclose([origin.x, origin.y, origin.z], [0.3, 0.3, 0.5])

    turn = replace(pull, turns=True)
    link.pull("wrist_1_link", turn)
    assert listener.spin_until(lambda: sent.messages[-1].control_name == "rotate")
    told = [(each.marker_name, each.event_type) for each in sent.messages]
    assert told.index(("forearm_link", message.MOUSE_UP)) < told.index(
        ("wrist_1_link", message.MOUSE_DOWN)
    )
    link.let_go()
    assert listener.spin_until(lambda: sent.messages[-1].event_type == message.MOUSE_UP)
    count = len(sent)
    listener.spin_for(0.2)
    assert len(sent) == count


def test_a_mocap_body_is_put_where_it_should_be(linked):
    sent = linked.listener.record(PoseStamped, "/mocap/hand_1/pose", reliable=True)

    def arrived() -> bool:
        linked.link.move_mocap("", "hand 1", np.array([1.0, 2.0, 3.0]), np.array([1.0, 0, 0, 0]))
        linked.listener.spin_for(0.1)
        return len(sent) > 0

    assert linked.listener.spin_until(arrived)
    pose = sent.messages[0].pose
    assert (pose.position.x, pose.position.y, pose.position.z) == (1.0, 2.0, 3.0)
    assert pose.orientation.w == 1.0


def test_a_target_is_known_to_those_who_come_late_until_it_is_removed(linked):
    link, listener = linked.link, linked.listener
    link.publish_target("grasp", np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, 0.0, 1.0]))
    assert listener.spin_until(lambda: listener.node.count_publishers("/target/grasp/pose") == 1)
    told = listener.record(PoseStamped, "/target/grasp/pose", qos=LATCHED)
    assert listener.spin_until(lambda: len(told) == 1)
    (message,) = told.messages
    assert message.header.frame_id == "world"
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (1, 500_000_000)
    assert message.pose.position.z == 0.3
    assert message.pose.orientation.z == 1.0
    link.remove_target("grasp")
    assert listener.spin_until(lambda: listener.node.count_publishers("/target/grasp/pose") == 0)


def test_a_state_machine_is_found_followed_and_changed(linked):
    link, listener, name = linked.link, linked.listener, "/walking_controller"
    assert listener.spin_until(
        lambda: name in link.controllers and link.controllers[name].available == ("stand",)
    )
    assert listener.spin_until(lambda: len(link.controllers[name].edges) == 6)
    found = link.controllers[name]
    assert found.state == "idle"
    assert found.states == ("idle", "standing", "walking", "fault")
    assert ("stand", "idle", "standing") in [(e.label, e.start, e.goal) for e in found.edges]

    linked.done(link.change_state(name, "stand"))
    assert listener.spin_until(
        lambda: (
            link.controllers[name].state == "standing"
            and link.controllers[name].available == ("walk", "relax")
        )
    )
    assert listener.spin_until(lambda: len(link.controllers[name].events) > 0)
    event = link.controllers[name].events[-1]
    assert (event.transition, event.start, event.goal) == ("stand", "idle", "standing")

    refused = linked.until(link.change_state(name, "recover"))
    assert not refused.ok
    assert refused.text == "refused in state 'standing', which offers walk, relax"
    refused = linked.until(link.change_state("/nobody", "stand"))
    assert refused.text == f"there is no state machine '/nobody'; there are: {name}"


def test_an_image_comes_small_while_it_is_watched(linked):
    link, listener = linked.link, linked.listener
    topic = "/left/camera/wrist_1/image_raw"
    publisher = listener.node.create_publisher(Image, topic, qos_profile_sensor_data)
    image = Image(height=2, width=640, step=1920, encoding="rgb8", data=bytes(range(240)) * 16)
    image.header.stamp.sec = 3
    assert link.picture("left", "wrist 1") is None
    link.watch("left", "wrist 1")

    def arrived() -> bool:
        publisher.publish(image)
        listener.spin_for(0.1)
        return link.picture("left", "wrist 1") is not None

    assert listener.spin_until(arrived)
    picture = link.picture("left", "wrist 1")
    assert picture.pixels.shape == (1, 320, 3)
    assert picture.pixels[0, 1].tolist() == [6, 7, 8]
    assert picture.time == 3.0
    link.unwatch("left", "wrist 1")
    assert listener.spin_until(lambda: publisher.get_subscription_count() == 0)
    assert link.picture("left", "wrist 1") is None


def test_what_nodes_say_is_kept_in_order(linked):
    link, listener = linked.link, linked.listener

    def heard() -> bool:
        listener.node.get_logger().warning("mind the gap")
        listener.spin_for(0.1)
        return any(line.text == "mind the gap" for line in link.log())

    assert listener.spin_until(heard)
    lines = link.log()
    assert [line.number for line in lines] == sorted({line.number for line in lines})
    said = next(line for line in lines if line.text == "mind the gap")
    assert (said.node, said.level) == ("listener", 30)
    assert all(line.number > said.number for line in link.log(said.number))


def test_a_fault_in_the_middleware_does_not_end_the_link(monkeypatch, caplog):
    monkeypatch.setattr(asking, "PATIENCE_S", 0.1)
    link = RosLink("/elsewhere/mujoco")
    executor, faults = link._executor, [RuntimeError("the wire is cut")]

    def spin_once(**options):
        if faults:
            raise faults.pop()
        executor.spin_once(**options)

    faulty = SimpleNamespace(spin_once=spin_once, wake=executor.wake, shutdown=executor.shutdown)
    monkeypatch.setattr(link, "_executor", faulty)
    link.start()
    try:
        request = link.pause()
        while request.ok is None:
            time.sleep(0.01)
        assert "the wire is cut" in caplog.text
        assert link.set_speed(0.5).what == "set real_time_factor = 0.5"
        link._parameters.known = {"at_end": ParameterInfo(value="pause")}
        assert link.set_speed(0.5).what == "set rate = 0.5"
    finally:
        link.close()


def test_nothing_is_known_of_a_simulator_that_is_not_there(monkeypatch):
    monkeypatch.setattr(asking, "PATIENCE_S", 0.3)
    link = RosLink("/elsewhere/mujoco")
    link.start()
    try:
        request = link.pause()
        while request.ok is None:
            time.sleep(0.01)
        assert not link.reachable
        assert not request.ok
        assert request.text == "/elsewhere/mujoco/set_simulation_state is not there"
        assert link.requests[-1].line.startswith("pause: /elsewhere/mujoco/set_simulation_state")
        assert link.parameters == {}
        assert link.node.get_namespace() == "/elsewhere"
    finally:
        link.close()
