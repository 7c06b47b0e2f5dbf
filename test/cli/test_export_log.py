"""The executable `export_log`: bags, films and images of a state log."""

import stat
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from rclpy.serialization import deserialize_message
from rosbags.rosbag2 import Reader
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from mujoco_ros.cli.export_log import main
from mujoco_ros.extras import EXTRAS
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter

SMALL = ("--size", "64x48")


def write_log(path: Path, steps: Sequence[int]) -> None:
    """Write a log of an arm that moves, 100 rows a second, with a reset between the numbers."""
    simulation = Simulation(load_scene("arm"))
    ring = RingBuffer(simulation.plant, 10)
    for count in steps:
        simulation.reset()
        simulation.references.q[0] += 0.5
        for _ in range(count):
            simulation.step()
            ring.add_step()
    ring.closed = True
    writer = StateLogWriter(path)
    writer.add(ring)
    writer.close()


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> StateLog:
    """0.5 s of an arm that moves, 100 rows a second."""
    path = tmp_path_factory.mktemp("log") / "arm.mjlog"
    write_log(path, steps=(500,))
    return StateLog.open(path)


def messages(bag: Path, topic: str) -> list[tuple[int, bytes]]:
    """Return times [ns] and data as a reader of others finds them, by the metadata in the file."""
    with Reader(bag) as reader:
        return [(time, data) for it, time, data in reader.messages() if it.topic == topic]


def test_a_bag_has_the_topics_of_the_simulator_at_each_row(log, tmp_path):
    path = tmp_path / "arm.mcap"
    arguments = ["--start", "0.1", "--end", "0.3", "--namespace", "/lab"]
    assert main([str(log.path), str(path), *arguments]) == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    rows = (log.time > 0.0999) & (log.time < 0.3001)
    received = messages(path, "/lab/joint_states")
    assert [time for time, _ in received] == [round(1e9 * time) for time in log.time[rows]]
    states = [deserialize_message(data, JointState) for _, data in received]
    joint = states[0].name[0]
    positions = [state.position[0] for state in states]
    np.testing.assert_allclose(positions, log.joint(f"arm/{joint}").position[rows])
    assert positions[-1] - positions[0] > 0.05
    with Reader(path) as reader:
        counts = {it.topic: it.msgcount for it in reader.connections}
    count = int(rows.sum())
    assert counts["/clock"] == counts["/tf"] == counts["/lab/wrench/wrist_ft"] == count
    assert counts["/tf_static"] == counts["/lab/robot_description"] == 1
    moving = deserialize_message(messages(path, "/tf")[0][1], TFMessage)
    static = deserialize_message(messages(path, "/tf_static")[0][1], TFMessage)
    frames = {it.child_frame_id for it in (*moving.transforms, *static.transforms)}
    assert {"forearm_link", "box"} <= frames, "all links, for readers without a publisher of them"


def test_a_bag_has_one_run_of_a_log_with_a_reset(tmp_path, capsys):
    path, bag = tmp_path / "arm.mjlog", tmp_path / "arm.mcap"
    write_log(path, steps=(40, 30))
    first, second = StateLog.open(path).time[:4], StateLog.open(path).time[4:]
    assert second[0] < first[-1], "no reset"
    assert main([str(path), str(bag)]) == 1
    message = capsys.readouterr().err
    assert f"the span has resets, at {first[-1]:g} s; choose one of the runs 0, 1 by" in message
    assert not bag.exists()
    for run, times in enumerate((first, second)):
        bag = tmp_path / f"{run}.mcap"
        assert main([str(path), str(bag), f"--run={run}"]) == 0
        expected = [round(1e9 * time) for time in times]
        assert [time for time, _ in messages(bag, "/clock")] == expected
    bag = tmp_path / "span.mcap"
    assert main([str(path), str(bag), f"--start={first[-1]}"]) == 0
    assert len(messages(bag, "/clock")) == 1, "the second run is shorter"


def test_a_film_takes_as_long_as_the_states(log, tmp_path):
    av = pytest.importorskip("av", reason="the extra 'video' is not installed")
    path = tmp_path / "arm.mp4"
    assert main([str(log.path), str(path), *SMALL]) == 0
    with av.open(str(path)) as film:
        (stream,) = film.streams.video
        assert (stream.codec_context.name, stream.width, stream.height) == ("h264", 64, 48)
        assert stream.average_rate == 30
        images = [it.to_ndarray(format="rgb24") for it in film.decode(stream)]
    assert len(images) == int(log.time[-1] * 30 - log.time[0] * 30) + 1
    assert np.ptp(images[0]) > 50, "no content"


def test_an_image_is_the_first_row_from_a_camera(log, tmp_path):
    path = tmp_path / "arm.png"
    pose = ["0.3", "-0.2", "0.4", "2.0", "130.5", "-25.0"]
    assert main([str(log.path), str(path), *SMALL, "--start", "0.2", "--pose", *pose]) == 0
    image = cv2.imread(str(path))
    assert image.shape == (48, 64, 3)
    assert np.ptp(image) > 50


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("arm.avi", (), "must end with one of: .mcap, .mp4, .png"),
        ("arm.png", ("--start", "7"), "no row from 7 to inf s; its rows are from"),
        ("arm.png", ("--camera", "absent"), "'absent'"),
        ("arm.mcap", ("--segment", "3"), "no segment 3, but 0 to 0"),
        ("arm.mcap", ("--segment", "-1"), "no segment -1, but 0 to 0"),
        ("arm.mcap", ("--segment", "-7"), "no segment -7, but 0 to 0"),
        ("arm.mcap", ("--run", "1"), "the span has no run 1, but 0"),
        ("arm.mp4", ("--size", "63x48"), "must be even, got 63x48"),
        ("missing/arm.png", (), "cannot be written: No such file or directory"),
    ],
)
def test_wrong_arguments_are_named_and_nothing_is_written(
    log, tmp_path, capsys, name, arguments, reason, monkeypatch
):
    monkeypatch.setitem(EXTRAS, "video", {})  # so that the other errors are reached
    assert main([str(log.path), str(tmp_path / name), *arguments]) == 1
    assert reason in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_without_the_module_for_films_the_error_names_what_to_install(
    log, tmp_path, capsys, monkeypatch
):
    monkeypatch.setitem(EXTRAS, "video", {"no_such_module": ">=14"})
    assert main([str(log.path), str(tmp_path / "arm.mp4")]) == 1
    assert "run: pip install 'no_such_module>=14'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
