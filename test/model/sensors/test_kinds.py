"""Every kind of sensor has all features of its declaration."""

from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
import yaml

from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.runtime.observation_source import ObservationSource
from mujoco_ros.model.packages import share_directory
from mujoco_ros.model.scene.config import RATES, RobotConfig, load_scene
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS, SensorKind
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.viewer.plots.signals import signals

NAME = "probe"
NOISE = 0.01

every_kind = pytest.mark.parametrize("kind", SENSOR_KINDS, ids=lambda kind: kind.key)


def element(sensor: mujoco.mjtSensor) -> str:
    """Return the MJCF element of a sensor at the site."""
    tag = sensor.name.removeprefix("mjSENS_").lower()
    if tag.startswith("frame"):
        site = f'objtype="site" objname="{NAME}"'
    else:
        site = 'body="arm"' if tag.startswith("subtree") else f'site="{NAME}"'
    return f'<{tag} name="{tag}" {site} noise="{NOISE}"/>'


def simulated(tmp_path: Any, kind: SensorKind, **options: Any) -> Simulation:
    """Return a pendulum with a sensor of a kind, with a measurement in each number."""
    sensors = "".join(element(measurement.sensors[0]) for measurement in kind.measurements)
    (tmp_path / "robot.xml").write_text(
        f"""<mujoco model="pendulum">
          <option magnetic="2e-5 1e-5 -4e-5"/>
          <worldbody>
            <geom type="plane" size="1 1 .1"/>
            <body name="arm" pos="0 0 .5">
              <joint name="hinge" axis="1 2 0"/>
              <geom type="capsule" size=".02" fromto="0 0 0 0.1 0.2 0.3"/>
              <body name="ball" pos="0 0 -.42">
                <geom size=".1"/>
                <site name="{NAME}" size=".2" euler="160 20 10"/>
              </body>
            </body>
          </worldbody>
          <sensor>{sensors}</sensor>
        </mujoco>"""
    )
    simulation = Simulation(load_scene(str(tmp_path / "robot.xml")), **options)
    simulation.data.qvel[:] = 0.1
    for _ in range(20):
        simulation.step()
    return simulation


def name_of(kind: SensorKind) -> str:
    """Return the name of the sensor: of the site, or of the only MuJoCo sensor."""
    sensor, *others = (measurement.sensors[0] for measurement in kind.measurements)
    return NAME if others else sensor.name.removeprefix("mjSENS_").lower()


def test_keys_and_entries_of_the_kinds_differ():
    assert len({kind.key for kind in SENSOR_KINDS}) == len(SENSOR_KINDS)
    entries = [kind.observation for kind in SENSOR_KINDS]
    assert len(set(entries)) == len(entries)
    assert set(entries) <= {field.name for field in fields(Observation)}


@every_kind
def test_a_kind_is_found_in_a_model(kind, tmp_path):
    robot = simulated(tmp_path, kind).layout.robots[0]
    (sensor,) = robot.sensors[kind.key]
    assert sensor.name == name_of(kind)
    assert sensor.addresses.keys() == {measurement.name for measurement in kind.measurements}
    assert robot.every_sensor == (sensor,)
    assert robot.unused_sensors == ()


@every_kind
def test_a_kind_has_a_rate_in_the_scene_and_among_the_parameters(kind):
    publishers = pytest.importorskip(
        "mujoco_ros.bridge.publishing.publishers", exc_type=ImportError
    )
    assert RATES[kind.key] == kind.rate_hz
    declared = {spec.name: spec.default for spec in publishers.Publishers.parameters}
    assert declared[f"publish_rate.{kind.key}"] == kind.rate_hz
    assert RobotConfig(name="r", model="r.xml", publish_rate={kind.key: 1.0})


@every_kind
def test_a_kind_has_a_topic_with_all_its_measurements(kind, tmp_path):
    topics = pytest.importorskip("mujoco_ros.bridge.publishing.topics", exc_type=ImportError)
    qos = pytest.importorskip("mujoco_ros.wire.qos", exc_type=ImportError)
    robot = simulated(tmp_path, kind).layout.robots[0]
    robot = replace(robot, namespace="left", frame_prefix="left/")
    (topic,) = (
        topic
        for topic in topics.robot_topics(0, robot, 0, "child_on_parent")
        if topic.rate == kind.key
    )
    assert topic.name == f"left/{kind.key}/{name_of(kind)}"
    assert topic.qos == qos.SENSOR
    package, _, message = kind.message.split("/")
    assert type(topic.message).__module__.startswith(f"{package}.msg.")
    assert type(topic.message).__name__ == message
    frame = "world" if kind.is_of_frame else f"left/{NAME}{kind.frame_suffix}"
    assert topic.message.header.frame_id == frame
    assert set(topic.numbers) == {
        path for measurement in kind.measurements for path in measurement.paths
    }


