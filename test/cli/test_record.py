"""The executable `record`, ended by Ctrl-C and by SIGKILL."""

import os
import random
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

pytest.importorskip("rclpy", reason="ROS 2 is not installed here; `make setup` installs it")

from fork_server import ForkedProcess, fork_server
from mcap.reader import make_reader
from rosbags.rosbag2 import Reader

from benchmark.domains import Domain
from mujoco_ros.cli.record import main

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 120.0
TOPICS, RATE_HZ = 4, 250
# Publishes topics of joint states at a rate.
PUBLISHER = f"""
import time
import rclpy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node("publisher")
publishers = [node.create_publisher(JointState, f"/topic{{i}}", 10) for i in range({TOPICS})]
message = JointState(position=[0.0] * 30, velocity=[0.0] * 30)
begin, count = time.monotonic(), 0
while True:
    data = serialize_message(message)
    for publisher in publishers:
        publisher.publish(data)
    count += 1
    if count % 100 == 0:
        print(count, flush=True)
    time.sleep(max(0.0, begin + count / {RATE_HZ} - time.monotonic()))
"""


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """The environment variables of a private ROS domain."""
    domain = Domain()
    yield os.environ | {"ROS_DOMAIN_ID": str(domain.id)}
    domain.close()


@pytest.fixture
def start(environment, tmp_path) -> Iterator[Callable[..., ForkedProcess]]:
    """Start a module or script with arguments; it is killed after the test."""
    processes: list[ForkedProcess] = []

    def start(program: str, *arguments: str) -> ForkedProcess:
        with (tmp_path / f"log{len(processes)}").open("wb") as log:
            process = fork_server().fork(program, *arguments, env=environment, stdout=log.fileno())
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()


def publish(start, folder: Path) -> None:
    script = folder / "publisher.py"
    script.write_text(PUBLISHER)
    start(str(script))


def record(start, folder: Path, *arguments: str) -> ForkedProcess:
    return start("mujoco_ros.cli.record", "--output", str(folder), *arguments)


def recorded(folder: Path) -> int:
    """Return the number of messages in metadata.yaml."""
    return sum(recorded_by_topic(folder))


def recorded_by_topic(folder: Path) -> list[int]:
    """Return the number of messages of each topic in metadata.yaml."""
    try:
        content = yaml.safe_load((folder / "metadata.yaml").read_text())
    except FileNotFoundError:
        return []
    topics = content["rosbag2_bagfile_information"]["topics_with_message_count"]
    return [topic["message_count"] for topic in topics]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def contents(folder: Path) -> dict[str, list[int]]:
    """Return the times of the messages of each topic, by another reader."""
    with Reader(folder) as reader:
        found: dict[str, list[int]] = {connection.topic: [] for connection in reader.connections}
        for connection, time_ns, _ in reader.messages():
            found[connection.topic].append(time_ns)
    return found


def missing_numbers(folder: Path) -> dict[str, int]:
    """Return how many of the publisher's numbers lie between those of recorded messages."""
    numbers: dict[str, list[int]] = {}
    with (folder / "bag_0.mcap").open("rb") as file:
        for _, channel, message in make_reader(file).iter_messages():
            numbers.setdefault(channel.topic, []).append(message.sequence)
    spans = {name: max(it) - min(it) + 1 - len(it) for name, it in numbers.items()}
    return {name: missing for name, missing in spans.items() if missing}


