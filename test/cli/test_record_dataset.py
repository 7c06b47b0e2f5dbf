"""The option `--lerobot` of `record`: a running simulator, and bags."""

import json
import logging
import os
import shutil
import signal
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from demonstration_messages import KINDS, RESETS, description, reset, run
from fork_server import fork_server
from lerobot_environment import python_or_skip
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import ResetSimulation
from std_srvs.srv import Trigger

from mujoco_ros.cli import record_dataset
from mujoco_ros.cli.record import main
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.demonstrations.demonstration_file import read_messages
from mujoco_ros.recording.demonstrations.lerobot_dataset import DESCRIPTION, PYTHON_VARIABLE
from mujoco_ros.recording.metadata import RecordedTopic
from mujoco_ros.recording.ros.bag import Bag
from mujoco_ros.recording.ros.bag_reader import BagReader
from mujoco_ros.wire.conversions import nanoseconds

FPS = 10
COMMANDED = {"elbow_joint": 1.2, "left_finger_joint": 0.01}
READ = """
import json, sys
from lerobot.datasets.lerobot_dataset import LeRobotDataset
dataset = LeRobotDataset("any/name", root=sys.argv[1], video_backend="pyav")
rows = [dataset[it] for it in range(dataset.num_frames)]
print(json.dumps({
    "episodes": [int(it["episode_index"]) for it in rows], "fps": dataset.fps,
    "robot": dataset.meta.robot_type, "task": rows[0]["task"],
    "names": dataset.features["action"]["names"],
    "action": [it["action"].tolist() for it in rows],
    "times": [it["replay.time"].item() for it in rows],
    "image": list(rows[0]["observation.images.table_camera"].shape),
    "deviation": rows[0]["observation.images.table_camera"].std().item(),
}))
"""


@pytest.fixture(autouse=True)
def _signals_of_the_tests(monkeypatch):
    monkeypatch.setattr(record_dataset, "handle_signals", lambda *_: None)


TWO_EPISODES = [
    *[("/robot_description", description()), *run(0.0, 0.6)],
    *[(RESETS, reset(0.0, "time state")), *run(0.0, 0.4)],
]


def _bag(folder, messages):
    written = Bag(folder, "jazzy")
    topics = {
        name: RecordedTopic(name=name, kind=kind, type_hash="", qos=[])
        for name, kind in KINDS.items()
    }
    for topic in topics.values():
        written.add(topic)
    for number, (name, message) in enumerate(messages):
        written.write(topics[name], number, number, number, serialize_message(message))
    written.finish()
    return written.folder


@pytest.fixture
def bag(tmp_path):
    """A bag with a reset after 0.6 s."""
    return _bag(tmp_path / "bag", TWO_EPISODES)


@pytest.fixture
def without_lerobot(monkeypatch):
    monkeypatch.setattr(record_dataset.lerobot_dataset, "check_new", lambda _folder: None)
    monkeypatch.setenv(PYTHON_VARIABLE, "/bin/false")


def _command(dataset, *bags):
    options = ["--lerobot", str(dataset), "--task", "move", "--fps", "50"]
    return [*options, "--bag", *map(str, bags)]


def _episodes(dataset):
    """Return the names of the files of episodes, and the number of frames in each."""
    files = dataset.with_name(f"{dataset.name}.episodes").glob("*.zst")
    return {it.stem: len(list(read_messages(it))) - 1 for it in sorted(files)}


def test_a_bag_becomes_episodes_that_resets_separate(bag, tmp_path, without_lerobot, caplog):
    dataset, later = tmp_path / "dataset", tmp_path / "later"
    with caplog.at_level(logging.INFO, "mujoco_ros"):
        assert main(_command(dataset, bag)) == 1, "LeRobot is missing"
        assert main([*_command(later, bag), "--start", "0.3"]) == 1
    assert "episode 000001 has ended by a reset: 30 frames" in caplog.text
    assert "episode 000002 has ended: 20 frames" in caplog.text
    assert _episodes(dataset) == {"000001": 30, "000002": 20}, "the episodes are kept"
    assert _episodes(later) == {"000001": 15, "000002": 20}
    assert not dataset.exists()


def test_a_bag_is_read_once(bag, tmp_path, without_lerobot, caplog, capsys):
    dataset = tmp_path / "dataset"
    second = _bag(tmp_path / "second", TWO_EPISODES)
    for _ in range(2):
        assert main([*_command(dataset, bag, second), "--resume"]) == 1, "LeRobot is missing"
        assert list(_episodes(dataset).values()) == [30, 20, 30, 20]
    assert f"'{second}' was read before" in caplog.text
    assert main([*_command(dataset, bag), "--resume", "--start", "0.3"]) == 1
    assert "with '--start 0', not '--start 0.3'" in capsys.readouterr().err


