"""The viewer's node with a running simulator, a state machine and a camera."""

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
from simulators import Listener, Simulator, SimulatorLauncher
from state_machine_node import StateMachineNode
from visualization_msgs.msg import InteractiveMarkerFeedback

from mujoco_ros.control.pull import Pull
from mujoco_ros.viewer.clients import PAUSED, PLAYING, ImageKey, ImageKind, ParameterInfo, Request
from mujoco_ros.viewer.ros.node import ViewerNode
from mujoco_ros.viewer.ros.run_state import RunStateClient
from mujoco_ros.wire.qos import LATCHED

GAIN = "gains.elbow_joint.kp"
QUARTER_TURN_ABOUT_Z = np.array([1.0, 0.0, 0.0, 1.0]) / np.sqrt(2.0)


@dataclass
class Connected:
    """Clients of a simulator, the simulator, and a listener."""

    clients: ViewerNode
    simulator: Simulator
    listener: Listener

    def until(self, request: Request) -> Request:
        """Wait for the response to a request."""
        assert self.listener.spin_until(lambda: request.ok is not None), request.summary
        return request

    def done(self, request: Request) -> str:
        """Wait for the response, which must be a success; return its message."""
        assert self.until(request).ok, request.summary
        return request.message

    def has_status(self, status: str) -> bool:
        return self.listener.spin_until(lambda: self.clients.simulation.status == status)


@pytest.fixture(scope="module")
def connected(start_shared: SimulatorLauncher) -> Iterator[Connected]:
    simulator = start_shared.simulator(scene="arm")
    domain = os.environ["ROS_DOMAIN_ID"]
    os.environ["ROS_DOMAIN_ID"] = str(simulator.domain)
    try:
        viewer = ViewerNode("/mujoco", now=lambda: 1.5)
    finally:
        os.environ["ROS_DOMAIN_ID"] = domain
    viewer.start()
    connected = Connected(viewer, simulator, start_shared.listener(simulator))
    connected.listener.add(StateMachineNode(context=connected.listener.node.context))
    assert connected.has_status(PLAYING)
    yield connected
    viewer.close()


def test_it_pauses_steps_and_plays(connected):
    link = connected.clients.simulation
    connected.done(link.pause())
    assert connected.has_status(PAUSED)
    connected.done(link.step(3))
    connected.done(link.play())
    assert connected.has_status(PLAYING)
    refused = connected.until(link.play())
    assert not refused.ok
    assert "PLAYING already" in refused.message


def test_it_resets_the_named_scopes_and_names_the_valid_ones(connected):
    connected.done(connected.clients.simulation.reset())
    connected.done(connected.clients.simulation.reset("time", "state"))
    refused = connected.until(connected.clients.simulation.reset("everything"))
    assert not refused.ok
    assert refused.message == "'everything' cannot be reset; these can: time, state, spawned"


def test_it_saves_and_loads_keyframes(connected):
    assert "saved 'here'" in connected.done(connected.clients.simulation.save_keyframe("here"))
    assert "loaded 'here'" in connected.done(connected.clients.simulation.load_keyframe("here"))
    assert not connected.until(connected.clients.simulation.load_keyframe("missing")).ok


def test_it_has_all_parameters_and_their_bounds(connected):
    parameters, listener = connected.clients.parameters, connected.listener
    assert listener.spin_until(lambda: GAIN in parameters.known and "seed" in parameters.known)
    gain = parameters.known[GAIN]
    assert gain.value == listener.get_parameter(GAIN)
    assert gain.low == 0.0
    assert gain.high > gain.value


def test_a_set_parameter_is_updated_and_a_rejection_has_its_reason(connected):
    parameters, listener = connected.clients.parameters, connected.listener
    assert listener.spin_until(lambda: GAIN in parameters.known)
    connected.done(parameters.set({GAIN: 123.0}))
    assert listener.spin_until(lambda: parameters.known[GAIN].value == 123.0)
    assert parameters.known[GAIN].low == 0.0  # as in the descriptor
    refused = connected.until(parameters.set({GAIN: -1.0}))
    assert not refused.ok
    assert "cannot be -1.0" in refused.message
    listener.set_parameters({GAIN: 99.0})  # by another client
    assert listener.spin_until(lambda: parameters.known[GAIN].value == 99.0)
    connected.done(connected.clients.simulation.set_speed(0.5))
    assert listener.get_parameter("real_time_factor") == 0.5
    connected.done(connected.clients.simulation.set_speed(1.0))


def test_joint_references_arrive(connected):
    sent = connected.listener.record(JointState, "/joint_commands", reliable=True)

    def arrived() -> bool:
        connected.clients.commands.command_joints("", {"elbow_joint": 0.25})
        connected.listener.spin_for(0.1)
        return len(sent) > 0

    assert connected.listener.spin_until(arrived)
    assert sent.messages[0].name == ["elbow_joint"]
    assert list(sent.messages[0].position) == [0.25]