def test_a_recorder_says_how_many_messages_were_lost_on_the_way(start, tmp_path):
    bag, sent = tmp_path / "bag", tmp_path / "log0"
    publish(start, tmp_path)
    recorder = record(start, bag, "--regex", "/topic.*")
    wait_for(lambda: len(recorded_by_topic(bag)) == TOPICS and min(recorded_by_topic(bag)) > 0)
    recorder.send_signal(signal.SIGSTOP)
    until = int(sent.read_text().split()[-1]) + 2 * RATE_HZ
    wait_for(lambda: int(sent.read_text().split()[-1]) >= until)
    before = recorded(bag)
    recorder.send_signal(signal.SIGCONT)
    wait_for(lambda: recorded(bag) > before + TOPICS * RATE_HZ)
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(TIMEOUT_S) == 0
    (line,) = re.findall("lost on the way to the recorder: (.*)", (tmp_path / "log1").read_text())
    said = {name: int(count) for count, name in re.findall(r"(\d+) of '(.+?)'", line)}
    assert said == missing_numbers(bag)
    assert len(said) == TOPICS


def test_ctrl_c_ends_a_complete_recording(start, tmp_path):
    bag = tmp_path / "bag"
    publish(start, tmp_path)
    recorder = record(start, bag, "--regex", "/topic.*")
    wait_for(lambda: recorded(bag) > TOPICS * RATE_HZ)
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(TIMEOUT_S) == 0
    found = contents(bag)
    assert len(found) == TOPICS
    assert sum(map(len, found.values())) == recorded(bag)
    assert sorted(path.name for path in bag.iterdir()) == ["bag_0.mcap", "metadata.yaml"]
    assert f"{TOPICS} topics, {recorded(bag)} messages" in (tmp_path / "log1").read_text()


def test_a_kill_loses_at_most_the_last_second(start, tmp_path):
    bag = tmp_path / "bag"
    publish(start, tmp_path)
    recorder = record(start, bag, "--regex", "/topic.*")
    wait_for(lambda: recorded(bag) > TOPICS * RATE_HZ)
    time.sleep(random.uniform(0.0, 1.0))  # at a random moment
    killed = time.time_ns()
    recorder.kill()
    recorder.wait()
    assert main(["--repair", str(bag)]) == 0
    bag = tmp_path / "bag_repaired"
    found = contents(bag)
    assert len(found) == TOPICS
    assert all(killed - times[-1] < 1_000_000_000 for times in found.values())
    counts = [len(times) for times in found.values()]
    assert sum(counts) == recorded(bag) > TOPICS * RATE_HZ


def test_a_bag_that_was_killed_is_read_without_a_repair(start, tmp_path):
    bag = tmp_path / "bag"
    publish(start, tmp_path)
    recorder = record(start, bag, "--regex", "/topic.*")
    wait_for(lambda: len(counts := recorded_by_topic(bag)) == TOPICS and min(counts) > RATE_HZ)
    recorder.kill()
    recorder.wait()
    assert min(map(len, contents(bag).values())) > RATE_HZ


def test_a_kill_while_the_recorder_closes_loses_nothing_that_it_reported(start, tmp_path):
    bag = tmp_path / "bag"
    publish(start, tmp_path)
    recorder = record(start, bag, "--regex", "/topic.*")
    wait_for(lambda: recorded(bag) > TOPICS * RATE_HZ)
    recorder.send_signal(signal.SIGINT)
    recorder.send_signal(signal.SIGINT)  # from the terminal, and from `ros2 launch`
    time.sleep(random.uniform(0.0, 0.3))  # at a random moment
    recorder.kill()
    recorder.wait()
    reported = recorded(bag)
    assert reported > TOPICS * RATE_HZ
    assert main(["--repair", str(bag)]) == 0
    repaired = tmp_path / "bag_repaired"
    assert sum(map(len, contents(repaired).values())) == recorded(repaired) >= reported


def test_a_recorder_ends_although_the_publishers_are_faster_than_its_closing(start, tmp_path):
    bag = tmp_path / "bag"
    script = tmp_path / "flood.py"
    script.write_text(PUBLISHER.replace("time.sleep(", "abs("))
    start(str(script))
    recorder = record(start, bag, "--regex", "/topic.*")
    wait_for(lambda: recorded(bag) > TOPICS * RATE_HZ)
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(TIMEOUT_S) == 0
    assert sum(map(len, contents(bag).values())) == recorded(bag)