def test_a_signal_while_a_bag_is_read_writes_no_dataset(
    bag, tmp_path, without_lerobot, monkeypatch, capsys
):
    dataset, read, handlers = tmp_path / "dataset", BagReader.read, []

    def interrupted(*arguments):
        for message in read(*arguments):
            yield message
            if _episodes(dataset):
                handlers[0](signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(record_dataset, "handle_signals", lambda it, *_: handlers.append(it))
        patched.setattr(BagReader, "read", interrupted)
        assert main(_command(dataset, bag)) == 1
    assert "interrupted; there is no dataset, and --resume continues" in capsys.readouterr().err
    assert list(_episodes(dataset).values()) == [30]
    assert main([*_command(dataset, bag), "--resume"]) == 1, "LeRobot is missing"
    assert list(_episodes(dataset).values()) == [30, 20], "the bag was read again"


def test_a_late_event_in_a_bag_makes_no_further_episode(tmp_path, without_lerobot):
    messages = [
        *[("/robot_description", description()), *run(0.0, 0.6), *run(0.0, 0.1)],
        *[(RESETS, reset(0.0, "time state")), *run(0.102, 0.4)],
    ]
    dataset = tmp_path / "dataset"
    assert main(_command(dataset, _bag(tmp_path / "bag", messages))) == 1, "LeRobot is missing"
    first, second = _episodes(dataset).values()
    assert (first, second) == (30, pytest.approx(20, abs=1))


def test_an_episode_of_a_bag_that_a_gap_ends_is_in_the_exit_code(
    tmp_path, without_lerobot, monkeypatch, capsys
):
    messages = [("/robot_description", description()), *run(0.0, 1.5), *run(1.7, 2.5)]
    dataset = tmp_path / "dataset"
    monkeypatch.setattr(record_dataset, "_write", lambda *_: None)  # needs LeRobot
    for _ in range(2):
        command = [*_command(dataset, _bag(tmp_path / "bag", messages)), "--resume"]
        assert main(command) == 1
        assert "an error ended or discarded 1 episode of the bags" in capsys.readouterr().err
        assert list(_episodes(dataset).values()) == [pytest.approx(74, abs=1)]
        shutil.rmtree(tmp_path / "bag")


def test_the_robot_is_named_by_a_description_late_in_a_bag(tmp_path, without_lerobot):
    dataset = tmp_path / "dataset"
    bag = _bag(tmp_path / "bag", [*run(0.0, 0.6), ("/robot_description", description())])
    assert main(_command(dataset, bag)) == 1, "LeRobot is missing"
    (path,) = dataset.with_name("dataset.episodes").glob("*.zst")
    assert json.loads(next(read_messages(path)))["robot"] == "arm"


def test_episodes_of_an_interrupted_recording_are_not_mixed_with_others(
    bag, tmp_path, monkeypatch, capsys
):
    python_or_skip()
    dataset = tmp_path / "dataset"
    command = ["--lerobot", str(dataset), "--task", "move", "--bag", str(bag), "--codec", "h264"]
    with monkeypatch.context() as patched:
        patched.setattr(record_dataset, "_write", lambda *_: None)
        assert main(command) == 0
    assert main(command) == 1
    assert (
        "has 2 episodes that are in no dataset yet; --resume continues" in capsys.readouterr().err
    )
    assert main([*command, "--resume"]) == 0
    assert f"2 episodes, 30 frames in {dataset}" in capsys.readouterr().out
    assert not dataset.with_name("dataset.episodes").exists()
    described = json.loads((dataset / DESCRIPTION).read_text())
    assert [it["frames"] for it in described["episodes"]] == [18, 12]
    assert described["command"] == (
        f"record --lerobot {dataset} --task move --fps 30 --codec h264 --bag {bag}"
    )
    assert main(command) == 1
    assert "exists; name a new folder" in capsys.readouterr().err


@pytest.mark.parametrize("error", [UserInputError("no episode"), OSError("no space")])
def test_an_error_of_a_key_does_not_end_the_recording(error, caplog):
    def fails():
        raise error

    session = SimpleNamespace(_keys={"e": fails}, _report=lambda action: action())
    record_dataset._Session._press(session, "e")
    assert str(error) in caplog.text


@pytest.mark.parametrize("cameras", ["", "a,", ",", "none,a", "a,a"])
def test_a_list_of_cameras_is_checked(cameras, capsys):
    with pytest.raises(SystemExit):
        main(["--lerobot", "new", "--task", "it", "--cameras", cameras])
    assert f"'{cameras}' is not a list of different names" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "error_text"),
    [
        (["--fps", "25"], "--fps is for --lerobot"),
        (["--start", "0"], "--start is for --lerobot"),
        (["--resume"], "--resume is for --lerobot"),
        (["--lerobot", "new"], "--lerobot needs --task"),
        (["--lerobot", "new", "--task", "it", "--start", "1"], "--start is for --bag"),
        (["--start", "nan"], "'nan' is not a time in seconds"),
        (["--lerobot", "new", "--task", "it", "--topics", "/tf"], "--topics is not for --lerobot"),
        (["--lerobot", "new", "--task", "it", "-o", "bag"], "--output is not for --lerobot"),
        (
            ["--lerobot", "new", "--task", "it", "--compression", "lz4"],
            "--compression is not for --lerobot",
        ),
    ],
)
def test_options_that_do_not_fit_are_an_error(options, error_text, capsys):
    with pytest.raises(SystemExit):
        main(options)
    assert error_text in capsys.readouterr().err