def test_joints_and_free_bodies_are_set_while_paused(connected):
    """The last value of a drag stays."""
    commands, listener = connected.clients.commands, connected.listener
    connected.done(connected.clients.simulation.pause())
    assert connected.has_status(PAUSED)
    for position in np.linspace(0.5, 1.25, 100):
        commands.set_joints("", {"elbow_joint": float(position)})
    commands.set_pose("box", np.array([0.5, 0.25, 0.75]), QUARTER_TURN_ABOUT_Z)

    def latest() -> Request:
        return connected.clients.latest_request()

    assert listener.spin_until(lambda: latest().ok is not None and "box.pose" in latest().name)
    assert latest().ok, latest().summary
    joints = listener.record(JointState, "/joint_states", reliable=True)
    assert listener.spin_until(lambda: listener.node.count_publishers("/joint_states") > 0)
    listener.spin_for(0.5)
    connected.done(connected.clients.simulation.step(50))
    assert listener.spin_until(lambda: len(joints) > 0)
    first = joints.messages[0]
    assert first.position[first.name.index("elbow_joint")] == pytest.approx(1.25, abs=0.01)
    commands.set_pose("ghost", np.zeros(3), QUARTER_TURN_ABOUT_Z)
    assert listener.spin_until(lambda: "ghost" in latest().name and latest().ok is not None)
    assert "entity 'ghost' not found; there are: arm" in latest().message
    connected.done(connected.clients.simulation.reset())
    connected.done(connected.clients.simulation.play())
    assert connected.has_status(PLAYING)


def test_a_pull_is_published_until_its_end(connected):
    commands, listener = connected.clients.commands, connected.listener
    sent = listener.record(InteractiveMarkerFeedback, "/external_wrench/pull", reliable=True)
    point, goal = np.array([0.1, 0.0, 0.0]), np.array([0.3, 0.4, 0.5])
    pull = Pull(turns=False, point=point, position=goal, quat_wxyz=QUARTER_TURN_ABOUT_Z)
    commands.pull("forearm_link", pull)
    assert listener.spin_until(lambda: len(sent) > 3)
    message = sent.messages[-1]
    assert message.marker_name == "forearm_link"
    assert (message.event_type, message.control_name) == (message.POSE_UPDATE, "translate")
    assert message.mouse_point_valid
    mouse, origin = message.mouse_point, message.pose.position
    np.testing.assert_allclose([mouse.x, mouse.y, mouse.z], goal)
    np.testing.assert_allclose([origin.x, origin.y, origin.z], [0.3, 0.3, 0.5])

    turn = replace(pull, turns=True)
    commands.pull("wrist_1_link", turn)
    assert listener.spin_until(lambda: sent.messages[-1].control_name == "rotate")
    events = [(each.marker_name, each.event_type) for each in sent.messages]
    assert events.index(("forearm_link", message.MOUSE_UP)) < events.index(
        ("wrist_1_link", message.MOUSE_DOWN)
    )
    commands.release()
    assert listener.spin_until(lambda: sent.messages[-1].event_type == message.MOUSE_UP)
    count = len(sent)
    listener.spin_for(0.2)
    assert len(sent) == count


def test_the_pose_of_a_mocap_body_arrives(connected):
    sent = connected.listener.record(PoseStamped, "/mocap/hand_1/pose", reliable=True)

    def arrived() -> bool:
        connected.clients.commands.move_mocap(
            "", "hand 1", np.array([1.0, 2.0, 3.0]), np.array([1.0, 0, 0, 0])
        )
        connected.listener.spin_for(0.1)
        return len(sent) > 0

    assert connected.listener.spin_until(arrived)
    pose = sent.messages[0].pose
    assert (pose.position.x, pose.position.y, pose.position.z) == (1.0, 2.0, 3.0)
    assert pose.orientation.w == 1.0


def test_a_target_is_latched_until_it_is_removed(connected):
    commands, listener = connected.clients.commands, connected.listener
    commands.publish_target("grasp", np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, 0.0, 1.0]))
    assert listener.spin_until(lambda: listener.node.count_publishers("/target/grasp/pose") == 1)
    received = listener.record(PoseStamped, "/target/grasp/pose", qos=LATCHED)
    assert listener.spin_until(lambda: len(received) == 1)
    (message,) = received.messages
    assert message.header.frame_id == "world"
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (1, 500_000_000)
    assert message.pose.position.z == 0.3
    assert message.pose.orientation.z == 1.0
    commands.remove_target("grasp")
    assert listener.spin_until(lambda: listener.node.count_publishers("/target/grasp/pose") == 0)