LOST = "messages are lost with bag_0.mcap, which was deleted"
DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "the folder was deleted": (shutil.rmtree, LOST),
    "the file was deleted": (lambda bag: (bag / "bag_0.mcap").unlink(), LOST),
    "the folder was moved": (lambda bag: bag.rename(bag.with_name("moved")), "moved, to which"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_recorder_reports_what_became_of_its_messages(start, tmp_path, damage):
    act, message = DAMAGES[damage]
    bag = tmp_path / "bag"
    publish(start, tmp_path)
    recorder = record(start, bag, "--regex", "/topic.*")
    wait_for(lambda: recorded(bag) > TOPICS * RATE_HZ)
    act(bag)
    assert recorder.wait(TIMEOUT_S) == 1, "without a signal"
    log = (tmp_path / "log1").read_text()
    assert message in log
    assert ("are kept" in log) is ("lost" not in log)
    if "are kept" in log:
        moved = bag.with_name("moved")
        assert main(["--repair", str(moved)]) == 0
        assert sum(map(len, contents(moved).values())) >= int(
            log.split("at least ")[1].split()[0].rstrip(",")
        )


def test_a_recording_is_split_by_duration_and_names_what_never_appeared(start, tmp_path):
    bag = tmp_path / "bag"
    publish(start, tmp_path)
    recorder = record(start, bag, "--topics", "topic0", "topic_0", "--max-bag-duration", "1")
    wait_for(lambda: len(list(bag.glob("*.mcap"))) == 3)
    recorder.send_signal(signal.SIGTERM)
    assert recorder.wait(TIMEOUT_S) == 0
    assert (
        "not recorded, as nothing published them: '/topic_0'\n" in (tmp_path / "log1").read_text()
    )
    assert list(contents(bag)) == ["/topic0"]
    assert sum(map(len, contents(bag).values())) == recorded(bag)


def test_a_recording_ends_while_it_waits_for_the_clock(start, tmp_path):
    bag = tmp_path / "bag"
    recorder = record(start, bag, "--use-sim-time")
    wait_for(lambda: "waiting for /clock" in (tmp_path / "log0").read_text())
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(TIMEOUT_S) == 0
    assert contents(bag) == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--regex", "("], "'(' is not a regular expression"),
        (["--max-bag-size", "0"], "'0' is not an integer of at least 1"),
        (["--max-bag-duration", "soon"], "'soon' is not an integer of at least 1"),
        (["--compression", "zip"], "invalid choice: 'zip'"),
        (["--topic", "x"], "unrecognized arguments"),
        (["--in-place"], "--in-place is for --repair without --output"),
        (["--repair", "a", "--in-place", "-o", "b"], "--in-place is for --repair without --output"),
    ],
)
def test_an_invalid_argument_is_an_error(capsys, arguments, message):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


def test_an_existing_folder_is_rejected(start, tmp_path):
    recorder = record(start, tmp_path)
    assert recorder.wait(TIMEOUT_S) == 1
    assert "exists; name a new folder" in (tmp_path / "log0").read_text()


def test_a_bag_that_is_being_recorded_is_not_repaired(start, tmp_path, capsys):
    bag = tmp_path / "bag"
    publish(start, tmp_path)
    recorder = record(start, bag, "--regex", "/topic.*")
    wait_for(lambda: recorded(bag) > TOPICS)
    for options in ([], ["--in-place"]):
        assert main(["--repair", str(bag), *options]) == 1
        assert f"another process writes into {bag}" in capsys.readouterr().err
    before = recorded(bag)
    wait_for(lambda: recorded(bag) > before)
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(TIMEOUT_S) == 0
    assert sum(map(len, contents(bag).values())) == recorded(bag)
    assert main(["--repair", str(bag)]) == 0


def test_a_folder_that_is_not_a_bag_cannot_be_repaired(capsys, tmp_path):
    assert main(["--repair", str(tmp_path)]) == 1
    assert "is not a bag" in capsys.readouterr().err