@every_kind
def test_a_kind_can_be_plotted(kind, tmp_path):
    simulation = simulated(tmp_path, kind)
    state = SimpleNamespace(
        layout=simulation.layout,
        model=simulation.model,
        data=simulation.data,
        references=simulation.references,
    )
    simulation.data.sensordata[:] = 0.1 + np.arange(simulation.model.nsensordata)
    found = {signal.key: signal for signal in signals(state, lambda: -1.0)}
    (sensor,) = simulation.layout.robots[0].sensors[kind.key]
    plotted = [measurement for measurement in kind.measurements if measurement.label]
    assert plotted
    for measurement in plotted:
        signal = found[f"pendulum {kind.plots}", sensor.name, measurement.label]
        first, count = sensor.addresses[measurement.name], len(measurement.paths)
        expected = simulation.data.sensordata[first : first + count]
        assert (
            signal.read().tolist() == ((-1.0 if measurement.is_load else 1.0) * expected).tolist()
        )
        assert len(signal.curves) == count
        assert signal.unit == measurement.unit


def numbers(reading: Any) -> list[float]:
    """Return all numbers of a reading."""
    if isinstance(reading, float | np.ndarray):
        return np.atleast_1d(reading).tolist()
    return [number for field in fields(reading) for number in getattr(reading, field.name).tolist()]


@every_kind
def test_a_hosted_controller_and_a_node_observe_the_same_reading(kind, tmp_path):
    pytest.importorskip("rclpy")
    from rclpy.serialization import serialize_message

    from mujoco_ros.bridge.publishing.topics import robot_topics
    from mujoco_ros.controllers.ros.node.observation_source import TopicObservationSource
    from mujoco_ros.wire.message_template import write

    simulation = simulated(tmp_path, kind)
    (hosted,) = getattr(
        ObservationSource(simulation.plant, 0).observe(simulation.time), kind.observation
    ).items()

    received = {}
    endpoints = SimpleNamespace(
        subscription=lambda _kind, topic, callback, _qos, **_: received.update({topic: callback})
    )
    source = TopicObservationSource(
        endpoints,
        simulation.layout,
        0,
        period=0.005,
        on_message=lambda: None,
        every=True,
        wrench_sign="parent_on_child",
    )
    arrays = {"sensordata": simulation.sample.sensordata, "distances": simulation.sample.sensordata}
    for topic in robot_topics(0, simulation.layout.robots[0], 0, "parent_on_child"):
        if topic.rate in ("joint_states", kind.key):
            values = [
                number.sign * arrays[number.array][number.address]
                if number.array in arrays
                else 0.0
                for number in topic.numbers.values()
            ]
            write(topic.message, list(topic.numbers), np.array(values))
            received[topic.name](bytes(serialize_message(topic.message)))
    (observed,) = getattr(source.observe(), kind.observation).items()

    assert observed[0] == hosted[0] == name_of(kind)
    assert type(observed[1]) is type(hosted[1])
    assert numbers(observed[1]) == pytest.approx(numbers(hosted[1]), rel=1e-6, nan_ok=True)
    assert any(numbers(hosted[1]))


@every_kind
def test_a_kind_has_the_noise_that_the_model_declares(kind, tmp_path):
    exact, noisy = (simulated(tmp_path, kind, sensor_noise=on).sample for on in (False, True))
    added = noisy.sensordata - exact.sensordata
    assert added.all()
    assert np.abs(added).max() < 6 * NOISE