def test_a_state_machine_is_discovered_monitored_and_changed(connected):
    controllers, listener, name = (
        connected.clients.controllers,
        connected.listener,
        "/walking_controller",
    )
    assert listener.spin_until(
        lambda: name in controllers.known and controllers.known[name].available == ("stand",)
    )
    assert listener.spin_until(lambda: len(controllers.known[name].transitions) == 6)
    found = controllers.known[name]
    assert found.state == "idle"
    assert found.states == ("idle", "standing", "walking", "fault")
    assert ("stand", "idle", "standing") in [(e.label, e.start, e.goal) for e in found.transitions]

    connected.done(controllers.change_state(name, "stand"))
    assert listener.spin_until(
        lambda: (
            controllers.known[name].state == "standing"
            and controllers.known[name].available == ("walk", "relax")
        )
    )
    assert listener.spin_until(lambda: len(controllers.known[name].events) > 0)
    _time, event = controllers.known[name].events[-1]
    assert (event.label, event.start, event.goal) == ("stand", "idle", "standing")

    refused = connected.until(controllers.change_state(name, "recover"))
    assert not refused.ok
    assert refused.message == "rejected in state 'standing'; available: walk, relax"
    refused = connected.until(controllers.change_state("/missing", "stand"))
    assert refused.message == f"state machine '/missing' not found; there are: {name}"


class EncodedImages:
    """Publishes one image of a camera and returns what arrives of it."""

    def __init__(self, connected, kind):
        self._images, self._listener = connected.clients.images, connected.listener
        self._key = ImageKey(("left", "wrist 1"), kind, 320)

    def received(self, topic, image):
        """Subscribe, return the thumbnail, and unsubscribe."""
        images, key, listener = self._images, self._key, self._listener
        create = listener.node.create_publisher
        publisher = create(Image, f"/left/camera/wrist_1/{topic}", qos_profile_sensor_data)
        assert key not in images.newest
        images.subscribe(key)

        def arrived() -> bool:
            publisher.publish(image)
            listener.spin_for(0.1)
            return key in images.newest

        assert listener.spin_until(arrived)
        thumbnail = images.newest[key]
        images.unsubscribe(key)
        assert listener.spin_until(lambda: publisher.get_subscription_count() == 0)
        assert key not in images.newest
        return thumbnail


def test_a_downsampled_image_arrives_while_it_is_subscribed(connected):
    image = Image(height=2, width=640, step=1920, encoding="rgb8", data=bytes(range(240)) * 16)
    image.header.stamp.sec = 3
    thumbnail = EncodedImages(connected, ImageKind.COLOUR).received("image_raw", image)
    assert thumbnail.pixels.shape == (1, 320, 3)
    assert thumbnail.pixels[0, 1].tolist() == [6, 7, 8]
    assert thumbnail.time == 3.0


@pytest.mark.parametrize(
    ("encoding", "values"),
    [
        ("32FC1", np.array([[0.5, 1.0], [2.0, np.inf]], np.float32)),
        ("16UC1", np.array([[500, 1000], [2000, 0]], np.uint16)),
    ],
)
def test_depth_arrives_in_metres_and_false_colours(connected, encoding, values):
    image = Image(height=2, width=2, step=2 * values.itemsize, encoding=encoding)
    image.data = values.tobytes()
    got = EncodedImages(connected, ImageKind.DEPTH).received("depth/image_rect_raw", image)
    np.testing.assert_allclose(got.values, [[0.5, 1.0], [2.0, np.inf]])
    assert got.limits == pytest.approx((0.505, 1.99), abs=0.02)
    assert got.pixels[1, 1].tolist() == [0, 0, 0]
    assert got.pixels[0, 0].sum() > got.pixels[1, 0].sum(), "near is bright"


def test_segmentation_arrives_as_numbers_and_colours(connected):
    values = np.array([[0, 1], [2, 2]], np.uint16)
    image = Image(height=2, width=2, step=4, encoding="16UC1", data=values.tobytes())
    got = EncodedImages(connected, ImageKind.SEGMENTATION).received("segmentation/image_raw", image)
    np.testing.assert_array_equal(got.values, values)
    assert got.limits is None
    colours = [tuple(pixel) for pixel in got.pixels.reshape(4, 3).tolist()]
    assert colours[0] == (0, 0, 0)
    assert len({*colours[:3]}) == 3
    assert colours[2] == colours[3]


def test_log_messages_are_buffered_in_order(connected):
    log, listener = connected.clients.log, connected.listener

    def arrived() -> bool:
        listener.node.get_logger().warning("mind the gap")
        listener.spin_for(0.1)
        return any(line.text == "mind the gap" for line in log(0))

    assert listener.spin_until(arrived)
    lines = log(0)
    assert [line.number for line in lines] == sorted({line.number for line in lines})
    message = next(line for line in lines if line.text == "mind the gap")
    assert (message.node, message.level) == ("listener", 30)
    assert all(line.number > message.number for line in log(message.number))


