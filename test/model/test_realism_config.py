"""The key `realism` of a scene, and profiles."""

import re
from pathlib import Path

import pytest
import yaml

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism_config import (
    ActuatorChannel,
    RealismConfig,
    SensorChannel,
    load_profiles,
    shipped_profiles,
)
from mujoco_ros.model.scene.config import load_scene, read_scene
from mujoco_ros.sim.simulation import Simulation

ARM = "package://mujoco_ros/urdf_mjcf/arm/arm.xml"


def scene(folder: Path, realism: object) -> Path:
    path = folder / "scene.yaml"
    path.write_text(yaml.safe_dump({"robots": [{"name": "a", "model": ARM, "realism": realism}]}))
    return path


def test_entries_have_selections_and_settings(tmp_path):
    (robot,) = read_scene(
        scene(tmp_path, {"sensors": {"gyro": {"type": "gyro", "match": "imu*", "noise": 1}}})
    ).robots
    (entry,) = robot.realism.entries()
    assert entry.settings == SensorChannel(noise=1.0)
    assert (entry.selection.type, entry.selection.match) == ("gyro", ("imu*",))


def test_a_robot_without_the_key_has_none(tmp_path):
    assert read_scene(scene(tmp_path, None)).robots[0].realism is None


def test_values_of_a_scene_override_those_of_the_profile(tmp_path):
    (tmp_path / "own.yaml").write_text(
        "sensors: {gyro: {type: gyro, noise: 1.0, delay: 0.01}}\nactuators: {all: {backlash: 0.1}}"
    )
    realism = {"profile": "own.yaml", "sensors": {"gyro": {"noise": 2.0}, "acc": {"noise": 3.0}}}
    (robot,) = read_scene(scene(tmp_path, realism)).robots
    found = {it.name: it for it in robot.realism.entries()}
    assert found["gyro"].settings == SensorChannel(noise=2.0, delay=0.01)
    assert found["gyro"].selection.type == "gyro"
    assert found["acc"].settings == SensorChannel(noise=3.0)
    assert found["all"].settings == ActuatorChannel(backlash=0.1)


@pytest.mark.parametrize(
    ("realism", "message"),
    [
        ({"sensor": {}}, "unknown key 'sensor'|key 'sensor' not found"),
        ({"sensors": {"a": {"nois": 1.0}}}, "sensors.a.*'nois'"),
        ({"sensors": {"a": {"noise": -1.0}}}, "noise is -1; it must be from 0 to"),
        ({"sensors": {"a": {"noise": float("nan")}}}, "finite"),
        ({"sensors": {"a": {"noise": "x"}}}, "expected a number"),
        ({"sensors": {"a b": {}}}, "name 'a b' is not valid"),
        ({"sensors": {"a": {"match": 3}}}, "sensors.a.match"),
        ({"joints": {"a": {"type": "hinge"}}}, "joints.a.*'type'"),
        ({"joints": {"a": {"dropout": 1.5}}}, "dropout is 1.5; it must be from 0 to 1"),
        ({"joints": {"a": {"delay": 2.0}}}, "delay is 2; it must be from 0 to 1"),
        (
            {"actuators": {"a": {"derating_start": 100.0, "derating_end": 90.0}}},
            "'derating_end' must be above 'derating_start'",
        ),
        ({"profile": "idel"}, r"profile 'idel' not found \(did you mean 'ideal'\?\)"),
        ({"profile": "missing.yaml"}, "missing.yaml"),
    ],
)
def test_invalid_values_are_errors_that_name_them(tmp_path, realism, message):
    with pytest.raises(UserInputError, match=message):
        read_scene(scene(tmp_path, realism))


def test_a_profile_names_no_other_profile(tmp_path):
    (tmp_path / "own.yaml").write_text("profile: ideal")
    with pytest.raises(UserInputError, match="cannot name another profile"):
        read_scene(scene(tmp_path, {"profile": "own.yaml"}))


@pytest.mark.parametrize("name", shipped_profiles())
def test_every_shipped_profile_fits_the_robots_and_sources_each_number(name):
    profile = load_profiles(name, Path, "test")
    for robot in ("arm", "quadruped", "humanoid"):
        simulation = Simulation(load_scene(robot), realism=profile)
        for _ in range(20):
            assert simulation.step()
    text = shipped_profiles()[name].read_text()
    numbers = re.findall(r"^ +\w+: [-\d.e]+\b.*$", text, flags=re.MULTILINE)
    assert len(numbers) >= (0 if name == "ideal" else 6)
    for line in numbers:
        (source, *_) = re.findall(r"# \[(\w+)\]", line) or [None]
        assert source is not None, f"{name}: '{line}' has no source"
        assert re.search(rf"^# \[{source}\] ", text, flags=re.MULTILINE), f"{name}: [{source}]"
    assert (name == "ideal") == (profile == RealismConfig())


def test_profiles_can_be_combined():
    both = load_profiles("qdd_can, mems_imu", Path, "test")
    assert set(both.joints) == {"encoders"}
    assert set(both.sensors) == {"gyroscope", "accelerometer"}


def test_there_are_profiles_for_the_usual_hardware():
    assert {
        "ideal",
        "servo_250hz_ethercat",
        "servo_1khz_ethercat",
        "serial_bus_servo",
        "qdd_can",
        "mems_imu",
    } <= set(shipped_profiles())