def test_a_bag_without_the_topics_is_an_error_and_leaves_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(record_dataset.lerobot_dataset, "check_new", lambda _folder: None)
    Bag(tmp_path / "bag", "jazzy").finish()
    dataset = tmp_path / "dataset"
    command = ["--lerobot", str(dataset), "--task", "it", "--cameras", "none"]
    assert main([*command, "--bag", str(tmp_path / "bag")]) == 1
    assert "there is no topic 'joint_references'" in capsys.readouterr().err
    assert [it.name for it in tmp_path.iterdir()] == ["bag"]


class Teleoperation:
    """A simulated arm that is commanded and recorded."""

    def __init__(self, start, folder):
        self.simulator = start.simulator(scene="arm", cameras="true", real_time_factor=0.2)
        self.listener = start.listener(self.simulator)
        node = self.listener.node
        self._commands = node.create_publisher(JointState, "/joint_commands", 10)
        self._clients = {}
        self.states = self.listener.record(JointState, "/joint_states", reliable=True)
        self._log = folder / "record.log"
        with self._log.open("wb") as file:
            self.process = fork_server().fork(
                "mujoco_ros.cli.record",
                *("--lerobot", str(folder / "dataset"), "--task", "bend", "--fps", str(FPS)),
                *("--codec", "h264"),
                env=self.simulator.environment,
                stdout=file.fileno(),
                stderr=file.fileno(),
            )

    @property
    def log(self):
        return self._log.read_text()

    def call(self, kind, service):
        client = self._clients.get(service) or self.listener.node.create_client(kind, service)
        self._clients[service] = client
        self.until(client.service_is_ready)
        return self.listener.result(client.call_async(kind.Request()))

    def until(self, condition):
        def met():
            assert self.process.poll() is None, self.log
            return condition()

        assert self.listener.spin_until(met), self.log

    def run(self, seconds):
        """Command the joints for a simulated time."""
        begin = len(self.states)

        def commanded():
            names, positions = list(COMMANDED), list(COMMANDED.values())
            self._commands.publish(JointState(name=names, position=positions))
            ends = [deserialize_message(self.states.raw[it], JointState) for it in (begin, -1)]
            first, last = (nanoseconds(it.header.stamp) for it in ends)
            return last - first > 1e9 * seconds

        self.until(lambda: len(self.states) > begin)
        self.until(commanded)


def test_teleoperation_becomes_a_dataset(start, tmp_path):
    python = python_or_skip()
    arm = Teleoperation(start, tmp_path)
    arm.until(lambda: arm.call(Trigger, "/record/start_episode").success)
    arm.run(1.2)
    assert arm.call(Trigger, "/record/end_episode").success
    refused = arm.call(Trigger, "/record/discard_episode")
    assert (refused.success, refused.message) == (False, "no episode is being recorded")
    assert arm.call(Trigger, "/record/start_episode").success
    arm.run(1.2)
    arm.call(ResetSimulation, "/mujoco/reset_simulation")
    arm.until(lambda: "episode 000002 has ended by a reset" in arm.log)
    arm.process.send_signal(signal.SIGINT)
    assert arm.process.wait(120.0) == 0, arm.log
    command = [python, "-c", READ, str(tmp_path / "dataset")]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    answer = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    found = json.loads(answer.stdout.splitlines()[-1])
    assert (found["fps"], found["robot"], found["task"]) == (FPS, "arm", "bend")
    assert found["image"] == [3, 240, 320]
    assert found["deviation"] > 0.05, "the image has content"
    action = np.array(found["action"])
    assert len(found["names"]) == action.shape[1] == 7, "six joints and the gripper"
    for episode in (0, 1):
        rows = np.array(found["episodes"]) == episode
        times = np.array(found["times"])[rows]
        assert len(times) >= 6
        np.testing.assert_allclose(np.diff(times), 1.0 / FPS, atol=0.5 / FPS)
        for joint, position in COMMANDED.items():
            column = found["names"].index(f"{joint}.position")
            assert action[rows][-1, column] == pytest.approx(position, abs=1e-6)