def test_an_exception_of_the_executor_does_not_end_the_node(monkeypatch, caplog):
    monkeypatch.setitem(RunStateClient.submit.__kwdefaults__, "timeout_s", 0.1)
    viewer = ViewerNode("/elsewhere/mujoco", now=lambda: 0.0)
    executor, faults = viewer._executor, [RuntimeError("a fault")]

    def spin_once(**options):
        if faults:
            raise faults.pop()
        executor.spin_once(**options)

    faulty = SimpleNamespace(spin_once=spin_once, shutdown=executor.shutdown)
    monkeypatch.setattr(viewer, "_executor", faulty)
    clients = viewer
    viewer.start()
    try:
        request = clients.simulation.pause()
        while request.ok is None:
            time.sleep(0.01)
        assert "a fault" in caplog.text
        assert clients.simulation.set_speed(0.5).name == "set real_time_factor = 0.5"
        clients.parameters.known = {"at_end": ParameterInfo(value="pause")}
        assert clients.simulation.set_speed(0.5).name == "set rate = 0.5"
    finally:
        viewer.close()


def test_the_profile_of_the_simulator_is_received(connected):
    diagnostics = connected.clients.diagnostics
    assert connected.listener.spin_until(lambda: 1.0 > diagnostics.profile.get("step", 0.0) > 0.0)
    assert diagnostics.profile["position"] < diagnostics.profile["step"]


def test_requests_to_a_simulator_that_is_not_running_fail(monkeypatch):
    monkeypatch.setitem(RunStateClient.submit.__kwdefaults__, "timeout_s", 0.3)
    viewer = ViewerNode("/elsewhere/mujoco", now=lambda: 0.0)
    clients = viewer
    viewer.start()
    try:
        request = clients.simulation.pause()
        while request.ok is None:
            time.sleep(0.01)
        assert clients.simulation.status == ""
        assert not request.ok
        assert request.message == "/elsewhere/mujoco/set_simulation_state is not there"
        assert clients.latest_request().summary.startswith(
            "pause: /elsewhere/mujoco/set_simulation_state"
        )
        assert clients.parameters.known == {}
        assert viewer.node.get_namespace() == "/elsewhere"
        viewer.note_image_age(1.23)
        assert clients.simulation.pause().name == "pause, on an image 1.2 s old"
        viewer.note_image_age(0.5)
        assert clients.simulation.pause().name == "pause"
    finally:
        viewer.close()


def test_entities_are_listed_spawned_placed_reset_and_deleted(connected):
    entities = connected.clients.entities
    entities.prepare()
    connected.done(entities.list_spawnables())
    box = next(it for it in entities.spawnables if it.name == "box")
    assert box.uri.startswith("package://mujoco_ros/")
    assert box.description
    request = entities.spawn("crate", box.uri, (1.0, 0.5, 0.3))
    connected.done(request)
    assert request.command.startswith("ros2 service call /mujoco/spawn_entity simulation_interf")
    request = entities.place("crate", np.array([1.5, 0.5, 0.4]), QUARTER_TURN_ABOUT_Z)
    connected.done(request)
    assert request.command.startswith("ros2 service call /mujoco/set_entity_state simulation_in")
    assert "position: {x: 1.5, y: 0.5, z: 0.4}" in request.command
    values = {"elbow_joint.position": 0.5, "crate.pose": [1.0, 0.5, 0.3, 0.0, 0.0, 0.0, 1.0]}
    request = entities.reset("crate", values)
    connected.done(request)
    assert request.command.startswith("ros2 service call /mujoco/set_joints rcl_interfaces/srv/")
    connected.done(entities.delete("crate"))
    failed = connected.until(entities.delete("crate"))
    assert not failed.ok
    assert "crate" in failed.message


def test_worlds_are_listed_and_one_that_does_not_exist_is_rejected(connected):
    entities = connected.clients.entities
    connected.done(entities.list_worlds())
    zoo = next(it for it in entities.worlds if it.name == "zoo")
    assert zoo.description
    refused = connected.until(entities.load_world("bench.xml", "<mujoco><include file='a.xml'/>"))
    assert refused.name == "load world bench"
    assert not refused.ok
    assert "resource_string: <mujoco><include" in refused.command
    request = connected.until(entities.load_world(zoo.uri.replace("zoo", "missing")))
    assert not request.ok
    assert "missing" in request.message
    assert request.command.startswith("ros2 service call /mujoco/load_world simulation_interfaces")