@every_kind
def test_a_kind_has_a_placeholder_in_rviz_and_its_display_in_the_shipped_configuration(
    kind, tmp_path
):
    rviz = pytest.importorskip("mujoco_ros.bridge.tf.rviz_config", exc_type=ImportError)
    layout = simulated(tmp_path, kind).layout
    topic = f"/{kind.key}/{name_of(kind)}"
    own = {"Visualization Manager": {"Displays": [{"Class": "x", "Topic": f"{{{kind.key}}}"}]}}
    assert rviz.filled(own, layout)["Visualization Manager"]["Displays"] == [
        {"Class": "x", "Topic": topic}
    ]
    shipped = share_directory() / "config" / "rviz" / "mujoco_ros.rviz"
    filled = rviz.filled(yaml.safe_load(shipped.read_text()), layout)
    displays = [
        display
        for display in filled["Visualization Manager"]["Displays"]
        if (display.get("Topic") or {}).get("Value") == topic
    ]
    assert [display["Class"] for display in displays] == (
        [kind.display["Class"]] if kind.display else []
    )
    assert all({**display, **kind.display} == display for display in displays)


STATES = """
<mujoco model="pendulum">
  <worldbody><body name="arm"><joint name="hinge" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>
    <body name="ball"><joint name="socket" type="ball"/><geom size=".1" pos="0 0 .3"/></body>
  </body></worldbody>
  <sensor>
    <jointvel name="speed" joint="hinge"/>
    <ballquat name="turn" joint="socket"/>
    <e_kinetic name="energy"/>
  </sensor>
</mujoco>"""


@pytest.fixture
def with_states(tmp_path):
    (tmp_path / "robot.xml").write_text(STATES)
    simulation = Simulation(load_scene(str(tmp_path / "robot.xml")))
    simulation.data.qvel[:] = 0.1
    for _ in range(20):
        simulation.step()
    return simulation


def test_a_hosted_controller_and_a_node_observe_the_same_sensor_states(with_states):
    pytest.importorskip("rclpy")
    from rclpy.serialization import serialize_message

    from mujoco_ros.bridge.publishing.topics import robot_topics
    from mujoco_ros.controllers.ros.node.observation_source import TopicObservationSource
    from mujoco_ros.wire.message_template import write

    simulation = with_states
    hosted = ObservationSource(simulation.plant, 0).observe(simulation.time).sensor_states
    received = {}
    endpoints = SimpleNamespace(
        subscription=lambda _kind, topic, callback, _qos, **_: received.update({topic: callback})
    )
    source = TopicObservationSource(
        endpoints,
        simulation.layout,
        0,
        period=0.005,
        on_message=lambda: None,
        every=True,
        wrench_sign="child_on_parent",
    )
    assert "sensor_states" in source.missing
    sample = simulation.sample
    for topic in robot_topics(0, simulation.layout.robots[0], 0, "child_on_parent"):
        if topic.name in ("joint_states", "sensor_states"):
            values = [
                getattr(sample, number.array)[number.address] for number in topic.numbers.values()
            ]
            write(topic.message, list(topic.numbers), np.array(values))
            received[topic.name](bytes(serialize_message(topic.message)))
    observed = source.observe().sensor_states
    assert observed.keys() == hosted.keys() == {"speed", "turn", "energy"}
    for name, values in hosted.items():
        assert observed[name].tolist() == values.tolist()
    assert hosted["speed"] == sample.qvel[0] != 0
    assert hosted["turn"].tolist() == sample.qpos[1:].tolist()


def test_sensor_states_can_be_plotted(with_states):
    simulation = with_states
    state = SimpleNamespace(
        layout=simulation.layout,
        model=simulation.model,
        data=simulation.data,
        references=simulation.references,
    )
    found = {signal.key: signal for signal in signals(state, lambda: -1.0)}
    speed = found["pendulum sensor states", "speed", "velocity"]
    assert (speed.read().tolist(), speed.unit) == ([simulation.sample.qvel[0]], "rad/s")
    turn = found["pendulum sensor states", "turn", "orientation"]
    assert turn.curves == tuple(f"turn orientation.{axis}" for axis in "wxyz")
    assert len(turn.read()) == 4


@pytest.mark.parametrize("kind", SENSOR_KINDS, ids=lambda kind: kind.key)
def test_a_measurement_has_the_precision_of_its_message(kind):
    message_template = pytest.importorskip("mujoco_ros.wire.message_template")
    message = message_template.message_type(kind.message)()
    paths = [path for it in kind.measurements for path in it.paths]
    singles = [it.is_single for it in kind.measurements for _ in it.paths]
    template = message_template.MessageTemplate(message, paths, [])
    assert template.is_single.tolist() == singles
